package import ClusterProtocol

/// Everything that a worker's behaviour depends on beside its events; times in milliseconds.
package struct WorkerSettings: Hashable, Sendable {
    /// The lasting name.
    package var worker: String
    package var protocols: ProtocolRange
    package var engine: String
    package var sqlite: String
    package var policies: [String]
    package var roots: [String]
    package var slots: Int
    package var scratchBytes: Int64
    /// Seeds the jitter of reconnects.
    package var jitterSeed: UInt64
    /// Waiting times between reconnects.
    package var reconnect = Backoff(first: 200, longest: 10_000)
    /// How long a welcome is waited for.
    package var welcomeWait: Int64 = 5_000
    /// The least time between two reports of progress of one attempt.
    package var progressEvery: Int64 = 1_000
    /// How often an undecided result is sent again.
    package var repeatEvery: Int64 = 5_000
    /// How long running jobs may go on after `terminate` before they are given back.
    package var grace: Int64 = 20_000
    /// Whether it ends when the process that started it is gone.
    package var exitsWhenOrphaned = false

    package init(
        worker: String, protocols: ProtocolRange, engine: String, sqlite: String,
        policies: [String] = [], roots: [String] = [], slots: Int, scratchBytes: Int64 = 0,
        jitterSeed: UInt64
    ) {
        self.worker = worker
        self.protocols = protocols
        self.engine = engine
        self.sqlite = sqlite
        self.policies = policies
        self.roots = roots
        self.slots = slots
        self.scratchBytes = scratchBytes
        self.jitterSeed = jitterSeed
    }
}

/// A worker as a pure value: events in, effects out.
///
/// Its first event is a `.tick`, upon which it asks for a connection.
package struct WorkerMachine: Sendable {
    package let settings: WorkerSettings

    package init(settings: WorkerSettings) { self.settings = settings }

    /// Takes one event.
    ///
    /// - Parameters:
    ///   - event: what happened.
    ///   - now: when, on the worker's monotonic clock; never earlier than before.
    /// - Returns: what to do about it, to be done before the next event's effects.
    package mutating func handle(_ event: WorkerEvent, now: Instant) -> WorkerEffects {
        WorkerEffects()
    }

    /// When the machine wants a `.tick`, if nothing happens before; nil for never.
    package var nextWake: Instant? { nil }
}
