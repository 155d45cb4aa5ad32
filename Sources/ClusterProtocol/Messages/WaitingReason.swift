package import Jobs

/// Why a job, or a whole run, does not move.
///
/// The coordinator finds it, `status` and `watch` send it, and the command line makes text of it.
package enum WaitingReason: Hashable, Sendable {
    case noWorker
    /// Workers that could do it are there, but none of them takes jobs.
    case noReadyWorker(UnreadyWorkers)
    case noWorkerWithEngine(String)
    /// Workers are there, but none has the roots and policies that the store needs.
    case noSuitableWorker(Shortage)
    /// Attempts of workers that are not heard of are waited for until their leases end.
    case unclaimed(jobs: Int, seconds: Int64)
    case allWorkersBusy
    /// It failed and is tried again after so many seconds.
    case backOff(seconds: Int64, FailureReason?)
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
    case stage(StoreStage)
    /// Enough shards of its store wait for their merge.
    case merge
    case quarantined(FailureReason?)
    /// Stores of the run are read from the ledger.
    case offers
    /// Merges, checks and swaps of other stores come first.
    case behindOtherTasks
    /// It may go on elsewhere first; for a while the free workers, which failed it, do not get it.
    case failedOnFreeWorkers
    /// The run does not begin: there is too little space for it, as the text says.
    case noRoom(String)
    /// Nothing goes on: the ledger's disk is full.
    case ledgerFull
    /// What the ledger knows of the run could not be read, and is read again.
    case ledgerUnreadable

    /// What a store does before more jobs of it may begin, as a fixed number.
    package enum StoreStage: Int, Hashable, Sendable, CaseIterable {
        case preparing = 1
        case copying = 2
        case indexing = 3
        case validating = 4
        case swapping = 5
        /// It is planned again once its tasks have ended.
        case replanning = 6
    }
}

/// What a worker lacks of what jobs need.
package struct Shortage: Hashable, Sendable {
    /// The roots that it lacks.
    package let roots: NameList
    /// The policies that it lacks.
    package let policies: NameList
    /// The roots that it has.
    package let present: NameList

    package init(roots: NameList, policies: NameList, present: NameList) {
        self.roots = roots
        self.policies = policies
        self.present = present
    }
}

/// Names in their order, of many the first ones.
package struct NameList: Hashable, Sendable {
    /// How many names are kept.
    package static let most = 6

    /// How many there are.
    package let count: Int
    package let first: [String]

    /// Sorts the names and keeps the first ones.
    package init(_ names: Set<String>) {
        self.init(count: names.count, first: Array(names.sorted().prefix(Self.most)))
    }

    init(count: Int, first: [String]) {
        self.count = count
        self.first = first
    }
}

/// Workers that are there and get no jobs, by why.
package struct UnreadyWorkers: Hashable, Sendable {
    package var quarantined: Int
    package var draining: Int
    package var notReady: Int

    package init(quarantined: Int = 0, draining: Int = 0, notReady: Int = 0) {
        self.quarantined = quarantined
        self.draining = draining
        self.notReady = notReady
    }
}
