import CoreDataStore
package import DurableFiles
import SafeSQLite
package import StoreLocks

/// Puts originals back.
package struct Rollback {
    let files: DurableFileSystem
    let clients: ClientPolicy
    private let reportKept: (FilePath) -> Void

    /// - Parameters:
    ///   - files: through which files are changed.
    ///   - clients: how long to wait for programs that have the store or its backup open.
    ///   - reportKept: told, where a call throws, of each file that lies beside the store under a
    ///     name of its own since.
    package init(
        files: DurableFileSystem, clients: ClientPolicy = ClientPolicy(),
        reportKept: @escaping (FilePath) -> Void = { _ in }
    ) {
        self.files = files
        self.clients = clients
        self.reportKept = reportKept
    }

    /// Looks at the store and its backup, makes the copies that are needed, and plans.
    ///
    /// Copies go to the backup's folder; the store is only read. Done again after a crash, it
    /// starts from the beginning.
    ///
    /// - Parameters:
    ///   - swap: the plan of the swap, done or stopped on its way.
    ///   - discardsChanges: whether what was written to the store since may be lost.
    ///   - lock: of the store.
    /// - Returns: the plan, to be recorded before `run`.
    /// - Throws: `SwapError`: as `RollbackPlan.copies`, `.storeBusy` where a program has the
    ///   store open, `.file`, which may be out of space: the copies take as much as the stores.
    package func prepare(
        _ swap: SwapPlan, discardsChanges: Bool, under lock: StoreLock
    ) throws(SwapError) -> RollbackPlan {
        try SwapError.translating {
            let moves = try StoreMoves(
                store: swap.store.path, files: files, lock: lock, clients: clients)
            defer { lock.admitClients() }
            try moves.cover(swap.store.path)
            try coverBackup(of: swap, moves)
            try moves.checkUnwritten(swap.backups)
            let facts = try RollbackFacts(reading: swap, files: moves.files)
            let copies = try RollbackPlan.copies(facts, discardsChanges: discardsChanges)
            // A swap that stopped after its backup has changed none of them.
            if !discardsChanges, facts.position != .original {
                try moves.checkExternalData(of: swap)
            }
            let settled = try copies.settled.map { copy in
                try make(copy, of: swap.store.path, swap, moves)
            }
            let whole = try copies.whole.map { copy in
                try make(copy, of: swap.mainBackup, swap, moves)
            }
            return RollbackPlan(
                facts, settled: settled, whole: whole, discardsChanges: discardsChanges)
        }
    }

    /// Keeps clients out of the backup: one that still has it open from before the swap would
    /// write to the store beside a `-wal` that it does not know.
    private func coverBackup(of swap: SwapPlan, _ moves: StoreMoves) throws {
        guard let backup = try moves.tree.status(of: swap.mainBackup),
            !backup.identity.isFile(try moves.live())
        else { return }
        try moves.cover(swap.mainBackup)
    }

    private func make(
        _ copy: RollbackPlan.Copy, of database: FilePath, _ swap: SwapPlan, _ moves: StoreMoves
    ) throws -> PlannedFile {
        try SettledCopy.make(
            of: database, with: copy.kind, at: copy.path, named: swap.store.path,
            files: moves.files)
        return try moves.taken(copy.path, attributesOf: database)
    }

    /// Carries out a plan, or what is left of it after a crash.
    ///
    /// The store's own state has the last word on where to resume, as with `Swapper.run`.
    ///
    /// - Parameters:
    ///   - plan: as it was recorded.
    ///   - first: the first step that is not known to be done.
    ///   - lock: of the plan's store.
    ///   - journal: called for each step before and after; what it throws ends the rollback
    ///     between two steps.
    /// - Throws: what the journal throws, or `SwapError`: `.storeBusy`, `.storeChangedSinceSwap`
    ///   where a program wrote the store since the plan was made, and `.file`. The store is whole
    ///   after each.
    /// - Returns: the files that lost the store's name, to be kept as those of a swap, and those
    ///   that now have names of their own.
    @discardableResult
    package func run(
        _ plan: RollbackPlan, from first: Int = 0, under lock: StoreLock,
        journal: (Int, StepMoment) throws -> Void = { _, _ in }
    ) throws -> SwapReceipt {
        let swap = plan.facts.swap
        let moves = try StoreMoves(
            store: swap.store.path, files: files, lock: lock, clients: clients)
        var receipt = SwapReceipt()
        do {
            receipt.replaced = try SwapError.passing {
                try carryOut(plan, from: first, moves, journal)
            }
        } catch {
            moves.moved.kept.forEach(reportKept)
            // The first failure is the one to report; the next try looks at the files again.
            do { try withdrawCompanions(of: plan, moves) } catch {}
            do { try moves.releaseLog(removes: false) } catch {}
            throw error
        }
        receipt.kept = moves.moved.kept
        return receipt
    }

    private func carryOut(
        _ plan: RollbackPlan, from first: Int, _ moves: StoreMoves,
        _ journal: (Int, StepMoment) throws -> Void
    ) throws -> [ReplacedFile] {
        let swap = plan.facts.swap
        // While clients are kept out, SQLite cannot open the store either.
        try expectWhole(plan, moves)
        return try moves.whileClientsAreOut { letIn in
            try moves.cover(moves.store)
            try coverBackup(of: swap, moves)
            try moves.checkUnwritten(swap.backups)
            try moves.settleAsides(of: swap, known: plan.known)
            try moves.endExchanges(of: swap, insteadOf: plan.known, copies: plan.copies)
            let start = try resume(plan, from: first, moves)
            var isChanged = false
            for (index, step) in plan.steps.enumerated().dropFirst(start) {
                if !isChanged, step.changesStore {
                    try letIn()
                    isChanged = true
                }
                try journal(index, .begun)
                try SwapError.translating { try perform(step, plan, moves) }
                try journal(index, .done)
            }
        }
    }

    /// Takes the original's log or journal away from beside a file that a program has put in the
    /// store's place: that file would read wrong with it.
    ///
    /// Only what a rollback put there, and no program has written since: a second name of a
    /// file of the backup, or a copy that this process made. An empty one does no harm, and may be
    /// that program's.
    private func withdrawCompanions(of plan: RollbackPlan, _ moves: StoreMoves) throws {
        guard try isForeign(plan, moves) else { return }
        let companions = plan.facts.swap.backups.filter { $0.kind != nil && $0.hasContent }
        let left = try companions.filter { try isPutBack($0, moves) }
        guard !left.isEmpty else { return }
        let isHeld = moves.moved.logIndex != nil
        // A program that has opened the store uses what lies beside it, unless that is held.
        defer { moves.admitClients() }
        if !isHeld { try moves.cover(moves.store) }
        guard try isForeign(plan, moves) else { return }
        for file in left where try isPutBack(file, moves) {
            let open = try moves.tree.openForReading(file.original.path)
            try moves.tree.unlink(file.original.path)
            if file.kind == .writeAheadLog { moves.abandonLog(open) }
        }
        try moves.tree.syncFolder(moves.store.parent)
    }

    /// Whether what has the store's name is neither of the swap nor of the rollback.
    private func isForeign(_ plan: RollbackPlan, _ moves: StoreMoves) throws -> Bool {
        guard let live = try moves.tree.status(of: moves.store)?.identity,
            !plan.known.contains(where: { $0.isFile(live) })
        else { return false }
        // Where files have one name alone, the original comes back as a copy.
        return try !isCopiedBack(plan, live, moves.files)
    }

    private func isPutBack(_ file: BackedUpFile, _ moves: StoreMoves) throws -> Bool {
        guard let present = try moves.tree.status(of: file.original.path)?.identity,
            let backup = try moves.tree.status(of: file.backup)?.identity
        else { return false }
        return file.original.isSame(present) && present.isFile(backup)
            || moves.moved.companions.contains { $0.isSame(present) }
    }

    private func perform(
        _ step: RollbackStep, _ plan: RollbackPlan, _ moves: StoreMoves
    ) throws {
        let swap = plan.facts.swap
        switch step {
        case .restoreExternalData(let folder):
            try moves.restoreExternalData(
                folder, swap.record,
                others: plan.discardsChanges == true ? .areReplaced : .areRefused)
        case .replaceStore(let file): try moves.replaceStore(with: file, insteadOf: plan.known)
        case .removeCompanions(let paths):
            try moves.removeCompanions(paths, of: swap, known: plan.known)
        case .restoreCompanions(let backups):
            if backups.contains(where: { $0.kind == .writeAheadLog && $0.hasContent }) {
                try moves.holdLog(of: swap, known: plan.known)
            }
            try restore(backups, plan, moves)
        case .restoreMain(let main, let link):
            try moves.replaceStore(
                with: moves.linkMain(main, to: link, plan), insteadOf: plan.known)
            try moves.releaseLog(removes: true)
        case .removeAdded(let added, let folders):
            for addition in added {
                if let present = try moves.tree.status(of: addition.target),
                    addition.file.isFile(present.identity)
                {
                    try moves.remove(addition.target)
                }
            }
            for folder in folders { try moves.tree.removeEmptyFolder(folder) }
        case .removeBackup:
            // Since a rollback was stopped, a program may have removed one more file.
            if let folder = swap.externalData {
                try moves.restoreExternalData(folder, swap.record, others: .stay)
            }
            let removal = BackupRemoval(
                swap: swap, tree: moves.tree, takesUnrecordedCopies: true, keepsLastCopies: true)
            moves.moved.kept += try removal.run()
        }
    }

    func restore(
        _ backups: [BackedUpFile], _ plan: RollbackPlan, _ moves: StoreMoves
    ) throws {
        let swap = plan.facts.swap
        for file in backups {
            let live = try moves.live()
            guard
                try plan.known.contains(where: { $0.isFile(live) })
                    || isCopiedBack(plan, live, moves.files)
            else { throw SwapError.changed(moves.store) }
            let target = file.original.path
            // A swap that stopped early has no backup of what is still in its place.
            if !file.hasContent, try moves.tree.status(of: file.backup) == nil { continue }
            // A program may have written to it by its other name, before a crash or after one.
            let backup = try RollbackFacts.Backup(file, of: swap, in: moves.tree)
            guard backup.isWhole, let found = backup.found else {
                throw SwapError.storeChangedSinceSwap(store: moves.store.description)
            }
            if let kind = file.kind, let present = try moves.tree.status(of: target),
                !file.original.isFile(present.identity),
                try kind.content(of: moves.store, files: moves.files) != .none,
                try !isEqual(target, file.backup, moves.files)
            {
                throw SwapError.storeChangedSinceSwap(store: moves.store.description)
            }
            let put = try moves.linkOrClone(file.backup, to: target, where: found.isSame)
            if file.kind != nil { moves.moved.companions.append(put.file) }
        }
        try moves.tree.syncFolder(moves.store.parent)
    }

    func isEqual(
        _ left: FilePath, _ right: FilePath, _ files: DurableFileSystem
    ) throws -> Bool {
        let first = try ContentDigest.hexadecimal(of: left, files: files)
        return try first == ContentDigest.hexadecimal(of: right, files: files)
    }

    /// Where to begin: what has the store's name tells which steps are done for certain.
    private func resume(
        _ plan: RollbackPlan, from first: Int, _ moves: StoreMoves
    ) throws -> Int {
        let live = try moves.live()
        let main = plan.steps.firstIndex { if case .restoreMain = $0 { true } else { false } }
        func place(of file: PlannedFile) -> Int? {
            plan.steps.firstIndex { $0 == .replaceStore(file) }
        }
        if let main, first > main { return try resumeAfterMain(plan, from: first, live, moves) }
        let original = plan.facts.swap.store
        if let main, plan.facts.position != .original, original.isFile(live) {
            if original.isSame(live) { try restoreLostLogs(plan, moves) }
            // Once its backup's name is gone, all else is done.
            let isBackedUp = try moves.tree.status(of: plan.facts.swap.mainBackup) != nil
            guard isBackedUp else { return max(first, plan.steps.count - 1) }
            guard !original.isSame(live) else { return max(first, main) }
            // Its name must be safe before the backup's goes, for that step is not done again.
            try moves.tree.syncFolder(moves.store.parent)
            return try resumeAfterMain(plan, from: max(first, main + 1), live, moves)
        }
        if let main, try isCopiedBack(plan, live, moves.files) { return max(first, main) }
        if let main, try isWrittenWhole(plan, live, moves) { return max(first, main + 1) }
        if let whole = plan.whole, whole.isSame(live) {
            return max(first, place(of: whole) ?? first)
        }
        let earliest: Int
        if let settled = plan.settled, settled.isSame(live) {
            earliest = place(of: settled) ?? first
        } else if plan.facts.live.isSame(live) {
            earliest = 0
        } else {
            throw SwapError.storeChangedSinceSwap(store: moves.store.description)
        }
        // Nothing but what the plan knows may lie beside what it is to replace.
        for kind in try moves.companionsWithContent() {
            let present = try PlannedFile(at: StoreLocation(moves.store).companion(kind))
            let isKnown =
                plan.facts.companions.contains { $0.file.isSame(present.identity) }
                || plan.facts.swap.backups.contains { $0.original.isSame(present.identity) }
            guard isKnown else {
                throw SwapError.storeChangedSinceSwap(store: moves.store.description)
            }
        }
        return max(first, earliest)
    }
}

extension RollbackStep {
    /// Whether a program that opened the store before the step would do harm after it.
    fileprivate var changesStore: Bool {
        switch self {
        case .replaceStore, .removeCompanions, .restoreCompanions, .restoreMain: true
        case .restoreExternalData, .removeAdded, .removeBackup: false
        }
    }
}
