import ClusterProtocol
import ClusterTables
package import ClusterVocabulary
import Jobs

/// A worker as a pure value: events in, effects out.
///
/// Its first event is a `.tick`, upon which it asks for a connection. It goes on working while
/// the coordinator is lost, and tells of results again until they are decided on.
package struct WorkerMachine: Sendable {
    package let settings: WorkerSettings

    var now = Instant.zero
    var out = WorkerEffects()
    var link = LinkPhase.apart
    var work = WorkPhase.working
    var orders = HeldOrders()
    /// The attempt in each slot.
    var slots: [String?]
    var timers = PriorityTable<Timer, Instant>()
    /// Connections that failed in a row.
    var tries = 0
    var lastHeard = Instant.zero
    var lastSent = Instant.zero
    /// Of the welcome.
    var heartbeat: Int64 = 1_000
    var liveness: Int64 = 5_000
    var scratchFree: Int64
    /// Free slots that were told last.
    var toldFree: Int?
    var nextBatch = 0
    /// The first invariant that was found broken.
    package private(set) var broken: BrokenInvariant?
    private let jitter: Jitter

    /// The transitions that were taken so far.
    package private(set) var transitions = WorkerLogs()

    package init(settings: WorkerSettings) {
        self.settings = settings
        slots = Array(repeating: nil, count: max(0, settings.slots))
        scratchFree = settings.scratchBytes
        jitter = Jitter(seed: settings.jitterSeed)
        timers.set(.connect, .zero)
    }

    /// What time brings.
    enum Timer: Hashable, Sendable {
        case connect
        /// The welcome, or the connection, did not come.
        case welcome
        case beat
        case silence
        /// Progress that was held back is told.
        case progress(String)
        /// A result is told again.
        case again(String)
        case grace
    }

    /// Takes one event.
    ///
    /// - Parameters:
    ///   - event: what happened.
    ///   - now: when, on the worker's monotonic clock; never earlier than before.
    /// - Returns: what to do about it, to be done before the next event's effects.
    package mutating func handle(_ event: WorkerEvent, now: Instant) -> WorkerEffects {
        self.now = max(self.now, now)
        guard work != .exited else { return WorkerEffects() }
        switch event {
        case .connected: greet()
        case .disconnected: part()
        case .message(let message): take(message)
        case .slot(let event, let slot): take(event, slot: slot)
        case .scratch(let free): scratchFree = max(0, free)
        case .terminate: terminate()
        case .orphaned: if settings.exitsWhenOrphaned { exit(.orphaned) }
        case .tick: break
        }
        runTimers()
        if let broken, work != .exited { exit(.broken(broken)) }
        if work != .exited {
            startOrders()
            tellFree()
            endIfDone()
        }
        var effects = WorkerEffects()
        swap(&effects, &out)
        return effects
    }

    /// When the machine wants a `.tick`, if nothing happens before; nil for never.
    package var nextWake: Instant? { work == .exited ? nil : timers.first?.priority }

    /// Attempts that it holds, undecided results included, in the order of their arrival.
    package var held: [String] { orders.arrival }

    /// Whether it was welcomed and has not lost its coordinator since.
    package var isAttached: Bool { link == .attached }
}

/// The transitions that a worker took, for tests of their coverage.
package struct WorkerLogs: Sendable {
    package var links = StateLog<LinkPhase>()
    package var works = StateLog<WorkPhase>()
    package var orders = StateLog<HeldPhase>()

    package init() {}

    /// Adds what other logs counted.
    package mutating func add(_ other: WorkerLogs) {
        links.add(other.links)
        works.add(other.works)
        orders.add(other.orders)
    }
}

// MARK: - States and effects

extension WorkerMachine {
    mutating func move(link next: LinkPhase) {
        report(transitions.links.move(&link, to: next))
    }

    mutating func move(work next: WorkPhase) {
        report(transitions.works.move(&work, to: next))
    }

    mutating func move(order id: String, to next: HeldPhase) {
        guard var phase = orders[id]?.phase else { return }
        let broken = transitions.orders.move(&phase, to: next)
        orders[id]?.phase = phase
        report(broken)
    }

    /// Reports a broken invariant: the worker ends when the event is done, and its leases with it.
    mutating func report(_ broken: BrokenInvariant?) {
        guard let broken else { return }
        broken.end(settings.endsAtBrokenInvariant)
        self.broken = self.broken ?? broken
    }

    mutating func set(_ timer: Timer, after milliseconds: Int64) {
        timers.set(timer, now.adding(milliseconds))
    }

    /// Sends where it is attached; what matters is told again after the next welcome.
    mutating func send(_ message: WorkerMessage) {
        guard link == .attached else { return }
        lastSent = now
        out.sends.append(message)
    }

    mutating func exit(_ reason: WorkerExit) {
        if case .finished = reason { send(.bye(reason: "finished")) }
        move(work: .exited)
        out.exit = reason
    }

    private mutating func runTimers() {
        let now = now
        while work != .exited, let timer = timers.popFirst(where: { $0 <= now }) {
            switch timer {
            case .connect: connect()
            case .welcome: part()
            case .beat: beat()
            case .silence: checkSilence()
            case .progress(let attempt): tellProgress(attempt)
            case .again(let attempt): tellResult(attempt)
            case .grace: endGrace()
            }
        }
    }
}

// MARK: - The connection

extension WorkerMachine {
    private mutating func connect() {
        guard link == .apart else { return }
        move(link: .connecting)
        out.connects = true
        set(.welcome, after: settings.welcomeWait)
    }

    private mutating func greet() {
        guard link == .connecting else { return }
        move(link: .greeting)
        set(.welcome, after: settings.welcomeWait)
        out.sends.append(
            .hello(
                WorkerHello(
                    worker: settings.worker, protocols: settings.protocols,
                    engine: settings.engine, sqlite: settings.sqlite,
                    policies: settings.policies, roots: settings.roots, slots: settings.slots,
                    scratchBytes: settings.scratchBytes,
                    held: orders.all.filter { $0.phase != .stopping }.map(\.held),
                    host: settings.host, instance: settings.instance)))
    }

    /// Gives the connection up; jobs go on.
    mutating func part() {
        guard link != .apart else { return }
        move(link: .apart)
        tries += 1
        timers.remove(.welcome)
        timers.remove(.beat)
        timers.remove(.silence)
        set(
            .connect,
            after: jitter.wait(settings.reconnect, tries: tries, for: settings.worker))
    }

    mutating func attach(_ welcome: Welcome) {
        guard link == .greeting else { return }
        move(link: .attached)
        timers.remove(.welcome)
        tries = 0
        heartbeat = Int64(max(1, welcome.heartbeatMilliseconds))
        liveness = heartbeat * Int64(max(1, welcome.livenessBeats))
        lastHeard = now
        set(.beat, after: heartbeat)
        set(.silence, after: liveness)
        toldFree = nil
        for attempt in welcome.drop { discard(attempt) }
        // What was told by the last connection may not have arrived.
        for order in orders.all where order.phase == .delivered { tellResult(order.attempt) }
    }

    private mutating func beat() {
        guard link == .attached else { return }
        send(.heartbeat(scratchFree: scratchFree, runningAttempts: orders.arrival))
        // Who waits for jobs says so again: a message may have been lost.
        if orders.isEmpty { toldFree = nil }
        set(.beat, after: heartbeat)
    }

    private mutating func checkSilence() {
        guard link == .attached else { return }
        let end = lastHeard.adding(liveness)
        if end <= now { part() } else { timers.set(.silence, end) }
    }
}
