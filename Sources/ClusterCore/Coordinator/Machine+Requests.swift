import ClusterProtocol
import Jobs

// What clients ask for.

extension CoordinatorMachine {
    mutating func take(_ request: ClientRequest, from client: ClientID) {
        switch request {
        case .pause(let run): pause(run, client)
        case .resume(let run): resume(run, client)
        case .cancel(let run):
            guard let index = known(run, client) else { return }
            let isOver = runs[index]?.phase == .cancelled || runs[index]?.phase == .ended
            guard !isOver || runs[index]?.awaitsSwap == true else {
                return refuse(client, .notPossible, "the run \(run) is over")
            }
            cancel(index)
            reply(.done, to: client)
        case .drain(let worker): drain(worker, client)
        case .replay(let run, let store):
            ask(.failed(run: run, store: store), of: run, client)
        case .swap(let run, let store): ask(.validated(run: run, store: store), of: run, client)
        case .throttle(let settings): throttle(settings, client)
        case .status(let run):
            if let run, runIndexes[run] == nil {
                return refuse(client, .noRun, "there is no run \(run) here", run: run)
            }
            reply(.status(report(run: run)), to: client)
        case .workers:
            reply(
                .status(
                    StatusReport(
                        coordinator: settings.coordinator, engine: "", runs: [],
                        workers: workerStatus(waits(of: openRuns)))), to: client)
        case .submit, .watch:
            refuse(client, .notPossible, "this request is not the machine's")
        }
    }

    private mutating func refuse(
        _ client: ClientID, _ code: Refusal.Code, _ text: String, run: String? = nil
    ) {
        let refusal = Refusal(code: code, text: text, protocols: settings.protocols, run: run)
        reply(.refused(refusal), to: client)
    }

    private mutating func known(_ run: String, _ client: ClientID) -> Int? {
        if let index = runIndexes[run] { return index }
        refuse(client, .noRun, "there is no run \(run) here", run: run)
        return nil
    }

    /// Asks the ledger for stores that are to be worked on again.
    private mutating func ask(_ lookup: Lookup, of run: String, _ client: ClientID) {
        guard let index = known(run, client) else { return }
        guard runs[index]?.phase != .cancelled else {
            return refuse(
                client, .notPossible, "the run \(run) was cancelled; submit its stores again")
        }
        runs[index]?.questions += 1
        out.lookups.append(lookup)
        reply(.accepted(run: run), to: client)
    }

    private mutating func pause(_ run: String, _ client: ClientID) {
        guard let index = known(run, client) else { return }
        switch runs[index]?.phase {
        case .open, .queued, .paused:
            hold(index, .request)
            reply(.done, to: client)
        case .ended, .cancelled, nil: refuseOver(index, run, client)
        }
    }

    /// Refuses what only a run can be asked for that has something to do.
    private mutating func refuseOver(_ index: Int, _ run: String, _ client: ClientID) {
        guard runs[index]?.awaitsSwap == true else {
            return refuse(client, .notPossible, "the run \(run) is over")
        }
        refuse(
            client, .awaitsSwap,
            "of the run \(run) nothing is left to do but the swap, which a client must request",
            run: run)
    }

    private mutating func resume(_ run: String, _ client: ClientID) {
        guard let index = known(run, client) else { return }
        switch runs[index]?.phase {
        case .paused:
            release(index, "resumed on request")
            reply(.done, to: client)
        case .open, .queued: reply(.done, to: client)
        case .ended, .cancelled, nil: refuseOver(index, run, client)
        }
    }

    private mutating func drain(_ name: String, _ client: ClientID) {
        guard let index = roster.index(named: name) else {
            return refuse(client, .notFound, "there is no worker \(name); workers lists them")
        }
        move(worker: index, to: .draining)
        timers.remove(.quarantine(index))
        send(.drain, to: index)
        note(.worker(name, .drains))
        reply(.done, to: client)
    }

    private mutating func throttle(_ wanted: ThrottleSettings, _ client: ClientID) {
        timers.remove(.throttle)
        if let run = wanted.run {
            guard let index = known(run, client) else { return }
            runs[index]?.throttleJobs = wanted.jobs
            runs[index]?.bucket = TokenBucket(bytesPerSecond: wanted.bytesPerSecond, now: now)
        } else {
            throttle = Throttle(jobs: wanted.jobs, bytesPerSecond: wanted.bytesPerSecond)
            bucket = TokenBucket(bytesPerSecond: wanted.bytesPerSecond, now: now)
        }
        reply(.done, to: client)
    }
}
