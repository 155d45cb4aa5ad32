package import ClusterVocabulary
package import Jobs

/// A job by its store's index in the machine and its work.
package struct JobID: Hashable, Sendable {
    package let store: Int
    package let work: Work

    package init(store: Int, work: Work) {
        self.store = store
        self.work = work
    }
}

/// One job that was begun, or accepted, or that the ledger has reported.
package struct JobState: Hashable, Sendable {
    package var phase = JobPhase.ready
    /// Its fence.
    package var epoch: Int
    /// How many attempts ever began.
    package var attempts: Int
    /// Attempts that run or are checked: at most two.
    package var live: [String] = []
    /// Workers on which it failed, each once.
    package var failedOn: [String] = []
    package var failures: Int
    /// Leases that expired.
    package var losses = 0
    /// Why it failed the last time.
    package var cause: FailureReason?
    /// When a back-off ends.
    package var restsUntil: Instant?
    /// Why it rests, a lost lease included.
    package var restsAfter: FailureReason?
    /// The accepted attempt.
    package var accepted: String?
    /// What was accepted, until it is merged.
    package var receipt: Receipt?

    /// - Parameter history: what the ledger knows; an earlier start's fence is raised.
    package init(_ history: JobHistory?) {
        epoch = history.map { $0.epoch + 1 } ?? 1
        attempts = history?.attempts ?? 0
        failures = history?.failures ?? 0
    }
}

/// One attempt that may still end well.
package struct AttemptState: Hashable, Sendable {
    package let job: JobID
    package let epoch: Int
    package var phase: AttemptPhase
    /// The worker's index; nil where it is unclaimed.
    package var worker: Int?
    /// The worker's name; empty where it is unclaimed.
    package var name: String
    package var grant: Int
    /// How many attempts it was given out with, itself included.
    package let batch: Int
    package let began: Instant
    /// Rows and bytes that were reported.
    package var rows: Int64 = 0
    package var bytes: Int64 = 0

    package init(
        job: JobID, epoch: Int, phase: AttemptPhase, worker: Int? = nil, name: String, grant: Int,
        batch: Int, began: Instant, rows: Int64 = 0, bytes: Int64 = 0
    ) {
        self.job = job
        self.epoch = epoch
        self.phase = phase
        self.worker = worker
        self.name = name
        self.grant = grant
        self.batch = batch
        self.began = began
        self.rows = rows
        self.bytes = bytes
    }
}

/// Attempts that a worker was given with one message, for one slot, under one lease.
package struct Grant: Hashable, Sendable {
    /// Nil where the worker has not come back since the coordinator started.
    package var worker: Int?
    /// Those that have not ended; the worker runs them one after the other.
    package var attempts: [String]
    /// When the lease ends; progress of any of the attempts puts it off.
    package var deadline: Instant
}

/// Decides what a failed attempt means for its job.
package struct FailurePolicy: Hashable, Sendable {
    /// What becomes of the job.
    package enum Verdict: Hashable, Sendable {
        /// Ready at once.
        case again
        /// After a back-off; the number counts from 1 and doubles the time.
        case later(tries: Int)
        case quarantine
    }

    package let limits: QuarantineLimits

    package init(limits: QuarantineLimits) {
        self.limits = limits
    }

    /// Counts a failure and decides.
    ///
    /// - Parameters:
    ///   - reason: of the attempt's failure.
    ///   - worker: its name; nil where it is not known.
    ///   - job: whose counts rise.
    /// - Returns: what becomes of the job once no other attempt of it runs.
    package func count(_ reason: FailureReason, on worker: String?, _ job: inout JobState)
        -> Verdict
    {
        if reason.cause.countsAgainstJob {
            job.failures += 1
            job.cause = reason
            if let worker, !job.failedOn.contains(worker) { job.failedOn.append(worker) }
        }
        switch reason.decision {
        case .nothing, .pause, .planAgain: return .again
        case .quarantineChunk, .stopRun:
            job.cause = reason
            return .quarantine
        case .quarantineWorker:
            if let worker, !job.failedOn.contains(worker) { job.failedOn.append(worker) }
            return .again
        case .retry: return retry(reason, &job)
        }
    }

    private func retry(_ reason: FailureReason, _ job: inout JobState) -> Verdict {
        if reason.cause == .returned { return .again }
        if reason.cause == .leaseExpired {
            job.losses += 1
            if job.losses < limits.losses { return .later(tries: min(job.losses, 8)) }
            job.cause = job.cause ?? reason
            return .quarantine
        }
        let isGivenUp = job.failedOn.count >= limits.workers || job.failures >= limits.failures
        return isGivenUp ? .quarantine : .later(tries: job.failures)
    }
}
