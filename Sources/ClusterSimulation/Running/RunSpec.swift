import ClusterProtocol
import Jobs

/// A run of a simulation and how it was submitted.
struct RunSpec {
    let run: String
    /// Grows where a submission adds a store.
    var stores: [StoreKey]
    var defersSwap: Bool
    let limits: RunLimits
}
