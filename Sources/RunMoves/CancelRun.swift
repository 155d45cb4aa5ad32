import DurableFiles
import Jobs
package import RunLedger
package import StateFolders
import StoreLocks
import StoreRuns

/// Cancels an unfinished run, or one of its stores.
package struct CancelRun: Sendable {
    private let selection: RunSelection
    private let environment: RunEnvironment

    package init(_ selection: RunSelection, environment: RunEnvironment) {
        self.selection = selection
        self.environment = environment
    }

    /// Cancels the run and every store that has not come to its end; what they left is removed.
    ///
    /// So is a failed store whose publication was stopped halfway.
    ///
    /// A selected store alone is cancelled, also where it failed: the run goes on without it. A
    /// store whose result has its name already is done instead.
    ///
    /// - Returns: the run's id, how many stores were cancelled, and how many had, or got, their
    ///   results.
    /// - Throws: `RunError.nothingToDo` for a run that has ended, for a store that is done, and
    ///   where a swap has begun; `.ledger` where the ledger cannot be read or written; other cases
    ///   where files cannot be removed.
    package func run() throws(RunError) -> (run: String, stores: Int, done: Int) {
        try StateFolder(selection.state, files: environment.files).withLedger("cancelling") {
            ledger, state throws(RunError) in
            let selected = try SelectedRun(
                selection, ledger: ledger, state: state, environment: environment,
                wanted: [.waiting, .running, .validated, .failed])
            let isWhole = selection.store == nil
            guard selected.run.state.isUnfinished || !isWhole else {
                throw .nothingToDo(
                    "the run \(selected.run.id) has ended: godwit rollback puts its originals "
                        + "back, godwit prune removes what it left")
            }
            let states: Set<StoreState> = [.waiting, .running, .validated, .failed]
            let looked = isWhole ? states.subtracting([.failed]) : states
            // All are looked at before any is cancelled: a run is cancelled as a whole.
            _ = try selected.forEach(in: looked) { store throws(RunError) in
                // A store whose swap has begun must not be left between two names.
                guard try selected.begunSwap(of: store) == nil else {
                    throw .nothingToDo(
                        "the swap of \(store.found.path) has started. Run the command of the run "
                            + "again to finish it, or run godwit rollback. Nothing was cancelled")
                }
            }
            var count = 0
            var done = 0
            _ = try selected.forEach(in: states) { store throws(RunError) in
                if isWhole {
                    guard try selected.isCancelledWithRun(store) else { return }
                }
                let outcome = try selected.cancel(store) { () throws(RunError) in
                    let places = try selected.presentPlaces(of: store)
                    try RunError.translating { try places?.removeAll(environment.files) }
                }
                if outcome == .cancelled { count += 1 }
                if outcome == .isDone { done += 1 }
            }
            let registry = RunRegistry(ledger: ledger, environment: environment)
            if isWhole {
                try registry.change(selected.run.id, .cancelled, .cancelled)
            } else {
                guard count > 0 || done > 0 else {
                    throw .nothingToDo(
                        "the store is not waiting, under way or failed in the run "
                            + "\(selected.run.id): there is nothing to cancel")
                }
                try registry.endIfFinished(selected.run.id)
                guard done == 0 else {
                    throw .nothingToDo(
                        "the result of the store already has its final name: the store is done")
                }
            }
            return (selected.run.id, count, done)
        }
    }
}

/// What became of a store that was to be cancelled.
package enum Cancellation: Hashable, Sendable {
    /// What was made of it is removed.
    case cancelled
    /// Its result had its name already.
    case isDone
    /// Nothing was done: its swap has begun.
    case swapHasBegun
}

extension SelectedRun {
    /// Cancels a store that has not come to its end; what was made of it is removed.
    ///
    /// A result that has its name already is complete: its store is done instead.
    ///
    /// - Parameters:
    ///   - store: of the run.
    ///   - removeFiles: removes what its migration made.
    /// - Returns: what became of it.
    /// - Throws: `RunError` where the ledger cannot be written, or files cannot be removed.
    package func cancel(
        _ store: StoreSummary, _ removeFiles: () throws(RunError) -> Void
    ) throws(RunError) -> Cancellation {
        // It must not be left between two names.
        guard try begunSwap(of: store) == nil else { return .swapHasBegun }
        var keepsFiles = false
        if store.found.output != nil {
            switch try endPublication(of: store, removeFiles) {
            case .isDone: return .isDone
            case .isKept: keepsFiles = true
            case .isTakenBack: break
            }
        } else {
            try mover.settleAsides(of: store.found)
            do throws(RunError) {
                try mover.expectOriginal(of: store.found)
            } catch {
                guard case .lostStore(let reason) = error else { throw error }
                environment.warn("\(store.found.path) is cancelled; \(reason)")
                keepsFiles = true
            }
        }
        if !keepsFiles { try discardBackup(of: store) }
        // Before its end is durable: a start looks again at stores that have not ended.
        if !keepsFiles, try isBegun(store) { try removeFiles() }
        try record([
            changed(store, .cancelled), .released(run: run.id, store: store.number),
        ])
        return .cancelled
    }

    /// Whether a store is cancelled with its run: it has not come to its end, or it failed and its
    /// publication was stopped halfway.
    ///
    /// - Throws: `RunError` where the ledger cannot be read.
    package func isCancelledWithRun(_ store: StoreSummary) throws(RunError) -> Bool {
        guard store.state == .failed else { return store.state.isUnfinished }
        guard store.found.output != nil else { return false }
        return try mover.unfinished(store.found) != nil
    }

    var mover: CutOver {
        CutOver(
            run: run.id, mark: mark, folders: folders, ledger: ledger, environment: environment,
            clients: ClientPolicy())
    }

    /// Takes back the external data of a publication that was stopped halfway.
    ///
    /// - Parameters:
    ///   - store: of the run.
    ///   - takesLost: takes back also what may be all that is left of the store.
    ///   - removes: whether to take them back; otherwise nothing is changed.
    /// - Throws: `RunError`, `.halfPublished` where they stay, `.lostStore` where the store is
    ///   gone.
    func takeBackPublication(
        of store: StoreSummary, takesLost: Bool, removes: Bool
    ) throws(RunError) {
        try mover.endHalf(
            of: store.found, wasCancelled: store.state == .cancelled, takesLost: takesLost,
            removes: removes)
    }

    /// How the publication of a cancelled store ends.
    private enum PublicationEnd {
        /// The result has its name.
        case isDone
        /// Nothing of it is at the names of the result, or what is there is not Godwit's to move.
        case isTakenBack
        /// It stays as it is until it is pruned: it may be all that is left of its store.
        case isKept
    }

    /// Completes a publication whose result has its name, or whose store is lost, and takes any
    /// other one back.
    ///
    /// An outdated or incomplete result stays with a warning.
    ///
    /// - Throws: `RunError` where the ledger or a file cannot be read or written.
    private func endPublication(
        of store: StoreSummary, _ removeFiles: () throws(RunError) -> Void
    ) throws(RunError) -> PublicationEnd {
        let mover = mover
        let unfinished = try mover.unfinished(store.found)
        do throws(RunError) {
            guard let move = unfinished else {
                try mover.expectOriginal(of: store.found)
                return .isTakenBack
            }
            let fate = try mover.fate(of: move)
            let hasBegun = try mover.hasBegun(move)
            var isToBeCompleted = hasBegun
            if !hasBegun {
                try mover.expectFolder(of: move)
                let waits = try mover.waits(move)
                if waits, fate == .uncertain { throw try mover.lastCopy(move) }
                isToBeCompleted = waits && fate == .lost
            }
            if isToBeCompleted {
                if fate == .lost { environment.warn(CutOver.words(ofLost: store.found.path)) }
                if case .publish(let plan) = move.way, fate == .written {
                    throw RunError.outdatedOutput(plan.output.database, store: move.result.store)
                }
                let result = try mover.move(move)
                if let error = mover.syncNames(of: [move]).values.first { throw error }
                try removeFiles()
                try record(
                    try mover.moved(move, result) + [
                        .released(run: run.id, store: store.number)
                    ] + states(of: store, upTo: .done))
                return .isDone
            }
            try mover.discardParts(of: move, evenIfLast: true)
            return .isTakenBack
        } catch {
            // A full or broken disk may be repaired; nothing else will ever change.
            let text: String
            switch error {
            case .lostStore(let reason):
                environment.warn("\(store.found.path) is cancelled; \(reason)")
                return .isKept
            case .halfPublished(let path, let folder):
                let reason =
                    path == folder
                    ? "they, or the result, have changed since" : "\(path) is beside them"
                text =
                    "the external data \(folder) of a stopped publication stay, because \(reason): "
                    + "remove them if no program needs them"
            case .outputExists, .outdatedOutput, .incompleteOutput, .file(.changedMeanwhile):
                text = "files of a stopped publication stay: \(error)"
            default: throw error
            }
            environment.warn("\(store.found.path) is cancelled; \(text)")
            guard let move = unfinished, try !mover.keepsLast(move) else { return .isKept }
            // What was built goes: nothing can be completed or taken back any more.
            try record([mover.void(store.found)])
            return .isTakenBack
        }
    }

    /// The changes that lead a store to its end, which the ledger takes one at a time.
    private func states(of store: StoreSummary, upTo end: StoreState) -> [LedgerRecord] {
        let between: [StoreState] =
            switch store.state {
            case .failed: [.waiting, .running]
            case .waiting: [.running]
            default: []
            }
        return (between + [end]).map { changed(store, $0) }
    }

    /// Whether anything may have been made of a store; one that waits for a replay was begun.
    private func isBegun(_ store: StoreSummary) throws(RunError) -> Bool {
        guard store.state == .waiting, store.preparation == nil else { return true }
        return try read { ledger throws(LedgerError) in
            try !ledger.jobHistories(run: run.id, store: store.number).isEmpty
        }
    }
}
