import ClusterProtocol
import ClusterTables
import ClusterVocabulary
import Jobs

// How workers come, are watched and go.

extension MachineState {
    /// Notes that a worker was heard of.
    mutating func hear(_ index: Int) {
        roster.hear(index, now)
        if roster[index]?.phase == .silent { move(worker: index, to: .ready) }
    }

    /// Keeps how much room a worker has for its work.
    mutating func setScratch(_ index: Int, _ free: Int64) {
        guard roster[index]?.scratchFree != free else { return }
        roster.update(index) { $0.scratchFree = free }
    }

    /// A worker says how many slots it has free.
    mutating func setReady(_ index: Int, freeSlots: Int) {
        switch roster[index]?.phase {
        case .greeted where freeSlots > 0 || roster[index]?.grants.isEmpty == false:
            move(worker: index, to: .ready)
        // It has no room although it was given nothing: its disk is full, or it is about to end.
        case .ready where freeSlots <= 0 && roster[index]?.grants.isEmpty == true:
            move(worker: index, to: .greeted)
        default: break
        }
    }

    /// Whether another process than the one that says hello has its key, or name, and is there.
    ///
    /// A worker that was killed and started again is let in when its former connection is known to
    /// be gone, at the latest after the liveness time.
    func isTaken(_ index: Int, by hello: WorkerHello) -> Bool {
        guard let worker = roster[index] else { return false }
        return !worker.instance.isEmpty && !hello.instance.isEmpty
            && worker.instance != hello.instance && !isSilent(worker)
    }

    /// Refuses who says hello.
    mutating func refuse(
        _ connection: ConnectionID, _ name: String, _ refusal: Refusal
    ) {
        send(.refused(refusal), to: connection)
        note(.worker(name, .refused(reason: refusal.text)))
    }

    /// Refuses a second worker with the key of one that is there; told once, however often it
    /// tries.
    mutating func refuseTwin(
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

    /// A worker that is known says hello by another connection.
    mutating func comeBack(
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

    /// Welcomes a worker and says which of its attempts go on.
    mutating func welcome(
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
    mutating func claim(
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

    /// Whether an attempt that a worker holds goes on, or may.
    private mutating func isKept(_ held: HeldAttempt, by index: Int) -> Bool {
        let key = StoreKey(run: held.run, number: held.store)
        if let attempt = attempts[held.attempt] {
            guard attempt.epoch == held.epoch, attempt.job.work == held.work,
                stores.key(attempt.job.store) == key
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
        if let store = stores.index(of: key), let progress = stores[store] {
            if progress.planned == nil || progress.phase == .preparing {
                return park(held, key, index)
            }
            // It was accepted, and the answer was lost: the worker says it once more.
            return progress.jobs[held.work]?.accepted == held.attempt
        }
        // A run that is not here may have ended, or be about to be opened.
        if let run = runs.index(of: held.run), runs[run]?.phase == .cancelled { return false }
        return park(held, key, index)
    }

    /// Keeps a held attempt until its store is here.
    private mutating func park(_ held: HeldAttempt, _ key: StoreKey, _ index: Int) -> Bool {
        if stores.isUnknown(key), stores.index(of: key) == nil {
            out.lookups.append(.store(key))
        }
        stores.parkAgain(
            StoreTable.Parked(worker: index, attempt: held.attempt, epoch: held.epoch), of: key)
        return true
    }
}

// MARK: - Silence and leaving

extension MachineState {
    /// Counts a worker as silent if nothing was heard of it for too long.
    mutating func checkSilence(_ index: Int) {
        guard let worker = roster[index] else { return }
        let end = worker.lastHeard.adding(settings.livenessMilliseconds)
        guard end <= now else {
            timers.set(.silence(index), end)
            return
        }
        fallSilent(index)
    }

    /// A connection is gone.
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
            for attempt in attempts.held(grant) { attempts.setSlow(attempt, now) }
        }
        if worker.grants.isEmpty {
            remove(index, "silent")
        } else {
            set(.silence(index), after: settings.livenessMilliseconds)
        }
    }

    /// Sends a worker a heartbeat if it was sent nothing else.
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

    /// Forgets a worker.
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

    /// Whether nothing was heard of a worker for too long, whatever else is said of it.
    func isSilent(_ worker: WorkerState) -> Bool {
        worker.isLost
            || worker.lastHeard.adding(settings.livenessMilliseconds) < now
    }
}

// MARK: - Quarantine

extension MachineState {
    /// Counts a failure that another worker did not have.
    mutating func blame(_ name: String) {
        guard let index = roster.index(named: name), let worker = roster[index] else { return }
        roster.update(index) { $0.strikes += 1 }
        let strikes = worker.strikes + 1
        guard strikes >= settings.quarantine.strikes, strikes * 4 >= worker.accepted else {
            return
        }
        quarantine(index, "failed \(strikes) jobs that other workers completed")
    }

    /// Gives a worker nothing for a while.
    mutating func quarantine(_ index: Int, _ reason: String) {
        guard let worker = roster[index], worker.phase == .ready else { return }
        roster.update(index) { $0.reason = reason }
        move(worker: index, to: .quarantined)
        record(.workerQuarantined(worker: worker.name, reason: reason))
        note(.worker(worker.name, .quarantined(reason: reason)))
        set(.quarantine(index), after: settings.quarantine.workerTime)
    }

    /// Gives a worker jobs again after its quarantine.
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
