package import DurableFiles
import SafeSQLite

extension StoreCompanion {
    /// Whether a companion belongs to what its database says.
    package enum Content: Hashable, Sendable, Codable {
        /// The database alone is the whole store.
        case none
        /// Only both together are the store: frames of a log, or a journal to be rolled back.
        case pages
        /// It cannot belong to the database, or must not be applied; the text says why.
        case foreign(String)
    }

    /// Judges the companion beside a database; a missing one has no content.
    ///
    /// A log has content once its first frame fits its header (SQLite file format, section 4). A
    /// journal has unless it is empty or begins with a zero byte, as one that is kept for the
    /// next transaction does (section 3).
    ///
    /// - Throws: `DurableFileError`.
    package func content(
        of database: FilePath, files: DurableFileSystem
    ) throws(DurableFileError) -> Content {
        let path = StoreLocation(database).companion(self)
        guard self != .sharedMemory, try FileStatus.ifPresent(path) != nil else {
            return .none
        }
        let file: OpenFile
        do throws(DurableFileError) {
            file = try files.openForReading(path)
        } catch {
            // The last program that had the database open has just removed it.
            guard error.isMissing else { throw error }
            return .none
        }
        let size = try file.status().size
        guard size > 0 else { return .none }
        let prefix = try file.read(count: WriteAheadLog.prefixLength, at: 0)
        guard self == .writeAheadLog else {
            guard let first = prefix.first, first != 0 else { return .none }
            let end = try file.read(count: RollbackJournal.magic.count, at: max(0, size - 8))
            return RollbackJournal.refusal(end: end).map(Content.foreign) ?? .pages
        }
        let start = try files.openForReading(database).read(count: 100, at: 0)
        switch DatabaseHeader.read(start) {
        case .failure(let fault):
            return .foreign("its database file is not usable: \(fault.reason)")
        case .success(let header):
            switch WriteAheadLog.judge(prefix: prefix, length: size, pageSize: header.pageSize) {
            case .empty: return .none
            case .hasFrames: return .pages
            case .foreign(let reason): return .foreign(reason)
            }
        }
    }
}

/// A private copy of a store that is not at rest, brought to rest: one file that is the whole of
/// it.
package enum SettledCopy {
    /// Copies a database with its companion, applies the companion to the copy, and syncs it.
    ///
    /// The store itself is only read, and not through SQLite; the caller keeps writers out.
    ///
    /// - Parameters:
    ///   - database: the main file.
    ///   - companion: the one that has content.
    ///   - target: where the copy goes; what an earlier try left there is removed.
    ///   - store: how errors name the store.
    ///   - files: through which files are copied.
    /// - Throws: `StoreError` or `DurableFileError`; nothing but the target was written.
    package static func make(
        of database: FilePath, with companion: StoreCompanion, at target: FilePath,
        named store: FilePath, files: DurableFileSystem
    ) throws {
        try remove(target, files)
        _ = try files.clone(from: database, to: target)
        _ = try files.clone(
            from: StoreLocation(database).companion(companion),
            to: StoreLocation(target).companion(companion))
        let connection = try Connection(path: target, mode: .readWrite, named: store)
        if companion == .writeAheadLog {
            try connection.checkpoint()
        }
        _ = try connection.integer("SELECT count(*) FROM sqlite_master")
        try connection.close()
        for path in StoreLocation(target).companions {
            if try FileStatus.ifPresent(path) != nil { try files.unlink(path) }
        }
        try files.syncFile(target)
        try files.syncFolder(target.parent)
    }

    /// Removes a copy, whatever state it is in.
    ///
    /// - Throws: `DurableFileError`.
    package static func remove(
        _ target: FilePath, _ files: DurableFileSystem
    ) throws(DurableFileError) {
        for path in StoreLocation(target).files {
            if try FileStatus.ifPresent(path) != nil { try files.unlink(path) }
        }
    }
}
