package import DurableFiles
import SafeSQLite
package import StoreLocks

/// Takes a replaced file out of the reach of a program that looked the store's name up before the
/// swap and opens it after: that program must find no database.
package struct BackupSeparation {
    private let files: DurableFileSystem

    package init(files: DurableFileSystem) { self.files = files }

    /// Makes the backup of a swap a file of its own where it is a second name of the replaced
    /// file, so that the replaced file has no name left, and makes that file unusable.
    ///
    /// After a crash at any point the backup is whole, and is the original or the recorded copy.
    ///
    /// - Parameters:
    ///   - replaced: a file that a swap or a rollback replaced.
    ///   - swap: the plan of the swap.
    ///   - recording: records the copy before it takes the original's place in the backup; what it
    ///     throws leaves the backup as it was.
    /// - Throws: what `recording` throws, or `SwapError.file`; out of space, for one. Clients
    ///   are still kept out then.
    package func run(
        _ replaced: ReplacedFile, of swap: SwapPlan,
        recording: ([BackupRecord.Entry]) throws -> Void
    ) throws {
        try SwapError.passing {
            let store = swap.store.path
            let tree = try HeldTree(
                store.parent, store: store, through: replaced.held, faults: files.faults)
            let backup = swap.mainBackup
            if let status = try tree.status(of: backup),
                status.identity.isFile(replaced.identity)
            {
                let copy = StoreMoves.temporary(for: backup)
                let entry = try self.copy(backup, to: copy, in: tree)
                try recording([entry])
                try tree.rename(copy, to: backup, existing: .replace)
                try tree.syncFolder(backup.parent)
            }
            try replaced.invalidate(store)
        }
    }

    private func copy(
        _ backup: FilePath, to name: FilePath, in tree: HeldTree
    ) throws(DurableFileError) -> BackupRecord.Entry {
        try tree.unlinkIfPresent(name)
        let input = try tree.openForReading(backup)
        let output = try tree.create(name)
        try files.copyContents(of: input, to: output)
        _ = try files.copyAttributes(from: input, to: output)
        try output.sync()
        let entry = try BackupRecord.entry(of: output, as: backup, isCopy: true)
        try output.close()
        try tree.syncFolder(name.parent)
        return entry
    }
}
