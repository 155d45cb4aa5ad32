package import ClusterProtocol

/// Everything that a coordinator's behaviour depends on beside its events; times in milliseconds.
package struct CoordinatorSettings: Hashable, Sendable {
    /// Unique for each start.
    package var coordinator: String
    package var protocols: ProtocolRange
    /// Engines of workers that are welcome; nil for any.
    package var engines: Set<String>?
    package var heartbeat = 1000
    /// Beats of silence after which a worker gets no more jobs.
    package var livenessBeats = 5
    /// How long an attempt may be without progress before its lease is revoked.
    package var lease = 30_000
    /// Seeds the jitter of back-offs.
    package var jitterSeed: UInt64
    /// Whether attempts that were open when an earlier start ended get a lease of full length.
    ///
    /// Their workers may come back with them in that time. False where workers end with their
    /// coordinator.
    package var adoptsOpenAttempts = true
    /// Whether delivered shards are checked by a task before their acceptance; results of small
    /// stores always are.
    ///
    /// False where slots are the coordinator's own: the validation looks at all that they copied.
    package var admitsShards = true

    package var backoff = Backoff()
    package var quarantine = QuarantineLimits()
    package var sharing = SharingLimits()
    package var speculation = SpeculationLimits()
    /// For a run that waits for room: when it tries again by itself.
    package var roomRetry = 30_000
    /// Jobs and bytes a second, changeable while it runs.
    package var throttle = Throttle()
    /// Whether the process ends where an invariant is broken, and not the run alone.
    package var endsAtBrokenInvariant = BrokenInvariant.endsDebugBuild

    package init(coordinator: String, protocols: ProtocolRange, jitterSeed: UInt64) {
        self.coordinator = coordinator
        self.protocols = protocols
        self.jitterSeed = jitterSeed
    }

    /// The settings of a coordinator that does real work.
    ///
    /// - Parameters:
    ///   - coordinator: unique for each start.
    ///   - jitterSeed: seeds the jitter of back-offs.
    ///   - slots: jobs at a time that plans are cut for.
    /// - Returns: the settings, to be changed by the caller.
    package static func standard(
        coordinator: String, jitterSeed: UInt64, slots: Int
    ) -> CoordinatorSettings {
        var settings = CoordinatorSettings(
            coordinator: coordinator, protocols: .current, jitterSeed: jitterSeed)
        // Deliveries are checked and moved many at a time, so that they share syncs.
        settings.sharing.tasks = 64
        settings.sharing.largeStores = 2
        settings.sharing.unmergedShards = max(4, slots * 2 + 1)
        return settings
    }

    /// The silence after which a worker counts as lost.
    package var livenessMilliseconds: Int64 { Int64(heartbeat) * Int64(max(1, livenessBeats)) }
}

/// Waiting times between tries: doubled from the first to the longest, plus or minus a quarter.
package struct Backoff: Hashable, Sendable {
    package var first: Int64 = 500
    package var longest: Int64 = 60_000

    package init(first: Int64 = 500, longest: Int64 = 60_000) {
        self.first = first
        self.longest = longest
    }
}

/// When jobs, workers and stores are given up.
package struct QuarantineLimits: Hashable, Sendable {
    /// Distinct workers on which a job fails before it is given up.
    package var workers = 3
    /// Failures in all before it is given up, for clusters with fewer workers.
    package var failures = 6
    /// Leases of a job that may expire before it is given up; they say little about the job.
    package var losses = 50
    /// Jobs that a worker fails and another one can do before the worker is quarantined.
    package var strikes = 3
    /// How long a worker is quarantined, in milliseconds.
    package var workerTime: Int64 = 600_000
    /// How often a store is planned again.
    package var plans = 3
    /// How often a task is tried.
    package var tasks = 3

    package init() {}
}

/// How slots, tasks and memory are shared.
package struct SharingLimits: Hashable, Sendable {
    /// Runs at work at a time; others wait in the order of their arrival.
    package var runs = 16
    /// Partitioned stores of a run at work at a time.
    package var largeStores = 4
    /// Small stores in one batch, and their bytes.
    package var batchJobs = 16
    package var batchBytes: Int64 = 16 << 20
    /// Copied shards of a store that wait for their merge, those that are being made included.
    package var unmergedShards = 256
    /// Tasks at a time, over all stores.
    package var tasks = 2
    /// Batches that a worker is given beyond its slots.
    package var batchesAhead = 0
    /// Attempts that a worker holds at most, those included whose results wait to be checked: it
    /// names all of them when it comes back, in one message (`MessageLimits.attempts`), and what
    /// was delivered takes space until it is checked.
    package var heldAttempts = 512
    /// Small stores that wait in the machine, for each slot of the cluster.
    package var storesAhead = 32

    package init() {}
}

/// When a slow job gets a second attempt.
package struct SpeculationLimits: Hashable, Sendable {
    package var isOn = true
    /// Times the mean duration of the store's jobs.
    package var factor: Int64 = 3
    /// Never earlier than this, in milliseconds.
    package var least: Int64 = 10_000
    /// When the machine looks again at a job that no worker could take, in milliseconds.
    package var again: Int64 = 1_000
    /// Jobs of the store that must have ended before.
    package var samples = 3

    package init() {}
}

/// Bounds on what is given out, for people who need the machine for something else; nil for none.
package struct Throttle: Hashable, Sendable {
    /// Attempts at a time.
    package var jobs: Int?
    /// Bytes of source a second.
    package var bytesPerSecond: Int64?

    package init(jobs: Int? = nil, bytesPerSecond: Int64? = nil) {
        self.jobs = jobs
        self.bytesPerSecond = bytesPerSecond
    }
}
