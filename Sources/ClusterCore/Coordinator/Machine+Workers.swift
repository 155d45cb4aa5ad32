import ClusterProtocol
import Jobs

// How workers come, are watched and go.

extension CoordinatorMachine {
    mutating func take(
        _ message: WorkerMessage, from connection: ConnectionID, worker name: String
    ) {
        if case .hello(let hello) = message {
            return greet(hello, connection, name)
        }
        guard let index = roster.index(of: connection) else {
            takeLate(message, from: connection)
            return
        }
        hear(index)
        switch message {
        case .hello: break
        case .ready(let freeSlots): setReady(index, freeSlots: freeSlots)
        case .progress(let attempt, let rows, let bytes): renew(attempt, rows, bytes, index)
        case .done(let receipt): deliver(receipt, from: index)
        case .failed(let failure):
            fail(failure.attempt, Cause(failure.code, failure.text), from: index)
        case .returned(let attempt):
            fail(attempt, Cause(.returned, "given back unfinished"), from: index)
        case .heartbeat(let scratchFree, _): setScratch(index, scratchFree)
        case .bye(let reason): leave(index, reason)
        }
    }

    /// A message by a connection that is not a worker's any more, or not yet.
    private mutating func takeLate(_ message: WorkerMessage, from connection: ConnectionID) {
        guard let index = roster.retiredIndex(of: connection) else {
            // It does not know of this start.
            send(.bye(reason: "unknown connection: say hello"), to: connection)
            return
        }
        // What was delivered stays delivered, whichever way it took.
        if case .done(let receipt) = message { deliver(receipt, from: index) }
    }

    private mutating func hear(_ index: Int) {
        roster.hear(index, now)
        if roster[index]?.phase == .silent { move(worker: index, to: .ready) }
    }

    private mutating func setScratch(_ index: Int, _ free: Int64) {
        guard roster[index]?.scratchFree != free else { return }
        roster.update(index) { $0.scratchFree = free }
    }

    private mutating func setReady(_ index: Int, freeSlots: Int) {
        switch roster[index]?.phase {
        case .greeted where freeSlots > 0 || roster[index]?.grants.isEmpty == false:
            move(worker: index, to: .ready)
        // It has no room although it was given nothing: its disk is full, or it is about to end.
        case .ready where freeSlots <= 0 && roster[index]?.grants.isEmpty == true:
            move(worker: index, to: .greeted)
        default: break
        }
    }
}

// MARK: - Hello

extension CoordinatorMachine {
    private mutating func greet(
        _ hello: WorkerHello, _ connection: ConnectionID, _ name: String
    ) {
        // A late copy of the hello of a connection that is no more.
        if roster.retiredIndex(of: connection) != nil { return }
        guard let version = settings.protocols.common(with: hello.protocols) else {
            return refuse(
                connection, name,
                .protocolVersion(theirs: hello.protocols, ours: settings.protocols))
        }
        if let engines = settings.engines, !engines.contains(hello.engine) {
            let known = engines.sorted().joined(separator: ", ")
            return refuse(
                connection, name,
                Refusal(
                    code: .notPossible,
                    text: "engine \(hello.engine) is not taken here, \(known) is",
                    protocols: settings.protocols))
        }
        let index: Int
        var isNew = false
        if let known = roster.index(named: name) {
            index = known
            if roster[index]?.connection == connection {
                // A repeated hello: what was begun since is not lost.
                hear(index)
                let (keep, drop) = claim(hello.held, index)
                return welcome(index, version, keep, drop)
            }
            if isTaken(index, by: hello) { return refuseTwin(of: index, hello, connection) }
            comeBack(index, hello, connection)
        } else {
            index = roster.enter(name, hello, connection, now: now)
            set(.silence(index), after: settings.livenessMilliseconds)
            set(.beat(index), after: Int64(settings.heartbeat))
            isNew = true
        }
        let (keep, drop) = claim(hello.held, index)
        if !isNew { releaseLost(index, held: hello.held) }
        welcome(index, version, keep, drop)
        note(
            isNew
                ? .worker(name, .joined(slots: hello.slots))
                : .worker(name, .returned(attempts: keep.count)))
    }

    private mutating func refuse(
        _ connection: ConnectionID, _ name: String, _ refusal: Refusal
    ) {
        send(.refused(refusal), to: connection)
        note(.worker(name, .refused(reason: refusal.text)))
    }

    /// Whether another process than the one that says hello has its key, or name, and is there.
    ///
    /// A worker that was killed and started again is let in when its former connection is known to
    /// be gone, at the latest after the liveness time.
    private func isTaken(_ index: Int, by hello: WorkerHello) -> Bool {
        guard let worker = roster[index] else { return false }
        return !worker.instance.isEmpty && !hello.instance.isEmpty
            && worker.instance != hello.instance && !isSilent(worker)
    }

    /// Refuses a second worker with the key of one that is there; told once, however often it
    /// tries.
    private mutating func refuseTwin(
        of index: Int, _ hello: WorkerHello, _ connection: ConnectionID
    ) {
        guard let worker = roster[index] else { return }
        let refusal = Refusal.nameTaken(
            host: worker.host, other: hello.host, ours: settings.protocols)
        guard worker.refusedInstance == hello.instance else {
            roster.refuse(hello.instance, for: index)
            return refuse(connection, worker.name, refusal)
        }
        send(.refused(refusal), to: connection)
    }

    private mutating func comeBack(
        _ index: Int, _ hello: WorkerHello, _ connection: ConnectionID
    ) {
        let hasOtherEngine = roster[index]?.engine != hello.engine
        roster.reconnect(index, hello, connection)
        roster.hear(index, now)
        set(.silence(index), after: settings.livenessMilliseconds)
        set(.beat(index), after: Int64(settings.heartbeat))
        switch roster[index]?.phase {
        case .ready, .silent: move(worker: index, to: .greeted)
        case .quarantined where hasOtherEngine:
            timers.remove(.quarantine(index))
            roster.update(index) { $0.reason = nil }
            move(worker: index, to: .greeted)
        default: break
        }
    }

    private mutating func welcome(
        _ index: Int, _ version: Int, _ keep: [String], _ drop: [String]
    ) {
        send(
            .welcome(
                Welcome(
                    coordinator: settings.coordinator, protocolVersion: version,
                    heartbeatMilliseconds: settings.heartbeat,
                    livenessBeats: settings.livenessBeats, keep: keep, drop: drop)),
            to: index)
        if roster[index]?.phase == .draining { send(.drain, to: index) }
    }

    /// Sorts the attempts that a worker holds into those that go on and those that do not.
    private mutating func claim(
        _ held: [HeldAttempt], _ index: Int
    ) -> (keep: [String], drop: [String]) {
        var (keep, drop): ([String], [String]) = ([], [])
        for attempt in held {
            if isKept(attempt, by: index) {
                keep.append(attempt.attempt)
            } else {
                drop.append(attempt.attempt)
            }
        }
        return (keep, drop)
    }

    private mutating func isKept(_ held: HeldAttempt, by index: Int) -> Bool {
        let key = StoreKey(run: held.run, number: held.store)
        if let attempt = attempts[held.attempt] {
            guard attempt.epoch == held.epoch, attempt.job.work == held.work,
                self.key(attempt.job.store) == key
            else { return false }
            switch attempt.phase {
            case .unclaimed:
                bind(held.attempt, to: index)
                return true
            case .leased:
                guard attempt.worker == index else { return false }
                renew(grant: attempt.grant)
                return true
            case .checking:
                rebind(held.attempt, to: index)
                return attempts[held.attempt]?.worker == index
            case .ended: return false
            }
        }
        if let store = storeIndexes[key], let progress = stores[store] {
            if progress.planned == nil || progress.phase == .preparing {
                return park(held, key, index)
            }
            // It was accepted, and the answer was lost: the worker says it once more.
            return progress.jobs[held.work]?.accepted == held.attempt
        }
        // A run that is not here may have ended, or be about to be opened.
        if let run = runIndexes[held.run], runs[run]?.phase == .cancelled { return false }
        return park(held, key, index)
    }

    /// Keeps a held attempt until its store is here.
    private mutating func park(_ held: HeldAttempt, _ key: StoreKey, _ index: Int) -> Bool {
        let parkedAttempt = Parked(worker: index, attempt: held.attempt, epoch: held.epoch)
        if parked[key] == nil, storeIndexes[key] == nil { out.lookups.append(.store(key)) }
        parked[key, default: []].removeAll { $0.attempt == held.attempt }
        parked[key, default: []].append(parkedAttempt)
        return true
    }

    /// Frees what a worker that came back does not hold any more.
    private mutating func releaseLost(_ index: Int, held: [HeldAttempt]) {
        let names = Set(held.map(\.attempt))
        for grant in (roster[index]?.grants ?? []).sorted() {
            for attempt in grants[grant]?.attempts ?? [] {
                if !names.contains(attempt) {
                    revoke(
                        attempt, Cause(.leaseExpired, "the worker came back without it"),
                        tellsWorker: false)
                }
            }
        }
    }
}

// MARK: - Silence and leaving

extension CoordinatorMachine {
    mutating func checkSilence(_ index: Int) {
        guard let worker = roster[index] else { return }
        let end = worker.lastHeard.adding(settings.livenessMilliseconds)
        guard end <= now else {
            timers.set(.silence(index), end)
            return
        }
        fallSilent(index)
    }

    mutating func lose(_ connection: ConnectionID) {
        if let index = roster.index(of: connection) { fallSilent(index) }
    }

    private mutating func fallSilent(_ index: Int) {
        guard let worker = roster[index] else { return }
        timers.remove(.silence(index))
        roster.lose(index)
        switch worker.phase {
        case .greeted, .ready:
            move(worker: index, to: .silent)
            note(.worker(worker.name, .silent))
        case .silent, .draining, .quarantined, .gone: break
        }
        // Others may do its jobs, too, before the leases run out.
        for grant in worker.grants.sorted() {
            for attempt in grants[grant]?.attempts ?? [] { slow.set(attempt, now) }
        }
        if worker.grants.isEmpty {
            remove(index, "silent")
        } else {
            set(.silence(index), after: settings.livenessMilliseconds)
        }
    }

    mutating func beat(_ index: Int) {
        guard let worker = roster[index] else { return }
        let due = worker.lastSent.adding(Int64(settings.heartbeat))
        if due <= now {
            // A message may have been lost.
            send(worker.phase == .draining ? .drain : .heartbeat, to: index)
            set(.beat(index), after: Int64(settings.heartbeat))
        } else {
            timers.set(.beat(index), due)
        }
    }

    private mutating func leave(_ index: Int, _ reason: String) {
        releaseAll(index, Cause(.returned, "the worker left: \(reason)"))
        remove(index, reason)
    }

    mutating func endWorker(named name: String) {
        guard let index = roster.index(named: name) else { return }
        for grant in (roster[index]?.grants ?? []).sorted() {
            for attempt in grants[grant]?.attempts ?? [] {
                revoke(
                    attempt, Cause(.leaseExpired, "the worker's process ended"),
                    tellsWorker: false)
            }
        }
        remove(index, "its process ended")
    }

    private mutating func releaseAll(_ index: Int, _ cause: Cause) {
        for grant in (roster[index]?.grants ?? []).sorted() {
            for attempt in grants[grant]?.attempts ?? [] { fail(attempt, cause, from: index) }
        }
    }

    mutating func remove(_ index: Int, _ reason: String) {
        guard let worker = roster[index] else { return }
        // What it is quarantined for is not forgotten because it is away.
        if worker.phase == .quarantined, timers.contains(.quarantine(index)), reason == "silent" {
            set(.silence(index), after: settings.quarantine.workerTime)
            return
        }
        move(worker: index, to: .gone)
        timers.remove(.silence(index))
        timers.remove(.beat(index))
        timers.remove(.quarantine(index))
        roster.remove(index)
        note(.worker(worker.name, .left(reason: reason)))
    }

    /// Counts a failure that another worker did not have.
    mutating func blame(_ name: String) {
        guard let index = roster.index(named: name), let worker = roster[index] else { return }
        roster.update(index) { $0.strikes += 1 }
        let strikes = worker.strikes + 1
        guard strikes >= settings.quarantine.strikes, strikes * 4 >= worker.accepted else {
            return
        }
        quarantine(index, "failed \(strikes) jobs that others could do")
    }

    mutating func quarantine(_ index: Int, _ reason: String) {
        guard let worker = roster[index], worker.phase == .ready else { return }
        roster.update(index) { $0.reason = reason }
        move(worker: index, to: .quarantined)
        record(.workerQuarantined(worker: worker.name, reason: reason))
        note(.worker(worker.name, .quarantined(reason: reason)))
        set(.quarantine(index), after: settings.quarantine.workerTime)
    }

    mutating func endQuarantine(_ index: Int) {
        guard roster[index]?.phase == .quarantined else { return }
        let strikes = max(0, settings.quarantine.strikes - 1)
        roster.update(index) { worker in
            worker.reason = nil
            // On probation: the next one is enough.
            worker.strikes = strikes
        }
        move(worker: index, to: .ready)
    }
}
