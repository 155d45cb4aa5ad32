import ClusterProtocol
import ClusterVocabulary
import Jobs

/// A job of a store.
struct JobKey: Hashable, Sendable, CustomStringConvertible {
    let store: StoreKey
    let work: Work
    var description: String { "\(store)/\(work.name)" }
}

/// Why the ledger refuses a record.
struct Refused: Error {
    let rule: Violation.Rule
    let text: String

    init(_ rule: Violation.Rule, _ text: String) {
        self.rule = rule
        self.text = text
    }
}

/// What the ledger knows, with the rules that the real one holds to.
///
/// Dictionaries are only asked for keys; what is listed is listed from arrays, so that no order
/// of a dictionary reaches a decision.
struct LedgerFacts: Sendable {
    /// A job as the ledger sees it.
    struct JobFacts: Sendable {
        var epoch = 0
        var accepted: Receipt?
        var attempts: [String] = []
        /// Failures that count against the job, since the last replay.
        var failures = 0
        /// Why it was given up, until a replay.
        var quarantined: FailureReason?
    }

    /// An attempt as the ledger sees it.
    struct AttemptFacts: Sendable {
        let job: JobKey
        let epoch: Int
        let worker: String
        var hasEnded = false
    }

    /// A store as the ledger sees it.
    struct StoreFacts: Sendable {
        /// Nil while it waits.
        var state = StoreState.waiting
        var cause: FailureReason?
        var plan: StorePlan?
        var isSwapIntended = false
        /// In the order in which the ledger first heard of them.
        var jobs: [JobKey] = []

        var isUnfinished: Bool { state == .waiting || state == .running }
    }

    /// A run as the ledger sees it.
    struct RunFacts: Sendable {
        var state = RunState.open
        var reason: RunReason?
        /// Since it came to its last end: whether the rest was cancelled and removed, and whether
        /// its report was written.
        var isTidy = false
        var isReported = false
    }

    var runs: [String: RunFacts] = [:]
    var stores: [StoreKey: StoreFacts] = [:]
    private(set) var jobs: [JobKey: JobFacts] = [:]
    private(set) var attempts: [String: AttemptFacts] = [:]

    /// Whether the attempt could still be accepted: it has not ended, its epoch is its job's and
    /// its job is not accepted.
    func isOpen(attempt id: String) -> Bool {
        guard let attempt = attempts[id], !attempt.hasEnded, let job = jobs[attempt.job] else {
            return false
        }
        return job.epoch == attempt.epoch && job.accepted == nil
    }

    /// Whether the attempt's job was accepted with this very attempt.
    func isAccepted(attempt id: String) -> Bool {
        guard let attempt = attempts[id] else { return false }
        return jobs[attempt.job]?.accepted?.attempt == id
    }

    /// Attempts of a store that could still be accepted.
    func openAttempts(of store: StoreKey) -> Int {
        (stores[store]?.jobs ?? []).reduce(0) { count, job in
            count + (jobs[job]?.attempts.filter { isOpen(attempt: $0) }.count ?? 0)
        }
    }

    /// Takes a record, or throws why it is refused.
    mutating func apply(_ record: CoordinatorRecord) throws(Refused) {
        switch record {
        case .runChanged(let run, let state, let reason):
            try change(run: run, to: state, reason: reason)
        case .storePrepared(let store, let plan):
            stores[store]?.plan = plan
        case .storeChanged(let store, let state, let cause):
            try change(store, to: state, cause: cause)
        case .progressReset(let store, _): reset(store)
        case .attemptBegan(let store, let work, let attempt, let epoch, let worker):
            try begin(JobKey(store: store, work: work), attempt, epoch: epoch, worker: worker)
        case .accepted(let receipt): try accept(receipt)
        case .attemptFailed(_, let attempt, let cause): try fail(attempt, cause)
        case .epochRaised(let store, let work, let epoch):
            try raise(JobKey(store: store, work: work), to: epoch)
        case .jobQuarantined(let store, let work, let cause):
            jobs[JobKey(store: store, work: work)]?.quarantined = cause
        case .workerQuarantined: break
        case .swapIntended(let store):
            guard stores[store]?.state != .done else {
                throw Refused(.oneSwap, "the swap of \(store) is intended again")
            }
            stores[store]?.isSwapIntended = true
        }
    }

    private mutating func change(
        run: String, to state: RunState, reason: RunReason
    ) throws(Refused) {
        let old = runs[run]?.state ?? .open
        let isLegal =
            switch (old, state) {
            case (.open, _), (.paused, _): true
            case (.ended, .open), (.ended, .ended): true
            case (.ended, _), (.cancelled, _): false
            }
        guard isLegal else {
            throw Refused(.ledgerForward, "the run \(run) goes from \(old) to \(state)")
        }
        runs[run] = RunFacts(state: state, reason: reason)
    }

    private mutating func change(
        _ store: StoreKey, to state: StoreState, cause: FailureReason?
    ) throws(Refused) {
        guard var facts = stores[store] else {
            throw Refused(.ledgerForward, "\(store) is unknown to the ledger")
        }
        guard facts.state.canBecome(state) else {
            throw Refused(.ledgerForward, "\(store) goes from \(facts.state) to \(state)")
        }
        if state == .failed, cause == nil {
            throw Refused(.fleetEnds, "\(store) failed without a cause")
        }
        facts.state = state
        facts.cause = cause
        stores[store] = facts
    }

    /// Puts a failed store back among those that wait; its failures are forgiven.
    mutating func replay(_ store: StoreKey) {
        stores[store]?.state = .waiting
        stores[store]?.cause = nil
        for job in stores[store]?.jobs ?? [] {
            jobs[job]?.failures = 0
            jobs[job]?.quarantined = nil
        }
    }

    private mutating func begin(
        _ job: JobKey, _ attempt: String, epoch: Int, worker: String
    ) throws(Refused) {
        guard attempts[attempt] == nil else {
            throw Refused(.ledgerForward, "the attempt \(attempt) began twice")
        }
        var facts = jobs[job] ?? JobFacts()
        guard epoch >= facts.epoch else {
            throw Refused(.ledgerForward, "\(job) begins at \(epoch), below \(facts.epoch)")
        }
        guard facts.accepted == nil else {
            throw Refused(.acceptedNotRunAgain, "\(job) was accepted and begins again")
        }
        guard facts.quarantined == nil else {
            throw Refused(.ledgerForward, "\(job) is in quarantine and begins again")
        }
        if jobs[job] == nil { stores[job.store]?.jobs.append(job) }
        facts.epoch = epoch
        facts.attempts.append(attempt)
        jobs[job] = facts
        attempts[attempt] = AttemptFacts(job: job, epoch: epoch, worker: worker)
    }

    private mutating func accept(_ receipt: Receipt) throws(Refused) {
        let id = receipt.attempt
        let job = JobKey(
            store: StoreKey(run: receipt.run, number: receipt.store), work: receipt.work)
        guard let attempt = attempts[id], attempt.job == job, var facts = jobs[job] else {
            throw Refused(.ledgerForward, "\(job) is accepted by the unknown attempt \(id)")
        }
        guard facts.accepted == nil else {
            throw Refused(.oneAccepted, "\(job) is accepted twice, now by \(id)")
        }
        guard attempt.epoch == facts.epoch, receipt.epoch == facts.epoch else {
            let text = "\(job) is accepted by \(id) of epoch \(attempt.epoch), not \(facts.epoch)"
            throw Refused(.ledgerForward, text)
        }
        guard !attempt.hasEnded else {
            throw Refused(.ledgerForward, "\(job) is accepted by \(id), which had ended")
        }
        facts.accepted = receipt
        jobs[job] = facts
        attempts[id]?.hasEnded = true
    }

    private mutating func fail(_ id: String, _ reason: FailureReason) throws(Refused) {
        guard let attempt = attempts[id] else {
            throw Refused(.ledgerForward, "the unknown attempt \(id) failed")
        }
        guard !attempt.hasEnded else {
            throw Refused(.ledgerForward, "the attempt \(id) failed after its end")
        }
        attempts[id]?.hasEnded = true
        if reason.cause.countsAgainstJob { jobs[attempt.job]?.failures += 1 }
    }

    private mutating func raise(_ job: JobKey, to epoch: Int) throws(Refused) {
        let old = jobs[job]?.epoch ?? 0
        guard epoch > old else {
            throw Refused(.ledgerForward, "\(job) is raised to \(epoch), not above \(old)")
        }
        if jobs[job] == nil { stores[job.store]?.jobs.append(job) }
        jobs[job, default: JobFacts()].epoch = epoch
    }

    /// Forgets what a store's jobs delivered; epochs stay, so that late results stay refused.
    private mutating func reset(_ store: StoreKey) {
        stores[store]?.plan = nil
        // A swap that was intended had found the source changed before its first step.
        stores[store]?.isSwapIntended = false
        for job in stores[store]?.jobs ?? [] {
            jobs[job]?.accepted = nil
            jobs[job]?.quarantined = nil
            for attempt in jobs[job]?.attempts ?? [] { attempts[attempt]?.hasEnded = true }
        }
    }
}
