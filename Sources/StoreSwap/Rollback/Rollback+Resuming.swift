import CoreDataStore
package import DurableFiles
import SafeSQLite
import StoreLocks

// MARK: - Rollbacks that a process began and did not live to end

extension Rollback {
    /// Where to resume once the original has its name again.
    ///
    /// What a program wrote to it since is kept, and then what lay beside it before does not fit
    /// any more.
    func resumeAfterMain(
        _ plan: RollbackPlan, from first: Int, _ live: FileIdentity, _ moves: StoreMoves
    ) throws -> Int {
        let isAsItWas = plan.facts.swap.store.isSame(live)
        if try isAsItWas || isCopiedBack(plan, live, moves.files) {
            try restoreLostLogs(plan, moves)
            return first
        }
        // A program that writes to a store leaves a database.
        let header = try moves.tree.openForReading(moves.store).read(
            count: StoreFingerprint.headerBytes, at: 0)
        guard case .success = DatabaseHeader.read(header) else {
            throw SwapError.storeChangedSinceSwap(store: moves.store.description)
        }
        let last = plan.steps.lastIndex {
            if case .restoreCompanions = $0 { true } else { false }
        }
        return max(first, last.map { $0 + 1 } ?? first)
    }

    /// Expects a file of a rollback that was stopped, and that was written since it got the store's
    /// name, to be whole: a backup goes only where a program wrote, and not where one did damage.
    ///
    /// - Throws: `SwapError.storeChangedSinceSwap`.
    func expectWhole(_ plan: RollbackPlan, _ moves: StoreMoves) throws {
        let live = try moves.live()
        let own = plan.copies + [plan.facts.swap.store]
        guard let file = own.first(where: { $0.isFile(live) }), !file.isSame(live) else { return }
        // To SQLite, an empty file is a database.
        guard live.size > 0 else {
            throw SwapError.storeChangedSinceSwap(store: moves.store.description)
        }
        do {
            let connection = try Connection(path: moves.store, mode: .immutable)
            guard try connection.checkPages() == ["ok"] else {
                throw SwapError.storeChangedSinceSwap(store: moves.store.description)
            }
            try connection.close()
        } catch is StoreError {
            throw SwapError.storeChangedSinceSwap(store: moves.store.description)
        }
    }

    /// Gives a log or journal its name back that is gone from beside an original that is as it was:
    /// no program has moved its pages into that.
    ///
    /// - Throws: `SwapError.storeChangedSinceSwap` where another log has the name.
    func restoreLostLogs(_ plan: RollbackPlan, _ moves: StoreMoves) throws {
        for log in plan.facts.swap.backups where log.kind != nil && log.hasContent {
            let beside = try moves.tree.status(of: log.original.path)
            guard let backup = try moves.tree.status(of: log.backup) else { continue }
            if let beside, beside.size > 0 {
                guard try continues(beside, log, backup, moves) else {
                    throw SwapError.storeChangedSinceSwap(store: moves.store.description)
                }
            } else {
                try restore([log], plan, moves)
            }
        }
    }

    /// Whether a log beside the store is that of the backup, perhaps with more behind it.
    private func continues(
        _ beside: FileStatus, _ log: BackedUpFile, _ backup: FileStatus, _ moves: StoreMoves
    ) throws -> Bool {
        if beside.identity.isFile(backup.identity) { return true }
        guard beside.size >= backup.size else { return false }
        let count = StoreFingerprint.writeAheadLogHeaderBytes
        let start = try moves.tree.openForReading(log.original.path).read(count: count, at: 0)
        return try start == moves.tree.openForReading(log.backup).read(count: count, at: 0)
    }

    /// Whether a program has written to the copy that holds all of the original, before that took
    /// its place: what it wrote is kept, as in the original itself.
    func isWrittenWhole(
        _ plan: RollbackPlan, _ live: FileIdentity, _ moves: StoreMoves
    ) throws -> Bool {
        guard let whole = plan.whole, whole.isFile(live) else { return false }
        let known = plan.facts.companions.map(\.file) + plan.facts.swap.backups.map(\.original)
        return try !whole.isSame(live)
            || moves.companionsWithContent().contains { kind in
                let beside = try PlannedFile(
                    at: StoreLocation(moves.store).companion(kind), in: moves.tree)
                if known.contains(where: { $0.isSame(beside.identity) }) { return false }
                // Where files have one name alone, it is a copy.
                let backup = plan.facts.swap.backups.first { $0.kind == kind }?.backup
                guard let backup, try moves.tree.status(of: backup) != nil else { return true }
                let other = try PlannedFile(at: backup, in: moves.tree)
                guard !other.isFile(beside.identity) else { return true }
                return try !isEqual(beside.path, backup, moves.files)
            }
    }

    /// Whether a rollback has given the store's name to another file.
    ///
    /// - Parameters:
    ///   - plan: as it was recorded.
    ///   - live: what has the store's name.
    /// - Returns: whether that is one of its copies or the original; what a program has put there
    ///   is neither.
    /// - Throws: `DurableFileError`.
    package func hasBegun(_ plan: RollbackPlan, live: FileIdentity) throws -> Bool {
        if plan.facts.live.isFile(live) { return false }
        return try (plan.copies + [plan.facts.swap.store]).contains { $0.isFile(live) }
            || isCopiedBack(plan, live, files)
    }

    /// Whether the store is a copy of a backup that is a copy itself, made before a crash.
    func isCopiedBack(
        _ plan: RollbackPlan, _ live: FileIdentity, _ files: DurableFileSystem
    ) throws -> Bool {
        let original = plan.facts.swap.store
        let backup = plan.facts.swap.mainBackup
        guard live.size == original.identity.size, !plan.facts.live.isSame(live),
            plan.whole?.isSame(live) != true, plan.settled?.isSame(live) != true,
            let status = try FileStatus.ifPresent(backup), !original.isFile(status.identity)
        else { return false }
        return try isEqual(original.path, backup, files)
    }
}
