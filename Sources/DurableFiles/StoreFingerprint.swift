/// One part of a store's state that two fingerprints may differ in.
package enum FingerprintPart: String, Hashable, Sendable, Codable, CaseIterable {
    /// Device and inode of a file: another file has the name, or another machine looks.
    case place
    case size
    /// When a file's contents were written.
    case modified
    /// When a file's contents, names or rights changed; a hard link moves it.
    case changed
    /// The database header: change counter, page count, schema cookie and the rest.
    case header
    /// The header of the `-wal` file: its salts change when SQLite restarts the file.
    case writeAheadLogHeader
    /// Whether a `-wal` or a rollback journal is there.
    case presence
}

/// The state of a store's files, taken before and after reading to prove that no program wrote.
///
/// Looks at the files alone, never through SQLite: device, inode, size and times of main file,
/// `-wal` and `-journal`; the first 100 bytes of the main file (SQLite file format §1.3: change
/// counter at 24, page count at 28, schema cookie at 40, version-valid-for at 92) and the first
/// 32 of the `-wal` (§4.1: salts at 16 and 20). `-shm` is left out, for readers change it.
package struct StoreFingerprint: Hashable, Sendable, Codable {
    package let main: FileIdentity
    /// Nil where there is no `-wal` file, or an empty one.
    package let writeAheadLog: FileIdentity?
    /// Nil where there is no `-journal` file; one that is there may be hot.
    package let rollbackJournal: FileIdentity?
    /// Up to 100 bytes; fewer only for a file that is no database.
    package let header: [UInt8]
    /// Up to 32 bytes; empty where there is no `-wal` or nothing in it.
    package let writeAheadLogHeader: [UInt8]

    /// The bytes of a database header (SQLite file format §1.3).
    package static let headerBytes = 100
    /// The bytes of a `-wal` header (SQLite file format §4.1).
    package static let writeAheadLogHeaderBytes = 32
    /// How often reading is tried while another program writes.
    private static let attempts = 3

    /// Reads the fingerprint of the store with this main file.
    ///
    /// Opens and closes the main file: not while this process holds locks on it through SQLite
    /// (see `OpenFile`).
    ///
    /// - Throws: `DurableFileError`, `changedMeanwhile` where the files did not hold still.
    package init(of store: FilePath) throws(DurableFileError) {
        for _ in 0..<StoreFingerprint.attempts {
            let file = try DurableFileSystem().openForReading(store)
            let first = try Look(at: store, file) { () throws(DurableFileError) in
                try file.status()
            }
            // By its name: another file may have got it.
            let second = try Look(at: store, file) { () throws(DurableFileError) in
                try FileStatus(of: store)
            }
            guard first == second else { continue }
            main = first.main.identity
            header = first.main.start
            writeAheadLog = first.writeAheadLog?.identity
            writeAheadLogHeader = first.writeAheadLog?.start ?? []
            rollbackJournal = first.rollbackJournal
            return
        }
        throw .changedMeanwhile(store)
    }

    /// Whether the `-wal` holds more than its header, so that the main file alone is old.
    package var hasWriteAheadLogContent: Bool {
        guard let writeAheadLog else { return false }
        return writeAheadLog.size > Int64(StoreFingerprint.writeAheadLogHeaderBytes)
    }

    /// Whether the main file or the `-wal` was written after a time of its file system's clock.
    package func wasWritten(after time: FileTime) -> Bool {
        [main, writeAheadLog].contains { file in file.map { $0.modified > time } ?? false }
    }

    /// What differs; empty where no program wrote between the two.
    ///
    /// A caller leaves out what does not count for it: `changed` after it made a hard link,
    /// `place` and `changed` when the other side is another machine.
    package func differences(from other: StoreFingerprint) -> Set<FingerprintPart> {
        var parts = StoreFingerprint.differences(main, other.main)
        for (mine, theirs) in [
            (writeAheadLog, other.writeAheadLog), (rollbackJournal, other.rollbackJournal),
        ] {
            switch (mine, theirs) {
            case (let mine?, let theirs?):
                parts.formUnion(StoreFingerprint.differences(mine, theirs))
            case (nil, nil): break
            default: parts.insert(.presence)
            }
        }
        if header != other.header { parts.insert(.header) }
        if writeAheadLogHeader != other.writeAheadLogHeader { parts.insert(.writeAheadLogHeader) }
        return parts
    }

    private static func differences(
        _ left: FileIdentity, _ right: FileIdentity
    ) -> Set<FingerprintPart> {
        var parts: Set<FingerprintPart> = []
        if !left.isStill(right) { parts.insert(.place) }
        if left.size != right.size { parts.insert(.size) }
        if left.modified != right.modified { parts.insert(.modified) }
        if left.changed != right.changed { parts.insert(.changed) }
        return parts
    }
}

/// The files of a store as one look found them.
private struct Look: Equatable {
    struct File: Equatable {
        let identity: FileIdentity
        let start: [UInt8]
    }

    let main: File
    let writeAheadLog: File?
    let rollbackJournal: FileIdentity?

    init(
        at store: FilePath, _ file: borrowing OpenFile,
        status: () throws(DurableFileError) -> FileStatus
    ) throws(DurableFileError) {
        let start = try file.read(count: StoreFingerprint.headerBytes, at: 0)
        main = File(identity: try status().identity, start: start)
        let location = StoreLocation(store)
        writeAheadLog = try Look.log(location.companion(.writeAheadLog))
        rollbackJournal = try Look.companion(location.companion(.rollbackJournal))?.identity
    }

    private static func log(_ path: FilePath) throws(DurableFileError) -> File? {
        // A reader makes an empty one, and takes it away again.
        guard let found = try companion(path), found.size > 0 else { return nil }
        do {
            let file = try DurableFileSystem().openForReading(path)
            let start = try file.read(
                count: StoreFingerprint.writeAheadLogHeaderBytes, at: 0)
            let identity = try file.status().identity
            return identity.size == 0 ? nil : File(identity: identity, start: start)
        } catch {
            if error.isMissing { return nil }
            throw error
        }
    }

    private static func companion(_ path: FilePath) throws(DurableFileError) -> FileStatus? {
        guard let status = try FileStatus.ifPresent(path) else { return nil }
        guard status.isRegularFile else { throw .notRegularFile(path, kind: status.kind) }
        return status
    }
}
