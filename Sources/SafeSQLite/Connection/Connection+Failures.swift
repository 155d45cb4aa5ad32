import CSQLite
import DurableFiles
import GRDB
import GRDBSQLite
import Glibc

// Why a connection cannot be opened or a statement fails: what SQLite's codes mean for a store.

extension Connection {
    /// The error of a connection that could not be opened.
    static func openingFailure(
        _ error: DatabaseError, path: String, folder: FilePath, budget: OpaquePointer,
        roomFailures: Int
    ) -> StoreError {
        let code = error.resultCode.rawValue
        if isStopped(code, budget) { return .cancelled(path) }
        // The connection, which knew the system's number, is gone.
        let codes: [ResultCode] = [.SQLITE_CANTOPEN, .SQLITE_IOERR]
        let isFull =
            codes.contains(error.resultCode)
            && (godwit_sqlite_room_failures() > roomFailures
                || FileSystemSpace.isExhausted(at: folder)
                || OpenFile.isOutOfDescriptors)
        return Connection.error(
            isFull ? SQLITE_FULL : Connection.cause(of: code, budget), error.message ?? "",
            path: path)
    }

    func failure(_ code: Int32) -> StoreError {
        if Connection.isStopped(code, budget) { return .cancelled(path) }
        // A quota, and a file that cannot be made: the system's number alone tells that room is
        // missing, and SQLite keeps that of its last call. It may be a temporary file's, too.
        let numbers = [errno, sqlite3_system_errno(handle)]
        let isSystem = [SQLITE_IOERR, SQLITE_CANTOPEN].contains(code & 0xFF)
        let isFull =
            isSystem
            && (godwit_sqlite_room_failures() > roomFailures
                || numbers.contains { $0 == ENOSPC || $0 == EDQUOT }
                || FileSystemSpace.isExhausted(at: folder))
        return Connection.error(
            isFull ? SQLITE_FULL : Connection.cause(of: code, budget),
            String(cString: sqlite3_errmsg(handle)), path: path)
    }

    /// Whether a call ended because the connection's stop was set.
    private static func isStopped(_ code: Int32, _ budget: OpaquePointer) -> Bool {
        code & 0xFF == SQLITE_INTERRUPT && godwit_sqlite_budget_is_stopped(budget) != 0
    }

    // Messages of SQLite name tables, columns and codes, never values.
    private static func error(_ code: Int32, _ message: String, path: String) -> StoreError {
        // A message may quote a statement of the file's schema.
        let text = "SQLite \(code): \(message.prefix(500))"
        switch code & 0xFF {
        case SQLITE_INTERRUPT:
            return .notAStore(
                path: path,
                reason: "an expression in its schema, or pages that form a cycle, keep SQLite "
                    + "busy for too long or take far more space than the store")
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT, SQLITE_ERROR, SQLITE_CONSTRAINT,
            SQLITE_TOOBIG, SQLITE_MISMATCH, SQLITE_AUTH:
            // The disk is not to blame: a table is not what its name promises, or rows break a
            // rule that the layout keeps.
            return .notAStore(path: path, reason: text)
        case SQLITE_FULL:
            return .outOfSpace(path: path, reason: "the disk or quota is full (\(text))")
        default:
            return .inputOutput(path: path, reason: text)
        }
    }

    /// Refuses a connection whose file's name was a symbolic link.
    ///
    /// SQLite follows such a link. A file that we write may lie in a user's folder, and the user
    /// may have put a link to another store in its place. Nothing has been written yet. The file
    /// itself SQLite opens without following links, so the name that it tells is the file's.
    ///
    /// - Parameters:
    ///   - handle: just opened.
    ///   - file: the path that was to be opened; its folder may be a link.
    ///   - path: how errors name it.
    /// - Throws: `StoreError.inputOutput`, or `DurableFileError` where the folder is gone.
    static func refuseLink(
        _ handle: OpaquePointer, to file: FilePath, named path: String
    ) throws {
        guard let name = sqlite3_db_filename(handle, "main") else { return }
        let length = strlen(name)
        guard length > 0 else { return }
        let bytes = UnsafeBufferPointer(start: name, count: length)
        let opened = FilePath(bytes: bytes.map { UInt8(bitPattern: $0) })
        let folder = try DurableFileSystem(links: .followed).resolve(file.parent)
        guard opened == folder.appending(file.lastComponent) else {
            throw StoreError.inputOutput(
                path: path,
                reason: "its name is a symbolic link, which is not followed where files are written"
            )
        }
    }
}
