package import ClusterProtocol
package import ClusterTables
package import ClusterVocabulary
package import Jobs

/// The coordinator as a pure value: events in, effects out; no clock, no randomness, no files.
///
/// Not a word of it is durable by itself: a new start makes a new machine, opens the unfinished
/// runs with `CoordinatorEvent.run` and offers their stores with what the ledger knows. No event
/// costs more than O(log n) in workers, attempts or stores, but for the end of a store and of a
/// worker's connection, which cost what they have in hand, and slots that come, which may cost a
/// look at each store in hand.
///
/// The rules stand here: what follows from an event, and what follows from that. Each writes down
/// what it finds in the machine's state, by steps that rules share.
package struct CoordinatorMachine: Sendable {
    var state: MachineState
    /// What a failed attempt means for its job.
    let policy: FailurePolicy

    package init(settings: CoordinatorSettings) {
        state = MachineState(settings: settings)
        policy = FailurePolicy(limits: settings.quarantine)
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
        state.now = max(state.now, now)
        switch event {
        case .message(let message, let connection, let worker):
            take(message, from: connection, worker: worker)
        case .unreachable(let connection): state.lose(connection)
        case .workerEnded(let worker): endWorker(named: worker)
        case .request(let request, let client): take(request, from: client)
        case .run(let offer): open(offer)
        case .swapsDeferred(let run, let defers): deferSwaps(of: run, defers)
        case .lookedUp(let offer): takeAnswer(offer)
        case .forgotten(let run): forget(run: run)
        case .exhausted(let run, let left): exhaust(run, left: left)
        case .offered(let offer): take(offer)
        case .absent(let key, let accepted): state.dismiss(key, accepted: accepted)
        case .room(let run):
            if let index = state.runs.index(of: run) { findRoom(index) }
        case .taskEnded(let id, let outcome): end(id, outcome)
        case .tick: break
        }
        runTimers()
        stopFaultyRuns()
        state.handOut()
        state.startTasks()
        return state.takeEffects()
    }

    private mutating func runTimers() {
        let now = state.now
        while let timer = state.timers.popFirst(where: { $0 <= now }) {
            switch timer {
            case .lease(let grant): checkLease(grant)
            case .silence(let worker): state.checkSilence(worker)
            case .beat(let worker): state.beat(worker)
            case .quarantine(let worker): state.endQuarantine(worker)
            case .rest(let job): endRest(job)
            case .openToAll(let job):
                state.stores[job.store]?.withStage(of: job.work) {
                    $0.openToAll(StoreProgress.number(of: job.work))
                }
            case .slow(let attempt): state.becomeSlow(attempt)
            case .task(let number): state.tasks.wake(number)
            case .room(let run): findRoom(run)
            case .throttle: break
            }
        }
    }
}

// MARK: - What it says

extension CoordinatorMachine {
    /// What the machine was made with.
    package var settings: CoordinatorSettings { state.settings }

    /// When the machine wants a `.tick`, if nothing happens before; nil for never.
    package var nextWake: Instant? { state.timers.first?.priority }

    /// How many more stores of each run the machine takes now; runs that want none are left out.
    ///
    /// The loop offers unfinished stores in the order of their numbers, each once, those that a
    /// lookup named excepted.
    package var wantedStores: [String: Int] {
        var wanted: [String: Int] = [:]
        let ahead = state.settings.sharing.storesAhead * max(1, state.roster.slots)
        for index in state.runs.open {
            guard let run = state.runs[index], run.isOpen, run.toOffer > 0 else { continue }
            guard run.waitingLarge.count < ahead + state.settings.sharing.largeStores
            else { continue }
            let count = min(run.toOffer, ahead - run.waitingSmall)
            if count > 0 { wanted[run.name] = count }
        }
        return wanted
    }

    /// Whether jobs are under way, or what they delivered is being checked.
    package var hasAttempts: Bool { !state.attempts.isEmpty }

    /// Whether every run that was opened has ended, was cancelled or stopped, and no task runs.
    package var isIdle: Bool {
        state.tasks.isIdle && state.attempts.isEmpty
            && state.runs.open.allSatisfy { index in
                if case .stopped = state.runs[index]?.hold { true } else { false }
            }
    }

    /// The transitions that were taken so far.
    package var transitions: StateLogs { state.log }

    /// Whether the machine has nothing to do with a run any more.
    package func isOver(run name: String) -> Bool {
        guard let index = state.runs.index(of: name), let run = state.runs[index]
        else { return true }
        guard run.phase == .ended || run.phase == .cancelled else { return false }
        return run.inside == 0 && run.toOffer == 0 && run.questions == 0
    }

    /// Whether stores of a run that are offered stay here until their end is told.
    package func takesStores(of name: String) -> Bool {
        guard let index = state.runs.index(of: name) else { return false }
        return state.runs[index]?.phase != .cancelled
    }

    /// Where the runs and the workers stand; O(stores and attempts in hand).
    ///
    /// Stores that never entered the machine are counted as `waiting` where they are to be
    /// offered; rates and the time that is left are the loop's, which keeps the history.
    ///
    /// - Parameter run: one run; nil takes all.
    /// - Returns: the report.
    package func report(run: String? = nil) -> StatusReport {
        StatusSurvey(snapshot: MachineSnapshot(state)).report(run: run)
    }

    /// Where a run stands, without its workers; nil where it is not here.
    ///
    /// O(1) for one that is over.
    package func status(run: String) -> RunStatus? {
        StatusSurvey(snapshot: MachineSnapshot(state)).status(run: run)
    }

    /// What was written and read in each run so far.
    package var transfers: [(run: String, rows: Int64, bytes: Int64)] {
        state.runs.values.map { ($0.name, $0.rows, $0.bytes) }
    }

    /// Why a run was stopped, so that only a request lets it go on; nil where it was not.
    package func stopReason(run: String) -> String? {
        guard let index = state.runs.index(of: run),
            case .stopped(let reason)? = state.runs[index]?.hold
        else { return nil }
        return reason
    }

    /// Why a job waits; nil where it runs or has ended, or its store is not here.
    ///
    /// - Parameters:
    ///   - key: the store.
    ///   - work: the job.
    /// - Returns: the first thing that has to change.
    package func waitingReason(of key: StoreKey, _ work: Work) -> WaitingReason? {
        WaitSurvey(snapshot: MachineSnapshot(state)).reason(of: key, work)
    }

    /// Why something of a run waits, what is to be done something about first; nil where nothing
    /// waits: all of it is at work, or it is over.
    ///
    /// O(stores in hand and their jobs).
    package func waitingReason(run name: String) -> WaitingReason? {
        WaitSurvey(snapshot: MachineSnapshot(state)).reason(run: name)
    }

    /// Names of the workers that are there, silent ones too.
    package var workerNames: [String] {
        state.roster.workers.values.filter { $0.phase != .gone }.map(\.name)
    }

    /// The connection of a worker that said hello; nil for a name that is not here.
    package func connection(ofWorker name: String) -> ConnectionID? {
        state.roster.index(named: name).flatMap { state.roster[$0]?.connection }
    }

    /// What does not hold although it must, for tests and simulations; empty where all is well.
    ///
    /// O(everything).
    package func check() -> [String] {
        MachineAudit(machine: state).findings
    }
}
