import ClusterProtocol
import ClusterTables
import ClusterVocabulary
import Jobs

/// What the coordinator's machine knows, in tables, and the steps that several of its rules take.
///
/// No step of it calls a rule: rules stand in `CoordinatorMachine`.
struct MachineState: Sendable {
    let settings: CoordinatorSettings
    var now = Instant.zero
    /// Effects of the event at hand.
    var out = CoordinatorEffects()

    var roster: Roster
    var runs = RunTable()
    var stores = StoreTable()
    var attempts = AttemptTable()
    var tasks: TaskTable
    var timers = PriorityTable<CoordinatorTimer, Instant>()
    var throttle: OverallThrottle
    var faults = FaultLog()
    var log = StateLogs()
    /// The window by which large stores take turns.
    var knownWindow = 0
    private var nextIndex = 0
    let jitter: Jitter

    init(settings: CoordinatorSettings) {
        self.settings = settings
        roster = Roster(settings.sharing)
        tasks = TaskTable(limit: settings.sharing.tasks)
        throttle = OverallThrottle(settings.throttle)
        jitter = Jitter(seed: settings.jitterSeed)
    }

    /// A number that nothing else has.
    mutating func newIndex() -> Int {
        nextIndex += 1
        return nextIndex - 1
    }

    /// Sets a timer for so many milliseconds from now on.
    mutating func set(_ timer: CoordinatorTimer, after milliseconds: Int64) {
        timers.set(timer, now.adding(milliseconds))
    }

    /// Whole seconds from now on, the last one counted in full.
    func seconds(until end: Instant?) -> Int64 {
        let left = max(0, end?.since(now) ?? 0)
        return left / 1000 + (left % 1000 > 0 ? 1 : 0)
    }

    /// Takes the effects of the event at hand out.
    mutating func takeEffects() -> CoordinatorEffects {
        var effects = CoordinatorEffects()
        swap(&effects, &out)
        return effects
    }
}

// MARK: - Effects

extension MachineState {
    /// Has the ledger write something down.
    mutating func record(_ record: CoordinatorRecord) { out.records.append(record) }

    /// Tells watchers and the log of something.
    mutating func note(_ note: Note) { out.notes.append(note) }

    /// Sends to a worker where it has a connection.
    mutating func send(_ message: CoordinatorMessage, to worker: Int) {
        guard let connection = roster[worker]?.connection else { return }
        roster.send(worker, now)
        out.sends.append(CoordinatorEffects.Send(to: connection, message: message))
    }

    /// Sends to a connection.
    mutating func send(_ message: CoordinatorMessage, to connection: ConnectionID) {
        out.sends.append(CoordinatorEffects.Send(to: connection, message: message))
    }

    /// Answers a client.
    mutating func reply(_ reply: ClientReply, to client: ClientID) {
        out.replies.append(CoordinatorEffects.Reply(to: client, reply: reply))
    }
}

// MARK: - States

extension MachineState {
    /// Changes where a worker stands.
    mutating func move(worker index: Int, to next: WorkerPhase) {
        guard var phase = roster[index]?.phase else { return }
        report(log.workers.move(&phase, to: next), run: nil)
        roster.update(index) { $0.phase = phase }
    }

    /// Changes where an attempt stands.
    mutating func move(attempt id: String, to next: AttemptPhase) {
        guard var phase = attempts[id]?.phase else { return }
        let broken = log.attempts.move(&phase, to: next)
        attempts.setPhase(phase, of: id)
        report(broken, run: (attempts[id]?.job.store).flatMap { stores[$0]?.run })
    }

    /// Changes where a job stands.
    mutating func move(job id: JobID, to next: JobPhase) {
        guard var phase = stores[id.store]?.jobs[id.work]?.phase else { return }
        let broken = log.jobs.move(&phase, to: next)
        stores[id.store]?.jobs[id.work]?.phase = phase
        report(broken, run: stores[id.store]?.run)
    }

    /// Changes where a store stands.
    mutating func move(store index: Int, to next: StorePhase) {
        guard var phase = stores[index]?.phase else { return }
        let broken = log.stores.move(&phase, to: next)
        stores[index]?.phase = phase
        report(broken, run: stores[index]?.run)
    }

    /// Changes where a run stands.
    mutating func move(run index: Int, to next: RunPhase) {
        guard var phase = runs[index]?.phase else { return }
        let broken = log.runs.move(&phase, to: next)
        runs[index]?.phase = phase
        report(broken, run: index)
    }
}

// MARK: - Invariants

extension MachineState {
    /// Checks an invariant; where it is broken the caller does not take its step.
    ///
    /// - Parameters:
    ///   - condition: what must hold.
    ///   - invariant: whose condition it is.
    ///   - run: the run that stops where it does not hold; nil for none.
    ///   - found: ids and states, for the log.
    /// - Returns: whether it holds.
    mutating func holds(
        _ condition: Bool, _ invariant: Invariant, run: Int?, _ found: @autoclosure () -> String
    ) -> Bool {
        if !condition { report(BrokenInvariant(invariant, found()), run: run) }
        return condition
    }

    /// Reports a broken invariant; its run stops at the end of the event.
    mutating func report(_ broken: BrokenInvariant?, run: Int?) {
        guard let broken else { return }
        broken.end(settings.endsAtBrokenInvariant)
        faults.add(broken, run: run)
        note(.broken("\(broken)"))
    }
}
