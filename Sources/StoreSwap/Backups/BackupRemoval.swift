import CoreDataStore
import DurableFiles

/// Removes what a swap put into its backup, and nothing else.
///
/// A name goes only where the file that has it is the recorded one. A folder of external data that
/// several stores share goes with the last of them.
struct BackupRemoval {
    let swap: SwapPlan
    /// The store's folder.
    let tree: HeldTree
    /// Whether a copy goes that was not recorded any more, because a process died before: fine
    /// while the original has its own name.
    let takesUnrecordedCopies: Bool
    /// Whether a file of external data stays in the backup that does not have its name beside the
    /// store.
    var keepsLastCopies = false
    /// The copies of a rollback that was stopped; nil where none was recorded: whatever has their
    /// names is half of one then.
    var copies: [PlannedFile]?

    /// The folder of external data in the backup, which stores of one name without extension share.
    private var support: FilePath? { swap.externalData.map { $0.backup.parent } }

    /// The files of external data that go with the backup; none while another store needs them.
    ///
    /// - Throws: `DurableFileError`.
    func external() throws(DurableFileError) -> [FilePath] {
        guard let external = swap.externalData, try !isShared() else { return [] }
        return try tree.names(in: external.backup).map { external.backup.appending($0) }
    }

    /// Whether the backup's folder has files of another store with the same folder of external
    /// data: one whose name differs in nothing but the extension.
    private func isShared() throws(DurableFileError) -> Bool {
        guard let support else { return false }
        let own = Set(swap.backups.map(\.backup) + swap.scratch)
        for name in try tree.names(in: swap.backupFolder) {
            let other = swap.backupFolder.appending(name)
            guard other != support, !own.contains(other) else { continue }
            if StoreLocation(other).support == support { return true }
        }
        return false
    }

    /// Whether the file that has a name in the backup is one of this swap.
    ///
    /// - Throws: `DurableFileError`.
    func isOwn(
        _ path: FilePath, _ known: [FilePath: BackupRecord.Entry]?
    ) throws(DurableFileError) -> Bool {
        guard let found = try tree.status(of: path), found.isRegularFile else { return false }
        if StoreMoves.isTemporary(path.lastComponent) { return true }
        // Plans of older versions say nothing of copies, nor of external data.
        guard let known else { return true }
        guard let entry = known[path] else { return false }
        if entry.isFile(found.identity) { return true }
        // A process may have died before a copy that it had recorded took the original's place.
        let isOriginal = swap.backups.contains {
            $0.backup == path && $0.original.isFile(found.identity)
        }
        if isOriginal { return true }
        guard takesUnrecordedCopies, entry.identity.size == found.size else { return false }
        return try entry.header == tree.entry(at: path, as: path, isCopy: true).header
    }

    /// The first file of the store's own backup that is not the one that the swap put there, or one
    /// that a program put in the store's place while a rollback gave that to the original.
    ///
    /// - Throws: `DurableFileError`.
    func foreign() throws(DurableFileError) -> FilePath? {
        let known = swap.record?.byPath
        for file in swap.backups where try tree.status(of: file.backup) != nil {
            if try !isOwn(file.backup, known) { return file.backup }
        }
        if try !isOwnLink() { return RollbackPlan.scratch("link", swap) }
        for purpose in ["live", "whole"] {
            let copy = RollbackPlan.scratch(purpose, swap)
            if try !isOwnCopy(copy) { return copy }
        }
        return nil
    }

    /// Whether what has the name of a rollback's copy, if anything, is that copy, or what had the
    /// store's name before it.
    private func isOwnCopy(_ path: FilePath) throws(DurableFileError) -> Bool {
        guard let copies, let left = try tree.status(of: path) else { return true }
        return (copies + swap.known).contains { $0.isFile(left.identity) }
    }

    /// Whether what has the name from which the original takes the store's in a rollback, if
    /// anything, is the original, a copy of it, or what had the store's name after the swap.
    ///
    /// - Throws: `DurableFileError`.
    func isOwnLink() throws(DurableFileError) -> Bool {
        let link = RollbackPlan.scratch("link", swap)
        guard let left = try tree.status(of: link), left.isRegularFile else { return true }
        let known = [swap.store, swap.newFile] + [swap.snapshot].compactMap(\.self)
        if known.contains(where: { $0.isFile(left.identity) }) { return true }
        guard let backup = try tree.status(of: swap.mainBackup) else { return false }
        if backup.identity.isFile(left.identity) { return true }
        guard backup.size == left.size else { return false }
        let file = try tree.openForReading(link)
        return try file.hasSameContents(as: tree.openForReading(swap.mainBackup))
    }

    /// Whether nothing is lost with a file that a killed process left; another program's log may be
    /// one of those that were being removed.
    private func isDisposable(_ file: FilePath) throws(DurableFileError) -> Bool {
        let isAside = StoreCompanion.allCases.contains {
            swap.aside(StoreLocation(swap.store.path).companion($0)) == file
        }
        guard isAside, let left = try tree.status(of: file), left.size > 0 else { return true }
        return (swap.known + (copies ?? [])).contains { $0.isFile(left.identity) }
    }

    /// Whether two names have one file, or equal contents.
    private func isCopied(
        _ file: FilePath, to other: FilePath
    ) throws(DurableFileError) -> Bool {
        guard let one = try tree.status(of: file), let two = try tree.status(of: other),
            two.isRegularFile
        else { return false }
        if one.identity.isFile(two.identity) { return true }
        guard one.size == two.size else { return false }
        return try tree.openForReading(file).hasSameContents(as: tree.openForReading(other))
    }

    /// Removes the backup; what is gone already is fine, and what is not this swap's stays.
    ///
    /// - Returns: the last copies that stay.
    /// - Throws: `DurableFileError`.
    @discardableResult
    func run() throws(DurableFileError) -> [FilePath] {
        guard try tree.status(of: swap.backupFolder) != nil else { return [] }
        var kept: [FilePath] = []
        let known = swap.record?.byPath
        for file in swap.backups where try isOwn(file.backup, known) {
            try tree.unlinkIfPresent(file.backup)
        }
        try tree.syncFolder(swap.backupFolder)
        for file in swap.scratch where try isDisposable(file) { try tree.unlinkIfPresent(file) }
        if let folder = swap.externalData, let support {
            let files = try external()
            for file in files where try isOwn(file, known) {
                let original = folder.original.appending(file.lastComponent)
                let isTemporary = StoreMoves.isTemporary(file.lastComponent)
                if keepsLastCopies, !isTemporary, try !isCopied(file, to: original) {
                    kept.append(file)
                    continue
                }
                try tree.unlinkIfPresent(file)
            }
            if try !isShared() {
                for empty in [folder.backup, support] where try tree.status(of: empty) != nil {
                    try tree.removeEmptyFolder(empty)
                }
            }
        }
        try tree.removeEmptyFolder(swap.backupFolder)
        return kept
    }
}

extension SwapPlan {
    /// Names that a swap or its rollback may have left in the backup's folder when it was killed.
    var scratch: [FilePath] {
        let scratch = ["live", "whole", "link"].map { RollbackPlan.scratch($0, self) }
        let companions = scratch.flatMap { file in
            StoreLocation(file).companions
        }
        return scratch + companions
            + StoreCompanion.allCases.map { aside(StoreLocation(store.path).companion($0)) }
            + (backups.flatMap { [$0.backup, $0.original.path] } + scratch).map(
                StoreMoves.temporary)
    }
}
