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
        /// Stores that were added to a run which the machine has already.
        var added = 0
        /// Files that were not taken although they may hold a user's data, with the reasons.
        var leftOut: [String] = []
        /// What is missing before the run can begin.
        var shortage: String?

        /// Whether the run has nothing to do before somebody asks for a replay or swap.
        var isOver: Bool {
            switch overview.state {
            case .ended: stores == 0
            case .open: stores == 0 && validated > 0
            case .paused, .cancelled: false
            }
        }
    }

    /// A run that somebody asks for is here again, if it was not.
    func bringBack(_ opening: Opening) {
        if feeds[opening.run.id] == nil { open(opening, isOver: opening.isOver) }
    }

    /// Lets go of runs that are over, of which there may be thousands.
    ///
    /// Nothing of the turn may wait any more: their ends were told.
    func forgetEnded() {
        for (run, feed) in feeds where feed.isIdle && machine.isOver(run: run) {
            if let status = machine.report(run: run).runs.first { ended.append(status) }
            if ended.count > Self.shownRuns { ended.removeFirst() }
            feeds[run] = nil
            mapping.forget(run)
            take(.forgotten(run: run))
        }
    }

    /// A run is opened, or stores were added to one.
    ///
    /// - Parameters:
    ///   - opening: the run.
    ///   - isOver: whether it enters as one that has ended.
    func open(_ opening: Opening, isOver: Bool = false) {
        noteLeftOut(opening.leftOut, of: opening.run.id)
        let id = opening.run.id
        if !plan.resumesRuns, !ownRuns.contains(id) { ownRuns.append(id) }
        mapping.learn(opening.overview.state, of: id)
        guard feeds[id] == nil else {
            feeds[id]?.awaitedRoom = opening.shortage
            if opening.added > 0 {
                feeds[id]?.rewind()
                take(
                    .run(
                        RunOffer(run: id, stores: opening.added, failed: opening.failed)))
            }
            take(.request(.resume(run: id), from: ClientID("")))
            return
        }
        var feed = RunFeed(opening.run)
        feed.awaitedRoom = opening.shortage
        feeds[id] = feed
        let pause = opening.overview.state == .paused ? opening.overview.reason : nil
        // A disk that was full is looked at anew.
        let pausedBy = pause.flatMap { $0.hasPrefix(PauseReason.room) ? nil : $0 }
        if opening.overview.state == .paused, pausedBy == nil, opening.shortage == nil {
            take(.tick, with: change(id, .open, "taken up again"))
        }
        if opening.overview.state == .ended, opening.stores > 0 {
            surroundings.note("\(id): had ended with \(opening.stores) stores that wait for work")
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
                    pausedBy: pausedBy, isOver: isOver)))
        if let shortage = opening.shortage {
            take(.tick, with: change(id, .paused, PauseReason.room + shortage))
            surroundings.note("\(id): waits for room: \(shortage)")
        }
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

    /// Gives up what is left of a run that was over before this start.
    func tidy(_ overview: RunOverview) {
        let runs = plan.runs
        begin { loop in
            do throws(RunError) {
                let run = try SharedRun(overview, runs)
                if overview.state == .cancelled { try SharedRuns(runs).cancelRest(run, but: []) }
                try run.clean()
            } catch {
                loop.submit {
                    $0.surroundings.note("\(overview.id): not everything was removed: \(error)")
                }
            }
        }
    }

    /// A run has come to its end.
    func end(_ run: String, _ standing: RunStanding) {
        guard let feed = feeds[run] else { return }
        let runEnded = surroundings.runEnded
        feeds[run]?.awaitedRoom = nil
        feeds[run]?.ends += 1
        let (runs, ledger) = (SharedRuns(plan.runs), ledger)
        let busy = Set(feed.inside.keys)
        begin { loop in
            do {
                if standing == .cancelled { try runs.cancelRest(feed.run, but: busy) }
                try feed.run.clean()
            } catch {
                loop.submit { $0.surroundings.note("\(run): not everything was removed: \(error)") }
            }
            // Whatever became of that, the run is over.
            var failures = 0
            do throws(LedgerError) {
                let counts = try ledger.storeCounts(of: run)
                failures = (counts[.failed] ?? 0) + (counts[.cancelled] ?? 0)
            } catch {
                loop.submit { $0.surroundings.note("\(run): \(error)") }
            }
            let failed = failures
            runEnded?(run)
            loop.submit {
                $0.feeds[run]?.ends -= 1
                $0.publish(.ended(run: run, failures: failed), run: run)
            }
        }
    }
}
