package import DurableFiles

/// The folder that a result goes to, below the one that the user named.
package enum OutputFolder {
    /// Makes the folder of a result, and those on the way to it.
    ///
    /// Links may lead to the folder that the user named. Below it the owner of a folder could lead
    /// results elsewhere by a link: none is followed.
    ///
    /// - Parameters:
    ///   - folder: of the result.
    ///   - root: what the user named; nil, or a folder that does not hold the other, makes `folder`
    ///     itself what was named.
    ///   - files: through which folders are made.
    /// - Throws: `DurableFileError`, `refusedFolder` for a link below the root.
    package static func make(
        _ folder: FilePath, below root: FilePath?, _ files: DurableFileSystem
    ) throws(DurableFileError) {
        guard let root, folder != root, folder.isInside(root) else {
            return try files.makeFolders(folder)
        }
        try files.makeFolders(root)
        let tree = try HeldTree(try files.resolve(root), faults: files.faults)
        let rest = folder.bytes.dropFirst(root.bytes.count).drop { $0 == 0x2F }
        try tree.makeFolders(tree.anchor.path.appending(FilePath(bytes: rest)))
    }
}
