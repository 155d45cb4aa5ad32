import CLinux
import CZeroMQ
import ClusterCore
import ClusterProtocol
import DurableFiles
import Jobs
import MigrationEngine
import RunLedger
import Synchronization
import Testing
import Threads
@testable import ZeroMQ

@testable import Coordinator
@testable import LocalRun

/// A coordinator on a ledger of its own, with tasks that do what the test wants.
final class CoordinatorLab {
    let sharing: SharingLab
    let tasks = ScriptedTasks()
    private let notes = BoundedMailbox<String>(capacity: 100_000)
    /// Milliseconds that the test has let pass.
    private let ahead = Passed()
    private(set) var coordinator: RunningCoordinator?
    private(set) var endpoint = ""
    private var starts = 0
    private var change: (inout CoordinatorPlan) -> Void = { _ in }

    /// Contexts live as long as the process: those that end beside others that use CURVE can
    /// crash libzmq before 4.3.5.
    private static let contexts = Mutex<[Context]>([])

    static func context() throws -> Context {
        let made = try Context()
        contexts.withLock { $0.append(made) }
        return made
    }

    /// Runs a body with a coordinator that has started.
    static func run(
        change: @escaping (inout CoordinatorPlan) -> Void = { _ in },
        _ body: (CoordinatorLab) throws -> Void
    ) throws {
        try SharingLab.run { sharing in
            let lab = CoordinatorLab(sharing)
            lab.change = change
            try lab.start()
            let result = Result { try body(lab) }
            sharing.disk.fail(nil)
            lab.tasks.answerAll()
            try lab.stop()
            try result.get()
        }
    }

    private init(_ sharing: SharingLab) { self.sharing = sharing }

    static func settings(_ start: Int) -> CoordinatorSettings {
        var settings = CoordinatorSettings(
            coordinator: "start \(start)", protocols: .current, jitterSeed: 1)
        // Time passes only where a test says so.
        settings.heartbeat = 80_000_000
        settings.livenessBeats = 1000
        settings.lease = 80_000_000
        settings.backoff = Backoff(first: 1, longest: 4)
        settings.speculation.isOn = false
        return settings
    }

    func start() throws {
        starts += 1
        endpoint = "ipc://\(sharing.folder)/c\(starts)"
        var plan = CoordinatorPlan(
            endpoint: endpoint, security: .plainServer(domain: "tests"),
            access: AccessPolicy(plain: .fromThisMachine(as: "local")),
            peer: { $0 == "local" ? .local : nil }, settings: Self.settings(starts),
            runs: sharing.surroundings)
        change(&plan)
        let (tasks, notes) = (tasks, notes)
        let ahead: Passed = ahead
        coordinator = try RunningCoordinator(
            plan, context: Self.context(),
            surroundings: CoordinatorSurroundings(
                clock: { clinux_monotonic_nanoseconds() / 1_000_000 + ahead.milliseconds },
                note: { _ = notes.sendIfRoom($0) })
        ) { answer in
            tasks.answer.withLock { $0 = answer }
            return tasks
        }
    }

    func stop() throws {
        defer { coordinator = nil }
        coordinator?.terminate()
        try coordinator?.join()
    }

    /// Waits until the coordinator ends by itself.
    func join() throws {
        defer { coordinator = nil }
        try coordinator?.join()
    }

    /// Waits for a line of the log.
    @discardableResult
    func note(containing text: String) throws -> String {
        while case .element(let note) = notes.receive(within: .seconds(60)) {
            if note.contains(text) { return note }
        }
        throw Missing(description: "a note of \(text)")
    }

    /// Another process on the same ledger.
    func restart() throws {
        try stop()
        try sharing.reopen()
        try start()
    }

    /// Lets time pass.
    func wait(_ milliseconds: Int64) {
        ahead.add(milliseconds)
        // The loop looks at its clock when something wakes it.
        coordinator?.setAccess(AccessPolicy(plain: .fromThisMachine(as: "local")))
    }

    func begin(_ stores: [FilePath], defersSwap: Bool = false) throws -> String {
        let coordinator = try #require(coordinator)
        return try coordinator.begin(
            sharing.request(stores, defersSwap: defersSwap), over: sharing.found(stores),
            waitsForRoom: true)
    }

    func states(_ run: String) throws -> [StoreState: Int] {
        try sharing.ledger.storeCounts(of: run)
    }

    func peer(_ name: String, receives: Int32 = 1000) throws -> ScriptedPeer {
        try ScriptedPeer(name, endpoint, receives: receives)
    }

    /// A worker that was welcomed and has free slots.
    func worker(_ name: String, slots: Int = 1) throws -> ScriptedPeer {
        let peer = try peer(name)
        try peer.hello(slots: slots)
        _ = try peer.welcome()
        try peer.say(.ready(freeSlots: slots))
        return peer
    }
}

/// Time that tests let pass.
final class Passed: Sendable {
    private let time = Atomic<Int64>(0)

    var milliseconds: Int64 { time.load(ordering: .relaxed) }

    func add(_ milliseconds: Int64) { time.add(milliseconds, ordering: .relaxed) }
}

/// Tasks that end as the test says: by themselves, or when they are told to.
final class ScriptedTasks: TaskRunner {
    typealias Answer = @Sendable (CoordinatorTask, TaskStore) -> TaskOutcome?

    let answer = Mutex<(@Sendable (TaskReport) -> Void)?>(nil)
    /// How tasks end; nil holds one back.
    let outcome = Mutex<Answer>({ task, _ in ScriptedTasks.success(task) })
    private let held = Mutex<[CoordinatorTask]>([])
    private let begun = BoundedMailbox<CoordinatorTask>(capacity: 10_000)
    let released = BoundedMailbox<(key: StoreKey, discards: Bool)>(capacity: 10_000)

    static func success(_ task: CoordinatorTask) -> TaskOutcome? {
        switch task.kind {
        case .prepare: .failed(.badSource, text: "nothing to prepare")
        case .admit(let receipt): .admitted(receipt)
        case .step: .stepped
        case .index: .indexed
        case .validate: .validated
        case .keep: .kept
        case .swap: .swapped
        }
    }

    func begin(_ task: CoordinatorTask, of store: TaskStore) {
        _ = begun.sendIfRoom(task)
        let answer = self.answer.withLock { $0 }
        guard let outcome = outcome.withLock({ $0 })(task, store) else {
            return held.withLock { $0.append(task) }
        }
        answer?(TaskReport(task.id, task.store, outcome))
    }

    func release(_ key: StoreKey, _ store: TaskStore, discards: Bool) {
        _ = released.sendIfRoom((key, discards))
    }

    func end() {}

    /// Holds tasks back that the condition names.
    func hold(_ condition: @escaping @Sendable (CoordinatorTask) -> Bool) {
        outcome.withLock { $0 = { task, _ in condition(task) ? nil : Self.success(task) } }
    }

    /// Ends what was held back.
    func answerAll() {
        outcome.withLock { $0 = { task, _ in Self.success(task) } }
        let answer = self.answer.withLock { $0 }
        for task in held.withLock({ held in
            defer { held = [] }
            return held
        }) {
            if let outcome = Self.success(task) {
                answer?(TaskReport(task.id, task.store, outcome))
            }
        }
    }

    /// The next task that begins and fits; those before it are passed over.
    func next(
        _ what: String, where isWanted: (CoordinatorTask) -> Bool = { _ in true }
    ) throws -> CoordinatorTask {
        while case .element(let task) = begun.receive(within: .seconds(60)) {
            if isWanted(task) { return task }
        }
        throw Missing(description: what)
    }
}

/// A worker or a client, spoken for by a test.
final class ScriptedPeer {
    let name: String
    private let socket: Socket
    private static let count = Atomic(0)

    init(_ name: String, _ endpoint: String, receives: Int32 = 1000) throws {
        self.name = name
        let number = Self.count.add(1, ordering: .relaxed).newValue
        var options = SocketOptions()
        options.routingID = try RoutingID("\(name)-\(number)")
        options.lingerMilliseconds = 0
        options.receiveHighWaterMark = receives
        socket = try Socket(.dealer, in: CoordinatorLab.context(), options: options)
        try socket.connect(endpoint)
    }

    /// Goes away without a word.
    func vanish() { socket.close() }

    func send(_ bytes: [UInt8]) throws {
        while try socket.send(Frame(bytes)) == .wouldBlock {
            guard wait(for: ZMQ_POLLOUT) else { throw Missing(description: "room to send") }
        }
    }

    func send(frames: [[UInt8]]) throws {
        while try socket.send(frames.map { Frame($0) }) == .wouldBlock {
            guard wait(for: ZMQ_POLLOUT) else { throw Missing(description: "room to send") }
        }
    }

    func say(_ message: WorkerMessage) throws { try send(MessageCodec().encode(message)) }

    func ask(_ request: ClientRequest) throws { try send(MessageCodec().encode(request)) }

    private func wait(for events: Int32) -> Bool {
        var item = zmq_pollitem_t(socket: socket.raw, fd: 0, events: Int16(events), revents: 0)
        return zmq_poll(&item, 1, 60_000) > 0
    }

    private func frame(_ what: String) throws -> [UInt8] {
        while true {
            if let message = try socket.receive() { return message.frame.bytes }
            guard wait(for: ZMQ_POLLIN) else { throw Missing(description: what) }
        }
    }

    /// The next message that gives a value; those before it are passed over.
    @discardableResult
    func next<Value>(
        _ what: String, _ value: (CoordinatorMessage) -> Value?
    ) throws -> Value {
        while true {
            if let found = value(try MessageCodec().decode(frame(what))) { return found }
        }
    }

    /// Makes sure that nothing was said but what these are: what follows was asked for later.
    func expectNothing(but isMeant: (CoordinatorMessage) -> Bool = { _ in false }) throws {
        try hello()
        while true {
            let message = try heard("a welcome")
            if case .welcome = message { return }
            if message == .heartbeat { continue }
            #expect(isMeant(message), "\(message)")
        }
    }

    /// The next message, whatever it is.
    func heard(_ what: String) throws -> CoordinatorMessage { try next(what) { $0 } }

    /// The next answer that gives a value; those before it are passed over.
    @discardableResult
    func reply<Value>(_ what: String, _ value: (ClientReply) -> Value?) throws -> Value {
        while true {
            if let found = value(try MessageCodec().decode(frame(what))) { return found }
        }
    }

    // MARK: - As a worker

    func hello(slots: Int = 1, held: [HeldAttempt] = [], as name: String? = nil) throws {
        try say(
            .hello(
                WorkerHello(
                    worker: name ?? self.name, protocols: .current, engine: Planner.engineVersion,
                    sqlite: "3", policies: [], roots: ["all"], slots: slots, scratchBytes: 1 << 40,
                    held: held)))
    }

    func welcome() throws -> Welcome {
        try next("a welcome") { if case .welcome(let welcome) = $0 { welcome } else { nil } }
    }

    func orders() throws -> [JobOrder] {
        try next("orders") { if case .jobs(let orders) = $0 { orders } else { nil } }
    }

    /// What a slot would deliver of an order, as far as a coordinator looks at it.
    static func receipt(_ order: JobOrder) -> Receipt {
        let file = FileReference(
            root: order.attempt.folder.root, path: order.attempt.folder.path + "/store.sqlite")
        return Receipt(
            job: order.job, attempt: order.attempt,
            files: [
                DeliveredFile(file: file, bytes: 10, digest: String(repeating: "0", count: 64))
            ], rows: 5)
    }

    func committed(_ attempt: String) throws {
        try next("the commit of \(attempt)") { message -> Bool? in
            if case .committed(attempt) = message { true } else { nil }
        }
    }

    func denied(_ attempt: String) throws -> DenialReason {
        try next("the denial of \(attempt)") { message in
            if case .denied(attempt, let reason) = message { reason } else { nil }
        }
    }

    /// Does orders as they come until so many were committed.
    func work(_ count: Int) throws {
        var left = count
        while left > 0 {
            for order in try orders() {
                try say(.done(Self.receipt(order)))
                try committed(order.attempt.id)
                left -= 1
            }
        }
    }

    // MARK: - As a client

    func status(_ run: String?) throws -> StatusReport {
        try ask(.status(run: run))
        return try reply("a status") { if case .status(let report) = $0 { report } else { nil } }
    }

    func refusal() throws -> Refusal {
        try reply("a refusal") { if case .refused(let refusal) = $0 { refusal } else { nil } }
    }

    func done() throws {
        try reply("an answer") { reply -> Bool? in if case .done = reply { true } else { nil } }
    }

    func accepted() throws -> String {
        try reply("a run") { if case .accepted(let run) = $0 { run } else { nil } }
    }

    /// Watches until an event gives a value.
    @discardableResult
    func event<Value>(_ what: String, _ value: (WatchEvent) -> Value?) throws -> Value {
        try reply(what) { if case .event(let event) = $0 { value(event) } else { nil } }
    }

    func note(_ kind: String) throws -> WatchNote {
        try event("a note of \(kind)") { event in
            if case .note(let note) = event, note.kind == kind { note } else { nil }
        }
    }

    func end(of run: String) throws -> Int {
        try event("the end of \(run)") { event in
            if case .ended(run, let failures) = event { failures } else { nil }
        }
    }
}
