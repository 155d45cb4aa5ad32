import ClusterProtocol
import Jobs

/// The coordinator as a pure value: events in, effects out; no clock, no randomness, no files.
///
/// Not a word of it is durable by itself: a new start makes a new machine, opens the unfinished
/// runs with `CoordinatorEvent.run` and offers their stores with what the ledger knows. No event
/// costs more than O(log n) in workers, attempts or stores, but for the end of a store and of a
/// worker's connection, which cost what they have in hand, and slots that come, which may cost a
/// look at each store in hand.
package struct CoordinatorMachine: Sendable {
    package let settings: CoordinatorSettings

    var now = Instant.zero
    /// Effects of the event at hand.
    var out = CoordinatorEffects()

    var roster: Roster
    var runs = Slab<RunProgress>()
    var runIndexes: [String: Int] = [:]
    /// Runs that were opened and have not ended, in the order of their arrival.
    var openRuns: [Int] = []
    var stores = Slab<StoreProgress>()
    var storeIndexes: [StoreKey: Int] = [:]
    var attempts: [String: AttemptState] = [:]
    var grants: [Int: Grant] = [:]
    var tasks: TaskQueue
    /// Tasks that wait for another try, by a number of their own.
    var restingTasks: [Int: PendingTask] = [:]
    var timers = PriorityTable<Timer, Instant>()
    /// Attempts that take long, by the moment when they became so.
    var slow = PriorityTable<String, Instant>()
    /// Attempts that workers hold of stores that are not here yet or are being prepared.
    var parked: [StoreKey: [Parked]] = [:]
    var throttle: Throttle
    var bucket: TokenBucket
    var log = StateLogs()
    /// Invariants that were found broken, the first few.
    var broken: [BrokenInvariant] = []
    /// Runs that stop at the end of the event because of one.
    var faultyRuns: [Int: BrokenInvariant] = [:]
    var nextIndex = 0
    /// The window by which large stores take turns.
    var knownWindow = 0
    let jitter: Jitter
    let policy: FailurePolicy

    package init(settings: CoordinatorSettings) {
        self.settings = settings
        roster = Roster(settings.sharing)
        tasks = TaskQueue(limit: settings.sharing.tasks)
        throttle = settings.throttle
        bucket = TokenBucket(bytesPerSecond: settings.throttle.bytesPerSecond)
        jitter = Jitter(seed: settings.jitterSeed)
        policy = FailurePolicy(limits: settings.quarantine)
    }

    /// What time brings.
    enum Timer: Hashable, Sendable {
        case lease(Int)
        case silence(Int)
        case beat(Int)
        case quarantine(Int)
        /// A back-off ends.
        case rest(JobID)
        /// Workers on which a job failed may have it again.
        case openToAll(JobID)
        /// An attempt becomes slow.
        case slow(String)
        case task(Int)
        case room(Int)
        /// The throttle lets something pass again.
        case throttle
    }

    /// An attempt that a worker says it holds.
    struct Parked: Hashable, Sendable {
        let worker: Int
        let attempt: String
        let epoch: Int
    }

    /// Takes one event.
    ///
    /// - Parameters:
    ///   - event: what happened.
    ///   - now: when, on the coordinator's monotonic clock; never earlier than before.
    /// - Returns: what to do about it, to be done before the next event's effects.
    package mutating func handle(
        _ event: CoordinatorEvent, now: Instant
    ) -> CoordinatorEffects {
        self.now = max(self.now, now)
        switch event {
        case .message(let message, let connection, let worker):
            take(message, from: connection, worker: worker)
        case .unreachable(let connection): lose(connection)
        case .workerEnded(let worker): endWorker(named: worker)
        case .request(let request, let client): take(request, from: client)
        case .run(let offer): open(offer)
        case .swapsDeferred(let run, let defers): deferSwaps(of: run, defers)
        case .lookedUp(let offer): takeAnswer(offer)
        case .forgotten(let run): forget(run: run)
        case .exhausted(let run, let left): exhaust(run, left: left)
        case .offered(let offer): take(offer)
        case .absent(let key, let accepted): dismiss(key, accepted: accepted)
        case .room(let run):
            if let index = runIndexes[run] { findRoom(index) }
        case .taskEnded(let id, let outcome): end(id, outcome)
        case .tick: break
        }
        runTimers()
        stopFaultyRuns()
        handOut()
        startTasks()
        var effects = CoordinatorEffects()
        swap(&effects, &out)
        return effects
    }

    /// When the machine wants a `.tick`, if nothing happens before; nil for never.
    package var nextWake: Instant? { timers.first?.priority }

    /// How many more stores of each run the machine takes now; runs that want none are left out.
    ///
    /// The loop offers unfinished stores in the order of their numbers, each once, those that a
    /// lookup named excepted.
    package var wantedStores: [String: Int] {
        var wanted: [String: Int] = [:]
        let ahead = settings.sharing.storesAhead * max(1, roster.slots)
        for index in openRuns {
            guard let run = runs[index], run.isOpen, run.toOffer > 0 else { continue }
            guard run.waitingLarge.count < ahead + settings.sharing.largeStores else { continue }
            let count = min(run.toOffer, ahead - run.waitingSmall)
            if count > 0 { wanted[run.name] = count }
        }
        return wanted
    }

    /// Whether jobs are under way, or what they delivered is being checked.
    package var hasAttempts: Bool { !attempts.isEmpty }

    /// Whether every run that was opened has ended, was cancelled or stopped, and no task runs.
    package var isIdle: Bool {
        tasks.isIdle && restingTasks.isEmpty && attempts.isEmpty
            && openRuns.allSatisfy { index in
                if case .stopped = runs[index]?.hold { true } else { false }
            }
    }
}

/// The transitions that were taken, for tests of their coverage.
package struct StateLogs: Sendable {
    package var workers = StateLog<WorkerPhase>()
    package var attempts = StateLog<AttemptPhase>()
    package var jobs = StateLog<JobPhase>()
    package var stores = StateLog<StorePhase>()
    package var runs = StateLog<RunPhase>()
    package var lives = StateLog<RunLifePhase>()

    package init() {}

    /// Adds what other logs counted.
    package mutating func add(_ other: StateLogs) {
        workers.add(other.workers)
        attempts.add(other.attempts)
        jobs.add(other.jobs)
        stores.add(other.stores)
        runs.add(other.runs)
        lives.add(other.lives)
    }
}

// MARK: - Effects

extension CoordinatorMachine {
    /// The transitions that were taken so far.
    package var transitions: StateLogs { log }

    mutating func record(_ record: CoordinatorRecord) { out.records.append(record) }

    mutating func note(_ note: Note) { out.notes.append(note) }

    /// Sends to a worker where it has a connection.
    mutating func send(_ message: CoordinatorMessage, to worker: Int) {
        guard let connection = roster[worker]?.connection else { return }
        roster.send(worker, now)
        out.sends.append(CoordinatorEffects.Send(to: connection, message: message))
    }

    mutating func send(_ message: CoordinatorMessage, to connection: ConnectionID) {
        out.sends.append(CoordinatorEffects.Send(to: connection, message: message))
    }

    mutating func reply(_ reply: ClientReply, to client: ClientID) {
        out.replies.append(CoordinatorEffects.Reply(to: client, reply: reply))
    }

    func key(_ store: Int) -> StoreKey? { stores[store]?.key }
}

// MARK: - States

extension CoordinatorMachine {
    mutating func move(worker index: Int, to next: WorkerPhase) {
        guard var phase = roster[index]?.phase else { return }
        report(log.workers.move(&phase, to: next), run: nil)
        roster.update(index) { $0.phase = phase }
    }

    mutating func move(attempt id: String, to next: AttemptPhase) {
        guard var phase = attempts[id]?.phase else { return }
        let broken = log.attempts.move(&phase, to: next)
        attempts[id]?.phase = phase
        report(broken, run: (attempts[id]?.job.store).flatMap { stores[$0]?.run })
    }

    mutating func move(job id: JobID, to next: JobPhase) {
        guard var phase = stores[id.store]?.jobs[id.work]?.phase else { return }
        let broken = log.jobs.move(&phase, to: next)
        stores[id.store]?.jobs[id.work]?.phase = phase
        report(broken, run: stores[id.store]?.run)
    }

    mutating func move(store index: Int, to next: StorePhase) {
        guard var phase = stores[index]?.phase else { return }
        let broken = log.stores.move(&phase, to: next)
        stores[index]?.phase = phase
        report(broken, run: stores[index]?.run)
    }

    mutating func move(run index: Int, to next: RunPhase) {
        guard var phase = runs[index]?.phase else { return }
        let broken = log.runs.move(&phase, to: next)
        runs[index]?.phase = phase
        report(broken, run: index)
    }
}

// MARK: - Time

extension CoordinatorMachine {
    mutating func set(_ timer: Timer, after milliseconds: Int64) {
        timers.set(timer, now.adding(milliseconds))
    }

    private mutating func runTimers() {
        let now = now
        while let timer = timers.popFirst(where: { $0 <= now }) {
            switch timer {
            case .lease(let grant): checkLease(grant)
            case .silence(let worker): checkSilence(worker)
            case .beat(let worker): beat(worker)
            case .quarantine(let worker): endQuarantine(worker)
            case .rest(let job): endRest(job)
            case .openToAll(let job):
                stores[job.store]?.withStage(of: job.work) {
                    $0.openToAll(StoreProgress.number(of: job.work))
                }
            case .slow(let attempt): becomeSlow(attempt)
            case .task(let number): resume(task: number)
            case .room(let run): findRoom(run)
            case .throttle: break
            }
        }
    }
}
