package import ClusterCore
package import ClusterProtocol
package import ClusterTables
package import ClusterVocabulary
package import Jobs

/// The lives of a coordinator's runs, around the machine that works on their stores.
///
/// It decides which runs are in memory, which stores the machine gets, and what is done at an end.
/// It is a pure value, like the machine. Everything that takes long is a `RunWork`, whose answer is
/// an event. The loop, and the simulation in its place, translates and decides nothing.
package struct RunSupervisor: Sendable {
    package private(set) var machine: CoordinatorMachine
    var lives: [String: RunLife] = [:]
    /// Works that are begun later, by their moment; the oldest first.
    private var retries: [(at: Instant, work: RunWork)] = []
    /// Questions of the machine about stores whose runs may enter yet.
    private var questions: [StoreKey] = []
    /// When the space for held runs is looked at next.
    private var nextSpaceLook: Instant?
    /// Whether unfinished runs of the ledger are yet to enter.
    private var isResuming: Bool
    private var now = Instant.zero
    /// Effects of the event at hand.
    var out = SupervisorEffects()
    private var log = StateLog<RunLifePhase>()

    /// Milliseconds after which a work is tried again.
    package static let retryInterval: Int64 = 2000

    /// - Parameters:
    ///   - settings: of the machine.
    ///   - isResuming: whether unfinished runs of the ledger will enter, up to `resumed`.
    package init(settings: CoordinatorSettings, isResuming: Bool) {
        machine = CoordinatorMachine(settings: settings)
        self.isResuming = isResuming
    }

    /// Takes one event.
    ///
    /// - Parameters:
    ///   - event: what happened.
    ///   - now: when, on the coordinator's monotonic clock; never earlier than before.
    /// - Returns: what to do about it, to be done before the next event's effects.
    package mutating func handle(
        _ event: SupervisorEvent, now: Instant
    ) -> SupervisorEffects {
        self.now = max(self.now, now)
        switch event {
        case .machine(let event): tell(event)
        case .opened(let opening, let entry, let client): open(opening, entry, client)
        case .endLeft(let run, let isCancelled, let reports):
            begin(.end(run: run, isCancelled: isCancelled, but: [], number: nil))
            if reports { unreported.insert(run) }
        case .resumed:
            isResuming = false
            for key in questions { look(up: key) }
            questions = []
        case .request(let request, let client): take(request, from: client)
        case .answered(let answer): take(answer)
        case .sweep: forgetEnded()
        case .tick: wake()
        }
        return takeEffects()
    }

    /// Runs that are to get a report when the end that an earlier start left is carried out.
    var unreported: Set<String> = []
    /// Ends so far.
    var endCount = 0

    /// Reads stores that the machine wants; to be called when the effects before are durable.
    package mutating func feed(now: Instant) -> SupervisorEffects {
        self.now = max(self.now, now)
        for (run, count) in machine.wantedStores.sorted(by: { $0.key < $1.key }) {
            guard let life = lives[run], !life.feed.isReading, life.shortage == nil else {
                continue
            }
            if life.feed.isDry {
                // Nothing is left to be offered: the run must not wait for more.
                tell(.exhausted(run: run, left: 0))
            } else {
                readNext(count, of: run)
            }
        }
        return takeEffects()
    }

    private mutating func takeEffects() -> SupervisorEffects {
        var effects = SupervisorEffects()
        swap(&effects, &out)
        return effects
    }

    /// When the supervisor wants a `.tick`, if nothing happens before; nil for never.
    package var nextWake: Instant? {
        [machine.nextWake, retries.first?.at, nextSpaceLook].compactMap(\.self).min()
    }

    // MARK: - Time

    private mutating func wake() {
        let due = retries.prefix { $0.at <= now }
        retries.removeFirst(due.count)
        for (_, work) in due { retry(work) }
        if let look = nextSpaceLook, look <= now { lookForSpace() }
        tell(.tick)
    }

    private mutating func retry(_ work: RunWork) {
        // What it would read or change may have moved since.
        switch work {
        case .readStores(let reading): lives[reading.run]?.feed.isReading = false
        case .readSwaps(let run, _, _): lives[run]?.feed.isReading = false
        case .readStore(let key, _), .readReceipts(let key): look(up: key)
        case .reopen, .findValidated, .findRun, .reserveSpace, .end, .report: begin(work)
        }
    }

    /// Does a work again after a pause.
    mutating func postpone(_ work: RunWork) {
        retries.append((now.adding(Self.retryInterval), work))
    }

    private mutating func lookForSpace() {
        nextSpaceLook = nil
        for run in lives.keys.sorted() {
            guard let life = lives[run], life.shortage != nil else { continue }
            scheduleSpaceLook()
            if life.isLookedAt { continue }
            lives[run]?.isLookedAt = true
            begin(.reserveSpace(run: run))
        }
    }

    mutating func scheduleSpaceLook() {
        guard nextSpaceLook == nil else { return }
        nextSpaceLook = now.adding(Int64(machine.settings.roomRetry))
    }

    // MARK: - The machine

    /// Tells the machine, and draws the conclusions for runs and stores.
    mutating func tell(_ event: CoordinatorEvent) {
        var effects = machine.handle(event, now: now)
        let lookups = effects.lookups
        effects.lookups = []
        let notes = effects.notes
        out.machine.append(effects)
        for note in notes {
            switch note {
            case .store(let key, _, .ended(let state, let cause, _)): leave(key, state, cause)
            case .run(let run, .ended(let state)): end(run, state)
            case .run(let run, .awaitsSwap): end(run, .ended)
            default: break
            }
        }
        for lookup in lookups { look(up: lookup) }
    }

    /// A store has left the machine.
    private mutating func leave(_ key: StoreKey, _ state: StoreState, _ reason: FailureReason?) {
        guard lives[key.run]?.feed.leave(key.number) == true else { return }
        let discards =
            switch state {
            case .done, .cancelled: true
            // A replay continues with what is there, unless the store is gone or the repair of its
            // reason changes it.
            case .failed: reason?.cause == .missing || reason?.cause.decision != .retry
            case .waiting, .running, .validated, .rolledBack, .pruned: false
            }
        out.left.append(StoreLeave(key: key, discards: discards))
        endIfCancelled(key.run)
    }

    mutating func begin(_ work: RunWork) { out.works.append(work) }

    // MARK: - States

    /// Brings a run's phase up to date with what is known of it.
    mutating func settle(_ run: String) {
        guard var life = lives[run] else { return }
        let next: RunLifePhase
        if !life.ends.isEmpty {
            next = .ending
        } else if life.shortage != nil {
            next = .held
        } else {
            next = machine.isOver(run: run) ? .reported : .fed
        }
        move(&life, of: run, to: next)
        lives[run] = life
    }

    private mutating func move(_ life: inout RunLife, of run: String, to next: RunLifePhase) {
        guard let broken = log.move(&life.phase, to: next) else { return }
        out.machine.notes.append(.broken("\(broken)"))
        broken.end(machine.settings.endsAtBrokenInvariant)
    }

    /// Lets go of runs that are over, of which there may be thousands.
    private mutating func forgetEnded() {
        for run in lives.keys.sorted() {
            guard var life = lives[run], life.isIdle, machine.isOver(run: run),
                !retries.contains(where: { $0.work.run == run })
            else { continue }
            move(&life, of: run, to: .forgotten)
            lives[run] = nil
            out.forgotten.append((run, machine.status(run: run)))
            tell(.forgotten(run: run))
        }
    }

    // MARK: - What others may know

    /// The transitions that were taken so far, those of the machine included.
    package var transitions: StateLogs {
        var logs = machine.transitions
        logs.lives = log
        return logs
    }

    /// Where a run stands; nil where it is not in memory.
    package func phase(of run: String) -> RunLifePhase? { lives[run]?.phase }

    /// The runs in memory, in the order of their names.
    package var runs: [String] { lives.keys.sorted() }

    /// Why a run's stores do not come, such as too little space; nil where they do.
    package func waitingReason(of run: String) -> WaitingReason? {
        guard let life = lives[run] else { return nil }
        if let shortage = life.shortage { return .noRoom(shortage) }
        return retries.contains { $0.work.run == run } ? .ledgerUnreadable : nil
    }

    /// Whether the machine has a store.
    package func has(_ key: StoreKey) -> Bool {
        lives[key.run]?.feed.inside.contains(key.number) == true
    }

    /// Whether the end of a run can be told: it is over, and nothing of its end is under way.
    package func isReported(_ run: String) -> Bool {
        machine.isOver(run: run) && lives[run]?.ends.isEmpty ?? true
    }

    /// Whether nothing is under way for any run, nor will be by itself.
    package var isIdle: Bool { retries.isEmpty && lives.values.allSatisfy(\.isIdle) }

    /// Whether unfinished runs of the ledger may enter yet.
    package var awaitsRuns: Bool { isResuming }

    /// Keeps a question about a store until every run has entered.
    mutating func keep(_ key: StoreKey) { questions.append(key) }
}
