import ClusterProtocol
import ClusterTables
import ClusterVocabulary
import Jobs
import RunSupervision
import Testing

/// A supervisor of runs on a bench, with a ledger of stores whose results wait for nothing but
/// their swap: events by hand, works answered by the test.
struct LifeBench {
    var supervisor: RunSupervisor
    var now = Instant.zero
    /// Works that were not answered.
    var works: [RunWork] = []
    var events: [WatchEvent] = []
    var records: [CoordinatorRecord] = []
    var replies: [ClientReply] = []
    var left: [StoreLeave] = []
    var forgotten: [String] = []
    private var tasks: [CoordinatorTask] = []
    /// Stores of the run that have work left, as the ledger has them.
    var stores: Set<Int> = []
    /// Why there is too little space.
    var shortage: String?

    static let run = "r1"
    static let client = ClientID("k")

    init(isResuming: Bool = false) {
        supervisor = RunSupervisor(
            settings: CoordinatorSettings(coordinator: "c1", protocols: .current, jitterSeed: 7),
            isResuming: isResuming)
    }

    var transitions: StateLogs { supervisor.transitions }
    var phase: RunLifePhase? { supervisor.phase(of: Self.run) }

    mutating func handle(_ event: SupervisorEvent) {
        take(supervisor.handle(event, now: now))
        take(supervisor.feed(now: now))
    }

    private mutating func take(_ effects: SupervisorEffects) {
        works += effects.works
        events += effects.events
        records += effects.machine.records
        replies += effects.machine.replies.map(\.reply)
        left += effects.left
        forgotten += effects.forgotten.map(\.run)
        tasks += effects.machine.tasks
        for note in effects.machine.notes {
            if case .broken(let text) = note { Issue.record("\(text)") }
        }
    }

    // MARK: Runs

    func opening(
        _ state: RunState = .open, added: Int = 0, validated: Int = 0,
        shortage: String? = nil, isDeferring: Bool = false
    ) -> RunOpening {
        RunOpening(
            run: Self.run, state: state, stores: stores.count, validated: validated,
            defersSwap: isDeferring, added: added, shortage: shortage)
    }

    mutating func submit(_ opening: RunOpening) {
        handle(.opened(opening, .submitted, client: Self.client))
    }

    mutating func request(_ request: ClientRequest) {
        handle(.request(request, from: Self.client))
    }

    mutating func wait(_ milliseconds: Int64) {
        now = now.adding(milliseconds)
        handle(.tick)
    }

    // MARK: Works

    /// The oldest work of a kind, which is answered by the test.
    mutating func next(
        _ kind: String, _ location: SourceLocation = #_sourceLocation
    ) throws -> RunWork {
        let place = works.firstIndex { "\($0)".hasPrefix(kind) }
        return works.remove(at: try #require(place, "\(works)", sourceLocation: location))
    }

    /// Answers a work as the ledger is now.
    mutating func answer(_ work: RunWork) {
        let answer: RunAnswer
        switch work {
        case .readStores(let reading):
            let found = stores.subtracting(reading.inside).sorted()
            answer = .stores(
                reading, offers: found.map { Self.offer($0) }, cursor: found.last, isLast: true)
        case .readSwaps(let run, let numbers, let reading):
            answer = .swaps(
                run: run, asked: numbers.count, offers: numbers.map { Self.offer($0) },
                reading: reading)
        case .readStore(let key, let reading):
            answer = .store(key, nil, accepted: [], reading: reading)
        case .readReceipts(let key): answer = .receipts(key, accepted: [])
        case .reopen(let run, let store):
            answer = .reopened(
                run: run, store: store, count: 0, failed: 0, opensRun: false, nil)
        case .findValidated(let run, let store):
            answer = .validated(run: run, store: store, numbers: [], failed: 0)
        case .findRun(_, let request, let client):
            answer = .found(opening(.ended), request, client)
        case .reserveSpace(let run): answer = .space(run: run, shortage: shortage)
        case .end(let run, _, _, let number): answer = .ended(run: run, number: number)
        case .report(let run, let number):
            answer = .reported(run: run, number: number, failures: 0)
        }
        handle(.answered(answer))
    }

    /// Answers every work of a kind, and those that come of it.
    mutating func answerAll(_ kinds: String...) {
        while let place = works.firstIndex(where: { work in
            kinds.contains { "\(work)".hasPrefix($0) }
        }) {
            answer(works.remove(at: place))
        }
    }

    /// A store with nothing left to do but its swap.
    static func offer(_ number: Int) -> StoreOffer {
        StoreOffer(
            key: StoreKey(run: run, number: number), bytes: 1,
            entry: .swap(isRequested: false), isRunning: true)
    }

    /// Ends the swaps that have begun.
    mutating func swapAll() {
        while !tasks.isEmpty {
            let task = tasks.removeFirst()
            stores.remove(task.store.number)
            handle(.machine(.taskEnded(task.id, .swapped)))
        }
    }

    /// Takes the run's stores to their end, without carrying the run's end out.
    mutating func migrate() {
        answerAll("readStores", "readSwaps")
        swapAll()
    }

    /// Carries out what there is to do.
    mutating func finish() { answerAll("read", "reopen", "find", "reserve", "end", "report") }

    /// Ends of the run that were told.
    var endsTold: Int { events.count { if case .ended = $0 { true } else { false } } }

    /// What is written of the run's states.
    var states: [RunState] {
        records.compactMap { if case .runChanged(_, let state, _) = $0 { state } else { nil } }
    }
}
