package import ClusterProtocol
package import Jobs

/// Something that the worker's machine is told.
package enum WorkerEvent: Sendable {
    /// The connection that `WorkerEffects.connects` asked for is there, with a fresh routing id.
    case connected
    /// The transport has noticed that the connection is gone.
    case disconnected
    case message(CoordinatorMessage)
    case slot(SlotEvent, slot: Int)
    /// Bytes that are free for local scratch.
    case scratch(free: Int64)
    /// The worker is asked to end (SIGTERM): it gives back what it has not begun, finishes what
    /// runs within the grace of its settings and ends.
    case terminate
    /// The process that started the worker is gone.
    case orphaned
    /// Time has come to `nextWake`; the first one starts the machine.
    case tick
}

/// What a slot, which runs one order at a time, tells its worker.
package enum SlotEvent: Hashable, Sendable {
    case started(attempt: String)
    /// Rows and bytes so far.
    case progress(attempt: String, rows: Int64, bytes: Int64)
    case delivered(Receipt)
    /// The job failed; the slot goes on.
    case failed(attempt: String, FailureCause, text: String)
    /// The slot's process ended, or was killed; it is started again by itself.
    case died(attempt: String?, FailureCause, text: String)
}
