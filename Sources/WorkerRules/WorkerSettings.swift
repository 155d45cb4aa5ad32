package import ClusterProtocol
package import ClusterVocabulary

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
    /// A label of where it runs, for people.
    package var host = ""
    /// A random id of its process; empty for none.
    package var instance = ""
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
    /// How long the end of killed slots is waited for after that, so that all is given back.
    package var killWait: Int64 = 5_000
    /// Refusals that trying again cannot help end it; false where it keeps trying.
    package var exitsWhenRefused = false
    /// Whether it ends when the process that started it is gone.
    package var exitsWhenOrphaned = false
    /// Whether the process ends at once where an invariant is broken, and not in order.
    package var endsAtBrokenInvariant = BrokenInvariant.endsDebugBuild

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
