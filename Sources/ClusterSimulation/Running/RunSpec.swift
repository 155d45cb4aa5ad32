import ClusterCore
import ClusterProtocol

/// A run of a simulation and how it was submitted.
struct RunSpec {
    let run: String
    let stores: [StoreKey]
    let defersSwap: Bool
    let limits: RunLimits
    /// Whether the machine of the current start knows the run.
    var isOpened = false
    /// Stores that were offered to the machine of the current start.
    var offered: Set<Int> = []
    /// Whether a client requested swaps that were put off.
    var isSwapRequested: Set<Int> = []
}
