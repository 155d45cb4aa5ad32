import CoreDataStore
import DurableFiles

/// What a folder holds, without a look into its files.
enum FolderContents {
    /// The digest of the names, sizes, numbers and times of all files below a folder.
    ///
    /// A rename of the folder does not change it, a write to one of its files does.
    ///
    /// - Parameters:
    ///   - folder: its path.
    ///   - tree: through which it is reached; no link is followed.
    /// - Returns: lower-case hexadecimal.
    /// - Throws: `DurableFileError`.
    /// - Complexity: one look at each file.
    static func digest(
        of folder: FilePath, in tree: HeldTree
    ) throws(DurableFileError) -> String {
        var text: [UInt8] = []
        try add(folder, below: folder, tree, to: &text)
        return ContentDigest.hexadecimal(of: text)
    }

    private static func add(
        _ path: FilePath, below folder: FilePath, _ tree: HeldTree, to text: inout [UInt8]
    ) throws(DurableFileError) {
        for name in try tree.names(in: path) {
            let entry = path.appending(name)
            guard let status = try tree.status(of: entry) else { continue }
            let found = status.identity
            text += entry.bytes.dropFirst(folder.bytes.count)
            // No name holds a zero.
            text.append(0)
            guard !status.isFolder else {
                try add(entry, below: folder, tree, to: &text)
                continue
            }
            // A program may set the time of writing; nothing but a link moves this one otherwise.
            let changed = status.links == 1 ? found.changed : found.modified
            let words =
                "\(status.mode) \(found.size) \(found.inode) \(found.modified.seconds) "
                + "\(found.modified.nanoseconds) \(changed.seconds) \(changed.nanoseconds)\n"
            text += words.utf8
        }
    }
}
