/// What time brings to a coordinator.
package enum CoordinatorTimer: Hashable, Sendable {
    case lease(Int)
    case silence(Int)
    case beat(Int)
    case quarantine(Int)
    /// A back-off ends.
    case rest(JobID)
    /// Workers on which a job failed may have it again.
    case openToAll(JobID)
    /// An attempt becomes slow.
    case slow(String)
    case task(Int)
    case room(Int)
    /// The throttle lets something pass again.
    case throttle
}
