import CoreDataStore
import DurableFiles

/// What a folder holds, without a look into its files.
///
/// A rename of the folder does not change it, a write to one of its files does; folders without
/// files do not count. Digests keep it short however many files there are.
struct FolderContents: Hashable, Codable {
    /// How many files there are.
    private let files: Int
    /// The digest of the names, sizes, numbers and times of writing.
    private let written: String
    /// The digest of the times at which contents, links, rights or owners changed: a program may
    /// set the time of writing, but not this one.
    private let changed: String
    /// The digest of links, rights and owners.
    private let owned: String

    /// Looks at a folder.
    ///
    /// - Parameters:
    ///   - folder: its path; one that is not there holds nothing.
    ///   - tree: through which it is reached; no link is followed.
    /// - Throws: `DurableFileError`.
    /// - Complexity: one look at each file.
    init(of folder: FilePath, in tree: HeldTree) throws(DurableFileError) {
        var found = Found()
        if try tree.status(of: folder)?.isFolder == true {
            try found.add(folder, below: folder, tree)
        }
        files = found.files
        written = ContentDigest.hexadecimal(of: found.written)
        changed = ContentDigest.hexadecimal(of: found.changed)
        owned = ContentDigest.hexadecimal(of: found.owned)
    }

    /// Whether it lacks files that were there before.
    func hasFewerFiles(than former: FolderContents) -> Bool { files < former.files }

    /// Whether there is no file.
    var isEmpty: Bool { files == 0 }

    /// Whether a folder holds what it held before.
    enum Comparison {
        case same
        case different
        /// Hard links, rights or owners changed, or a program wrote and set the time back.
        case unclear(hasOtherOwners: Bool)
    }

    /// Compares what was found with what was found before.
    func compared(with former: FolderContents) -> Comparison {
        guard written == former.written else { return .different }
        return changed == former.changed ? .same : .unclear(hasOtherOwners: owned != former.owned)
    }

    /// Whether every file of a folder has the bytes of the file of its name in another one.
    ///
    /// - Returns: nil where the other folder lacks one.
    /// - Throws: `DurableFileError`.
    /// - Complexity: reads all files of the folder.
    static func haveSameBytes(
        _ folder: FilePath, _ other: FilePath, _ tree: HeldTree
    ) throws(DurableFileError) -> Bool? {
        for name in try tree.names(in: folder) {
            let (entry, twin) = (folder.appending(name), other.appending(name))
            guard let status = try tree.status(of: entry) else { continue }
            let there = try FileStatus.ifPresentLink(twin)
            guard let there else {
                if status.isFolder { continue }
                return nil
            }
            guard status.isFolder == there.isFolder else { return false }
            if status.isFolder {
                guard let areSame = try haveSameBytes(entry, twin, tree) else { return nil }
                if !areSame { return false }
            } else {
                guard status.isRegularFile, there.isRegularFile, status.size == there.size,
                    try areEqual(entry, twin)
                else { return false }
            }
        }
        return true
    }

    /// The bytes that are compared at a time.
    private static let piece = 1 << 20

    private static func areEqual(
        _ left: FilePath, _ right: FilePath
    ) throws(DurableFileError) -> Bool {
        let files = DurableFileSystem()
        let one = try files.openForReading(left)
        let other = try files.openForReading(right)
        var offset: Int64 = 0
        while true {
            let bytes = try one.read(count: piece, at: offset)
            guard try bytes == other.read(count: piece, at: offset) else { return false }
            if bytes.isEmpty { return true }
            offset += Int64(bytes.count)
        }
    }

    /// The facts of all files in one order.
    private struct Found {
        var files = 0
        var written: [UInt8] = []
        var changed: [UInt8] = []
        var owned: [UInt8] = []

        mutating func add(
            _ path: FilePath, below folder: FilePath, _ tree: HeldTree
        ) throws(DurableFileError) {
            for name in try tree.names(in: path) {
                let entry = path.appending(name)
                guard let status = try tree.status(of: entry) else { continue }
                if status.isFolder {
                    try add(entry, below: folder, tree)
                    continue
                }
                let found = status.identity
                files += 1
                written += entry.bytes.dropFirst(folder.bytes.count)
                // No name holds a zero.
                written.append(0)
                written += "\(found.size) \(found.inode) \(Self.text(of: found.modified))\n".utf8
                changed += "\(Self.text(of: found.changed))\n".utf8
                owned += "\(status.links) \(status.mode) \(status.owner) \(status.group)\n".utf8
            }
        }

        private static func text(of time: FileTime) -> String {
            "\(time.seconds) \(time.nanoseconds)"
        }
    }
}
