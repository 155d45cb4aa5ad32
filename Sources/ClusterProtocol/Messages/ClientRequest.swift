package import Jobs

/// What a command asks of a coordinator.
package enum ClientRequest: Hashable, Sendable {
    /// Begin a run; answered by `accepted`. The same request again goes on with the same run.
    case submit(SubmitRequest)
    /// Answered by one `status`; all runs for nil.
    case status(run: String?)
    /// Answered by `event`s until the run ends or the client leaves; all runs for nil.
    case watch(run: String?)
    case pause(run: String)
    case resume(run: String)
    case cancel(run: String)
    /// Let a worker finish what it has and leave.
    case drain(worker: String)
    /// Do again what failed: one store, or all of the run for nil.
    case replay(run: String, store: Int?)
    /// Swap what was validated: one store, or all of the run for nil.
    case swap(run: String, store: Int?)
    case throttle(ThrottleSettings)
    /// Answered by a `status` without runs.
    case workers
}

/// A run to begin.
package struct SubmitRequest: Hashable, Sendable {
    /// What the run's record in the ledger holds, as JSON.
    package let request: String
    /// Stores, or folders to look for stores in; an empty path is the root itself.
    package let paths: [FileReference]
    package let limits: RunLimits

    package init(request: String, paths: [FileReference], limits: RunLimits = RunLimits()) {
        self.request = request
        self.paths = paths
        self.limits = limits
    }
}

/// Bounds of one run; nil where the coordinator's own bound holds.
package struct RunLimits: Hashable, Sendable {
    /// The most stores begun and not ended.
    package let stores: Int?
    /// The most attempts at a time.
    package let jobs: Int?
    /// After so many failed stores the run stops; 0 stops it at the first.
    package let failures: Int?

    package init(stores: Int? = nil, jobs: Int? = nil, failures: Int? = nil) {
        self.stores = stores
        self.jobs = jobs
        self.failures = failures
    }
}

/// How fast a run, or all of them, may go from now on; nil is no limit.
package struct ThrottleSettings: Hashable, Sendable {
    /// All runs together for nil.
    package let run: String?
    package let bytesPerSecond: Int64?
    /// The most attempts at a time.
    package let jobs: Int?

    package init(run: String?, bytesPerSecond: Int64?, jobs: Int?) {
        self.run = run
        self.bytesPerSecond = bytesPerSecond
        self.jobs = jobs
    }
}
