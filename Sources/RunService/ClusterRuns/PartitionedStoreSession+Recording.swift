import Jobs
import MigrationEngine
import MigrationPlans
import StateFolders
import StoreRuns

extension PartitionedStoreSession {
    /// The sums over what policies gave and the result has, by labels.
    func recordedSums() throws(RunError) -> [String: ContentSum] {
        let (planned, _) = try known()
        guard !planned.plan.recordedLabels.isEmpty else { return [:] }
        let record = PolicyRecord(places, files)
        let removed = try RunError.engine { () throws(EngineError) in try record.read() }
        var sums: [String: ContentSum] = [:]
        for receipt in try receipts() {
            for (label, sum) in receipt.sums { sums[label, default: ContentSum()].add(sum) }
        }
        for (label, sum) in removed { sums[label, default: ContentSum()].subtract(sum) }
        return sums
    }
}
