import ClusterProtocol
import ClusterTables
import ClusterVocabulary
import Jobs

// What workers and clients say.

// MARK: - Workers

extension CoordinatorMachine {
    /// Takes what a worker says.
    mutating func take(
        _ message: WorkerMessage, from connection: ConnectionID, worker name: String
    ) {
        if case .hello(let hello) = message {
            return greet(hello, connection, name)
        }
        guard let index = state.roster.index(of: connection) else {
            takeLate(message, from: connection)
            return
        }
        state.hear(index)
        switch message {
        case .hello: break
        case .ready(let freeSlots): state.setReady(index, freeSlots: freeSlots)
        case .progress(let attempt, let rows, let bytes): state.renew(attempt, rows, bytes, index)
        case .done(let receipt): deliver(receipt, from: index)
        case .failed(let failure):
            fail(failure.attempt, FailureReason(failure.cause, failure.text), from: index)
        case .returned(let attempt):
            fail(attempt, FailureReason(.returned, "returned unfinished"), from: index)
        case .heartbeat(let scratchFree, _): state.setScratch(index, scratchFree)
        case .bye(let reason): leave(index, reason)
        }
    }

    /// A message by a connection that is not a worker's any more, or not yet.
    private mutating func takeLate(_ message: WorkerMessage, from connection: ConnectionID) {
        guard let index = state.roster.retiredIndex(of: connection) else {
            // It does not know of this start.
            state.send(.bye(reason: "unknown connection: send hello first"), to: connection)
            return
        }
        // What was delivered stays delivered, whichever way it took.
        if case .done(let receipt) = message { deliver(receipt, from: index) }
    }

    private mutating func greet(
        _ hello: WorkerHello, _ connection: ConnectionID, _ name: String
    ) {
        // A late copy of the hello of a connection that is no more.
        if state.roster.retiredIndex(of: connection) != nil { return }
        guard let version = state.settings.protocols.common(with: hello.protocols) else {
            return state.refuse(
                connection, name,
                .protocolVersion(theirs: hello.protocols, ours: state.settings.protocols))
        }
        if let engines = state.settings.engines, !engines.contains(hello.engine) {
            let known = engines.sorted().joined(separator: ", ")
            return state.refuse(
                connection, name,
                Refusal(
                    code: .notPossible,
                    text: "this coordinator needs engine \(known), not \(hello.engine)",
                    protocols: state.settings.protocols))
        }
        let index: Int
        var isNew = false
        if let known = state.roster.index(named: name) {
            index = known
            if state.roster[index]?.connection == connection {
                // A repeated hello: what was begun since is not lost.
                state.hear(index)
                let (keep, drop) = state.claim(hello.held, index)
                return state.welcome(index, version, keep, drop)
            }
            if state.isTaken(index, by: hello) {
                return state.refuseTwin(of: index, hello, connection)
            }
            state.comeBack(index, hello, connection)
        } else {
            index = state.roster.enter(name, hello, connection, now: state.now)
            state.set(.silence(index), after: state.settings.livenessMilliseconds)
            state.set(.beat(index), after: Int64(state.settings.heartbeat))
            isNew = true
        }
        let (keep, drop) = state.claim(hello.held, index)
        if !isNew { releaseLost(index, held: hello.held) }
        state.welcome(index, version, keep, drop)
        state.note(
            isNew
                ? .worker(name, .joined(slots: hello.slots))
                : .worker(name, .returned(attempts: keep.count)))
    }

    /// Frees what a worker that came back does not hold any more.
    private mutating func releaseLost(_ index: Int, held: [HeldAttempt]) {
        let names = Set(held.map(\.attempt))
        for grant in (state.roster[index]?.grants ?? []).sorted() {
            for attempt in state.attempts.held(grant) {
                if !names.contains(attempt) {
                    revoke(
                        attempt, FailureReason(.leaseExpired, "the worker reconnected without it"),
                        tellsWorker: false)
                }
            }
        }
    }

    private mutating func leave(_ index: Int, _ reason: String) {
        releaseAll(index, FailureReason(.returned, "the worker left: \(reason)"))
        state.remove(index, reason)
    }

    private mutating func releaseAll(_ index: Int, _ reason: FailureReason) {
        for grant in (state.roster[index]?.grants ?? []).sorted() {
            for attempt in state.attempts.held(grant) { fail(attempt, reason, from: index) }
        }
    }

    /// A worker's process has ended: what it held is free at once.
    mutating func endWorker(named name: String) {
        guard let index = state.roster.index(named: name) else { return }
        for grant in (state.roster[index]?.grants ?? []).sorted() {
            for attempt in state.attempts.held(grant) {
                revoke(
                    attempt, FailureReason(.leaseExpired, "the worker's process ended"),
                    tellsWorker: false)
            }
        }
        state.remove(index, "its process ended")
    }
}

// MARK: - Clients

extension CoordinatorMachine {
    /// Takes what a client asks for.
    mutating func take(_ request: ClientRequest, from client: ClientID) {
        switch request {
        case .pause(let run): pause(run, client)
        case .resume(let run): resume(run, client)
        case .cancel(let run):
            guard let index = known(run, client) else { return }
            let phase = state.runs[index]?.phase
            let isOver = phase == .cancelled || phase == .ended
            guard !isOver || state.runs[index]?.awaitsSwap == true else {
                return refuse(client, .notPossible, "the run \(run) has ended")
            }
            cancel(index)
            state.reply(.done, to: client)
        case .drain(let worker): drain(worker, client)
        case .replay(let run, let store):
            ask(.failed(run: run, store: store), of: run, client)
        case .swap(let run, let store): ask(.validated(run: run, store: store), of: run, client)
        case .throttle(let settings): throttle(settings, client)
        case .status(let run):
            if let run, state.runs.index(of: run) == nil {
                return refuse(client, .noRun, "there is no run \(run) here", run: run)
            }
            let report = report(run: run)
            state.reply(.status(report), to: client)
        case .workers:
            let report = StatusSurvey(snapshot: MachineSnapshot(state)).workers
            state.reply(.status(report), to: client)
        case .submit, .watch:
            refuse(client, .notPossible, "this request is not the machine's")
        }
    }

    private mutating func refuse(
        _ client: ClientID, _ code: Refusal.Code, _ text: String, run: String? = nil
    ) {
        let refusal = Refusal(code: code, text: text, protocols: state.settings.protocols, run: run)
        state.reply(.refused(refusal), to: client)
    }

    private mutating func known(_ run: String, _ client: ClientID) -> Int? {
        if let index = state.runs.index(of: run) { return index }
        refuse(client, .noRun, "there is no run \(run) here", run: run)
        return nil
    }

    /// Asks the ledger for stores that are to be worked on again.
    private mutating func ask(_ lookup: Lookup, of run: String, _ client: ClientID) {
        guard let index = known(run, client) else { return }
        guard state.runs[index]?.phase != .cancelled else {
            return refuse(
                client, .notPossible, "the run \(run) was cancelled; submit its stores again")
        }
        state.runs[index]?.questions += 1
        state.out.lookups.append(lookup)
        state.reply(.accepted(run: run), to: client)
    }

    private mutating func pause(_ run: String, _ client: ClientID) {
        guard let index = known(run, client) else { return }
        switch state.runs[index]?.phase {
        case .open, .queued, .paused:
            hold(index, .request)
            state.reply(.done, to: client)
        case .ended, .cancelled, nil: refuseOver(index, run, client)
        }
    }

    /// Refuses what only a run can be asked for that has something to do.
    private mutating func refuseOver(_ index: Int, _ run: String, _ client: ClientID) {
        guard state.runs[index]?.awaitsSwap == true else {
            return refuse(client, .notPossible, "the run \(run) has ended")
        }
        refuse(
            client, .awaitsSwap,
            "the run \(run) has nothing left to do but the swap, which a client must request",
            run: run)
    }

    private mutating func resume(_ run: String, _ client: ClientID) {
        guard let index = known(run, client) else { return }
        switch state.runs[index]?.phase {
        case .paused:
            release(index, .resumed)
            state.reply(.done, to: client)
        case .open, .queued: state.reply(.done, to: client)
        case .ended, .cancelled, nil: refuseOver(index, run, client)
        }
    }

    private mutating func drain(_ name: String, _ client: ClientID) {
        guard let index = state.roster.index(named: name) else {
            return refuse(client, .notFound, "there is no worker \(name); workers lists them")
        }
        state.move(worker: index, to: .draining)
        state.timers.remove(.quarantine(index))
        state.send(.drain, to: index)
        state.note(.worker(name, .drains))
        state.reply(.done, to: client)
    }

    private mutating func throttle(_ wanted: ThrottleSettings, _ client: ClientID) {
        state.timers.remove(.throttle)
        if let run = wanted.run {
            guard let index = known(run, client) else { return }
            state.runs[index]?.throttleJobs = wanted.jobs
            state.runs[index]?.bucket = TokenBucket(
                bytesPerSecond: wanted.bytesPerSecond, now: state.now)
        } else {
            state.throttle = OverallThrottle(
                Throttle(jobs: wanted.jobs, bytesPerSecond: wanted.bytesPerSecond),
                now: state.now)
        }
        state.reply(.done, to: client)
    }
}
