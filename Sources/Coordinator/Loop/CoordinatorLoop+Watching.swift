import ClusterCore
import ClusterProtocol
import ClusterVocabulary
import Jobs
import RunLedger
import RunService
import RunSupervision

// What watchers are told.

extension CoordinatorLoop {
    func watch(_ run: String?, _ client: ClientID) {
        watchers[client] = .some(run)
        gather(
            run,
            { loop, failure in
                loop.watchers[client] = nil
                loop.refuse(client, failure)
            }
        ) { loop, report in
            guard run == nil || !report.runs.isEmpty else {
                loop.watchers[client] = nil
                return loop.refuseUnknown(run, client)
            }
            loop.answer(.event(.status(report)), to: client)
            loop.tellLeftOut(run, client)
            guard let status = report.runs.first, let run else {
                return loop.tellStops(nil, client)
            }
            if status.stores[.failed] ?? 0 == 0 || !loop.tellFailures(of: run, client) {
                loop.tellEnd(status, client)
            }
        }
    }

    /// Reports to a watcher the stores that had failed before it came, and then the run's end.
    ///
    /// Returns false and reports nothing where no queue has time to look.
    private func tellFailures(of run: String, _ client: ClientID) -> Bool {
        let ledger = ledger
        // Its end comes after them.
        beginners.insert(client)
        let isTaken = queues.answer { loop in
            var failed: [StoreSummary] = []
            do throws(LedgerError) {
                failed = try ledger.stores(of: run, in: [.failed], limit: Note.mostFailures)
            } catch {
                loop.submit { $0.noteOutage("\(error)") }
            }
            loop.submit { [failed] in
                for store in failed { $0.tellFailure(store, of: run, client) }
                $0.tellEndToBeginner(run, client)
            }
        }
        if !isTaken { beginners.remove(client) }
        return isTaken
    }

    /// Reports the run's end to a watcher that received earlier failures.
    ///
    /// It tries as often as needed; until then nothing else reports the end to this watcher.
    private func tellEndToBeginner(_ run: String, _ client: ClientID) {
        gather(
            run,
            { loop, _ in
                guard loop.watchers[client] != nil else {
                    loop.beginners.remove(client)
                    return
                }
                loop.postpone { $0.tellEndToBeginner(run, client) }
            }
        ) { loop, report in
            loop.beginners.remove(client)
            if let status = report.runs.first { loop.tellEnd(status, client) }
        }
    }

    private func tellFailure(_ store: StoreSummary, of run: String, _ client: ClientID) {
        let key = StoreKey(run: run, number: store.number)
        let note = Note.store(
            key, file: Self.name(of: store.found.path, plan),
            .ended(.failed, store.reason, isEarlier: true))
        answer(.event(.note(note)), to: client)
    }

    /// Tells a watcher that a run had stopped, or ended, before it came.
    private func tellEnd(_ status: RunStatus, _ client: ClientID) {
        let run = status.run
        tellStops(run, client)
        // While a client asks for a replay, the run's end is reported when that is answered.
        guard !status.state.isUnfinished || (!supervisor.awaitsRuns && status.awaitsSwap),
            supervisor.isReported(run)
        else { return }
        let failures = (status.stores[.failed] ?? 0) + (status.stores[.cancelled] ?? 0)
        answer(.event(.ended(run: run, failures: failures)), to: client)
    }

    /// Tells a watcher of runs that were stopped before it came.
    private func tellStops(_ run: String?, _ client: ClientID) {
        for id in run.map({ [$0] }) ?? supervisor.runs {
            guard let reason = supervisor.machine.stopReason(run: id) else { continue }
            answer(.event(.note(.run(id, .stopped(reason: reason)))), to: client)
        }
    }

    /// Tells watchers where things stand.
    ///
    /// - Parameter run: nil tells each what it watches.
    func tellStatus(_ run: String?) {
        guard !watchers.isEmpty || dependencies.watch != nil else { return }
        let wanted = Set(watchers.values)
        for asked in wanted where run == nil || asked == nil || asked == run {
            // The next one comes soon.
            gather(asked, { _, _ in }) { loop, report in
                for (client, watched) in loop.watchers where watched == asked {
                    loop.answer(.event(.status(report)), to: client)
                }
            }
        }
        guard let watch = dependencies.watch else { return }
        gather(run, { _, _ in }) { _, report in watch(.status(report)) }
    }

    /// Tells watchers of something.
    func publish(_ event: WatchEvent, run: String?) {
        for (client, watched) in watchers where watched == nil || run == nil || watched == run {
            if event.endsWatching, beginners.contains(client) { continue }
            answer(.event(event), to: client)
        }
        dependencies.watch?(event)
    }
}

extension WatchEvent {
    /// Whether a watcher that receives it may stop watching.
    fileprivate var endsWatching: Bool {
        switch self {
        case .ended: true
        case .note(.run(_, .stopped)): true
        case .note, .status: false
        }
    }
}
