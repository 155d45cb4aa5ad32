import ClusterCore
import ClusterProtocol
import Jobs
import LocalRun
import RunLedger

// Runs come, are fed with stores, and go.

extension CoordinatorLoop {
    /// What is known of a run when it enters the machine.
    struct Opening: Sendable {
        let run: SharedRun
        let overview: RunOverview
        /// Stores that are to be offered, if the machine does not have the run.
        let stores: Int
        let failed: Int
        let validated: Int
        let bounds: RunBounds
        /// Whether the run had begun before.
        var isResumed = false
        /// Stores that were added to a run which the machine has already.
        var added = 0
        /// Files that were not taken although they may hold a user's data, with the reasons.
        var leftOut: [String] = []
        /// What is missing before the run can begin.
        var shortage: String?

        /// Whether the run has nothing to do before a client asks for a replay or swap.
        func isOver(in state: RunState) -> Bool {
            switch state {
            case .ended: stores == 0
            case .open: stores == 0 && validated > 0
            case .paused, .cancelled: false
            }
        }
    }

    /// Lets go of runs that are over, of which there may be thousands.
    ///
    /// Nothing of the turn may wait any more: their ends were told.
    func forgetEnded() {
        for (run, feed) in feeds where feed.isIdle && machine.isOver(run: run) {
            if let status = machine.status(run: run) { ended.append(status) }
            if ended.count > Self.shownRuns { ended.removeFirst() }
            feeds[run] = nil
            mapping.forget(run)
            take(.forgotten(run: run))
        }
    }

    /// Why a run enters.
    enum Entry: Sendable {
        /// A client submitted it: it resumes, also where it was paused.
        case submitted
        /// It was unfinished when this start began.
        case resumed
        /// A client asks for something of it.
        case named
    }

    /// A run is opened, or stores were added to one.
    ///
    /// - Returns: false, and it does not enter, for one that was cancelled meanwhile; what was
    ///   added to it is given up.
    @discardableResult
    func open(_ opening: Opening, _ entry: Entry) -> Bool {
        let id = opening.run.id
        if !plan.resumesRuns, !ownRuns.contains(id) { ownRuns.append(id) }
        if entry == .submitted { noteLeftOut(opening.leftOut, of: id) }
        guard feeds[id] != nil else { return enter(opening, entry) }
        // What the loop knows of it is newer than what was read at a desk.
        guard entry == .submitted else { return true }
        guard machine.takesStores(of: id) else {
            end(id, .cancelled)
            return false
        }
        feeds[id]?.awaitedRoom = opening.shortage
        if feeds[id]?.run.defersSwap != opening.run.defersSwap { adoptSwaps(of: opening.run) }
        if opening.added > 0 {
            feeds[id]?.rewind()
            take(.run(RunOffer(run: id, stores: opening.added, failed: opening.failed)))
        }
        take(.request(.resume(run: id), from: ClientID("")))
        return true
    }

    /// A run puts its swaps off from now on, or no more: then those that wait are asked for.
    private func adoptSwaps(of run: SharedRun) {
        feeds[run.id]?.run = run
        take(.swapsDeferred(run: run.id, run.defersSwap))
        surroundings.note(
            "\(run.id): swaps \(run.defersSwap ? "wait from now on" : "wait no more")")
        if run.defersSwap { return }
        take(.request(.swap(run: run.id, store: nil), from: ClientID("")))
    }

    private func enter(_ opening: Opening, _ entry: Entry) -> Bool {
        let id = opening.run.id
        // It may have come to its end since it was read at a desk.
        let figures = ledger.knownFigures(of: .named([id]))?.first
        let state = figures?.state ?? opening.overview.state
        let reason = figures?.reason ?? opening.overview.reason
        if state == .cancelled {
            tidy(opening.overview, isCancelled: true, reports: false)
            return false
        }
        mapping.learn(state, of: id)
        var feed = RunFeed(opening.run)
        feed.awaitedRoom = opening.shortage
        feeds[id] = feed
        // A disk that was full is checked again; a client that submits the run resumes it.
        let isHeld = state == .paused && !reason.hasPrefix(PauseReason.room) && entry != .submitted
        if state == .paused, !isHeld, opening.shortage == nil {
            take(.tick, with: change(id, .open, "taken up again"))
        }
        if state == .ended, opening.stores > 0 {
            surroundings.note("\(id): had ended while stores wait for work: \(opening.stores)")
            take(.tick, with: change(id, .open, "stores wait in it"))
        }
        take(
            .run(
                RunOffer(
                    run: id, stores: opening.stores, failed: opening.failed,
                    validated: opening.validated, defersSwap: opening.run.defersSwap,
                    limits: RunLimits(
                        stores: opening.bounds.stores, jobs: opening.bounds.jobs,
                        failures: opening.bounds.failures),
                    pausedBy: isHeld ? reason : nil,
                    isOver: entry == .named && opening.isOver(in: state),
                    isResumed: entry != .submitted)))
        if let shortage = opening.shortage {
            take(.tick, with: change(id, .paused, PauseReason.room + shortage))
            surroundings.note("\(id): waits for room: \(shortage)")
            let pause = CoordinatorNote.runPaused(run: id, reason: PauseReason.room + shortage)
            publish(.note(named(pause.watched)), run: id)
        }
        return true
    }

    private func change(_ run: String, _ state: RunState, _ reason: String) -> [LedgerRecord] {
        mapping.change(run, to: state, reason, plan.runs.environment.wallTime())
    }

    /// Looks again at runs that wait for room before they begin.
    func retryRoom() {
        for (id, feed) in feeds where feed.awaitedRoom != nil && !feed.isReading {
            let (runs, run) = (SharedRuns(plan.runs), feed.run)
            feeds[id]?.isReading = desks.begin { loop in
                do throws(RunError) {
                    let shortage = try runs.reserve(run).map { "\($0)" }
                    loop.submit { $0.found(shortage, for: id) }
                } catch {
                    loop.submit { $0.failed(lookingForRoomOf: id, error) }
                }
            }
        }
    }

    private func failed(lookingForRoomOf run: String, _ error: RunError) {
        feeds[run]?.isReading = false
        surroundings.note("\(run): its room cannot be looked at: \(error)")
    }

    private func found(_ shortage: String?, for run: String) {
        feeds[run]?.isReading = false
        feeds[run]?.awaitedRoom = shortage
        guard shortage == nil else { return }
        take(.tick, with: change(run, .open, "there is room"))
    }

    /// Gives up what is left of a run that was over before this start, and writes its report where
    /// that is missing.
    func tidy(_ overview: RunOverview, isCancelled: Bool, reports: Bool) {
        let (runs, id) = (plan.runs, overview.id)
        begin { loop in
            do throws(RunError) {
                try Self.giveUp(overview, isCancelled: isCancelled, runs)
            } catch {
                loop.submit { $0.noteRest(of: id, error) }
            }
            if reports { loop.submit { $0.report(id) } }
        }
    }

    /// Gives up what is left of a run that is over.
    static func giveUp(
        _ overview: RunOverview, isCancelled: Bool, _ runs: SharedRun.Surroundings
    ) throws(RunError) {
        let run = try SharedRun(overview, runs)
        if isCancelled { try SharedRuns(runs).cancelRest(run, but: []) }
        try run.clean()
    }

    /// Tells of what could not be removed.
    func noteRest(of run: String, _ error: any Error) {
        surroundings.note("\(run): not everything was removed: \(error)")
    }

    /// A run has come to its end.
    func end(_ run: String, _ standing: RunStanding) {
        guard let feed = feeds[run] else { return }
        feeds[run]?.awaitedRoom = nil
        feeds[run]?.ends += 1
        let (runs, ledger) = (SharedRuns(plan.runs), ledger)
        let busy = Set(feed.inside.keys)
        begin { loop in
            do {
                if standing == .cancelled { try runs.cancelRest(feed.run, but: busy) }
                // A client may have added stores to it meanwhile, whose jobs go by its request.
                let left = try ledger.storeCounts(of: run).filter { $0.value > 0 }.keys
                if !left.contains(where: { $0 == .waiting || $0 == .running }) {
                    try feed.run.clean()
                }
            } catch {
                loop.submit { $0.noteRest(of: run, error) }
            }
            loop.submit { $0.report(run) }
        }
    }

    /// Has the report of a run written that is over, and its end told then.
    private func report(_ run: String) {
        let (ledger, runEnded) = (ledger, surroundings.runEnded)
        let errand: Desks.Errand = { loop in
            runEnded?(run)
            var failures = 0
            do throws(LedgerError) {
                let counts = try ledger.storeCounts(of: run)
                failures = (counts[.failed] ?? 0) + (counts[.cancelled] ?? 0)
            } catch {
                loop.submit { $0.surroundings.note("\(run): \(error)") }
            }
            let failed = failures
            loop.submit { $0.reported(run, failures: failed) }
        }
        if !desks.report(errand) { begin(errand) }
    }

    private func reported(_ run: String, failures: Int) {
        guard let ends = feeds[run]?.ends else { return }
        feeds[run]?.ends = max(0, ends - 1)
        // A replay may have been asked for, or stores be at work still: their end is told then.
        guard ends <= 1, machine.isOver(run: run) else { return }
        publish(.ended(run: run, failures: failures), run: run)
    }

    /// The last store of a cancelled run that was at work has left.
    func endIfCancelled(_ run: String) {
        guard feeds[run]?.inside.isEmpty == true, !machine.takesStores(of: run) else { return }
        end(run, .cancelled)
    }
}
