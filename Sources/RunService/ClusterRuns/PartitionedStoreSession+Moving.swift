import CoreDataStore
import DurableFiles
import Jobs
import MigrationPlans
package import RunLedger
import RunMoves
package import StateFolders
import StoreRuns

extension PartitionedStoreSession {
    /// Writes down how the validated result will move, where its swap is put off.
    ///
    /// - Throws: `RunError`; the call can be repeated.
    package func keep() throws(RunError) {
        _ = try recorded(keeps: true)
    }

    /// Gives the result its name.
    ///
    /// - Returns: what the ledger is to be told together with the store's new state.
    /// - Throws: `RunError`; the store is the whole original or the whole result.
    package func move() throws(RunError) -> [LedgerRecord] {
        let recorded: CutOver.Recorded
        if let unfinished = try mover.resumable(run.found, under: lock) {
            recorded = unfinished
        } else {
            recorded = try self.recorded(keeps: false)
        }
        guard let ending = try mover.finish([recorded], of: shared).first else {
            throw .engine(.internalError("\(run.found.path) was not moved"))
        }
        return try ending.result.get()
    }

    private func recorded(keeps: Bool) throws(RunError) -> CutOver.Recorded {
        let (planned, _) = try known()
        guard let report else {
            throw .engine(.internalError("\(run.found.path) was not validated"))
        }
        let building = try RunError.translating {
            try FileStatus(of: places.building).identity
        }
        let built = BuiltStore(
            found: run.found,
            result: StoreResult(
                planned, validation: report, output: run.found.output?.database,
                outputBytes: building.size, seconds: run.steps.seconds),
            fingerprint: planned.source.fingerprint, places: places,
            snapshot: planned.original.isSnapshot ? places.snapshot : nil, building: building,
            lock: lock, isDurable: true)
        guard let move = try mover.record([built], keeps: keeps).first?.move
        else {
            throw .engine(.internalError("\(run.found.path) has no move"))
        }
        switch move {
        case .success(let recorded):
            // Nothing reads the stores on the way any more.
            try RunError.translating { try places.removeSteps(planned.plan.leg, files) }
            return recorded
        case .failure(let error): throw error
        }
    }
}
