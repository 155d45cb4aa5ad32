import ClusterCore
import ClusterProtocol
import ClusterVocabulary
import Jobs
import Testing

/// A coordinator's machine on a bench: events by hand, effects kept, the clock moved by the test.
struct CoordinatorBench {
    var machine: CoordinatorMachine
    var now = Instant.zero
    /// Of the last event.
    var last = CoordinatorEffects()
    var records: [CoordinatorRecord] = []
    var notes: [Note] = []
    /// Orders that were sent and not answered by the test, by attempt, with who has them.
    var orders: [String: (order: JobOrder, worker: String)] = [:]
    /// In the order in which they were sent.
    var sent: [String] = []
    var tasks: [CoordinatorTask] = []
    /// Whether the test breaks invariants itself.
    var expectsBrokenInvariants = false

    init(_ change: (inout CoordinatorSettings) -> Void = { _ in }) {
        var settings = CoordinatorSettings(
            coordinator: "c1", protocols: .current, jitterSeed: 7)
        change(&settings)
        machine = CoordinatorMachine(settings: settings)
    }

    @discardableResult
    mutating func handle(
        _ event: CoordinatorEvent, _ location: SourceLocation = #_sourceLocation
    ) -> CoordinatorEffects {
        last = machine.handle(event, now: now)
        records += last.records
        notes += last.notes
        tasks += last.tasks
        for send in last.sends {
            guard case .jobs(let batch) = send.message else { continue }
            for order in batch {
                orders[order.attempt.id] = (order, names[send.to] ?? "")
                sent.append(order.attempt.id)
            }
        }
        if expectsBrokenInvariants { return last }
        let faults = machine.check()
        #expect(faults.isEmpty, "\(event)", sourceLocation: location)
        let unexplained = Self.unexplained(machine.report())
        #expect(unexplained.isEmpty, "\(event)", sourceLocation: location)
        return last
    }

    /// Runs in which something waits without a reason, and workers that have none although they
    /// have nothing.
    static func unexplained(_ report: StatusReport) -> [String] {
        var found: [String] = []
        for run in report.runs where run.state.isUnfinished {
            let words = ["waiting", "ready", "resting", "unclaimed"]
            let waiting = words.reduce(run.stores[.waiting, default: 0]) {
                $0 + run.jobs[$1, default: 0]
            }
            if waiting > 0, run.waitingFor == nil { found.append("\(run)") }
        }
        for worker in report.workers where worker.running == 0 && worker.reason == nil {
            found.append("\(worker)")
        }
        return found
    }

    // MARK: Workers

    var names: [ConnectionID: String] = [:]
    var connections: [String: ConnectionID] = [:]

    static func hello(
        _ name: String, slots: Int = 1, engine: String = "1", roots: [String] = ["run"],
        held: [HeldAttempt] = [], protocols: ProtocolRange = .current, host: String = "",
        instance: String = ""
    ) -> WorkerHello {
        WorkerHello(
            worker: name, protocols: protocols, engine: engine, sqlite: "3", policies: [],
            roots: roots, slots: slots, scratchBytes: 0, held: held, host: host,
            instance: instance)
    }

    /// Lets a worker say hello by a connection; it is ready where wanted.
    mutating func join(
        _ name: String, by connection: String? = nil, slots: Int = 1, engine: String = "1",
        roots: [String] = ["run"], held: [HeldAttempt] = [], isReady: Bool = true
    ) {
        let id = ConnectionID(connection ?? "\(name)-1")
        connections[name] = id
        names[id] = name
        say(
            .hello(Self.hello(name, slots: slots, engine: engine, roots: roots, held: held)),
            name)
        if isReady { say(.ready(freeSlots: slots), name) }
    }

    mutating func say(
        _ message: WorkerMessage, _ name: String, _ location: SourceLocation = #_sourceLocation
    ) {
        handle(
            .message(message, from: connections[name] ?? ConnectionID("none"), worker: name),
            location)
    }

    mutating func request(_ request: ClientRequest) {
        handle(.request(request, from: ClientID("k")))
    }

    /// Moves the clock and ticks.
    mutating func wait(_ milliseconds: Int64, _ location: SourceLocation = #_sourceLocation) {
        now = now.adding(milliseconds)
        handle(.tick, location)
    }

    /// Moves the clock while workers go on beating.
    mutating func wait(_ milliseconds: Int64, beating workers: [String]) {
        let end = now.adding(milliseconds)
        while now < end {
            now = min(end, now.adding(1000))
            for worker in workers {
                say(.heartbeat(scratchFree: 0, runningAttempts: []), worker)
            }
            handle(.tick)
        }
    }

    // MARK: Runs and stores

    mutating func open(
        _ run: String = "r", stores: Int = 1, limits: RunLimits = RunLimits(),
        defersSwap: Bool = false
    ) {
        handle(
            .run(RunOffer(run: run, stores: stores, defersSwap: defersSwap, limits: limits)))
    }

    static func plan(_ shape: StorePlan.Shape, engine: String? = "1") -> StorePlan {
        StorePlan(
            shape: shape,
            template: JobTemplate(
                plan: FileReference(root: "run", path: "plan.json"), planDigest: "d",
                source: FileReference(root: "run", path: "s"), sourceFingerprint: "f",
                engine: engine),
            attempts: FileReference(root: "run", path: "attempts"), roots: ["run"])
    }

    /// A plan of so many copies and links, one step each.
    static func chunks(_ copies: Int, links: Int = 0, engine: String? = "1") -> StorePlan {
        plan(
            .partitioned(
                steps: (0..<copies).map { .append(chunk: $0) }
                    + (0..<links).map { .link(chunk: $0) }), engine: engine)
    }

    mutating func small(_ numbers: ClosedRange<Int>, run: String = "r", bytes: Int64 = 1000) {
        for number in numbers {
            handle(
                .offered(
                    StoreOffer(
                        key: StoreKey(run: run, number: number), bytes: bytes,
                        entry: .whole(Self.plan(.whole)))))
        }
    }

    mutating func large(
        _ number: Int = 1, run: String = "r", bytes: Int64 = 1 << 30,
        accepted: [Receipt] = [], jobs: [Work: JobHistory] = [:], isRunning: Bool = false
    ) {
        handle(
            .offered(
                StoreOffer(
                    key: StoreKey(run: run, number: number), bytes: bytes, entry: .prepare,
                    isRunning: isRunning, accepted: accepted, jobs: jobs)))
    }

    // MARK: Results

    static func receipt(_ order: JobOrder, files: Int = 1, rows: Int64 = 10) -> Receipt {
        Receipt(
            job: order.job, attempt: order.attempt,
            files: (0..<files).map {
                DeliveredFile(
                    file: FileReference(
                        root: "run", path: "\(order.attempt.folder.path)/\($0)"),
                    bytes: 100, digest: "x")
            }, rows: rows)
    }

    /// The newest unanswered order of a job.
    func order(_ work: Work, store: Int = 1) -> JobOrder? {
        sent.reversed().lazy.compactMap { orders[$0]?.order }.first {
            $0.job.work == work && $0.job.store == store
        }
    }

    /// Delivers what a job wants; the check of its shard is answered, too.
    mutating func done(
        _ work: Work, store: Int = 1, admits: Bool = true,
        _ location: SourceLocation = #_sourceLocation
    ) {
        guard let order = order(work, store: store), let worker = orders[order.attempt.id]?.worker
        else {
            Issue.record("no worker has \(work.name) of \(store)", sourceLocation: location)
            return
        }
        orders[order.attempt.id] = nil
        let receipt = Self.receipt(order)
        say(.done(receipt), worker, location)
        if admits, let task = task({ $0 == .admit(receipt) }) {
            handle(.taskEnded(task.id, .admitted(receipt)), location)
        }
    }

    mutating func fail(
        _ work: Work, store: Int = 1, _ code: FailureCause,
        _ location: SourceLocation = #_sourceLocation
    ) {
        guard let order = order(work, store: store), let worker = orders[order.attempt.id]?.worker
        else {
            Issue.record("no worker has \(work.name) of \(store)", sourceLocation: location)
            return
        }
        orders[order.attempt.id] = nil
        say(
            .failed(
                AttemptFailure(
                    attempt: order.attempt.id, cause: code, text: "\(code)", slotEnded: false)),
            worker, location)
    }

    /// Takes the first task of a kind that the loop was given.
    mutating func task(_ isMeant: (CoordinatorTask.Kind) -> Bool) -> CoordinatorTask? {
        guard let place = tasks.firstIndex(where: { isMeant($0.kind) }) else { return nil }
        return tasks.remove(at: place)
    }

    /// Takes the task that checks a delivered shard, which must be there.
    mutating func admission(of receipt: Receipt) throws -> CoordinatorTask {
        let found = task { $0 == .admit(receipt) }
        return try #require(found)
    }

    /// Answers the oldest task.
    mutating func answer(
        _ outcome: TaskOutcome, _ location: SourceLocation = #_sourceLocation
    ) {
        guard !tasks.isEmpty else {
            Issue.record("no task for \(outcome)", sourceLocation: location)
            return
        }
        handle(.taskEnded(tasks.removeFirst().id, outcome), location)
    }

    /// Answers all tasks that go well by themselves, until there is none, or one is meant.
    mutating func answerAll(
        plan: StorePlan? = nil, until isMeant: (CoordinatorTask.Kind) -> Bool = { _ in false }
    ) {
        while let task = tasks.first, !isMeant(task.kind) {
            tasks.removeFirst()
            let outcome: TaskOutcome =
                switch task.kind {
                case .prepare:
                    .prepared(plan ?? Self.chunks(1), .fresh(reason: nil))
                case .admit(let receipt): .admitted(receipt)
                case .step: .stepped
                case .index: .indexed
                case .validate: .validated
                case .keep: .kept
                case .swap: .swapped
                }
            handle(.taskEnded(task.id, outcome))
        }
    }

    /// Does every order and task, until nothing is left to do now.
    mutating func finishAll(plan: StorePlan? = nil) {
        var rounds = 0
        while rounds < 100_000 {
            rounds += 1
            answerAll(plan: plan)
            guard let id = sent.first(where: { orders[$0] != nil }), let entry = orders[id] else {
                return
            }
            sent.removeAll { orders[$0] == nil }
            orders[id] = nil
            say(.done(Self.receipt(entry.order)), entry.worker)
        }
    }

    // MARK: What happened

    func state(_ number: Int, run: String = "r") -> StoreState? {
        for case .storeChanged(StoreKey(run: run, number: number), let state, _)
            in records.reversed()
        {
            return state
        }
        return nil
    }

    func runState(_ run: String = "r") -> RunState? {
        for case .runChanged(run, let state, _) in records.reversed() { return state }
        return nil
    }

    /// Receipts that were accepted and count, per job.
    var accepted: [String: Int] {
        var counts: [String: Int] = [:]
        for record in records {
            switch record {
            case .accepted(let receipt):
                counts["\(receipt.store)-\(receipt.work.name)", default: 0] += 1
            case .progressReset(let key, _):
                counts = counts.filter { !$0.key.hasPrefix("\(key.number)-") }
            default: break
            }
        }
        return counts
    }

    /// What the last event said to a worker.
    func said(to name: String) -> [CoordinatorMessage] {
        last.sends.filter { names[$0.to] == name }.map(\.message)
    }

    /// The welcome that the last event sent to a worker.
    func welcome(to name: String) throws -> Welcome {
        let welcomes = said(to: name).compactMap { message in
            if case .welcome(let welcome) = message { welcome } else { nil }
        }
        return try #require(welcomes.first)
    }

    var failures: [FailureCause] {
        records.compactMap { record in
            if case .attemptFailed(_, _, let reason) = record { reason.cause } else { nil }
        }
    }
}

extension CoordinatorMachine {
    /// The workers, as a status shows them.
    var workerStatus: [WorkerStatus] { report().workers }
}
