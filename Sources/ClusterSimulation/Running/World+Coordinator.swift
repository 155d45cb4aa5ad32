import ClusterCore
import ClusterProtocol
import Jobs

/// The coordinator's loop: events into the machine, records into the ledger, and all else only
/// when those are durable.
extension World {
    func startCoordinator() {
        guard coordinator == nil else { return }
        coordinatorLives += 1
        statistics.coordinatorStarts += 1
        var settings = CoordinatorSettings(
            coordinator: "coordinator-\(coordinatorLives)", protocols: .current,
            jitterSeed: chance.next())
        settings.heartbeat = tuning.heartbeat
        settings.lease = tuning.lease
        settings.quarantine.workerTime = tuning.workerQuarantine
        settings.speculation.least = tuning.slowAfter
        settings.sharing.tasks = tuning.tasks
        settings.sharing.largeStores = tuning.largeStores
        settings.sharing.batchJobs = tuning.batchJobs
        settings.sharing.storesAhead = tuning.storesAhead
        settings.roomRetry = tuning.roomRetry
        // Found by its rule, with the seed, and not by the end of the process.
        settings.endsAtBrokenInvariant = false
        let base = now - chance.span(0...1_000_000)
        coordinator = SimulatedCoordinator(
            life: coordinatorLives, machine: CoordinatorMachine(settings: settings),
            clockBase: base, fault: PlantedFault(options.plant))
        note("coordinator \(coordinatorLives) starts")
        checks.coordinatorStarted(now)
        for index in runs.indices {
            runs[index].offered = []
            runs[index].isOpened = false
        }
        for index in runs.indices { openRun(index) }
    }

    /// Opens a run in the machine as a start of the coordinator finds it in the ledger.
    private func openRun(_ index: Int) {
        let facts = ledger.written
        let spec = runs[index]
        guard let run = facts.runs[spec.run], run.standing != .cancelled else { return }
        let waiting = spec.stores.filter { isOffered($0, spec) }
        if waiting.isEmpty, run.standing == .ended { return }
        runs[index].isOpened = true
        let failed = spec.stores.filter { facts.stores[$0]?.standing == .failed }.count
        tell(
            .run(
                RunOffer(
                    run: spec.run, stores: waiting.count, failed: failed,
                    defersSwap: spec.defersSwap, limits: spec.limits,
                    pausedBy: run.standing == .paused ? run.reason : nil)))
    }

    /// Whether a store is one that the machine still has work with.
    func isOffered(_ key: StoreKey, _ spec: RunSpec) -> Bool {
        guard let facts = ledger.written.stores[key] else { return false }
        switch facts.standing {
        case nil, .running: return true
        case .validated:
            return !spec.defersSwap || facts.isSwapIntended
                || spec.isSwapRequested.contains(key.number)
        case .done, .failed, .cancelled: return false
        }
    }

    /// Gives the machine an event, and then the stores that it wants.
    func tell(_ event: CoordinatorEvent) {
        step(event)
        while let offer = nextOffer() { step(.offered(offer)) }
        for run in coordinator?.machine.wantedStores.keys.sorted() ?? [] where violation == nil {
            step(.exhausted(run: run, left: 0))
        }
        scheduleCoordinatorTick()
    }

    /// Gives the machine one event and takes up what it says.
    func step(_ event: CoordinatorEvent) {
        guard violation == nil else { return }
        // In place: a copy of the machine would copy all that it holds.
        guard let effects = coordinator?.handle(event, now: now, wallOffset: wallOffset)
        else { return }
        if case .taskEnded(let id, _) = event { coordinator?.tasks.removeAll { $0.id == id } }
        coordinator?.turns += 1
        coordinator?.tasks += effects.tasks
        for record in effects.records { note("  record \(RecordText.text(record))") }
        checkRecords(effects.records, effects.notes, of: event)
        do {
            if !effects.records.isEmpty { try ledger.write(effects.records) }
        } catch {
            return fail(error.rule, error.text)
        }
        check(event, effects)
        checkMachine()
        hold(effects)
    }

    /// The next store that the machine wants, if it wants any.
    private func nextOffer() -> StoreOffer? {
        guard violation == nil, let wanted = coordinator?.machine.wantedStores, !wanted.isEmpty
        else { return nil }
        for index in runs.indices where wanted[runs[index].run, default: 0] > 0 {
            let spec = runs[index]
            let next = spec.stores.first {
                !spec.offered.contains($0.number) && isOffered($0, spec)
            }
            guard let next else { continue }
            runs[index].offered.insert(next.number)
            return offer(next, spec)
        }
        return nil
    }

    /// Keeps what a turn said back until the ledger has what it and earlier ones wrote.
    private func hold(_ effects: CoordinatorEffects) {
        guard violation == nil, let process = coordinator else { return }
        let turn = SimulatedCoordinator.Turn(
            number: process.turns, hasRecords: !effects.records.isEmpty, effects: effects)
        if process.fault.sendsBeforeRecords || !turn.hasRecords && process.waiting.isEmpty {
            release(effects)
            if !turn.hasRecords { return }
        }
        coordinator?.waiting.append(turn)
        sync()
    }

    /// Has the ledger make durable what waits, unless it is at it.
    private func sync() {
        guard let process = coordinator, !process.isSyncing, let last = process.waiting.last else {
            return
        }
        coordinator?.isSyncing = true
        let delay = chance.span(tuning.ledgerSync) + ledgerDelay
        queue.schedule(.ledgerSynced(life: process.life, through: last.number), at: now + delay)
    }

    func ledgerSynced(_ life: Int, through number: Int) {
        guard let waiting = coordinator?.waiting, coordinator?.life == life else { return }
        let ready = waiting.prefix { $0.number <= number }
        coordinator?.waiting.removeFirst(ready.count)
        coordinator?.isSyncing = false
        for turn in ready {
            do {
                if turn.hasRecords { try ledger.sync(groups: 1) }
            } catch {
                return fail(error.rule, error.text)
            }
            if coordinator?.fault.sendsBeforeRecords == false { release(turn.effects) }
        }
        sync()
    }

    /// Does everything of a turn beside its records.
    private func release(_ effects: CoordinatorEffects) {
        guard violation == nil, let life = coordinator?.life else { return }
        for send in effects.sends { self.send(send.message, to: send.to) }
        for reply in effects.replies { note("  reply \(MessageText.text(reply.reply))") }
        for task in effects.tasks {
            check(task)
            note("  task \(task.id.number) \(task.store) \(RecordText.text(task.kind))")
            let time = chance.span(tuning.taskTime) * (isDiskFull ? 2 : 1)
            queue.schedule(.taskRuns(task, life: life), at: now + time)
        }
        for lookup in effects.lookups where coordinator?.life == life { answer(lookup) }
    }

    private func send(_ message: CoordinatorMessage, to connection: ConnectionID) {
        guard let number = connections[connection] else {
            return fail(.ledgerFirst, "a message to the unknown connection \(connection)")
        }
        check(message, to: number)
        note("  send worker \(number) \(MessageText.text(message))")
        guard workers[number].connection == connection else {
            if chance.happens(perMille: 500), let life = coordinator?.life {
                queue.schedule(.coordinator(.unreachable(connection), life: life), at: now + 1)
            }
            return
        }
        guard let message = crossed(message) else { return }
        for time in network.arrivals(worker: number, now: now) {
            queue.schedule(.toWorker(message, on: connection, worker: number), at: time)
        }
    }

    /// A worker's message arrives, if a coordinator is there to receive it.
    func hear(_ message: WorkerMessage, from connection: ConnectionID, worker: Int) {
        guard coordinator != nil else { return }
        note("coordinator hears worker \(worker) \(MessageText.text(message))")
        tell(.message(message, from: connection, worker: workers[worker].name))
    }

    func tickCoordinator(_ life: Int) {
        guard coordinator?.life == life, coordinator?.tickAt == now else { return }
        coordinator?.tickAt = nil
        tell(.tick)
        // Runs that are over are let go of now and then, and come back when a client asks for them.
        for index in runs.indices where runs[index].isOpened && violation == nil {
            guard coordinator?.machine.isOver(run: runs[index].run) == true else { continue }
            runs[index].isOpened = false
            tell(.forgotten(run: runs[index].run))
        }
    }

    private func scheduleCoordinatorTick() {
        guard let process = coordinator, let wake = process.nextWake(wallOffset: wallOffset) else {
            return
        }
        let time = max(now + 1, wake)
        if let scheduled = process.tickAt, scheduled <= time, scheduled > now { return }
        coordinator?.tickAt = time
        queue.schedule(.coordinatorTick(life: process.life), at: time)
    }

    func crashCoordinator() {
        guard let process = coordinator else { return }
        statistics.transitions.add(process.machine.transitions)
        note("coordinator \(process.life) crashes, \(process.waiting.count) turns lost")
        // A write that was under way may have reached the disk.
        let groups = process.waiting.filter(\.hasRecords).count
        if process.isSyncing, groups > 0, chance.happens(perMille: 500) {
            do { try ledger.sync(groups: chance.number(1...groups)) } catch {
                fail(error.rule, error.text)
            }
        }
        ledger.crash()
        coordinator = nil
    }
}
