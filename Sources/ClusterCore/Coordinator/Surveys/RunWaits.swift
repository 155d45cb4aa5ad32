import ClusterProtocol
import ClusterTables
import ClusterVocabulary

/// What of a run waits, and why: of each kind of requirement the reason that is to be told.
struct RunWaits: Hashable, Sendable {
    /// One thing that waits.
    struct Wait: Hashable, Sendable {
        let reason: WaitingReason
        /// What workers must have for it; nil where it does not wait for a worker.
        let requirement: Int?
        /// The number of its store; 0 for what concerns the run.
        let store: Int
        /// When it is tried again; nil where that is not known.
        let until: Instant?
    }

    private var waits: [Int?: Wait] = [:]
    private var small: Set<Int> = []

    var isEmpty: Bool { waits.isEmpty }

    /// The requirements whose jobs wait, in their order.
    var requirements: [Int] { waits.keys.compactMap(\.self).sorted() }

    subscript(requirement: Int?) -> WaitingReason? { waits[requirement]?.reason }

    /// The reason to tell of all.
    var first: WaitingReason? { waits.values.min(by: Self.isBefore)?.reason }

    /// Takes one in where it is to be told before what is known of its kind.
    mutating func add(
        _ reason: WaitingReason?, requirement: Int? = nil, store: Int = 0, until: Instant? = nil
    ) {
        guard let reason else { return }
        let wait = Wait(reason: reason, requirement: requirement, store: store, until: until)
        if let known = waits[requirement], !Self.isBefore(wait, known) { return }
        waits[requirement] = wait
    }

    /// Notes that small stores of a requirement wait.
    ///
    /// - Returns: whether none was noted before.
    mutating func enterSmall(_ requirement: Int) -> Bool { small.insert(requirement).inserted }

    /// An order of its own, so that equal states are told alike whatever order they are read in.
    private static func isBefore(_ left: Wait, _ right: Wait) -> Bool {
        let key = { (wait: Wait) -> (Int, Int64, Int, Int) in
            (
                wait.reason.rank, wait.until?.milliseconds ?? 0, wait.store,
                wait.requirement ?? -1
            )
        }
        return key(left) < key(right)
    }
}

extension WaitingReason {
    /// How much there is to be done about it: of several reasons the lowest is told.
    var rank: Int {
        switch self {
        case .ledgerFull, .ledgerUnreadable, .noRoom, .paused: 0
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
