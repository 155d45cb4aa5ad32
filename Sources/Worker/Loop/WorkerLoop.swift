internal import CLinux
import ClusterProtocol
import ClusterVocabulary
import Jobs
import WorkerRules
import ZeroMQ

/// A worker on its thread: joins the state machine, the pool of slots and the connection to the
/// coordinator, and decides nothing by itself.
///
/// Everything here returns at once, so that heartbeats leave beside the work: jobs run in other
/// processes, files are removed by the housekeeper.
final class WorkerLoop: PollLoopHandler {
    private let sockets: PollSockets
    private let dependencies: WorkerDependencies
    let pool: any Slots
    private let keeper: Housekeeper
    private let link: CoordinatorLink
    private let left: @Sendable (WorkerExit) -> Void
    private var machine: WorkerMachine
    private var news = LinkStateLog()
    private var assignments = SlotAssignments()
    /// Events that came up while another one's effects were being applied.
    private var events: [WorkerEvent] = []
    private var isApplying = false
    /// Why not even the first connection could be begun: what is wrong then stays wrong.
    private var failure: ZeroMQError?
    private var hasTried = false
    private var isDrained = false
    /// Readable when the process has ended with which this one ends; -1 for none.
    private var parentEnd: Int32 = -1
    /// Bytes of temporary files that all jobs may take; nil for any.
    private let scratchLimit: Int64?
    private let scratchLook: Int64
    private var nextLook: Int64

    /// Starts the slots; the connection follows with the first turn.
    ///
    /// - Parameters:
    ///   - plan: what the worker is made of.
    ///   - sockets: those of the loop.
    ///   - dependencies: clock, randomness and log.
    ///   - left: told why the worker ended, before the loop does.
    /// - Throws: `SlotError`, `DurableFileError` for folders that are not there, `ThreadError`.
    init(
        _ plan: WorkerPlan, _ sockets: PollSockets, _ dependencies: WorkerDependencies,
        left: @escaping @Sendable (WorkerExit) -> Void
    ) throws {
        self.sockets = sockets
        self.dependencies = dependencies
        self.left = left
        keeper = try Housekeeper(plan, note: dependencies.note)
        pool = try plan.slots.slots()
        link = CoordinatorLink(sockets, plan, routingID: dependencies.routingID)
        scratchLimit = plan.scratch == nil || plan.scratchLimit == .max ? nil : plan.scratchLimit
        scratchLook = max(1, plan.scratchLookMilliseconds)
        nextLook = sockets.now
        var settings = plan.settings
        settings.slots = max(1, plan.slots.count)
        settings.roots = plan.slots.setup.roots.keys.sorted()
        settings.scratchBytes = keeper.free
        settings.exitsWhenOrphaned = plan.parent != nil
        machine = WorkerMachine(settings: settings)
        sockets.watch(pool.descriptor)
        if plan.slots.startsFirst { pool.want(0, now: sockets.now) }
        if let parent = plan.parent { try watch(parent) }
    }

    deinit {
        if parentEnd >= 0 { _ = clinux_close(parentEnd) }
        dependencies.ended?()
    }

    private func watch(_ parent: Int64) throws(SlotError) {
        let descriptor = clinux_child_descriptor(parent)
        if descriptor == -SlotSignal.noProcess {
            // Gone already; told with the first turn.
            events.append(.orphaned)
            return
        }
        parentEnd = try SlotError.check(descriptor, "watching the process \(parent)")
        sockets.watch(parentEnd)
    }

    /// The worker is asked to end: jobs that run may finish within the grace.
    func terminate() {
        dependencies.note(.terminating)
        take(.terminate)
    }

    // MARK: - What the loop tells

    var nextWake: Int64? {
        [machine.nextWake?.milliseconds, pool.nextWake, scratchLimit.map { _ in nextLook }]
            .compactMap(\.self).min()
    }

    func wake(at now: Int64) throws {
        hear()
        if now >= nextLook { boundScratch(now) }
        take(.tick)
        if let failure { throw failure }
    }

    func becameReadable(_ descriptor: Int32) throws {
        guard descriptor == parentEnd else { return hear() }
        sockets.unwatch(descriptor)
        take(.orphaned)
    }

    func received(_ messages: [Message], on socket: Socket) throws {
        for message in messages where socket === link.socket {
            do throws(ProtocolError) {
                try take(try link.decode(message))
            } catch {
                if link.isForClients(message) { throw WorkerError.clientsKey }
                dependencies.note(.unreadable("\(error)"))
            }
        }
    }

    func becameWritable(_ socket: Socket) throws {
        if socket === link.socket, !link.sendRest() { lose("it accepts no messages") }
    }

    func observed(_ event: MonitorEvent, of socket: Socket) throws {
        guard socket === link.socket else { return }
        switch event.kind {
        case .handshakeSucceeded: take(.connected)
        case .disconnected:
            // What came before the end counts: it spares telling results again.
            try received(try socket.receive(upTo: PollLoop<WorkerLoop>.messagesOfATurn), on: socket)
            if socket === link.socket { lose("it was closed") }
        case .handshakeFailed, .handshakeFailedAuthentication, .handshakeFailedProtocol,
            .disconnectedBeforeHandshake:
            lose(link.reason(event))
        default: break
        }
    }

    func willEnd() throws {
        sockets.unwatch(pool.descriptor)
        link.close()
    }

    // MARK: - Events

    private func take(_ message: CoordinatorMessage) throws(ProtocolError) {
        switch message {
        case .welcome(let welcome):
            news.welcomed()
            dependencies.note(.welcomed(coordinator: welcome.coordinator))
        case .refused(let refusal):
            if news.refused(refusal.text) { dependencies.note(.refused(refusal)) }
        case .jobs(let orders):
            // More than a hello can name could never be told after a reconnect.
            let count = machine.held.count + orders.count
            guard count <= MessageLimits.attempts else {
                throw .tooMany(
                    field: "the orders held", count: count, limit: MessageLimits.attempts)
            }
        case .bye(let reason): tell(news.lost("the coordinator left: \(reason)"))
        case .drain:
            // It is told with every beat.
            if !isDrained { dependencies.note(.drained) }
            isDrained = true
        case .committed, .denied, .revoke, .heartbeat: break
        }
        take(.message(message))
    }

    private func hear() {
        let notices = pool.receive(now: sockets.now)
        for notice in notices {
            switch notice.event {
            case .started: dependencies.note(.slotBegan(slot: notice.slot))
            case .ended(let text):
                dependencies.note(.slotEnded(slot: notice.slot, text: text))
            case .progress, .delivered, .failed: continue
            }
        }
        for event in assignments.take(notices) { take(event) }
        handOut()
    }

    private func lose(_ reason: String) {
        link.close()
        tell(news.lost(reason))
        take(.disconnected)
    }

    private func tell(_ note: WorkerNote?) {
        if let note { dependencies.note(note) }
    }

    /// Tells the machine, one event after the other, and does what it says.
    private func take(_ event: WorkerEvent) {
        events.append(event)
        guard !isApplying else { return }
        isApplying = true
        while !events.isEmpty {
            let effects = machine.handle(
                events.removeFirst(), now: Instant(milliseconds: sockets.now))
            apply(effects)
            assignments.keep(machine.held)
        }
        isApplying = false
    }

    // MARK: - Scratch

    /// The jobs whose files count.
    private var jobs: [ScratchUse.Job] {
        (0..<machine.settings.slots).compactMap { slot in
            guard let attempt = assignments.attempt(in: slot),
                let process = pool.processID(of: slot)
            else { return nil }
            return ScratchUse.Job(slot: slot, process: process, attempt: attempt)
        }
    }

    /// Ends the job whose temporary files take most where all take too much, and has them looked
    /// at again.
    private func boundScratch(_ now: Int64) {
        guard let scratchLimit else { return }
        let use = keeper.use
        // What it was seen with may have ended since.
        if let job = use.excess(over: scratchLimit), jobs.contains(job) {
            let bytes = use.bytes[job] ?? 0
            dependencies.note(.scratchExceeded(attempt: job.attempt, bytes: bytes))
            pool.end(
                job.slot,
                exceeding: "its temporary files took \(bytes) bytes; the limit for all "
                    + "slots of this worker is \(scratchLimit)")
        }
        keeper.measure(jobs)
        nextLook = now + scratchLook
    }

    // MARK: - Effects

    private func apply(_ effects: WorkerEffects) {
        for command in effects.slots { apply(command) }
        handOut()
        for message in effects.sends { send(message) }
        for order in effects.discards where assignments.hasBegun(order.attempt.id) {
            keeper.remove(order.attempt)
        }
        if effects.connects { connect() }
        if let exit = effects.exit {
            left(exit)
            sockets.end()
        }
    }

    private func apply(_ command: SlotCommand) {
        switch command {
        case .run(let order, let slot):
            assignments.place(order, on: slot)
            pool.want(slot, now: sockets.now)
        case .kill(let slot):
            switch assignments.stop(slot) {
            case .kill: pool.cancel(slot)
            case .tell(let event): take(event)
            case .nothing:
                // Its job ended in the same moment: the machine waits for an end all the same.
                take(.slot(.died(attempt: nil, .stopped, text: "it had ended"), slot: slot))
            }
        }
    }

    /// Gives waiting orders to the processes that wait for one.
    private func handOut() {
        for (slot, order) in assignments.due(pool.free) {
            do throws(SlotError) {
                try pool.run(order, on: slot, now: sockets.now)
                assignments.began(slot)
            } catch {
                switch error {
                // The process is ending: the order waits for the next one.
                case .closed, .notFree, .system: continue
                case .nonsense(let text):
                    if let event = assignments.reject(slot, text) { take(event) }
                }
            }
        }
    }

    private func send(_ message: WorkerMessage) {
        if case .heartbeat = message {
            keeper.measure(jobs)
            take(.scratch(free: keeper.free))
        }
        do throws(ProtocolError) {
            if try !link.send(message) { lose("it accepts no messages") }
        } catch {
            dependencies.note(.unsendable("\(error)"))
        }
    }

    private func connect() {
        do throws(ZeroMQError) {
            try link.open()
            tell(news.connects(to: link.endpoint))
        } catch {
            if !hasTried { failure = error }
            lose("\(error)")
        }
        hasTried = true
    }
}
