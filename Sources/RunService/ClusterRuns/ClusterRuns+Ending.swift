import Jobs
import RunLedger
import RunMoves
package import StateFolders
import StoreRuns

// What is left to do of runs that are over.

extension ClusterRuns {
    /// Cancels every unfinished store of a cancelled run but those that are at work, and failed
    /// ones whose publication was stopped halfway.
    ///
    /// - Parameters:
    ///   - run: that was cancelled.
    ///   - busy: numbers that are left alone.
    /// - Throws: `RunError` where the ledger cannot be written.
    package func cancelRest(_ run: ClusterRun, but busy: Set<Int>) throws(RunError) {
        let selected = try selected(
            RunSelection(state: dependencies.state, run: run.id), wanted: [])
        let deliveries = ResultIntake(of: run, checked: ResultIntake.CheckedFiles())
        let states: Set<StoreState> = [.waiting, .running, .validated, .failed]
        _ = try selected.forEach(in: states) { store throws(RunError) in
            guard !busy.contains(store.number) else { return }
            do throws(RunError) {
                guard try selected.isCancelledWithRun(store) else { return }
                let outcome = try selected.cancel(store) { () throws(RunError) in
                    try deliveries.removeAll(of: store.found)
                }
                if outcome == .swapHasBegun { try endSwap(of: store, in: run, deliveries) }
            } catch {
                // One store must not keep the others; the next start tries it again.
                if case .ledger = error { throw error }
                dependencies.environment.warn(
                    "could not cancel \(store.found.path) of the run \(run.id): \(error)")
            }
        }
    }

    /// Whether a failed store of a run has a publication that was stopped halfway.
    ///
    /// - Throws: `RunError` where the ledger cannot be read.
    /// - Complexity: one look at the ledger for each failed store.
    package func hasStoppedPublication(in run: String) throws(RunError) -> Bool {
        let selected = try selected(
            RunSelection(state: dependencies.state, run: run), wanted: [])
        var isFound = false
        _ = try selected.forEach(in: [.failed]) { store throws(RunError) in
            if !isFound { isFound = try selected.isCancelledWithRun(store) }
        }
        return isFound
    }

    /// Completes the swap of a store that stands between two names, whose run was cancelled.
    ///
    /// What stands in its way is reported; the next start tries again.
    private func endSwap(
        of store: StoreSummary, in run: ClusterRun, _ intake: ResultIntake
    ) throws(RunError) {
        let mover = CutOver(run.context)
        do throws(RunError) {
            guard let move = try mover.resumable(store.found) else { return }
            let result = try mover.move(move)
            try intake.removeAll(of: store.found)
            let records = try mover.moved(move, result)
            try run.context.record(
                records + [
                    .storeChanged(
                        run: run.id, store: store.number, .done, reason: nil,
                        at: dependencies.environment.wallTime()),
                    .released(run: run.id, store: store.number),
                ])
        } catch {
            if case .ledger = error { throw error }
            dependencies.environment.warn(
                "the swap of \(store.found.path), whose run \(run.id) was cancelled, is not "
                    + "complete: \(error)")
        }
    }

    /// Removes what was made of unfinished stores, where a run ends because the disk is full.
    ///
    /// What stays would only keep space from others. A result whose move has begun stays.
    ///
    /// - Throws: `RunError` where the ledger cannot be read.
    package func removeUnfinishedFiles(of run: String) throws(RunError) {
        let shared = try ClusterRun(try find(run), dependencies)
        let deliveries = ResultIntake(of: shared, checked: ResultIntake.CheckedFiles())
        let selected = try selected(
            RunSelection(state: dependencies.state, run: run), wanted: [])
        // One whose beginning could not be recorded still waits.
        _ = try selected.forEach(in: [.waiting, .running]) { store throws(RunError) in
            guard try !shared.hasUnfinishedMove(store.found) else { return }
            guard try !deliveries.keepsResult(store.found) else { return }
            try deliveries.removeAll(of: store.found)
        }
        try shared.clean()
    }
}
