import ClusterProtocol
import Jobs
import RunReports

// Why runs and workers have nothing to do, as people read it: the one place that makes text of it.

extension WaitingReason {
    /// Why it waits, as a part of a sentence.
    var text: String {
        switch self {
        case .noWorker: "no worker is connected"
        case .noReadyWorker(let workers): "no suitable worker takes jobs: \(workers.text)"
        case .noWorkerWithEngine(let engine): "no worker with engine \(engine)"
        case .noSuitableWorker(let shortage):
            "no worker has \(shortage.missing); the best match has \(shortage.there)"
        case .unclaimed(1, let seconds):
            "1 job is leased to a silent worker; the lease ends in \(seconds) s"
        case .unclaimed(let jobs, let seconds):
            "\(jobs) jobs are leased to silent workers; the leases end in \(seconds) s"
        case .allWorkersBusy: "all workers are busy"
        case .backOff(_, let cause):
            "waits before the next attempt" + (cause.map { " after: \($0)" } ?? "")
        case .paused(let reason): reason.words
        case .behindOtherRuns: "other runs come first"
        case .storeLimit(let limit): "the run's limit of \(stores(limit)) at a time is reached"
        case .jobLimit(let limit): "the run's limit of \(jobs(limit)) at a time is reached"
        case .throttledJobs(let run, let limit):
            "throttled to \(jobs(limit)) at a time\(lifting(run))"
        case .throttled(let run, let limit):
            "throttled to \(ByteWords.text(limit)) a second\(lifting(run))"
        case .behindOtherStores: "other stores come first"
        case .behindCoordinator: "the coordinator merges or checks other stores first"
        case .stage(let stage): "its store is \(stage)"
        case .merge: "waits for the merge of earlier shards"
        case .quarantined(let cause):
            "quarantined until a replay" + (cause.map { ": \($0)" } ?? "")
        case .offers: "the coordinator is reading the next stores"
        case .behindOtherTasks: "merges, checks and swaps of other stores come first"
        case .failedOnFreeWorkers: "the job just failed on the free workers"
        case .noRoom(let text): text
        case .ledgerFull: "the ledger's disk is full; it resumes when there is space"
        case .ledgerUnreadable: "the coordinator could not read the ledger and is retrying"
        }
    }

    private func jobs(_ count: Int) -> String { count == 1 ? "1 job" : "\(count) jobs" }

    private func stores(_ count: Int) -> String { count == 1 ? "1 store" : "\(count) stores" }

    private func lifting(_ run: String?) -> String {
        guard let run else { return ", all runs together, until the throttle is lifted" }
        return " of run \(run), until its throttle is lifted"
    }

    /// What is said of a run, or of the rest of it where something else of it moves.
    func line(isRest: Bool) -> String {
        let who = isRest ? "the rest " : ""
        return switch self {
        // It says itself how many wait.
        case .unclaimed: text
        case .backOff, .merge: who + text
        default: "\(who)waits: \(text)"
        }
    }
}

extension WaitingReason {
    /// Whether every run comes to it now and then while its tasks are at work.
    var isPassing: Bool {
        switch self {
        case .behindOtherStores, .stage, .offers, .behindOtherTasks: true
        default: false
        }
    }

    /// The reason without what changes by itself while it lasts: seconds, counts, and texts that
    /// tell them.
    var lasting: WaitingReason {
        switch self {
        case .noReadyWorker(let workers):
            .noReadyWorker(
                UnreadyWorkers(
                    quarantined: min(workers.quarantined, 1), draining: min(workers.draining, 1),
                    notReady: min(workers.notReady, 1)))
        case .unclaimed: .unclaimed(jobs: 0, seconds: 0)
        case .backOff(_, let cause): .backOff(seconds: 0, cause.map { FailureReason($0.cause, "") })
        case .quarantined(let cause): .quarantined(cause.map { FailureReason($0.cause, "") })
        case .paused(.space): .paused(.space(""))
        case .noRoom: .noRoom("")
        default: self
        }
    }
}

extension Shortage {
    /// What the worker lacks.
    fileprivate var missing: String {
        [roots.text("root", "roots"), policies.text("policy", "policies")].compactMap(\.self)
            .joined(separator: " and ")
    }

    /// The roots that it has.
    fileprivate var there: String { present.text("root", "roots") ?? "no root" }
}

extension NameList {
    /// The names behind their noun, and how many there are beside; nil where there is none.
    fileprivate func text(_ one: String, _ many: String) -> String? {
        guard count > 0 else { return nil }
        let names = first.joined(separator: ", ")
        let rest = count > first.count ? " and \(count - first.count) more" : ""
        return "the \(count == 1 ? one : many) \(names)\(rest)"
    }
}

extension UnreadyWorkers {
    fileprivate var text: String {
        [(quarantined, "quarantined"), (draining, "draining"), (notReady, "not ready")]
            .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    }
}

extension IdleReason {
    /// Why it gets no jobs, as a part of a sentence.
    var text: String {
        switch self {
        case .notReady: "it has not reported that it is ready"
        case .silent(let seconds):
            "no message from it" + (seconds.map { "; its leases end in \($0) s" } ?? "")
        case .finishing: "it is finishing its jobs"
        case .quarantined(let text): text
        case .unchecked(let jobs):
            "\(jobs) of its jobs are done or under way and not checked yet"
        case .waits(let run, let reason): "\(run): \(reason.text)"
        case .otherEngine(let engine, let run, let needed):
            "engine \(engine); the jobs of \(run) need engine \(needed)"
        case .lacks(let run, let shortage):
            "the jobs of \(run) need \(shortage.missing); it has \(shortage.there)"
        case .noJob: "no job is waiting"
        }
    }
}
