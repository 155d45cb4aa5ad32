import CLinux
import CZeroMQ
import ClusterCore
import ClusterProtocol
import ClusterVocabulary
@testable import Coordinator
import DurableFiles
import Jobs
import MigrationEngine
import RunLedger
@testable import RunService
import RunSupervision
import StateFolders
import StoreRuns
import Synchronization
import Testing
import Threads
@testable import ZeroMQ

/// A coordinator on a ledger of its own, with tasks that do what the test wants.
final class CoordinatorLab {
    let sharing: SharingLab
    let tasks = ScriptedTasks()
    /// What a coordinator tells people: of itself, and of runs and workers.
    private enum Logged: Sendable {
        case own(CoordinatorNote)
        case note(Note)
    }

    private let log = BoundedMailbox<Logged>(capacity: 100_000)
    /// Milliseconds that the test has let pass.
    private let ahead = Passed()
    private(set) var coordinator: RunningCoordinator?
    private(set) var endpoint = ""
    private var starts = 0
    private var change: (inout CoordinatorPlan) -> Void = { _ in }
    /// Called where a report would be written.
    var runEnded: (@Sendable (String) -> Void)?

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
        root: String? = nil, change: @escaping (inout CoordinatorPlan) -> Void = { _ in },
        _ body: (CoordinatorLab) throws -> Void
    ) throws {
        try SharingLab.run(root: root) { sharing in
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
        settings.sharing.tasks = 64
        return settings
    }

    /// The plan of a coordinator that lets every peer of this machine in.
    static func plan(
        _ sharing: SharingLab, endpoint: String, settings: CoordinatorSettings
    ) -> CoordinatorPlan {
        CoordinatorPlan(
            endpoint: endpoint, security: .plainServer(domain: "tests"),
            access: AccessPolicy(plain: .fromThisMachine(as: "local")),
            peer: { $0 == "local" ? .local : nil }, settings: settings,
            runs: sharing.dependencies)
    }

    func start() throws {
        starts += 1
        endpoint = "ipc://\(sharing.folder)/c\(starts)"
        var plan = Self.plan(sharing, endpoint: endpoint, settings: Self.settings(starts))
        change(&plan)
        let (tasks, log) = (tasks, log)
        let ahead: Passed = ahead
        coordinator = try RunningCoordinator(
            plan, context: Self.context(),
            dependencies: CoordinatorDependencies(
                clock: { clinux_monotonic_nanoseconds() / 1_000_000 + ahead.milliseconds },
                note: { _ = log.sendIfRoom(.own($0)) },
                tell: { _ = log.sendIfRoom(.note($0)) }, runEnded: runEnded)
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

    /// Waits until the coordinator says something of itself.
    func noted(_ what: String, _ isIt: (CoordinatorNote) -> Bool) throws {
        while case .element(let entry) = log.receive(within: .seconds(60)) {
            if case .own(let note) = entry, isIt(note) { return }
        }
        throw Missing(description: "a note of \(what)")
    }

    func noted(_ note: CoordinatorNote) throws { try noted("\(note)") { $0 == note } }

    func notedFullLedger() throws {
        try noted("a full ledger") { if case .ledgerFull = $0 { true } else { false } }
    }

    /// Waits until the coordinator tells people of something.
    func told(_ what: String, _ isIt: (Note) -> Bool) throws {
        while case .element(let entry) = log.receive(within: .seconds(60)) {
            if case .note(let note) = entry, isIt(note) { return }
        }
        throw Missing(description: "a note \(what)")
    }

    func told(_ note: Note) throws { try told("\(note)") { $0 == note } }

    /// What it said of itself up to a note that a test adds at this moment.
    func notesSoFar() throws -> [CoordinatorNote] {
        let end = CoordinatorNote.bug("so far")
        coordinator?.queues.loop.submit { $0.dependencies.note(end) }
        var found: [CoordinatorNote] = []
        while case .element(let entry) = log.receive(within: .seconds(60)) {
            guard case .own(let note) = entry else { continue }
            if note == end { return found }
            found.append(note)
        }
        throw Missing(description: "the log")
    }

    /// Waits until the queue of beginnings has done what it was given so far.
    func onQueue() throws {
        // What the loop was given before is done in the first of these turns, and what comes of it
        // reaches the queue at that turn's end, before the second.
        try onLoop { _ in }
        try onLoop { _ in }
        let done = BoundedMailbox<Bool>(capacity: 1)
        let queues = try #require(coordinator?.queues)
        let isTaken = queues.begin { _ in _ = done.sendIfRoom(true) }
        #expect(isTaken)
        _ = done.receive()
    }

    /// Lets time pass until runs have left the loop and its machine.
    func untilForgotten(_ runs: [String]) throws {
        let end = ContinuousClock.now.advanced(by: .seconds(60))
        while ContinuousClock.now < end {
            wait(CoordinatorLoop.sampleInterval)
            let isThere = try onLoop { loop in
                runs.contains { run in
                    loop.supervisor.phase(of: run) != nil
                        || loop.supervisor.machine.report().runs.contains { $0.run == run }
                }
            }
            if !isThere { return }
        }
        throw Missing(description: "the end of \(runs)")
    }

    /// What a body says on the coordinator's thread.
    func onLoop<Value: Sendable>(
        _ body: @escaping @Sendable (CoordinatorLoop) -> Value
    ) throws -> Value {
        let answer = BoundedMailbox<Value>(capacity: 1)
        coordinator?.queues.loop.submit { _ = answer.sendIfRoom(body($0)) }
        guard case .element(let value) = answer.receive(within: .seconds(60)) else {
            throw Missing(description: "the coordinator's thread")
        }
        return value
    }

    /// Keeps a queue busy and full until it is emptied.
    func fill(
        _ ask: (BlockingQueues) -> (@escaping BlockingQueues.WorkItem) -> Bool
    ) throws -> FullQueue {
        let give = ask(try #require(coordinator?.queues))
        let begun = BoundedMailbox<Bool>(capacity: 1)
        var queue = FullQueue()
        let end = queue.end
        let isTaken = give { _ in
            _ = begun.sendIfRoom(true)
            _ = end.receive()
        }
        #expect(isTaken)
        _ = begun.receive()
        let done = queue.done
        while give({ _ in _ = done.sendIfRoom(true) }) { queue.waiting += 1 }
        return queue
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
            waitsForRoom: true
        ).id
    }

    /// A run that a worker did while a client watched it to its end.
    ///
    /// - Returns: the run, its stores and the client, who has been told that none failed.
    func finished(
        stores count: Int = 1, defersSwap: Bool = false
    ) throws -> (run: String, stores: [FilePath], client: ScriptedPeer) {
        let stores = try (1...count).map { try sharing.forge("s\($0).sqlite") }
        let run = try begin(stores, defersSwap: defersSwap)
        let client = try peer("client")
        try client.ask(.watch(run: run))
        try worker("w1").work(count)
        #expect(try client.end(of: run) == 0)
        return (run, stores, client)
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

/// A queue that a test keeps busy, with as many work items waiting as it takes.
struct FullQueue {
    fileprivate let end = BoundedMailbox<Bool>(capacity: 1)
    fileprivate let done = BoundedMailbox<Bool>(capacity: 1000)
    fileprivate var waiting = 0

    /// Lets the queue work, and waits until it has room again for everything that waited.
    func empty() {
        end.close()
        for _ in 0..<waiting { _ = done.receive() }
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
        case .prepare: .failed(.damaged, text: "nothing to prepare")
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

    func stop(_ key: StoreKey) {}

    func expectMoves(_ isExpected: Bool) {}

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
