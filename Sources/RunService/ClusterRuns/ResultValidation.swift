/// What validates the result of a small store against its source before it is swapped in.
package enum ResultValidation: Hashable, Sendable {
    /// The coordinator, which trusts no worker.
    case coordinator
    /// The slot that built it, a thread of the coordinator's own process.
    case ownThreads
    /// The worker that built it, because the cluster is trusted.
    case workers
}
