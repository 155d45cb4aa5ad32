import Jobs
import RunLedger
package import StoreRuns

/// Gives an unfinished run up.
package struct CancelRun: Sendable {
    private let selection: RunSelection
    private let environment: RunEnvironment

    package init(_ selection: RunSelection, environment: RunEnvironment) {
        self.selection = selection
        self.environment = environment
    }

    /// Cancels the run and every store that has not come to its end; what they left is removed.
    ///
    /// Of one store only that one is given up, also where it failed: the run goes on without it.
    ///
    /// - Returns: the run's id and how many stores were given up.
    /// - Throws: `RunError.nothingToDo` for a run that has ended, and for a store that is done.
    package func run() throws(RunError) -> (run: String, stores: Int) {
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
            let states: Set<StoreState> =
                isWhole
                ? [.waiting, .running, .validated] : [.waiting, .running, .validated, .failed]
            // All are looked at before any is given up: a run is cancelled as a whole.
            _ = try selected.forEach(in: states) { store throws(RunError) in
                // A store whose swap has begun must not be left between two names.
                guard try selected.begunSwap(of: store) == nil else {
                    throw .nothingToDo(
                        "the swap of \(store.found.path) has begun: go on with the run by the "
                            + "command that began it, or put the store back by godwit rollback. "
                            + "Nothing was cancelled")
                }
            }
            var count = 0
            var isDone = false
            _ = try selected.forEach(in: states) { store throws(RunError) in
                let outcome = try selected.cancel(store) { () throws(RunError) in
                    let places = try selected.presentPlaces(of: store)
                    try RunError.translating { try places?.removeAll(environment.files) }
                }
                if outcome == .cancelled { count += 1 }
                if outcome == .isDone { isDone = true }
            }
            let book = RunRegistry(ledger: ledger, environment: environment)
            if isWhole {
                try book.change(selected.run.id, .cancelled, "cancelled by the user")
            } else {
                guard count > 0 || isDone else {
                    throw .nothingToDo(
                        "the store is not waiting, under way or failed in the run "
                            + "\(selected.run.id): there is nothing to cancel")
                }
                try book.endIfFinished(selected.run.id)
                guard !isDone else {
                    throw .nothingToDo(
                        "the result of the store has its name already: the store is done")
                }
            }
            return (selected.run.id, count)
        }
    }
}
