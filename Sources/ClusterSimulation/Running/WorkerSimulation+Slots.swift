import ClusterProtocol
import Jobs
import WorkerRules

/// The slots of the workers: what becomes of an order.
extension WorkerSimulation {
    /// Where an attempt writes.
    func shardFile(_ attempt: Attempt) -> FileReference {
        FileReference(root: attempt.folder.root, path: attempt.folder.path + "/shard")
    }

    func begin(_ order: JobOrder, slot: Int, worker number: Int) {
        guard world.workers[number].slots.indices.contains(slot) else {
            return world.fail(.boundedMemory, "worker \(number) has no slot \(slot)")
        }
        if let other = world.workers[number].slots[slot].order {
            let text = "slot \(slot) of worker \(number) has \(other.attempt.id)"
            return world.fail(.boundedMemory, "\(text) and gets \(order.attempt.id)")
        }
        world.note("worker \(number) slot \(slot) runs \(MessageText.text(order))")
        var state = world.workers[number].slots[slot]
        state.turn += 1
        state.order = order
        state.last = order.attempt.id
        state.steps = world.chance.number(1...6)
        state.stepTime = world.chance.span(world.tuning.slotStep)
        state.fate = fate(of: order, worker: number)
        world.workers[number].slots[slot] = state
        let life = world.workers[number].life
        world.queue.schedule(
            .slotStarted(worker: number, life: life, slot: slot, order: state.turn),
            at: world.now + world.chance.span(1...5))
    }

    private func fate(of order: JobOrder, worker number: Int) -> SlotFate {
        let key = StoreKey(run: order.job.run, number: order.job.store)
        if order.job.engine != world.workers[number].engine { return .fails(.wrongEngine) }
        if let code = world.stores[key]?.poison(of: order.job.work) {
            return isOfProcess(code) ? .dies(code) : .fails(code)
        }
        guard world.hasFaults else { return .delivers }
        if world.chance.happens(perMille: world.tuning.slotHang) { return .dies(.timedOut) }
        if world.chance.happens(perMille: world.tuning.slotFailure) {
            let fates: [SlotFate] = [
                .dies(.crashed), .dies(.outOfMemory), .fails(.inputOutput),
                .fails(.inputOutput), .fails(.sourceChanged),
            ]
            return fates[world.chance.number(0...4)]
        }
        return .delivers
    }

    private func isOfProcess(_ code: FailureCause) -> Bool {
        code == .crashed || code == .timedOut || code == .outOfMemory
    }

    func slotStarted(worker number: Int, life: Int, slot: Int, order turn: Int) {
        guard let state = slotState(number, life, slot, turn), let order = state.order else {
            return
        }
        tell(.slot(.started(attempt: order.attempt.id), slot: slot), worker: number, life: life)
        scheduleStep(1, number, life, slot, turn)
    }

    private func slotState(
        _ number: Int, _ life: Int, _ slot: Int, _ turn: Int
    ) -> SimulatedSlot? {
        guard world.workers[number].life == life, world.workers[number].machine != nil,
            world.workers[number].slots[slot].turn == turn
        else { return nil }
        return world.workers[number].slots[slot]
    }

    private func scheduleStep(
        _ step: Int, _ number: Int, _ life: Int, _ slot: Int, _ turn: Int
    ) {
        guard let state = slotState(number, life, slot, turn) else { return }
        var delay = max(1, state.stepTime * world.workers[number].slowness)
        if state.fate == .dies(.timedOut) { delay = world.tuning.watchdog }
        world.queue.schedule(
            .slotProgress(worker: number, life: life, slot: slot, order: turn, step: step),
            at: world.now + delay)
    }

    func slotProgress(worker number: Int, life: Int, slot: Int, order turn: Int, step: Int) {
        guard let state = slotState(number, life, slot, turn), let order = state.order else {
            return
        }
        if step < state.steps, state.fate != .dies(.timedOut) {
            let rows = SimulatedEngine.rows(order.job.work, of: order.store(in: world))
            let done = Int64(rows * step / state.steps)
            let event = SlotEvent.progress(
                attempt: order.attempt.id, rows: done, bytes: done * 1_000_000)
            tell(.slot(event, slot: slot), worker: number, life: life)
            return scheduleStep(step + 1, number, life, slot, turn)
        }
        finish(order, fate: state.fate, slot: slot, worker: number)
    }

    private func finish(_ order: JobOrder, fate: SlotFate, slot: Int, worker number: Int) {
        let life = world.workers[number].life
        world.workers[number].slots[slot].turn += 1
        world.workers[number].slots[slot].order = nil
        let id = order.attempt.id
        let event: SlotEvent
        switch fate {
        case .delivers:
            do throws(FailureCause) {
                event = .delivered(try produce(order))
            } catch {
                event = .failed(attempt: id, error, text: "the job failed")
            }
        case .fails(let code): event = .failed(attempt: id, code, text: "the job failed")
        case .dies(let code):
            world.files[shardFile(order.attempt)] = .torn
            event = .died(attempt: id, code, text: "the slot ended")
        }
        world.note("worker \(number) slot \(slot) ends \(id) \(fate)")
        tell(.slot(event, slot: slot), worker: number, life: life)
    }

    /// Writes what the job makes into the folder of its attempt.
    private func produce(_ order: JobOrder) throws(FailureCause) -> Receipt {
        let file = shardFile(order.attempt)
        if world.isDiskFull {
            world.files[file] = .torn
            throw .noSpace
        }
        let content = try SimulatedEngine.run(order.job.work, of: order.store(in: world))
        world.files[file] = content
        let delivered = DeliveredFile(
            file: file, bytes: content.bytes, digest: content.digest)
        let rows = SimulatedEngine.rows(order.job.work, of: order.store(in: world))
        return Receipt(
            job: order.job, attempt: order.attempt, files: [delivered], rows: Int64(rows))
    }

    /// Ends a slot's process because its worker wants it.
    func kill(slot: Int, worker number: Int) {
        guard world.workers[number].slots.indices.contains(slot) else { return }
        // Named even where it has just ended by itself: the worker may not have heard of that yet.
        let attempt = world.workers[number].slots[slot].last
        world.note("worker \(number) kills slot \(slot) \(attempt ?? "")")
        tear(slot: slot, worker: number)
        let event = SlotEvent.died(attempt: attempt, .stopped, text: "the slot was killed")
        world.queue.schedule(
            .worker(.slot(event, slot: slot), worker: number, life: world.workers[number].life),
            at: world.now + world.chance.span(1...30))
    }

    /// A slot's process ends in the middle of what it does.
    func tear(slot: Int, worker number: Int) {
        world.workers[number].slots[slot].turn += 1
        guard let order = world.workers[number].slots[slot].order else { return }
        world.files[shardFile(order.attempt)] = .torn
        world.workers[number].slots[slot].order = nil
    }

    /// A slot's process makes no progress any more and ends a little later.
    func strike(slot: Int, worker number: Int, code: FailureCause, after delay: Int64) {
        guard world.workers[number].machine != nil,
            world.workers[number].slots.indices.contains(slot),
            world.workers[number].slots[slot].order != nil
        else { return }
        world.note("worker \(number) slot \(slot) is struck: \(code)")
        world.workers[number].slots[slot].turn += 1
        world.workers[number].slots[slot].fate = .dies(code)
        world.workers[number].slots[slot].steps = 0
        let worker = world.workers[number]
        world.queue.schedule(
            .slotProgress(
                worker: number, life: worker.life, slot: slot, order: worker.slots[slot].turn,
                step: 0), at: world.now + delay)
    }
}

extension JobOrder {
    /// The store that the order is about.
    fileprivate func store(in world: World) -> SimulatedStore {
        let key = StoreKey(run: job.run, number: job.store)
        return world.stores[key]
            ?? SimulatedStore(number: job.store, rows: [], chunks: [], isWhole: true, steps: [])
    }
}
