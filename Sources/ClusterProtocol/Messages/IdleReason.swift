/// Why a worker gets no jobs.
package enum IdleReason: Hashable, Sendable {
    /// It has not said that it is ready.
    case notReady
    /// Nothing is heard of it; its leases, if it has any, end in so many seconds.
    case silent(seconds: Int64?)
    /// It finishes what it has, and takes nothing new.
    case finishing
    /// It failed what others could do, as the text says.
    case quarantined(String)
    /// So many of its jobs are done or under way and not checked yet.
    case unchecked(jobs: Int)
    /// What it could do of a run waits for something else.
    case waits(run: String, WaitingReason)
    /// The jobs of a run need another engine than its own.
    case otherEngine(String, run: String, needed: String)
    /// The jobs of a run need what it does not have.
    case lacks(run: String, Shortage)
    /// No job waits.
    case noJob
}
