import ClusterCore
import ClusterProtocol
import ClusterVocabulary
import Jobs
import RunLedger
import RunService
import RunSupervision
import StateFolders
import StoreRuns
import ZeroMQ

/// A coordinator on its thread: joins the supervisor of the runs, the ledger and the sockets, and
/// decides nothing by itself.
///
/// What a turn brings becomes durable with one commit at its end, and only then is anything sent
/// or begun. Everything that takes long is done elsewhere: by the tasks' threads and by the
/// queues, of which one reads offers, one answers clients and one begins runs.
final class CoordinatorLoop: PollLoopHandler {
    let sockets: PollSockets
    let plan: CoordinatorPlan
    let dependencies: CoordinatorDependencies
    let ledger: Ledger
    let peerConnections: PeerConnections
    let tasks: any TaskRunner
    let queues: BlockingQueues
    /// What watchers learn about files that runs left out.
    var leftOut: [Note] = []
    var supervisor: RunSupervisor
    var mapping: RecordMapping
    var handles: [String: RunHandle] = [:]
    var watchers: [ClientID: String?] = [:]
    /// Watchers that are yet to be told what was before they came.
    var beginners: Set<ClientID> = []
    /// What the machine said last of runs that it does not have any more; the newest ones.
    var ended: [RunStatus] = []
    /// Runs that were opened, where others of the ledger are none of this coordinator's business.
    var ownRuns: [String] = []
    private var looksForEnded = false
    private var turn = Turn()
    /// When the ledger is tried again, which had no room.
    private var blockedUntil: Int64?
    private var nextSample: Int64 = 0
    private var nextSweep: Int64 = 0
    /// What was put off, in the order of its time.
    private var postponed: [(at: Int64, body: (CoordinatorLoop) -> Void)] = []
    /// Work items for which the queue of beginnings had no place, in their order.
    private var workItems: [BlockingQueues.WorkItem] = []
    /// Whether the last reading of the ledger failed.
    private var isUnreadable = false
    private var refusals = RefusalLogLimiter()

    /// Milliseconds between two looks at how fast runs are, which watchers are told.
    static let sampleInterval: Int64 = 1000
    /// Milliseconds after which a ledger without room is tried again.
    static let retryInterval: Int64 = 2000
    /// Milliseconds after which a silent peer is forgotten.
    static let memory: Int64 = 600_000

    /// Opens the socket.
    ///
    /// - Throws: `ZeroMQError` for an endpoint that cannot be listened at.
    init(
        _ plan: CoordinatorPlan, _ sockets: PollSockets, _ dependencies: CoordinatorDependencies,
        tasks: any TaskRunner, queues: BlockingQueues
    ) throws {
        self.plan = plan
        self.sockets = sockets
        self.dependencies = dependencies
        self.tasks = tasks
        self.queues = queues
        ledger = plan.runs.ledger
        var options = SocketOptions()
        options.security = plan.security
        // libzmq 4.3.4 aborts the process when a ping is due for a connection that broke while
        // its messages waited to be received (stream_engine_base.cpp, timer_event). Workers and
        // clients send pings, whose time to live finds silent connections on this side, too.
        options.heartbeat = nil
        let router = try sockets.open(.router, options: options, isMonitored: true)
        try router.bind(plan.endpoint)
        peerConnections = PeerConnections(
            router, protocols: plan.settings.protocols, identify: plan.peer)
        supervisor = RunSupervisor(settings: plan.settings, isResuming: plan.resumesRuns)
        mapping = RecordMapping(
            bootIdentifier: plan.runs.environment.bootIdentifier,
            wallTime: plan.runs.environment.wallTime)
    }

    deinit { dependencies.ended?() }

    // MARK: - What the loop tells

    var nextWake: Int64? {
        let waits = [
            supervisor.nextWake?.milliseconds, blockedUntil, nextSample, postponed.first?.at,
            peerConnections.isCrowded ? sockets.now + 20 : nil,
        ]
        return waits.compactMap(\.self).min()
    }

    func wake(at now: Int64) throws {
        peerConnections.sendRest()
        if now >= nextSample { sample(now) }
        if now >= nextSweep { sweep(now) }
        let due = postponed.prefix { $0.at <= now }
        postponed.removeFirst(due.count)
        for (_, body) in due { body(self) }
        handle(.tick)
    }

    func received(_ messages: [Message], on socket: Socket) throws {
        let now = sockets.now
        for message in messages {
            guard let peer = peerConnections.sender(of: message, at: now) else { continue }
            do throws(ProtocolError) {
                switch try peerConnections.read(message, from: peer) {
                case .worker(let said): take(said, from: peer)
                case .client(let request):
                    // Who does not read its answers gets no more of them.
                    guard peerConnections.isReading(peer.connection) else {
                        refusals.add(.unreadAnswers)
                        continue
                    }
                    take(request, from: ClientID(peer.connection.text))
                }
            } catch {
                refusals.add(PeerRefusal(error, of: peer))
                refuse(ClientID(peer.connection.text), .badMessage, "\(error)", peer)
            }
        }
    }

    func refused(_ refusal: AccessRefusal) throws {
        refusals.add(.access(refusal))
    }

    func observed(_ event: MonitorEvent, of socket: Socket) throws {
        // Who comes without a key, or with another key of this side, is never asked about.
        if case .handshakeFailedProtocol = event.kind, let reason = event.refusal {
            refusals.add(.handshake(endpoint: event.endpoint, reason: reason))
        }
    }

    func endOfTurn(at now: Int64) throws {
        if !workItems.isEmpty { workItems.removeFirst(workItems.prefix { queues.begin($0) }.count) }
        try flush()
        if looksForEnded, turn.isEmpty {
            looksForEnded = false
            handle(.sweep)
        }
        add(supervisor.feed(now: Instant(milliseconds: now)))
        // A run may end for want of stores.
        try flush()
        tasks.expectMoves(supervisor.machine.hasAttempts)
    }

    func willEnd() throws {
        for worker in supervisor.machine.workerNames {
            say(.bye(reason: "the coordinator is shutting down"), toWorker: worker)
        }
    }

    // MARK: - Events

    private func take(_ message: WorkerMessage, from peer: PeerConnections.Peer) {
        var name = peer.worker ?? ""
        if case .hello(let hello) = message {
            name = hello.worker
            if case .worker(let key, let known) = peer.identity {
                guard key == hello.worker else {
                    dependencies.note(.falseName(worker: known, claimed: hello.worker))
                    return refuse(
                        ClientID(peer.connection.text), .badMessage,
                        "the worker calls itself \(hello.worker), but its key belongs to \(key)",
                        peer)
                }
                name = known
            }
            peerConnections.learn(name, at: peer.connection)
            probe(name, but: peer.connection)
        }
        take(.message(message, from: peer.connection, worker: name))
    }

    /// Finds out whether the former connection of a worker is still there, before another one
    /// says hello in its name: a process that was killed and started again comes in at once.
    private func probe(_ worker: String, but connection: ConnectionID) {
        guard let former = supervisor.machine.connection(ofWorker: worker), former != connection
        else { return }
        say(.heartbeat, to: former)
        takeGone()
    }

    private func takeGone() {
        for connection in peerConnections.takeGone() {
            watchers[ClientID(connection.text)] = nil
            take(.unreachable(connection))
        }
    }

    /// Tells the machine of the workers' jobs.
    ///
    /// - Parameters:
    ///   - event: what happened.
    ///   - records: what is to be durable together with what the machine makes of it.
    func take(_ event: CoordinatorEvent, with records: [LedgerRecord] = []) {
        turn.records += records
        handle(.machine(event))
    }

    /// Tells the supervisor of the runs.
    func handle(_ event: SupervisorEvent) {
        add(supervisor.handle(event, now: Instant(milliseconds: sockets.now)))
    }

    private func add(_ effects: SupervisorEffects) {
        var effects = effects
        for (run, state) in effects.known { mapping.learn(state, of: run) }
        do throws(RunError) {
            for record in effects.machine.records {
                turn.records += try mapping.records(of: record)
            }
        } catch {
            dependencies.note(.bug("a record has no text: \(error)"))
        }
        effects.machine.records = []
        if blockedUntil != nil { sendHeartbeats(of: &effects.machine) }
        if !effects.isEmpty { turn.rest.append(effects) }
    }

    /// Stores that have left the machine, and whose files are not released yet.
    var leavingStores: Set<StoreKey> {
        Set(turn.rest.flatMap { effects in effects.left.map(\.key) })
    }

    /// Sends what promises nothing at once, while everything else waits for the ledger: workers
    /// must not take the coordinator for dead.
    private func sendHeartbeats(of effects: inout CoordinatorEffects) {
        for send in effects.sends where send.message == .heartbeat {
            say(send.message, to: send.to)
        }
        effects.sends.removeAll { $0.message == .heartbeat }
    }

    /// A task has ended.
    func ended(_ report: TaskReport) {
        switch report.outcome {
        case .failed(let code, let text) where code.decision != .pause,
            .interrupted(let code, let text) where code.decision != .pause:
            // Of a run that was given up the files go while tasks still read them.
            guard supervisor.machine.takesStores(of: report.store.run) else { break }
            dependencies.note(.taskFailed(report.store, code, text: text))
        default: break
        }
        take(.taskEnded(report.task, report.outcome), with: report.records)
    }

    // MARK: - What is put off

    /// Does something again after a while, since it cannot be done now.
    func postpone(_ body: @escaping (CoordinatorLoop) -> Void) {
        postponed.append((sockets.now + Self.retryInterval, body))
    }

    /// Tells of a ledger that cannot be read, once until it can be read again.
    func noteOutage(_ text: String) {
        if !isUnreadable { dependencies.note(.ledgerUnreadable(text)) }
        isUnreadable = true
    }

    /// The ledger was read.
    func noteReading() {
        if isUnreadable { dependencies.note(.ledgerReadable) }
        isUnreadable = false
    }

    /// Whether there is no place at the queue of beginnings: requests are refused then, so that
    /// what waits does not grow.
    var isQueueFull: Bool { !workItems.isEmpty }

    /// Has something begun, or ended, that was accepted: at once, or when there is place.
    func begin(_ workItem: @escaping BlockingQueues.WorkItem) {
        if isQueueFull || !queues.begin(workItem) { workItems.append(workItem) }
    }

    // MARK: - Effects

    /// Makes the turn durable, and lets out what waited for that.
    private func flush() throws {
        while !turn.isEmpty {
            if !turn.records.isEmpty {
                if let blockedUntil, sockets.now < blockedUntil { return }
                guard try isDurable() else { return }
            }
            let rest = turn.rest
            turn = Turn()
            for effects in rest { apply(effects) }
            takeGone()
        }
    }

    /// Appends the records of the turn.
    ///
    /// - Returns: false where the ledger has no room: then they wait, and all that follows them.
    /// - Throws: `RunError.ledger` for a ledger that cannot be used any more.
    private func isDurable() throws -> Bool {
        do throws(LedgerError) {
            try ledger.append(turn.records)
        } catch {
            guard error.isOutOfSpace, plan.waitsForLedgerSpace else {
                throw RunError.ledger(error)
            }
            if blockedUntil == nil { dependencies.note(.ledgerFull("\(error)")) }
            blockedUntil = sockets.now + Self.retryInterval
            return false
        }
        if blockedUntil != nil { dependencies.note(.ledgerHasRoom) }
        blockedUntil = nil
        return true
    }

    /// Why everything waits; nil where nothing does.
    var blockedReason: WaitingReason? { blockedUntil == nil ? nil : .ledgerFull }

    private func apply(_ effects: SupervisorEffects) {
        for send in effects.machine.sends { say(send.message, to: send.to) }
        for reply in effects.machine.replies { answer(reply.reply, to: reply.to) }
        for task in effects.machine.tasks { begin(task) }
        for store in effects.machine.stops { tasks.stop(store) }
        for note in effects.machine.notes { report(.note(note)) }
        for left in effects.left { release(left) }
        for event in effects.events { report(event) }
        for (run, status) in effects.forgotten { forget(run, status) }
        for work in effects.works { begin(work) }
    }

    private func begin(_ task: CoordinatorTask) {
        guard let handle = handles[task.store.run], let found = handle.stores[task.store.number]
        else {
            return take(
                .taskEnded(
                    task.id, .failed(.bug, text: "the store \(task.store) is not here")))
        }
        tasks.begin(task, of: TaskStore(found: found, run: handle.run))
    }

    func say(_ message: CoordinatorMessage, to connection: ConnectionID) {
        do throws(ProtocolError) {
            try peerConnections.send(message, to: connection)
        } catch {
            dependencies.note(.unsendable("\(error)"))
        }
    }

    private func say(_ message: CoordinatorMessage, toWorker name: String) {
        for connection in peerConnections.connections(ofWorker: name) {
            say(message, to: connection)
        }
    }

    /// Reports what happened to the log and to watchers.
    private func report(_ event: WatchEvent) {
        switch event {
        case .note(let note):
            let named = named(note)
            dependencies.tell(named)
            publish(.note(named), run: named.run)
            if case .run(let run, .stopped) = note { tellStatus(run) }
        case .ended(let run, _): publish(event, run: run)
        case .status: publish(event, run: nil)
        }
    }

    // MARK: - Time

    private func sample(_ now: Int64) {
        nextSample = now + Self.sampleInterval
        for moved in supervisor.machine.transfers {
            handles[moved.run]?.meter.add(rows: moved.rows, bytes: moved.bytes, at: now)
        }
        for note in refusals.due(at: now) { dependencies.note(note) }
        tellStatus(nil)
        looksForEnded = true
    }

    private func sweep(_ now: Int64) {
        nextSweep = now + Self.memory / 10
        let watchers = watchers
        peerConnections.forget(before: now - Self.memory, but: Set(supervisor.machine.workerNames))
        {
            watchers[ClientID($0.text)] != nil
        }
    }
}
