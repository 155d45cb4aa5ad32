/// Why the owner of slots stopped a job.
enum SlotStopCause: Hashable, Sendable {
    /// The job is no longer wanted.
    case cancelled
    /// The slot's process closed its end of the socket.
    case closed
    /// The job made no progress for too long, or ran too long.
    case silent(String)
    /// The job took more of something than it may.
    case excess(String)
    /// The slot reported something that cannot be.
    case nonsense(String)
}
