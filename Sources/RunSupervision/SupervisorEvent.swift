package import ClusterProtocol
package import ClusterVocabulary
package import Jobs

/// Something that a coordinator's supervisor is told.
package enum SupervisorEvent: Sendable {
    /// What concerns workers, jobs and tasks.
    case machine(CoordinatorEvent)
    /// A run enters, or a client submitted it again; the client gets the answer.
    case opened(RunOpening, RunEntry, client: ClientID?)
    /// A run that is over has files or stores left of it, or no report.
    case endLeft(run: String, isCancelled: Bool, reports: Bool)
    /// Every run that was unfinished at the start has entered.
    case resumed
    /// A client requests something; submitting is `opened`.
    case request(ClientRequest, from: ClientID)
    case answered(RunAnswer)
    /// Runs that are over may be forgotten, because all that was said of them has been done.
    case sweep
    /// Time has come to `nextWake`.
    case tick
}

/// What the loop has to do after an event: `known` at once, then the records of `machine` durable,
/// then the rest in the order of the fields.
package struct SupervisorEffects: Sendable {
    /// States that the ledger has of runs already.
    package var known: [(run: String, state: RunState)] = []
    /// Without lookups.
    package var machine = CoordinatorEffects()
    /// Stores that left the machine.
    package var left: [StoreLeave] = []
    package var events: [WatchEvent] = []
    package var works: [RunWork] = []
    /// Runs that left memory, with what the machine said last.
    package var forgotten: [(run: String, status: RunStatus?)] = []

    package init() {}

    package var isEmpty: Bool {
        machine.isEmpty && left.isEmpty && events.isEmpty && works.isEmpty && forgotten.isEmpty
    }

    /// Adds what comes after.
    package mutating func append(_ later: SupervisorEffects) {
        known += later.known
        machine.append(later.machine)
        left += later.left
        events += later.events
        works += later.works
        forgotten += later.forgotten
    }
}

/// A store that left the machine.
package struct StoreLeave: Hashable, Sendable {
    package let key: StoreKey
    /// Whether no later start or replay has a use for its files.
    package let discards: Bool
}
