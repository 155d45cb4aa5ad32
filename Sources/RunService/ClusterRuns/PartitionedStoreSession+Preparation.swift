package import Jobs
package import MigrationEngine

// What preparing a store gives.
extension PartitionedStoreSession {
    /// How a store is to be migrated.
    package enum Preparation {
        case chunks(Chunks)
        /// After all it is one job.
        case whole(ClusterRun.WholeStore)
        /// It is of the destination's version already.
        case unchanged
    }

    /// What workers and the plan's owner go by.
    package struct Chunks {
        package let plan: FileReference
        package let planDigest: String
        package let source: FileReference
        package let support: FileReference?
        package let fingerprint: String
        package let engine: String
        /// The folder in which each attempt gets its own.
        package let attempts: FileReference
        package let hasSnapshot: Bool
        package let roots: Set<String>
        /// The migration policies that a worker must carry.
        package let policies: Set<String>
        /// The steps that take shards, in their order.
        package let steps: [AssemblyStep]
        /// How many of them an earlier process has done; nil where this one planned the store.
        package let done: Int?
        /// Why what an earlier process did does not count; nil where there was nothing, or it
        /// does.
        package let voided: String?
    }
}
