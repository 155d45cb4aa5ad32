package import ClusterProtocol

/// What a worker tells its operators.
package enum WorkerNote: Hashable, Sendable {
    /// A connection is being made.
    case connecting(endpoint: String)
    /// A coordinator took the worker in, by its random id.
    case welcomed(coordinator: String)
    case refused(Refusal)
    /// Two tries have heard nothing; told once, however many follow.
    case unanswered(endpoint: String)
    /// A connection did not come about; it is tried again after a pause.
    case lost(reason: String)
    /// A connection that was there is gone, or is of no use any more.
    case parted(reason: String)
    /// The coordinator sent what cannot be read; it was passed over.
    case unreadable(String)
    /// A message could not be sent because it breaks the protocol's bounds.
    case unsendable(String)
    /// A slot's process ended without a job, or could not be started; it is tried again.
    case slotEnded(slot: Int, text: String)
    /// A slot's process waits for its first job.
    case slotBegan(slot: Int)
    /// What an unwanted attempt has written stays where it is.
    case cannotRemove(attempt: String, text: String)
    /// The free scratch could not be read.
    case cannotMeasure(String)
    /// A job is ended for the temporary files of all take more than they may.
    case scratchExceeded(attempt: String, bytes: Int64)
    /// The coordinator was asked to drain the worker.
    case drained
    /// The worker was asked to end.
    case terminating
}

extension WorkerNote: CustomStringConvertible {
    package var description: String {
        switch self {
        case .connecting(let endpoint): "connecting to \(endpoint)"
        case .welcomed(let coordinator): "connected to the coordinator \(coordinator)"
        case .refused(let refusal): "the coordinator refuses this worker: \(refusal.text)"
        case .lost(let reason): "no connection to the coordinator: \(reason); retrying"
        case .unanswered(let endpoint): "no coordinator answers at \(endpoint); retrying"
        case .parted(let reason):
            "the connection to the coordinator is lost (\(reason)); running jobs continue; "
                + "reconnecting"
        case .unreadable(let text): "cannot read a message from the coordinator: \(text)"
        case .unsendable(let text): "cannot send a message to the coordinator: \(text)"
        case .slotEnded(let slot, let text): "restarting slot \(slot): \(text)"
        case .slotBegan(let slot): "slot \(slot) waits for jobs"
        case .cannotRemove(let attempt, let text):
            "could not remove the files of attempt \(attempt): \(text)"
        case .cannotMeasure(let text): "the free space of the scratch folder is unknown: \(text)"
        case .scratchExceeded(let attempt, let bytes):
            "stopped the attempt \(attempt): temporary files exceed the scratch limit, and its "
                + "\(bytes) bytes are the largest share"
        case .drained: "draining: the worker finishes its running jobs, then exits"
        case .terminating: "stopping: finishing or returning running jobs"
        }
    }
}
