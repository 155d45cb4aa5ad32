import CoreDataStore
package import DurableFiles

/// What a swap put into a backup, file by file.
///
/// It stands in the ledger, which belongs to the run's user, and not in the backup itself: that
/// lies in a folder of the store's owner, who may put another one in its place. A swap's plan names
/// every file as a link of the original, which is known before anything moves. A file that became a
/// copy is recorded once more, before the original's name goes.
package struct BackupRecord: Hashable, Sendable, Codable {
    /// One file of a backup.
    package struct Entry: Hashable, Sendable, Codable {
        /// Its path in the backup.
        package let path: FilePath
        package let identity: FileIdentity
        /// SHA-256 of the first bytes, in hexadecimal digits.
        package let header: String
        /// Whether it is a file of its own, and not a second name of the original.
        package let isCopy: Bool

        /// Whether it is the same file, whatever was written to it since.
        package func isFile(_ other: FileIdentity) -> Bool {
            identity.isStill(other)
        }

        /// Whether it is the same file in the same state, as far as stat(2) shows.
        package func isSame(_ other: FileIdentity) -> Bool {
            identity.isSame(other)
        }

        /// The same file under its name in the backup.
        func renamed(_ path: FilePath) -> Entry {
            Entry(path: path, identity: identity, header: header, isCopy: isCopy)
        }
    }

    /// Main file first, then its companions, then external data.
    package let entries: [Entry]

    package init(_ entries: [Entry]) { self.entries = entries }

    /// The record with these entries in the place of those that have their paths.
    ///
    /// - Complexity: O(entries).
    package func replacing(_ newer: [Entry]) -> BackupRecord {
        guard !newer.isEmpty else { return self }
        let byPath = Dictionary(newer.map { ($0.path, $0) }) { _, last in last }
        return BackupRecord(entries.map { byPath[$0.path] ?? $0 })
    }

    /// The entries by their paths.
    ///
    /// - Complexity: O(entries).
    package var byPath: [FilePath: Entry] {
        Dictionary(entries.map { ($0.path, $0) }) { first, _ in first }
    }

    /// The entry of a path.
    ///
    /// - Complexity: O(entries).
    package func entry(_ path: FilePath) -> Entry? { entries.first { $0.path == path } }

    /// A file of at most so many bytes is digested as a whole.
    private static let wholeBytes: Int64 = 4096

    /// Reads what a record says of a file.
    ///
    /// - Parameters:
    ///   - file: open for reading.
    ///   - path: its path in the backup.
    ///   - isCopy: whether it is a file of its own.
    /// - Returns: the entry.
    /// - Throws: `DurableFileError`.
    package static func entry(
        of file: borrowing OpenFile, as path: FilePath, isCopy: Bool
    ) throws(DurableFileError) -> Entry {
        let identity = try file.status().identity
        return Entry(
            path: path, identity: identity,
            header: try header(of: file, size: identity.size), isCopy: isCopy)
    }

    /// The digest of a file's first bytes: of a database the 100 bytes of its header.
    static func header(
        of file: borrowing OpenFile, size: Int64
    ) throws(DurableFileError) -> String {
        let count = size <= wholeBytes ? Int(size) : StoreFingerprint.headerBytes
        return ContentDigest.hexadecimal(of: try file.read(count: count, at: 0))
    }
}

extension HeldTree {
    /// What a record says of a file in this tree.
    ///
    /// - Throws: `DurableFileError`.
    package func entry(
        at file: FilePath, as path: FilePath, isCopy: Bool
    ) throws(DurableFileError) -> BackupRecord.Entry {
        try BackupRecord.entry(of: openForReading(file), as: path, isCopy: isCopy)
    }
}
