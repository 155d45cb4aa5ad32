import CoreDataStore
package import DurableFiles

/// Takes a replaced file out of the reach of a program that looked the store's name up before the
/// swap and opens it after: that program must find no database.
package struct BackupSeparation {
    private let files: DurableFileSystem

    package init(files: DurableFileSystem) { self.files = files }

    /// Makes a backup that is a second name of the replaced file a copy of its own, so that the
    /// replaced file has no name left, and makes that file unusable.
    ///
    /// After a crash at any point the backup is whole.
    ///
    /// - Parameters:
    ///   - replaced: a file that a swap or a rollback replaced.
    ///   - backup: the name of the original's main file in the backup; nil where the replaced file
    ///     has no part in it.
    /// - Throws: `EngineError.file`; out of space, for one. Clients are still kept out then.
    package func run(_ replaced: ReplacedFile, backup: FilePath?) throws(EngineError) {
        try EngineError.translating {
            let name = backup ?? FilePath("the replaced file")
            if let backup, let status = try FileStatus.ifPresent(backup),
                PlannedFile.isFile(status.identity, replaced.identity)
            {
                try separate(backup, files.opening(replaced.held))
            }
            try replaced.invalidate(name)
        }
    }

    private func separate(_ backup: FilePath, _ files: DurableFileSystem) throws {
        let copy = StoreMoves.temporary(for: backup)
        if try FileStatus.ifPresent(copy) != nil { try files.unlink(copy) }
        _ = try files.clone(from: backup, to: copy)
        _ = try files.copyAttributes(from: backup, to: copy)
        try files.rename(copy, to: backup, existing: .replace)
        try files.syncFolder(backup.parent)
    }
}
