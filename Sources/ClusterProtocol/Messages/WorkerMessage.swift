package import Jobs

/// What a worker says to its coordinator.
///
/// A repeated message changes nothing. Ids of attempts are unique over all runs of a coordinator's
/// ledger, so that an id alone names an attempt.
package enum WorkerMessage: Hashable, Sendable {
    /// The first message after each connect; answered by `welcome` or `refused`.
    case hello(WorkerHello)
    /// So many slots wait for jobs.
    case ready(freeSlots: Int)
    /// What the attempt has done since it began; renews its lease.
    case progress(attempt: String, rows: Int64, bytes: Int64)
    /// The attempt delivered; answered by `committed` or `denied`, and sent again until then.
    case done(Receipt)
    case failed(AttemptFailure)
    /// The attempt is given back unfinished, because the worker drains or ends.
    case returned(attempt: String)
    /// Sent beside the work, whatever the slots do. The list names every attempt that runs here.
    case heartbeat(scratchFree: Int64, runningAttempts: [String])
    /// The worker leaves; it holds no attempts any more.
    case bye(reason: String)
}

/// How a worker introduces itself.
package struct WorkerHello: Hashable, Sendable {
    /// Its lasting identity: the CURVE key in Z85, or the name it was started with.
    package let worker: String
    /// A label of where it runs, for people; empty where none is known.
    package let host: String
    package let protocols: ProtocolRange
    /// The version of its engine; chunks of one store go to one version alone.
    package let engine: String
    /// The version of its SQLite library.
    package let sqlite: String
    /// Names of the migration policies that it carries.
    package let policies: [String]
    /// Names of the roots that it has folders for.
    package let roots: [String]
    package let slots: Int
    /// The size of its local scratch in bytes; 0 where it has none.
    package let scratchBytes: Int64
    /// Attempts that it still runs, or whose end it could not yet tell, after a reconnect.
    package let held: [HeldAttempt]
    /// A random id of its process, by which a worker that connects again is told from another
    /// one with the same key; empty where none is told.
    package let instance: String

    package init(
        worker: String, protocols: ProtocolRange, engine: String, sqlite: String,
        policies: [String], roots: [String], slots: Int, scratchBytes: Int64, held: [HeldAttempt],
        host: String = "", instance: String = ""
    ) {
        self.worker = worker
        self.host = host
        self.protocols = protocols
        self.engine = engine
        self.sqlite = sqlite
        self.policies = policies
        self.roots = roots
        self.slots = slots
        self.scratchBytes = scratchBytes
        self.held = held
        self.instance = instance
    }
}

/// An attempt that a worker holds when it says hello.
package struct HeldAttempt: Hashable, Sendable {
    package let run: String
    package let store: Int
    package let work: Work
    package let attempt: String
    package let epoch: Int

    package init(run: String, store: Int, work: Work, attempt: String, epoch: Int) {
        self.run = run
        self.store = store
        self.work = work
        self.attempt = attempt
        self.epoch = epoch
    }
}

/// How an attempt failed.
package struct AttemptFailure: Hashable, Sendable {
    package let attempt: String
    package let cause: FailureCause
    /// For people: what failed, on which file, what to do; never a value of a row.
    package let text: String
    /// Whether the slot's process ended with it and a new one takes its place.
    package let slotEnded: Bool

    package init(attempt: String, cause: FailureCause, text: String, slotEnded: Bool) {
        self.attempt = attempt
        self.cause = cause
        self.text = text
        self.slotEnded = slotEnded
    }
}
