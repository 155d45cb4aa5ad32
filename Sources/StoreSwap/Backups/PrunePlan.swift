package import CoreDataStore
package import DurableFiles
import SafeSQLite
package import StoreLocks

/// What of a store's backup is to be removed for good.
package struct PrunePlan: Hashable, Sendable, Codable {
    /// The swap that made the backup.
    package let swap: SwapPlan
    /// Files of external data that the original alone referred to, as they are recorded.
    package let stale: [BackupRecord.Entry]
    /// What may have the store's name, and what may lie beside it, as far as the run gave it.
    private let known: [PlannedFile]
    /// Whether the original has its own name, so that copies go that were not recorded any more.
    package let isOriginal: Bool
    /// Names of external data that the live store refers to.
    private let needed: Set<String>
    /// Whether external data stay that only the backup has.
    private let keepsLastCopies: Bool
    /// Bytes that the file system gets back: of files that have no other name.
    package let bytes: Int64

    /// Looks at a backup and decides what goes; nothing is removed.
    ///
    /// - Parameters:
    ///   - swap: the plan of the swap that made the backup.
    ///   - backupNames: names of external data that the original refers to.
    ///   - storeNames: names that the live store refers to, its `-wal` included.
    ///   - existing: names that were there at the time of the swap; nil where that is unknown.
    ///   - isGivenUp: whether the swap will not be resumed: what has the store's name is all
    ///     that is needed then.
    ///   - rollback: of the swap, that was begun and is not recorded as done.
    ///   - files: through which the files are looked at.
    /// - Throws: `SwapError.swapRefused` where the swap is not finished and the backup is still
    ///   needed, and where a file of the backup is not the one that the swap put there; `.file`
    ///   where the store itself is gone, or the backup's folder is none.
    package init(
        _ swap: SwapPlan, backupNames: Set<String>, storeNames: Set<String>,
        existing: Set<String>? = nil, isGivenUp: Bool = false, rollback: RollbackPlan? = nil,
        files: DurableFileSystem
    ) throws(SwapError) {
        self = try SwapError.translating {
            let facts = try RollbackFacts(reading: swap, files: files)
            guard facts.position != .snapshot || isGivenUp else {
                throw SwapError.swapRefused(
                    store: swap.store.path.description,
                    reason: "its swap was interrupted and still needs the backup. Resume it or "
                        + "roll it back first")
            }
            var stale = backupNames.subtracting(storeNames)
            if let existing { stale.formIntersection(existing) }
            return try PrunePlan(
                swap, stale: facts.position == .original ? [] : stale,
                isOriginal: facts.position == .original || isGivenUp, needed: storeNames,
                keepsLastCopies: facts.position == .original || isGivenUp, rollback: rollback)
        }
    }

    /// Looks at the backup of a store that is gone, or is no Core Data store any more: all of it
    /// goes.
    ///
    /// - Parameters:
    ///   - swap: the plan of the swap that made the backup.
    ///   - rollback: of the swap, that was begun and is not recorded as done.
    /// - Throws: `SwapError.swapRefused` where a file of the backup is not the one that the swap
    ///   put there.
    package init(lost swap: SwapPlan, rollback: RollbackPlan?) throws(SwapError) {
        self = try SwapError.translating {
            try PrunePlan(
                swap, stale: [], isOriginal: true, needed: [], keepsLastCopies: false,
                rollback: rollback)
        }
    }

    private init(
        _ swap: SwapPlan, stale names: Set<String>, isOriginal: Bool, needed: Set<String>,
        keepsLastCopies: Bool, rollback: RollbackPlan?
    ) throws {
        self.swap = swap
        self.isOriginal = isOriginal
        self.needed = needed
        self.keepsLastCopies = keepsLastCopies
        known = swap.known + (rollback?.known ?? [])
        let copies = rollback.map { $0.copies + [$0.facts.live] }
        let tree = try HeldTree(swap.store.path.parent, store: swap.store.path)
        let external = StoreLocation(swap.store.path).externalData
        let removal = BackupRemoval(
            swap: swap, tree: tree, takesUnrecordedCopies: isOriginal, copies: copies)
        if let foreign = try removal.foreign() {
            throw SwapError.swapRefused(
                store: swap.store.path.description,
                reason: "\(foreign) is not the file that its swap put into the backup; nothing was "
                    + "removed. Move it away, then prune again")
        }
        let known = swap.record?.byPath
        stale = try names.sorted().compactMap { name in
            let path = external.appending(name)
            guard let found = try tree.status(of: path), found.isRegularFile else { return nil }
            let entry = try tree.entry(at: path, as: path, isCopy: false)
            guard let known, let backup = swap.externalData?.backup.appending(name) else {
                return entry
            }
            // What has the name now may be another file than the original's.
            guard let original = known[backup] else { return nil }
            return original.isCopy || original.isFile(entry.identity) ? entry : nil
        }
        var counted: [FileIdentity: (names: UInt64, links: UInt64)] = [:]
        let own = try (swap.backups.map(\.backup) + removal.external()).filter { path in
            try removal.isOwn(path, known)
        }
        for path in own + swap.scratch + stale.map(\.path) {
            try PrunePlan.count(tree.status(of: path), &counted)
        }
        bytes = counted.filter { $0.value.names >= $0.value.links }.reduce(0) { sum, file in
            sum.addingClamped(file.key.size)
        }
    }

    private static func count(
        _ status: FileStatus?, _ names: inout [FileIdentity: (names: UInt64, links: UInt64)]
    ) throws(DurableFileError) {
        guard let status, status.isRegularFile else { return }
        names[status.identity, default: (0, status.links)].names += 1
    }

    /// Removes what the plan names; what is gone already is fine, so it can be done again.
    ///
    /// - Parameters:
    ///   - system: through which files are removed.
    ///   - lock: of the store, so that no rollback needs the backup meanwhile; nil where the store
    ///     is gone.
    /// - Returns: files that now lie beside the store under names of their own: what a command that
    ///   was killed had moved aside.
    /// - Throws: `SwapError.file`.
    @discardableResult
    package func run(
        files system: DurableFileSystem, under lock: StoreLock?
    ) throws(SwapError) -> [FilePath] {
        try SwapError.translating {
            let store = swap.store.path
            let kept = try lock.map { lock in
                let moves = try StoreMoves(
                    store: store, files: system, lock: lock, clients: ClientPolicy())
                defer { moves.admitClients() }
                return try moves.settleAsides(of: swap, known: known)
            }
            let tree = try HeldTree(store.parent, store: store, faults: system.faults)
            try putBackNeeded(tree)
            // First: once the main file of the backup is gone, no rollback is tried.
            let last = try BackupRemoval(
                swap: swap, tree: tree, takesUnrecordedCopies: isOriginal,
                keepsLastCopies: keepsLastCopies
            ).run()
            for file in stale {
                guard let found = try tree.status(of: file.path), file.isFile(found.identity)
                else { continue }
                try tree.unlinkIfPresent(file.path)
            }
            for folder in Set(stale.map(\.path.parent)) { try tree.syncFolder(folder) }
            return (kept ?? []) + last
        }
    }

    /// Gives files that the live store refers to, and that the backup alone has, their names back.
    private func putBackNeeded(_ tree: HeldTree) throws(DurableFileError) {
        guard let folder = swap.externalData, !needed.isEmpty else { return }
        for name in needed.sorted() {
            let (backup, target) = (folder.backup.appending(name), folder.original.appending(name))
            guard let entry = swap.record?.entry(backup), try tree.status(of: target) == nil,
                let found = try tree.status(of: backup), found.isRegularFile,
                entry.isFile(found.identity)
            else { continue }
            try tree.makeFolders(folder.original, for: try tree.status(of: swap.store.path))
            do throws(DurableFileError) {
                try tree.link(backup, to: target)
            } catch {
                guard error.isWithoutHardLinks else { throw error }
                try tree.rename(backup, to: target, existing: .refuse)
            }
        }
        if try tree.status(of: folder.original) != nil { try tree.syncFolder(folder.original) }
    }
}

/// Names of external data.
package enum ExternalNames {
    /// The names of all files of external data that a store refers to.
    ///
    /// - Throws: `SwapError.store`.
    /// - Complexity: one pass over each table with such an attribute.
    package static func referenced(by store: SourceStore) throws(SwapError) -> Set<String> {
        try SwapError.translating {
            var names: Set<String> = []
            let connection = try store.connect()
            try ExternalDataSurvey.references(in: store.layout, connection) { names.insert($0) }
            try connection.close()
            return names
        }
    }
}
