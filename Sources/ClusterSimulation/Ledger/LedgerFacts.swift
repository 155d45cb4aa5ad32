import ClusterProtocol
import Jobs

/// A store of a run.
struct StoreKey: Hashable, Sendable, CustomStringConvertible {
    let run: String
    let store: Int
    var description: String { "\(run)/\(store)" }
}

/// A job of a store.
struct JobKey: Hashable, Sendable, CustomStringConvertible {
    let store: StoreKey
    let work: Work
    var description: String { "\(store)/\(work.name)" }
}

/// What the ledger knows of jobs and attempts, with the rules that the real one holds to.
///
/// Every function answers nil, or why the record is refused. Dictionaries are only asked for
/// keys; what is listed is listed from arrays.
struct LedgerFacts: Sendable {
    /// A job as the ledger sees it.
    struct JobFacts: Sendable {
        var epoch = 0
        var accepted: Receipt?
        var attempts = 0
    }

    /// An attempt as the ledger sees it.
    struct AttemptFacts: Sendable {
        let job: JobKey
        let epoch: Int
        var hasEnded = false
    }

    private(set) var jobs: [JobKey: JobFacts] = [:]
    private(set) var attempts: [String: AttemptFacts] = [:]
    /// Jobs in the order in which the ledger first heard of them.
    private(set) var jobOrder: [JobKey] = []
    /// Ids of attempts in the order in which they began.
    private(set) var attemptOrder: [String] = []

    /// The jobs of a store, in the order in which they began.
    func jobs(of store: StoreKey) -> [JobKey] { jobOrder.filter { $0.store == store } }

    /// The attempt's job was accepted with this very attempt.
    func isAccepted(attempt: String) -> Bool {
        guard let facts = attempts[attempt] else { return false }
        return jobs[facts.job]?.accepted?.attempt == attempt
    }

    mutating func began(_ job: JobKey, attempt: String, epoch: Int) -> String? {
        if attempts[attempt] != nil { return "the attempt \(attempt) began twice" }
        var facts = jobs[job] ?? JobFacts()
        if epoch < facts.epoch { return "\(job) began at epoch \(epoch), below \(facts.epoch)" }
        if facts.accepted != nil { return "\(job) is accepted and begins again" }
        if jobs[job] == nil { jobOrder.append(job) }
        facts.epoch = epoch
        facts.attempts += 1
        jobs[job] = facts
        attempts[attempt] = AttemptFacts(job: job, epoch: epoch)
        attemptOrder.append(attempt)
        return nil
    }

    mutating func accept(_ receipt: Receipt) -> String? {
        let id = receipt.attempt
        let job = JobKey(
            store: StoreKey(run: receipt.run, store: receipt.store), work: receipt.work)
        guard var attempt = attempts[id], attempt.job == job else {
            return "\(job) is accepted by the unknown attempt \(id)"
        }
        guard var facts = jobs[job] else { return "\(job) is unknown" }
        if facts.accepted != nil { return "\(job) is accepted twice" }
        if attempt.hasEnded { return "\(job) is accepted by \(id), which had ended" }
        if attempt.epoch != facts.epoch || receipt.epoch != facts.epoch {
            return "\(job) is accepted by \(id) of epoch \(attempt.epoch), not \(facts.epoch)"
        }
        facts.accepted = receipt
        attempt.hasEnded = true
        jobs[job] = facts
        attempts[id] = attempt
        return nil
    }

    mutating func fail(attempt id: String) -> String? {
        guard var attempt = attempts[id] else { return "the unknown attempt \(id) failed" }
        if attempt.hasEnded { return "the attempt \(id) failed after its end" }
        attempt.hasEnded = true
        attempts[id] = attempt
        return nil
    }

    mutating func raise(_ job: JobKey, to epoch: Int) -> String? {
        var facts = jobs[job] ?? JobFacts()
        if epoch <= facts.epoch { return "\(job) raised to \(epoch), not above \(facts.epoch)" }
        if jobs[job] == nil { jobOrder.append(job) }
        facts.epoch = epoch
        jobs[job] = facts
        return nil
    }

    /// Forgets what a store's jobs delivered; epochs stay, so that late results stay refused.
    mutating func reset(_ store: StoreKey) {
        for job in jobs(of: store) {
            jobs[job]?.accepted = nil
        }
        for id in attemptOrder where attempts[id]?.job.store == store {
            attempts[id]?.hasEnded = true
        }
    }
}
