package import DurableFiles

extension SwapPlan {
    /// Whether this swap has given the store's name to another file.
    ///
    /// Another file under the name is not enough: another run, or a person, may have put it there.
    /// As long as what this swap moves still lies under its own names, it has moved nothing.
    ///
    /// - Parameter live: what has the store's name.
    /// - Returns: whether it has; also where that cannot be told for certain.
    /// - Throws: `DurableFileError`.
    package func hasMoved(live: FileIdentity) throws(DurableFileError) -> Bool {
        if store.isFile(live) { return false }
        let files = [snapshot, newFile].compactMap { $0 }
        if files.contains(where: { $0.isFile(live) }) { return true }
        // The backup is made before any name changes.
        guard try FileStatus.ifPresentLink(mainBackup) != nil else { return false }
        for file in files {
            guard let found = try FileStatus.ifPresent(file.path), file.isFile(found.identity)
            else { return true }
        }
        return false
    }
}
