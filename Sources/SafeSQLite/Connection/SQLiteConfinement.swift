import CSQLite
import DurableFiles
import GRDBSQLite
import Glibc

/// What SQLite may do with files in this process.
package enum SQLiteConfinement {
    /// From now on SQLite opens and removes nothing but databases that a connection names, the
    /// files beside them, and its own temporary files, and follows no symbolic link to any of them.
    ///
    /// For processes that work in folders in which others may rename, remove and make files at any
    /// moment. Paths have to be absolute and without links: they are resolved once, where a user
    /// gives them. A journal that a stranger put beside a database can name any file of the machine
    /// as its super-journal, which SQLite would read and remove.
    package static func begin() { godwit_sqlite_confine() }
}

/// A database that SQLite may open while the value lives.
final class AnnouncedFile: Sendable {
    /// The path as SQLite will name it.
    private let name: [UInt8]

    /// - Throws: `StoreError.inputOutput` where there is no memory.
    init(_ path: FilePath) throws(StoreError) {
        name = Self.fullName(path)
        guard godwit_sqlite_announce(name, name.count) == SQLITE_OK else {
            throw .inputOutput(
                path: path.description, reason: "there is not enough memory for a connection")
        }
    }

    deinit { godwit_sqlite_withdraw(name, name.count) }

    /// The absolute path without empty parts, `.` and `..`.
    private static func fullName(_ path: FilePath) -> [UInt8] {
        var whole = path.bytes
        if whole.first != UInt8(ascii: "/"), let folder = getcwd(nil, 0) {
            whole = Array(String(cString: folder).utf8) + [UInt8(ascii: "/")] + whole
            free(folder)
        }
        var parts: [ArraySlice<UInt8>] = []
        for part in whole.split(separator: UInt8(ascii: "/")) where !part.elementsEqual(".".utf8) {
            if part.elementsEqual("..".utf8) { _ = parts.popLast() } else { parts.append(part) }
        }
        return parts.flatMap { [UInt8(ascii: "/")] + $0 }
    }
}
