import ClusterProtocol
import ClusterTables
import ClusterVocabulary
import Jobs
import RunSupervision

/// The coordinator's loop: events into the supervisor, records into the ledger, and all else only
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
            life: coordinatorLives,
            supervisor: RunSupervisor(settings: settings, isResuming: true), clockBase: base,
            fault: PlantedFault(options.plant))
        note("coordinator \(coordinatorLives) starts")
        checks.coordinatorStarted(now)
        for spec in runs { enter(spec) }
        tell(.resumed)
    }

    /// Gives the supervisor an event, and then has it read the stores that its machine wants.
    func tell(_ event: SupervisorEvent) {
        guard violation == nil else { return }
        if case .machine(.taskEnded(let id, _)) = event {
            coordinator?.tasks.removeAll { $0.id == id }
        }
        // In place: a copy of the machine would copy all that it holds.
        guard let effects = coordinator?.handle(event, now: now, wallOffset: wallOffset)
        else { return }
        take(effects, of: event)
        guard violation == nil,
            let readings = coordinator?.feed(now: now, wallOffset: wallOffset)
        else { return }
        if !readings.isEmpty { take(readings, of: .tick) }
        scheduleCoordinatorTick()
    }

    /// Takes up what the supervisor says.
    private func take(_ effects: SupervisorEffects, of event: SupervisorEvent) {
        coordinator?.turns += 1
        coordinator?.tasks += effects.machine.tasks
        for work in effects.works { coordinator?.works[work.run, default: 0] += 1 }
        let records = effects.machine.records
        for record in records { note("  record \(RecordText.text(record))") }
        checker.checkRecords(records, effects.machine.notes, of: event)
        do {
            if !records.isEmpty { try ledger.write(records) }
        } catch {
            return fail(error.rule, error.text)
        }
        checker.check(event, effects.machine)
        for event in effects.events { checker.check(event) }
        checker.checkMachine()
        hold(effects)
    }

    /// Keeps what a turn said back until the ledger has what it and earlier ones wrote.
    private func hold(_ effects: SupervisorEffects) {
        guard violation == nil, let process = coordinator else { return }
        let turn = SimulatedCoordinator.Turn(
            number: process.turns, hasRecords: !effects.machine.records.isEmpty,
            effects: effects)
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
    private func release(_ effects: SupervisorEffects) {
        guard violation == nil, let life = coordinator?.life else { return }
        for send in effects.machine.sends { self.send(send.message, to: send.to) }
        for reply in effects.machine.replies {
            note("  reply \(MessageText.text(reply.reply))")
        }
        for task in effects.machine.tasks {
            checker.check(task)
            note("  task \(task.id.number) \(task.store) \(RecordText.text(task.kind))")
            let time = chance.span(tuning.taskTime) * (isDiskFull ? 2 : 1)
            queue.schedule(.taskRuns(task, life: life), at: now + time)
        }
        for work in effects.works {
            let time = chance.span(tuning.workTime)
            queue.schedule(.work(work, life: life), at: now + time)
        }
    }

    private func send(_ message: CoordinatorMessage, to connection: ConnectionID) {
        guard let number = connections[connection] else {
            return fail(.ledgerFirst, "a message to the unknown connection \(connection)")
        }
        checker.check(message, to: number)
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
        tell(.machine(.message(message, from: connection, worker: workers[worker].name)))
    }

    func tickCoordinator(_ life: Int) {
        guard coordinator?.life == life, coordinator?.tickAt == now else { return }
        coordinator?.tickAt = nil
        tell(.tick)
        // Runs that are over are forgotten now and then, and come back when a client names them.
        if coordinator?.waiting.isEmpty == true { tell(.sweep) }
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
        statistics.transitions.add(process.supervisor.transitions)
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
