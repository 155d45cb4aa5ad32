import ClusterCore
import ClusterProtocol
import Jobs
import WorkerRules

/// The workers' loops.
extension World {
    func startWorker(_ number: Int) {
        guard workers[number].machine == nil else { return }
        let worker = workers[number]
        var settings = WorkerSettings(
            worker: worker.name, protocols: .current, engine: worker.engine, sqlite: "3.40.1",
            roots: ["run", "source"], slots: worker.slotCount, jitterSeed: worker.seed)
        settings.grace = 8_000
        // Found by its rule, with the seed, and not by the end of the process.
        settings.endsAtBrokenInvariant = false
        workers[number].life += 1
        settings.instance = "\(number)-\(workers[number].life)"
        workers[number].machine = WorkerMachine(settings: settings)
        workers[number].clockBase = now - chance.span(0...1_000_000)
        workers[number].connection = nil
        workers[number].stoppedUntil = 0
        workers[number].tickAt = nil
        workers[number].slots = Array(repeating: SimulatedSlot(), count: worker.slotCount)
        note("worker \(number) starts, engine \(worker.engine)")
        tell(.tick, worker: number, life: workers[number].life)
    }

    /// Gives a worker's machine an event, later if its process is stopped.
    func tell(_ event: WorkerEvent, worker number: Int, life: Int) {
        guard violation == nil, workers[number].life == life, workers[number].machine != nil else {
            return
        }
        if workers[number].stoppedUntil > now {
            let later = WorldEvent.worker(event, worker: number, life: life)
            return queue.schedule(later, at: workers[number].stoppedUntil)
        }
        let instant = workers[number].instant(now)
        guard let effects = workers[number].machine?.handle(event, now: instant) else { return }
        for command in effects.slots {
            switch command {
            case .run(let order, let slot): begin(order, slot: slot, worker: number)
            case .kill(let slot): kill(slot: slot, worker: number)
            }
        }
        for message in effects.sends { send(message, from: number) }
        for order in effects.discards {
            note("worker \(number) discards \(order.attempt.id)")
            files[shardFile(order.attempt)] = nil
        }
        if effects.connects { connect(number) }
        if let exit = effects.exit {
            note("worker \(number) ends: \(exit)")
            if case .broken(let broken) = exit { fail(.soundMachine, "\(broken)") }
            end(worker: number, restartsAfter: workers[number].restartsAfter)
        }
        scheduleWorkerTick(number)
    }

    private func send(_ message: WorkerMessage, from number: Int) {
        guard let connection = workers[number].connection else { return }
        note("worker \(number) sends \(MessageText.text(message))")
        guard let message = crossed(message) else { return }
        for time in network.arrivals(worker: number, now: now) {
            queue.schedule(
                .toCoordinator(message, from: connection, worker: number), at: time)
        }
    }

    func deliver(_ message: CoordinatorMessage, on connection: ConnectionID, worker number: Int) {
        guard workers[number].connection == connection else { return }
        tell(.message(message), worker: number, life: workers[number].life)
    }

    private func connect(_ number: Int) {
        let worker = workers[number]
        if let old = worker.connection, let life = coordinator?.life,
            chance.happens(perMille: 300)
        {
            queue.schedule(.coordinator(.unreachable(old), life: life), at: now + 1)
        }
        let connection = ConnectionID(
            String(chance.next(), radix: 16) + String(chance.next(), radix: 16))
        connections[connection] = number
        workers[number].connection = connection
        note("worker \(number) connects")
        let time = now + chance.span(1...150)
        queue.schedule(.worker(.connected, worker: number, life: worker.life), at: time)
    }

    func tickWorker(_ number: Int, life: Int) {
        guard workers[number].life == life, workers[number].tickAt == now else { return }
        workers[number].tickAt = nil
        tell(.tick, worker: number, life: life)
    }

    private func scheduleWorkerTick(_ number: Int) {
        let worker = workers[number]
        guard let wake = worker.machine?.nextWake else { return }
        let time = max(now + 1, wake.milliseconds + worker.clockBase)
        if let scheduled = worker.tickAt, scheduled <= time, scheduled > now { return }
        workers[number].tickAt = time
        queue.schedule(.workerTick(worker: number, life: worker.life), at: time)
    }

    /// The worker's process and its slots are gone.
    func end(worker number: Int, restartsAfter delay: Int64) {
        guard workers[number].machine != nil else { return }
        for slot in workers[number].slots.indices { tear(slot: slot, worker: number) }
        workers[number].machine = nil
        workers[number].connection = nil
        if tuning.isLocal, let life = coordinator?.life {
            let ended = CoordinatorEvent.workerEnded(worker: workers[number].name)
            queue.schedule(.coordinator(ended, life: life), at: now + chance.span(0...20))
        }
        queue.schedule(.workerStarts(worker: number), at: now + max(1, delay))
    }
}
