import CoreDataStore
import DurableFiles
import Jobs
import MigrationEngine
import MigrationPlans
import RunLedger
import RunMoves
import SafeSQLite
import StateFolders
import StoreRuns
import Synchronization

// Shards that workers deliver.

extension ResultIntake {
    /// Looks through a shard, and discards one that is not what the job makes.
    func checkShard(
        _ receipt: Receipt, of found: FoundStore, _ target: FilePath, _ preparation: Preparation?
    ) throws(RunError) {
        guard let preparation else {
            throw .badDelivery("its store was not cut into chunks")
        }
        let file = try plan(of: found, digest: preparation.planDigest)
        for name in names(of: receipt) {
            let shard = target.appending(name)
            let faults: [String]
            do throws(EngineError) {
                faults = try ShardCheck(file).faults(
                    of: shard, receipt.work, rows: receipt.rows, counts: receipt.counts)
            } catch {
                let failure = RunError.engine(error)
                if failure.isOutOfSpace || failure.isOutOfMemory || failure.isCancelled {
                    throw failure
                }
                faults = ["it cannot be read"]
            }
            guard !faults.isEmpty else { continue }
            try RunError.translating { try files.unlink(shard) }
            throw .badDelivery("\(name): \(faults.joined(separator: "; "))")
        }
    }

    private func plan(of found: FoundStore, digest: String) throws(RunError) -> PlanFile {
        if let known = checked.plan.withLock({ $0 }), known.digest == digest { return known }
        let (_, result) = try shared.locations(of: found)
        let places = shared.context.places(of: found, result: result)
        let file = try RunError.engine { () throws(EngineError) in
            try PlanFile(reading: places.plan, digest: digest)
        }
        checked.plan.withLock { $0 = file }
        return file
    }
}
