package import Jobs

/// Something that happened and is worth reporting to people.
///
/// The coordinator's machines write notes, `watch` sends them, and the command line makes text of
/// them. No note has a value of a user's row.
package enum Note: Hashable, Sendable {
    /// Of a worker, by its name.
    case worker(String, WorkerChange)
    /// Of a store; its file where people need it and the coordinator knows it.
    case store(StoreKey, file: String? = nil, StoreChange)
    case run(String, RunChange)
    /// The result of an attempt was not accepted.
    case denied(attempt: String, DenialReason)
    /// A message or an outcome fits nothing that the coordinator knows.
    case unexpected(String)
    /// A bug: an invariant is broken, and the run that it concerns stops.
    case broken(String)

    /// How many failed stores are reported to a client that comes later, and at the end.
    package static let mostFailures = 10
    /// How many files a note names.
    package static let mostFiles = 5

    /// What happened to a worker.
    package enum WorkerChange: Hashable, Sendable {
        case joined(slots: Int)
        /// It came back by another connection and continues so many attempts.
        case returned(attempts: Int)
        case refused(reason: String)
        /// Nothing is heard of it.
        case silent
        /// It finishes its jobs and exits.
        case drains
        /// It gets no jobs for a while.
        case quarantined(reason: String)
        case left(reason: String)
    }

    /// A job and the attempt that a note is about.
    package struct JobAttempt: Hashable, Sendable {
        package let work: Work
        package let attempt: String
        /// Its name; empty where the worker has not come back since the coordinator's start.
        package let worker: String

        package init(_ work: Work, attempt: String, worker: String) {
            self.work = work
            self.attempt = attempt
            self.worker = worker
        }
    }

    /// What happened to a store, or to a job of it.
    package enum StoreChange: Hashable, Sendable {
        case attemptFailed(JobAttempt, FailureReason)
        /// The attempt made no progress for too long.
        case leaseExpired(JobAttempt)
        /// A slow job got a second attempt.
        case secondAttempt(JobAttempt)
        case accepted(Work, rows: Int64, bytes: Int64)
        /// No attempt of the job begins until it is replayed.
        case quarantined(Work, FailureReason)
        case stage(Stage)
        /// `isEarlier`: the store ended before the client began to watch.
        case ended(StoreState, FailureReason?, isEarlier: Bool = false)
    }

    /// What happened to a run.
    package enum RunChange: Hashable, Sendable {
        /// Work begins on a run that is new to this coordinator.
        case began
        case resumed
        case paused(PauseReason)
        /// It stopped before its end: the failure limit was reached, or a bug was met.
        case stopped(reason: String)
        case ended(RunState)
        /// Nothing is left to do but the swaps of so many stores, which a client must request.
        case awaitsSwap(stores: Int)
        /// Files that may hold a user's data were not taken; of many the first ones, with reasons.
        case filesLeftOut(count: Int, files: [String])
        /// A request that was accepted cannot be carried out.
        case requestFailed(store: Int?, text: String)
        /// It had ended while so many stores wait: a replay was stopped halfway.
        case reopened(stores: Int)
        /// The free space that it needs cannot be read.
        case spaceUnknown(String)
        /// Whether its swaps wait for a request from now on.
        case swapsDeferred(Bool)
        case nothingFailed
        case nothingAwaitsSwap
    }

    /// The run that it is about; nil for what belongs to none.
    package var run: String? {
        switch self {
        case .store(let key, _, _): key.run
        case .run(let run, _): run
        case .worker, .denied, .unexpected, .broken: nil
        }
    }

    /// The store that it is about, by its number in its run.
    package var store: Int? {
        switch self {
        case .store(let key, _, _): key.number
        case .run(_, .requestFailed(let store, _)): store
        case .run, .worker, .denied, .unexpected, .broken: nil
        }
    }
}

extension Note.StoreChange {
    /// Whether something went wrong, so that people want to know which file it was.
    package var isTrouble: Bool {
        switch self {
        case .attemptFailed, .leaseExpired, .quarantined: true
        case .ended(let state, _, _): state == .failed || state == .cancelled
        case .secondAttempt, .accepted, .stage: false
        }
    }
}
