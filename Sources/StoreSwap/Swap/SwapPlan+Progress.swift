import CoreDataStore
package import DurableFiles

extension SwapPlan {
    /// The original's main file in the backup.
    package var mainBackup: FilePath { backupFolder.appending(store.path.lastComponent) }

    /// Whether a file that has the store's name is one of this swap's.
    package func hasName(_ live: FileIdentity) -> Bool {
        ([store, newFile] + [snapshot].compactMap(\.self)).contains { $0.isFile(live) }
    }

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
        return try hasMovedAll()
    }

    /// Whether the result has left its own name: where the store's name has neither the original
    /// nor a file of this swap, the original may have its name in the backup alone.
    ///
    /// - Throws: `DurableFileError`.
    package func hasMovedAll() throws(DurableFileError) -> Bool {
        // The backup is made before any name changes, and as long as the result lies under its own
        // name, it has not had the store's: a program has replaced the original, or the snapshot.
        guard try FileStatus.ifPresentLink(mainBackup) != nil else { return false }
        guard let left = try FileStatus.ifPresentLink(newFile.path) else { return true }
        return !newFile.isFile(left.identity)
    }

    /// What may have the store's name during the swap, and what may lie beside it.
    var known: [PlannedFile] {
        backups.map(\.original) + [newFile, store] + [snapshot].compactMap(\.self)
    }

    /// The name that a file beside the store has while it is being removed.
    package func aside(_ path: FilePath) -> FilePath {
        let digest = ContentDigest.hexadecimal(of: path.lastComponent.bytes)
        return backupFolder.appending(".godwit-aside-\(digest.prefix(16))")
    }
}
