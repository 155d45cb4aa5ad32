package import DurableFiles
import Glibc
import SafeSQLite

/// Tells whether a file found in a folder is a store, by its name and its first bytes.
///
/// No store may be open in this process while a folder is searched: closing a file drops the
/// locks that SQLite holds on it (`OpenFile`).
package struct StoreProbe: Sendable {
    /// What a file is.
    enum Verdict: Hashable, Sendable {
        case store
        /// Something else that does not look like a store.
        case other
        case skipped(SkippedFile.Reason)
    }

    private let files: DurableFileSystem
    /// How long one may keep SQLite busy, in milliseconds: many are judged one after the other.
    private static let patience: Int64 = 1000
    private static let magic = Array("SQLite format 3\0".utf8)
    private static let metadataTable = Array("CREATE TABLE Z_METADATA".utf8)

    /// What the first bytes of an SQLite database lead to.
    private struct Opening {
        /// Whether its schema has a text that looks like the declaration of Core Data's table of
        /// metadata.
        let declaresMetadata: Bool
    }

    /// - Parameter files: opens what is looked at.
    package init(files: DurableFileSystem) { self.files = files }

    /// Judges a regular file.
    ///
    /// - Parameters:
    ///   - name: by which it was found.
    ///   - real: its path without symbolic links.
    ///   - size: in bytes.
    ///   - hasDatabase: for the name of a companion file, whether its database lies beside it.
    /// - Returns: what it is, as far as the first bytes tell.
    func judge(
        name: FilePath, real: FilePath, size: Int64, hasDatabase: (FilePath) -> Bool
    ) -> Verdict {
        do throws(DurableFileError) {
            if let database = StoreFileName.databaseName(ofCompanion: name) {
                if hasDatabase(database) { return .other }
                if try opening(of: real) != nil { return .skipped(.companionName) }
                let isLost = StoreFileName.isLog(name) && size > 0
                return isLost ? .skipped(.logWithoutDatabase) : .other
            }
            if size == 0 {
                if try hasUnseenContent(real) { return .store }
                return unreadable(name, .empty)
            }
            guard let start = try opening(of: real) else {
                return unreadable(name, .notADatabase)
            }
            return try isCoreDataStore(real, start)
                ? .store : .skipped(.notACoreDataStore)
        } catch {
            return error.isMissing ? .other : .skipped(.unreadable("\(error)"))
        }
    }

    /// What a file without a database in it is: under a name that only stores have, a store that is
    /// damaged, which the run says, counts as failed, and takes again once it is repaired.
    private func unreadable(_ name: FilePath, _ reason: SkippedFile.Reason) -> Verdict {
        if StoreFileName.isAppleDouble(name) { return .other }
        if StoreFileName.isCoreDataExtension(of: name) { return .store }
        return StoreFileName.isStoreExtension(of: name) ? .skipped(reason) : .other
    }

    /// Whether a file that is no companion of a database is empty or no SQLite database; false
    /// where it cannot be read.
    func holdsNoDatabase(name: FilePath, real: FilePath, size: Int64) -> Bool {
        guard StoreFileName.databaseName(ofCompanion: name) == nil,
            !StoreFileName.isAppleDouble(name)
        else { return false }
        do throws(DurableFileError) {
            if size == 0 { return true }
            return try opening(of: real) == nil
        } catch {
            return false
        }
    }

    /// Whether Core Data's metadata can be read in a file.
    ///
    /// For what would be lost with a wrong yes: doubt counts as one only where the file needs the
    /// log or journal beside it to be whole.
    ///
    /// - Throws: `DurableFileError`.
    package func isReadable(_ real: FilePath) throws(DurableFileError) -> Bool {
        do throws(StoreError) {
            let connection = try Connection(
                path: real, mode: .immutable, patience: StoreProbe.patience)
            let tables = try connection.integer(
                "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN "
                    + "('Z_METADATA', 'Z_PRIMARYKEY')")
            guard tables == 2 else {
                try connection.close()
                return false
            }
            let rows = try connection.integer("SELECT count(*) FROM Z_METADATA")
            try connection.close()
            return rows != 0
        } catch {
            // After a checkpoint that a reader held up, SQLite finds the file too short alone.
            guard try hasUnseenContent(real), let start = try opening(of: real) else {
                return false
            }
            return start.declaresMetadata
        }
    }

    /// Looks into an SQLite database; nil for every other file.
    private func opening(of path: FilePath) throws(DurableFileError) -> Opening? {
        let file = try files.openForReading(path)
        let start = try file.read(count: DatabaseHeader.size, at: 0)
        guard start.starts(with: StoreProbe.magic) else {
            try file.close()
            return nil
        }
        guard case .success(let header) = DatabaseHeader.read(start) else {
            try file.close()
            return Opening(declaresMetadata: false)
        }
        let pages = SchemaPages(of: file, header)
        return Opening(declaresMetadata: try pages.contain(StoreProbe.metadataTable))
    }

    /// Whether a database has Core Data's table of metadata, or what is left of a store without
    /// it.
    ///
    /// A text that merely looks like its declaration is enough, and so is doubt: a database that
    /// is damaged or that has content elsewhere is taken, and the run says what is wrong with it.
    private func isCoreDataStore(
        _ path: FilePath, _ start: Opening
    ) throws(DurableFileError) -> Bool {
        if start.declaresMetadata { return true }
        if try hasUnseenContent(path) { return true }
        do throws(StoreError) {
            let connection = try Connection(
                path: path, mode: .immutable, patience: StoreProbe.patience)
            let count = try connection.integer(
                "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN "
                    + "('Z_METADATA', 'Z_PRIMARYKEY', 'Z_MODELCACHE')")
            try connection.close()
            return count != 0
        } catch {
            return true
        }
    }

    /// Whether a `-wal` or a journal beside a database may hold what the database does not.
    private func hasUnseenContent(_ path: FilePath) throws(DurableFileError) -> Bool {
        for kind in StoreCompanion.withContent {
            let companion = try FileStatus.ifPresent(StoreLocation(path).companion(kind))
            if let companion, companion.size > 0 { return true }
        }
        return false
    }
}
