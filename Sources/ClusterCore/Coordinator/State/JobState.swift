import Jobs

/// A job by its store's index in the machine and its work.
struct JobID: Hashable, Sendable {
    let store: Int
    let work: Work
}

/// One job that was begun, or accepted, or that the ledger has reported.
struct JobState: Hashable, Sendable {
    var phase = JobPhase.ready
    /// Its fence.
    var epoch: Int
    /// How many attempts ever began.
    var attempts: Int
    /// Attempts that run or are checked: at most two.
    var live: [String] = []
    /// Workers on which it failed, each once.
    var failedOn: [String] = []
    var failures: Int
    /// Leases that expired.
    var losses = 0
    /// Why it failed the last time.
    var cause: Cause?
    /// When a back-off ends.
    var restsUntil: Instant?
    /// Why it rests, a lost lease included.
    var restsAfter: Cause?
    /// The accepted attempt.
    var accepted: String?
    /// What was accepted, until it is merged.
    var receipt: Receipt?

    /// - Parameter history: what the ledger knows; an earlier start's fence is raised.
    init(_ history: JobHistory?) {
        epoch = history.map { $0.epoch + 1 } ?? 1
        attempts = history?.attempts ?? 0
        failures = history?.failures ?? 0
    }
}

/// One attempt that may still end well.
struct AttemptState: Hashable, Sendable {
    let job: JobID
    let epoch: Int
    var phase: AttemptPhase
    /// The worker's index; nil where it is unclaimed.
    var worker: Int?
    /// The worker's name; empty where it is unclaimed.
    var name: String
    var grant: Int
    /// How many attempts it was given out with, itself included.
    let batch: Int
    let began: Instant
    /// Rows and bytes that were reported.
    var rows: Int64 = 0
    var bytes: Int64 = 0
}

/// Attempts that a worker was given with one message, for one slot, under one lease.
struct Grant: Hashable, Sendable {
    /// Nil where the worker has not come back since the coordinator started.
    var worker: Int?
    /// Those that have not ended; the worker runs them one after the other.
    var attempts: [String]
    /// When the lease ends; progress of any of the attempts puts it off.
    var deadline: Instant
}

/// Decides what a failed attempt means for its job.
struct FailurePolicy: Hashable, Sendable {
    /// What becomes of the job.
    enum Verdict: Hashable, Sendable {
        /// Ready at once.
        case again
        /// After a back-off; the number counts from 1 and doubles the time.
        case later(tries: Int)
        case quarantine
    }

    let limits: QuarantineLimits

    /// Counts a failure and decides.
    ///
    /// - Parameters:
    ///   - cause: of the attempt's failure.
    ///   - worker: its name; nil where it is not known.
    ///   - job: whose counts rise.
    /// - Returns: what becomes of the job once no other attempt of it runs.
    func count(_ cause: Cause, on worker: String?, _ job: inout JobState) -> Verdict {
        if cause.code.countsAgainstJob {
            job.failures += 1
            job.cause = cause
            if let worker, !job.failedOn.contains(worker) { job.failedOn.append(worker) }
        }
        switch cause.code.decision {
        case .nothing, .pause, .planAgain: return .again
        case .quarantineChunk, .stopRun:
            job.cause = cause
            return .quarantine
        case .quarantineWorker:
            if let worker, !job.failedOn.contains(worker) { job.failedOn.append(worker) }
            return .again
        case .retry: return retry(cause, &job)
        }
    }

    private func retry(_ cause: Cause, _ job: inout JobState) -> Verdict {
        if cause.code == .returned { return .again }
        if cause.code == .leaseExpired {
            job.losses += 1
            if job.losses < limits.losses { return .later(tries: min(job.losses, 8)) }
            job.cause = job.cause ?? cause
            return .quarantine
        }
        let isGivenUp = job.failedOn.count >= limits.workers || job.failures >= limits.failures
        return isGivenUp ? .quarantine : .later(tries: job.failures)
    }
}
