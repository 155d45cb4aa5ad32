package import Jobs

/// Why a job, or a whole run, does not move.
package enum WaitingReason: Hashable, Sendable, CustomStringConvertible {
    case noWorker
    /// Workers that could do it are there, but none of them takes jobs.
    case noReadyWorker(UnreadyWorkers)
    case noWorkerWithEngine(String)
    /// Workers are there, but none has the roots and policies that the store needs.
    case noSuitableWorker(Shortage)
    /// Attempts of workers that are not heard of are waited for until their leases end.
    case unclaimed(jobs: Int, seconds: Int64)
    case allWorkersBusy
    /// It failed and is tried again then.
    case backOff(until: Instant, Cause?)
    case paused(PauseReason)
    case behindOtherRuns
    /// The run's own limit of stores at a time.
    case storeLimit(Int)
    /// The run's own limit of jobs at a time.
    case jobLimit(Int)
    /// A limit of jobs at a time that was set on request, of one run or of all together.
    case throttledJobs(run: String?, Int)
    /// A limit of bytes a second that was set on request, of one run or of all together.
    case throttled(run: String?, bytesPerSecond: Int64)
    /// Its store has not begun: others of the run are at work.
    case behindOtherStores
    /// Its store has not begun: what workers had to do of those that have is done, and the
    /// coordinator itself merges or checks them.
    case behindCoordinator
    /// Its store is at another stage first.
    case stage(StorePhase)
    /// Enough shards of its store wait for their merge.
    case merge
    case quarantined(Cause?)
    /// Stores of the run are read from the ledger.
    case offers
    /// Merges, checks and swaps of other stores come first.
    case behindOtherTasks
    /// It may go on elsewhere first; for a while the free workers, which failed it, do not get it.
    case failedOnFreeWorkers

    package var description: String {
        switch self {
        case .noWorker: "no worker is connected"
        case .noReadyWorker(let workers): "no suitable worker takes jobs: \(workers)"
        case .noWorkerWithEngine(let engine): "no worker with engine \(engine)"
        case .noSuitableWorker(let shortage):
            "no worker with \(shortage.missing); the nearest has \(shortage.present)"
        case .unclaimed(1, let seconds):
            "1 job waits for a worker that is not heard of; its lease ends in \(seconds) s"
        case .unclaimed(let jobs, let seconds):
            "\(jobs) jobs wait for a worker that is not heard of; their leases end in \(seconds) s"
        case .allWorkersBusy: "all workers are busy"
        case .backOff(_, let cause):
            "waits before the next try" + (cause.map { " after: \($0)" } ?? "")
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
        case .stage(let phase): "its store is \(phase)"
        case .merge: "waits for the merge of earlier shards"
        case .quarantined(let cause):
            "quarantined until a replay" + (cause.map { ": \($0)" } ?? "")
        case .offers: "the next stores are being read"
        case .behindOtherTasks: "merges, checks and swaps of other stores come first"
        case .failedOnFreeWorkers: "the free workers that were asked have just failed it"
        }
    }

    private func jobs(_ count: Int) -> String { count == 1 ? "1 job" : "\(count) jobs" }

    private func stores(_ count: Int) -> String { count == 1 ? "1 store" : "\(count) stores" }

    private func lifting(_ run: String?) -> String {
        guard let run else { return ", all runs together, until the throttle is lifted" }
        return " of run \(run), until its throttle is lifted"
    }

    /// How much there is to be done about it: of several reasons the lowest is told.
    var rank: Int {
        switch self {
        case .paused: 0
        case .noWorker: 1
        case .noReadyWorker: 2
        case .noWorkerWithEngine: 3
        case .noSuitableWorker: 4
        case .unclaimed: 5
        case .throttledJobs: 6
        case .throttled: 7
        case .jobLimit: 8
        case .storeLimit: 9
        case .quarantined: 10
        case .failedOnFreeWorkers: 11
        case .backOff: 12
        case .merge: 13
        case .behindOtherTasks: 14
        case .allWorkersBusy: 15
        case .behindOtherRuns: 16
        case .behindCoordinator: 17
        case .behindOtherStores: 18
        case .stage: 19
        case .offers: 20
        }
    }
}

/// What a worker lacks of what jobs need; names in their order.
package struct Shortage: Hashable, Sendable {
    package let roots: [String]
    package let policies: [String]
    /// The roots that the worker has.
    package let present: String
    /// What it lacks, for people.
    package let missing: String

    init(of requirement: Requirement, in kind: WorkerClass) {
        roots = requirement.roots.subtracting(kind.roots).sorted()
        policies = requirement.policies.subtracting(kind.policies).sorted()
        present = kind.roots.isEmpty ? "no root" : Self.words("root", "roots", kind.roots.sorted())
        missing = [
            roots.isEmpty ? nil : Self.words("root", "roots", roots),
            policies.isEmpty ? nil : Self.words("policy", "policies", policies),
        ].compactMap(\.self).joined(separator: " and ")
    }

    private static func words(_ one: String, _ many: String, _ names: [String]) -> String {
        "the \(names.count == 1 ? one : many) \(list(names))"
    }

    /// The first few names, and how many there are beside.
    private static func list(_ names: [String]) -> String {
        let most = 6
        let shown = names.prefix(most).joined(separator: ", ")
        return names.count <= most ? shown : "\(shown) and \(names.count - most) more"
    }
}

/// Workers that are there and get no jobs, by why.
package struct UnreadyWorkers: Hashable, Sendable, CustomStringConvertible {
    package var quarantined = 0
    package var draining = 0
    package var notReady = 0

    package init(quarantined: Int = 0, draining: Int = 0, notReady: Int = 0) {
        self.quarantined = quarantined
        self.draining = draining
        self.notReady = notReady
    }

    var isEmpty: Bool { quarantined + draining + notReady == 0 }

    package var description: String {
        [(quarantined, "quarantined"), (draining, "draining"), (notReady, "not ready")]
            .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    }
}
