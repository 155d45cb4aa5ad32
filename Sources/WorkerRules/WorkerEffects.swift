package import ClusterProtocol
package import ClusterVocabulary

/// What a worker's loop has to do after an event: slots first, then sends, then the rest.
package struct WorkerEffects: Sendable {
    package var slots: [SlotCommand] = []
    package var sends: [WorkerMessage] = []
    /// Attempts that were denied or revoked: their folders are removed, as far as that goes.
    package var discards: [JobOrder] = []
    /// Closes the connection, if there is one, and makes a new one with a fresh routing id.
    package var connects = false
    /// Ends the process, slots included.
    package var exit: WorkerExit?

    package init() {}

    /// Whether there is nothing to do.
    package var isEmpty: Bool {
        slots.isEmpty && sends.isEmpty && discards.isEmpty && !connects && exit == nil
    }
}

/// What a slot is told.
package enum SlotCommand: Sendable {
    case run(JobOrder, slot: Int)
    /// Ends the slot's process; answered by `SlotEvent.died` with the attempt that it had last.
    case kill(slot: Int)
}

/// Why a worker ends.
package enum WorkerExit: Hashable, Sendable {
    /// It was drained or asked to end, and has nothing left to do.
    case finished
    /// The coordinator does not take it; the text says why.
    case refused(String)
    case orphaned
    /// A bug of this program: what the machine holds cannot be trusted any more.
    case broken(BrokenInvariant)
}
