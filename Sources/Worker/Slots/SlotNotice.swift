package import ClusterProtocol
package import Jobs

/// What happened on one slot of a pool.
package struct SlotNotice: Hashable, Sendable {
    /// What it was.
    package enum Event: Hashable, Sendable {
        /// The slot waits for its first job.
        case started
        /// What the attempt has done since it began.
        case progress(attempt: String, rows: Int64, bytes: Int64)
        /// The slot waits for the next job.
        case delivered(Receipt)
        /// The slot waits for the next job, unless its process ended with the attempt.
        case failed(AttemptFailure)
        /// The slot's process ended, or could not be started, while no job was with it; the text
        /// says why.
        case ended(String)
    }

    /// From 0 on.
    package let slot: Int
    package let event: Event
}
