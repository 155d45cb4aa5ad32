package import Jobs

/// What a worker tells the process of one of its slots.
package enum SlotOrder: Hashable, Sendable {
    /// Run an attempt; a slot runs one at a time.
    case run(JobOrder)
    /// Stop the running attempt; it ends with `failed` and the code `cancelled`.
    case cancel
    /// Leave, at once where nothing runs.
    case end
}

/// What the process of a slot tells its worker.
package enum SlotReport: Hashable, Sendable {
    /// The slot waits for a job; said once, when its process began.
    case ready(engine: String)
    /// What the attempt has done since it began; the watchdog waits for it.
    case progress(attempt: String, rows: Int64, bytes: Int64)
    case done(Receipt)
    case failed(AttemptFailure)
}
