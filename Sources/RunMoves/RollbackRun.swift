import DurableFiles
import Jobs
import MigrationPlans
import RunLedger
package import StateFolders
package import StoreLocks
import StoreRuns
import StoreSwap

/// Puts the originals of a run back.
package struct RollbackRun: Sendable {
    private let selection: RunSelection
    private let discardsChanges: Bool
    private let environment: RunEnvironment
    private let clients: ClientPolicy

    /// - Parameters:
    ///   - selection: the run, or one store of it.
    ///   - discardsChanges: whether what was written to a store since its swap may be lost.
    ///   - clients: how programs that have a store or its backup open are treated.
    ///   - environment: files and clocks.
    package init(
        _ selection: RunSelection, discardsChanges: Bool,
        clients: ClientPolicy = ClientPolicy(), environment: RunEnvironment
    ) {
        self.selection = selection
        self.clients = clients
        self.discardsChanges = discardsChanges
        self.environment = environment
    }

    private var files: DurableFileSystem { environment.files }

    /// Rolls every swapped store back; one store's failure stops no other.
    ///
    /// - Parameter observe: called for each store.
    /// - Throws: `RunError` where there is nothing to roll back, or the ledger cannot be written.
    package func run(_ observe: (StoreChange) -> Void) throws(RunError) {
        try StateFolder(selection.state, files: files).withLedger("rolling back") {
            ledger, state throws(RunError) in
            defer { environment.replaced.finish() }
            let selected = try SelectedRun(
                selection, ledger: ledger, state: state, environment: environment,
                wanted: [.done, .validated, .running, .failed],
                swapped: [.done, .running, .failed])
            var swapped = 0
            _ = try selected.forEach(in: [.done]) { store throws(RunError) in
                guard store.found.output == nil,
                    try selected.hasSwap(of: store)
                else { return }
                swapped += 1
                observe(try rollBack(store, selected))
            }
            // A process that died between the last rename and the ledger has swapped, too.
            _ = try selected.forEach(in: [.running, .failed]) { store throws(RunError) in
                guard try hasMoved(store, selected) else { return }
                swapped += 1
                observe(try discard(store, selected))
            }
            let waiting = try selected.forEach(in: [.validated]) { store throws(RunError) in
                observe(try discard(store, selected))
            }
            try selected.endIfFinished()
            guard swapped + waiting > 0 else {
                throw .nothingToDo(try absence(in: selected))
            }
        }
    }

    /// Why there is nothing to roll back.
    private func absence(in selected: SelectedRun) throws(RunError) -> String {
        let run = selected.run.id
        var pruned = 0
        _ = try selected.forEach(in: [.pruned]) { _ in pruned += 1 }
        if pruned > 0, let store = selection.store {
            return "\(store) was pruned from the run \(run): there is nothing to roll back"
        }
        if pruned > 0 {
            return "the run \(run) was pruned: there is nothing to roll back"
        }
        let what = selection.store.map { "\($0)" } ?? "no store"
        return "\(what) of the run \(run) is \(selection.store == nil ? "" : "not ")swapped in "
            + "now: there is nothing to roll back. godwit status lists the runs; name the one that "
            + "you mean"
    }

    /// Ends the rollbacks that a process began and did not live to end.
    ///
    /// Their stores are not what their states say: a run must not resume them.
    ///
    /// - Parameter selected: the run.
    /// - Throws: `RunError` where one cannot be ended; its store is whole, and the same command
    ///   tries again.
    package func finishStopped(in selected: SelectedRun) throws(RunError) {
        let numbers = try selected.read { ledger throws(LedgerError) in
            try ledger.storesWithRollback(of: selected.run.id)
        }
        for number in numbers {
            let store = try selected.read { ledger throws(LedgerError) in
                try ledger.store(run: selected.run.id, number)
            }
            guard let store else { continue }
            guard try selected.hasBegunRollback(of: store) else {
                try selected.settleStopped(store)
                continue
            }
            let change: StoreChange
            switch store.state {
            case .done: change = try rollBack(store, selected)
            case .running, .failed, .validated: change = try discard(store, selected)
            case .waiting, .rolledBack, .pruned, .cancelled: continue
            }
            if let failure = change.failure { throw failure }
        }
        try selected.endIfFinished()
    }

    /// Whether a process died in the middle of a store's swap, or of its rollback, once files had
    /// moved.
    private func hasMoved(
        _ store: StoreSummary, _ selected: SelectedRun
    ) throws(RunError) -> Bool {
        if try selected.begunSwap(of: store) != nil { return true }
        return try selected.hasBegunRollback(of: store)
    }

    // `way`: the states by which the store comes to the one that its rollback follows.
    private func rollBack(
        _ store: StoreSummary, _ selected: SelectedRun, by way: [StoreState] = []
    ) throws(RunError) -> StoreChange {
        do throws(RunError) {
            guard let swap = try selected.lastSwap(of: store)?.plan else {
                throw .engine(.internalError("a swapped store has no swap in the ledger"))
            }
            let kept = try RunError.translating {
                let made = try standIn(for: swap)
                do {
                    let lock = try StoreLock(swap.store.path, faults: files.faults)
                    defer { lock.release() }
                    return try rollBack(store, swap, selected, lock)
                } catch {
                    if let made { withdraw(made, from: swap.store.path) }
                    throw error
                }
            }
            // At the end and all at once: until then the result is not done, or not any more.
            try selected.record(
                way.map { selected.changed(store, $0) } + [
                    try entry(store, selected, isDone: true, detail: ""),
                    selected.changed(store, .rolledBack),
                ])
            let note =
                swap.record == nil
                ? "; an older Godwit made this swap without recording the backup. Godwit could "
                    + "check only its inode number (or, for a copy, size and type)" : ""
            let texts = ["rolled back" + note] + kept.map(CutOver.words(ofKept:))
            return StoreChange(
                path: store.found.path, failure: nil, text: texts.joined(separator: "; "))
        } catch {
            if case .ledger = error { throw error }
            return StoreChange(path: store.found.path, failure: error, text: "not rolled back")
        }
    }

    /// Puts an empty file in the place of a result that was removed: the original can take it.
    ///
    /// It belongs to the original's owner. To a program it is the same as no file, but where a log
    /// is left, which SQLite deletes beside an empty file: its main file may come back.
    ///
    /// - Returns: the file, where one was made.
    private func standIn(for swap: SwapPlan) throws -> FileIdentity? {
        let path = swap.store.path
        let tree = try HeldTree(path.parent, store: path, faults: files.faults)
        let present = try tree.status(of: path)
        if let present, !present.isRegularFile {
            throw DurableFileError.notRegularFile(path, kind: present.kind)
        }
        guard present == nil, let main = swap.backups.first,
            try tree.status(of: main.backup) != nil
        else { return nil }
        for kind in StoreCompanion.withContent where !discardsChanges {
            guard
                try tree.status(of: StoreLocation(path).companion(kind)).map({ $0.size == 0 })
                    ?? true
            else {
                throw SwapError.storeChangedSinceSwap(store: path.description)
            }
        }
        let made = try tree.create(path)
        _ = try files.copyAttributes(from: tree.openForReading(main.backup), to: made)
        let identity = try made.status().identity
        try made.close()
        return identity
    }

    /// Removes a stand-in of a rollback that was refused, unless a program has written to it.
    private func withdraw(_ made: FileIdentity, from path: FilePath) {
        do throws(DurableFileError) {
            let tree = try HeldTree(path.parent, store: path, faults: files.faults)
            guard let found = try tree.status(of: path)?.identity, found.isFile(made),
                found.size == 0
            else { return }
            let lock = try StoreLock(path, faults: files.faults)
            defer { lock.release() }
            try lock.keepClientsOut(of: path, clients)
            defer { lock.admitClients() }
            guard try tree.status(of: path)?.identity.isSame(made) == true else { return }
            try tree.unlink(path)
        } catch {
            // The refusal is what counts; an empty file is the same as none.
            return
        }
    }

    /// Carries out the plan of a rollback that an earlier process began, or a new one.
    private func rollBack(
        _ store: StoreSummary, _ swap: SwapPlan, _ selected: SelectedRun, _ lock: StoreLock
    ) throws -> [FilePath] {
        if let plan = try selected.unfinishedRollback(of: store) {
            do {
                return try run(plan, under: lock)
            } catch let error as SwapError {
                // The plan knows nothing of what was written since: that takes another one.
                guard case .storeChangedSinceSwap = error,
                    try discardsChanges || FileStatus.ifPresent(swap.store.path)?.size == 0
                else { throw error }
            }
        }
        let plan = try plan(store, swap, selected, lock)
        return try run(plan, under: lock)
    }

    private func run(_ plan: RollbackPlan, under lock: StoreLock) throws -> [FilePath] {
        let rollback = Rollback(
            files: files, clients: clients,
            reportKept: { [environment] in environment.warn(CutOver.words(ofKept: $0)) })
        let receipt = try rollback.run(plan, under: lock)
        environment.replaced.keep(receipt.replaced, of: plan.facts.swap)
        return receipt.kept
    }

    /// A new plan, in the ledger.
    private func plan(
        _ store: StoreSummary, _ swap: SwapPlan, _ selected: SelectedRun, _ lock: StoreLock
    ) throws -> RollbackPlan {
        let plan = try Rollback(files: files, clients: clients).prepare(
            swap, discardsChanges: discardsChanges, under: lock)
        try selected.record([
            try entry(
                store, selected, isDone: false, detail: RecordedText.text(of: plan))
        ])
        return plan
    }

    private func entry(
        _ store: StoreSummary, _ selected: SelectedRun, isDone: Bool, detail: String
    ) throws(RunError) -> LedgerRecord {
        .swapStep(
            run: selected.run.id, store: store.number,
            SwapEntry(.rollback, isDone ? .done : .planned, detail: detail))
    }

    /// The states by which a store whose swap was not recorded comes to the one after it.
    private static func way(toDoneFrom state: StoreState) -> [StoreState] {
        state == .failed ? [.waiting, .running, .done] : [.done]
    }

    /// Throws a result away that was never swapped in, or puts the original back.
    private func discard(
        _ store: StoreSummary, _ selected: SelectedRun
    ) throws(RunError) -> StoreChange {
        do throws(RunError) {
            if try hasMoved(store, selected) {
                // The process that swapped it died before it could say so.
                let change = try rollBack(
                    store, selected, by: Self.way(toDoneFrom: store.state))
                if change.failure == nil {
                    let places = try selected.places(of: store)
                    try RunError.translating { try places.removeAll(files) }
                }
                return change
            }
            let places = try selected.places(of: store)
            try selected.mover.settleAsides(of: store.found)
            try selected.mover.expectOriginal(of: store.found)
            try selected.discardBackup(of: store)
            try selected.record([selected.changed(store, .cancelled)])
            try RunError.translating { try places.removeAll(files) }
            return StoreChange(
                path: store.found.path, failure: nil, text: "its waiting result was removed")
        } catch {
            if case .ledger = error { throw error }
            return StoreChange(path: store.found.path, failure: error, text: "not removed")
        }
    }
}
