package import ClusterProtocol
package import Jobs

/// A run that the coordinator is to work on; its stores are offered one by one afterwards.
package struct RunOffer: Hashable, Sendable {
    package let run: String
    /// Whether results wait for a request to swap them.
    package let defersSwap: Bool
    package let limits: RunLimits
    /// How many unfinished stores the ledger holds, all of which will be offered.
    package let stores: Int
    /// Stores that failed before, which count towards the failure limit.
    package let failed: Int
    /// Stores that wait validated for a swap.
    package let validated: Int
    /// Why the run was paused before the coordinator started; nil where it was not.
    package let pausedBy: PauseReason?
    /// Whether the run has ended and its end was reported.
    ///
    /// Such a run enters without a report, because a client asks for a replay or swap of it.
    package let isOver: Bool
    /// Whether an earlier start of the coordinator has begun it.
    package let isResumed: Bool

    package init(
        run: String, stores: Int, failed: Int = 0, validated: Int = 0, defersSwap: Bool = false,
        limits: RunLimits = RunLimits(), pausedBy: PauseReason? = nil, isOver: Bool = false,
        isResumed: Bool = false
    ) {
        self.run = run
        self.stores = stores
        self.failed = failed
        self.validated = validated
        self.defersSwap = defersSwap
        self.limits = limits
        self.pausedBy = pausedBy
        self.isOver = isOver
        self.isResumed = isResumed
    }
}

/// A store that enters the machine, with all that the ledger knows of it.
///
/// Stores are offered when the machine wants them (`CoordinatorMachine.wantedStores`), so that
/// memory does not grow with the fleet.
package struct StoreOffer: Hashable, Sendable {
    package let key: StoreKey
    /// The bytes of its files, by which slots are shared.
    package let bytes: Int64
    /// Where its migration begins.
    package let entry: StoreEntry
    /// The state in the ledger: false writes `running` when work begins.
    package let isRunning: Bool
    /// Whether it was not validated in the ledger yet, but its move stands there.
    package let isMoving: Bool
    /// Accepted receipts whose shards are not known to be merged, in any order.
    package let accepted: [Receipt]
    /// What was tried so far, by job; jobs that were never begun are left out.
    package let jobs: [Work: JobHistory]

    /// Makes the offer of a store that nothing is known of, unless more is given.
    package init(
        key: StoreKey, bytes: Int64, entry: StoreEntry, isRunning: Bool = false,
        isMoving: Bool = false, accepted: [Receipt] = [], jobs: [Work: JobHistory] = [:]
    ) {
        self.key = key
        self.bytes = bytes
        self.entry = entry
        self.isRunning = isRunning
        self.isMoving = isMoving
        self.accepted = accepted
        self.jobs = jobs
    }
}

/// Where a store's migration begins, or goes on.
package enum StoreEntry: Hashable, Sendable {
    /// A task plans it first, or finds what an earlier start planned.
    case prepare
    /// It is one job that needs no preparation: a small store.
    case whole(StorePlan)
    /// The result is validated, or its swap had begun: only the swap is left.
    ///
    /// `isRequested` is true where a client requested a deferred swap, and where the swap had
    /// begun. The swap then does not wait, whatever else does.
    case swap(isRequested: Bool)
}

/// What the ledger knows of one job.
package struct JobHistory: Hashable, Sendable {
    /// Its fence.
    package let epoch: Int
    /// How many attempts ever began, void ones included: the next one's number is one higher.
    package let attempts: Int
    /// Attempts that began and have not ended, which a worker may still be at.
    package let open: [String]
    /// Attempts that failed for a cause that counts against the job.
    package let failures: Int
    /// Why the job was given up, by `CoordinatorRecord.jobQuarantined`, and not replayed since.
    package let quarantined: FailureReason?

    package init(
        epoch: Int, attempts: Int, open: [String] = [], failures: Int = 0,
        quarantined: FailureReason? = nil
    ) {
        self.epoch = epoch
        self.attempts = attempts
        self.open = open
        self.failures = failures
        self.quarantined = quarantined
    }
}

/// How a store is migrated, as its preparation decided.
package struct StorePlan: Hashable, Sendable {
    /// The step in which a destination grows, in its order.
    package enum Step: Hashable, Sendable {
        /// Appends the shard of a chunk.
        case append(chunk: Int)
        /// Merges the shards of chunks whose keys interleave.
        case merge(chunks: Range<Int>)
        /// Applies the link shard of a link chunk.
        case link(chunk: Int)
    }

    /// How the work is cut.
    package enum Shape: Hashable, Sendable {
        /// One `.whole` job, and then the swap.
        case whole
        /// Copy jobs, link jobs, and the steps that take their shards: all copies before all
        /// links, each chunk in exactly one step, chunks ascending.
        case partitioned(steps: [Step])
    }

    package let shape: Shape
    /// What all jobs of the store have in common.
    package let template: JobTemplate
    /// The folder in which each attempt gets a folder of its own.
    package let attempts: FileReference
    /// Whether a snapshot is read instead of the original.
    package let hasSnapshot: Bool
    /// Names of roots that a worker must have; empty where bytes travel otherwise.
    package let roots: Set<String>
    /// Migration policies that a worker must carry.
    package let policies: Set<String>

    package init(
        shape: Shape, template: JobTemplate, attempts: FileReference, hasSnapshot: Bool = false,
        roots: Set<String> = [], policies: Set<String> = []
    ) {
        self.shape = shape
        self.template = template
        self.attempts = attempts
        self.hasSnapshot = hasSnapshot
        self.roots = roots
        self.policies = policies
    }
}

/// A job without its work.
package struct JobTemplate: Hashable, Sendable {
    package let plan: FileReference
    package let planDigest: String
    package let source: FileReference
    package let sourceSupport: FileReference?
    package let destination: FileReference?
    package let sourceFingerprint: String
    /// The engine that all chunks must come from.
    ///
    /// Nil binds the store to the engine of the worker that takes its first job, for as long as
    /// this start lasts: plans of partitioned stores, which outlive a start, name it.
    package let engine: String?
    package let limits: JobLimits

    package init(
        plan: FileReference, planDigest: String, source: FileReference,
        sourceSupport: FileReference? = nil, destination: FileReference? = nil,
        sourceFingerprint: String, engine: String?, limits: JobLimits = .standard
    ) {
        self.plan = plan
        self.planDigest = planDigest
        self.source = source
        self.sourceSupport = sourceSupport
        self.destination = destination
        self.sourceFingerprint = sourceFingerprint
        self.engine = engine
        self.limits = limits
    }

    /// A job of the store.
    ///
    /// - Parameters:
    ///   - key: the store.
    ///   - work: what to do.
    ///   - engine: of the worker that gets it, where the plan names none.
    /// - Returns: the job.
    package func job(_ key: StoreKey, _ work: Work, engine: String) -> Job {
        Job(
            run: key.run, store: key.number, work: work, plan: plan, planDigest: planDigest,
            source: source, sourceSupport: sourceSupport, destination: destination,
            sourceFingerprint: sourceFingerprint, engine: self.engine ?? engine, limits: limits)
    }
}
