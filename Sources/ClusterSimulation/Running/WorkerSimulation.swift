import ClusterProtocol
import ClusterVocabulary
import Jobs
import WorkerRules

/// The workers of a world: their loops and their slots.
struct WorkerSimulation {
    let world: World

    func startWorker(_ number: Int) {
        guard world.workers[number].machine == nil else { return }
        let worker = world.workers[number]
        var settings = WorkerSettings(
            worker: worker.name, protocols: .current, engine: worker.engine, sqlite: "3.40.1",
            roots: ["run", "source"], slots: worker.slotCount, jitterSeed: worker.seed)
        settings.grace = 8_000
        // Found by its rule, with the seed, and not by the end of the process.
        settings.endsAtBrokenInvariant = false
        world.workers[number].life += 1
        settings.instance = "\(number)-\(world.workers[number].life)"
        world.workers[number].machine = WorkerMachine(settings: settings)
        world.workers[number].clockBase = world.now - world.chance.span(0...1_000_000)
        world.workers[number].connection = nil
        world.workers[number].stoppedUntil = 0
        world.workers[number].tickAt = nil
        world.workers[number].slots = Array(repeating: SimulatedSlot(), count: worker.slotCount)
        world.note("worker \(number) starts, engine \(worker.engine)")
        tell(.tick, worker: number, life: world.workers[number].life)
    }

    /// Gives a worker's machine an event, later if its process is stopped.
    func tell(_ event: WorkerEvent, worker number: Int, life: Int) {
        guard world.violation == nil, world.workers[number].life == life,
            world.workers[number].machine != nil
        else {
            return
        }
        if world.workers[number].stoppedUntil > world.now {
            let later = WorldEvent.worker(event, worker: number, life: life)
            return world.queue.schedule(later, at: world.workers[number].stoppedUntil)
        }
        let instant = world.workers[number].instant(world.now)
        guard let effects = world.workers[number].machine?.handle(event, now: instant) else {
            return
        }
        for command in effects.slots {
            switch command {
            case .run(let order, let slot): begin(order, slot: slot, worker: number)
            case .kill(let slot): kill(slot: slot, worker: number)
            }
        }
        for message in effects.sends { send(message, from: number) }
        for order in effects.discards {
            world.note("worker \(number) discards \(order.attempt.id)")
            world.files[shardFile(order.attempt)] = nil
        }
        if effects.connects { connect(number) }
        if let exit = effects.exit {
            world.note("worker \(number) ends: \(exit)")
            if case .broken(let broken) = exit { world.fail(.soundMachine, "\(broken)") }
            end(worker: number, restartsAfter: world.workers[number].restartsAfter)
        }
        scheduleWorkerTick(number)
    }

    private func send(_ message: WorkerMessage, from number: Int) {
        guard let connection = world.workers[number].connection else { return }
        world.note("worker \(number) sends \(MessageText.text(message))")
        guard let message = world.crossed(message) else { return }
        for time in world.network.arrivals(worker: number, now: world.now) {
            world.queue.schedule(
                .toCoordinator(message, from: connection, worker: number), at: time)
        }
    }

    func deliver(_ message: CoordinatorMessage, on connection: ConnectionID, worker number: Int) {
        guard world.workers[number].connection == connection else { return }
        tell(.message(message), worker: number, life: world.workers[number].life)
    }

    private func connect(_ number: Int) {
        let worker = world.workers[number]
        if let old = worker.connection, let life = world.coordinator?.life,
            world.chance.happens(perMille: 300)
        {
            world.queue.schedule(.coordinator(.unreachable(old), life: life), at: world.now + 1)
        }
        let connection = ConnectionID(
            String(world.chance.next(), radix: 16) + String(world.chance.next(), radix: 16))
        world.connections[connection] = number
        world.workers[number].connection = connection
        world.note("worker \(number) connects")
        let time = world.now + world.chance.span(1...150)
        world.queue.schedule(.worker(.connected, worker: number, life: worker.life), at: time)
    }

    func tickWorker(_ number: Int, life: Int) {
        guard world.workers[number].life == life, world.workers[number].tickAt == world.now else {
            return
        }
        world.workers[number].tickAt = nil
        tell(.tick, worker: number, life: life)
    }

    private func scheduleWorkerTick(_ number: Int) {
        let worker = world.workers[number]
        guard let wake = worker.machine?.nextWake else { return }
        let time = max(world.now + 1, wake.milliseconds + worker.clockBase)
        if let scheduled = worker.tickAt, scheduled <= time, scheduled > world.now { return }
        world.workers[number].tickAt = time
        world.queue.schedule(.workerTick(worker: number, life: worker.life), at: time)
    }

    /// The worker's process and its slots are gone.
    func end(worker number: Int, restartsAfter delay: Int64) {
        guard world.workers[number].machine != nil else { return }
        for slot in world.workers[number].slots.indices { tear(slot: slot, worker: number) }
        world.workers[number].machine = nil
        world.workers[number].connection = nil
        if world.tuning.isLocal, let life = world.coordinator?.life {
            let ended = CoordinatorEvent.workerEnded(worker: world.workers[number].name)
            world.queue.schedule(
                .coordinator(ended, life: life), at: world.now + world.chance.span(0...20))
        }
        world.queue.schedule(.workerStarts(worker: number), at: world.now + max(1, delay))
    }
}
