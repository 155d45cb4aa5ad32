import ClusterProtocol
import ClusterTables
import ClusterVocabulary
import Jobs

// What the coordinator says, and what slots tell.

extension WorkerMachine {
    mutating func take(_ message: CoordinatorMessage) {
        lastHeard = now
        switch message {
        case .welcome(let welcome): attach(welcome)
        case .refused(let refusal):
            guard link == .greeting else { return }
            if settings.exitsWhenRefused { return exit(.refused(refusal.text)) }
            part()
        case .jobs(let orders): take(orders)
        case .committed(let attempt):
            if orders[attempt]?.phase == .delivered { end(attempt) }
        case .denied(let attempt, _), .revoke(let attempt): discard(attempt)
        case .drain: drain()
        case .heartbeat: break
        case .bye:
            tries = 0
            part()
        }
    }

    private mutating func take(_ new: [JobOrder]) {
        guard link == .attached else { return }
        let batch = nextBatch
        nextBatch += 1
        for order in new {
            // A repeated message, or a job that came while this worker was told to end.
            if orders[order.attempt.id] != nil { continue }
            guard work == .working else {
                send(.returned(attempt: order.attempt.id))
                continue
            }
            orders[order.attempt.id] = HeldOrder(order: order, batch: batch)
        }
    }

    /// Gives waiting orders to free slots; those of one batch one after the other.
    mutating func startOrders() {
        guard work == .working, slots.contains(where: { $0 == nil }) else { return }
        var busy = orders.busyBatches
        for attempt in orders.arrival {
            guard let slot = slots.firstIndex(where: { $0 == nil }) else { return }
            guard let order = orders[attempt], order.phase == .queued,
                !busy.contains(order.batch)
            else { continue }
            let isAlone = !slots.contains(order.attempt)
            guard isAlone else {
                return report(BrokenInvariant(.oneInSlot, order.attempt))
            }
            busy.insert(order.batch)
            slots[slot] = order.attempt
            orders[order.attempt]?.slot = slot
            move(order: order.attempt, to: .running)
            out.slots.append(.run(order.order, slot: slot))
        }
    }

    /// Tells how many slots are free: after each welcome, and once more where there was none.
    ///
    /// From there on the coordinator counts by itself.
    mutating func tellFree() {
        guard link == .attached else { return }
        let free = work == .working ? slots.count { $0 == nil } : 0
        guard toldFree == nil || (toldFree == 0 && free > 0) else { return }
        toldFree = free
        send(.ready(freeSlots: free))
    }

    /// Stops an attempt that is not wanted any more and removes what it wrote.
    mutating func discard(_ attempt: String) {
        guard let order = orders[attempt] else { return }
        switch order.phase {
        case .running:
            move(order: attempt, to: .stopping)
            timers.remove(.progress(attempt))
            if let slot = order.slot { out.slots.append(.kill(slot: slot)) }
        case .queued, .delivered:
            if order.failure == nil { out.discards.append(order.order) }
            end(attempt)
        case .stopping, .ended: break
        }
    }

    /// Forgets an attempt.
    private mutating func end(_ attempt: String) {
        move(order: attempt, to: .ended)
        timers.remove(.progress(attempt))
        timers.remove(.again(attempt))
        orders[attempt] = nil
    }

    mutating func tellProgress(_ attempt: String) {
        guard let progress = orders[attempt]?.progress, orders[attempt]?.phase == .running
        else { return }
        orders[attempt]?.progress = nil
        orders[attempt]?.toldAt = now
        send(.progress(attempt: attempt, rows: progress.rows, bytes: progress.bytes))
    }

    /// Tells what became of an attempt.
    ///
    /// A result is told until it is decided on; a failure that
    /// the connection takes is told once.
    mutating func tellResult(_ attempt: String) {
        if let failure = orders[attempt]?.failure, link == .attached {
            send(.failed(failure))
            return end(attempt)
        }
        guard let receipt = orders[attempt]?.receipt else { return }
        send(.done(receipt))
        set(.again(attempt), after: settings.repeatEvery)
    }
}

// MARK: - Slots

extension WorkerMachine {
    mutating func take(_ event: SlotEvent, slot: Int) {
        guard slots.indices.contains(slot) else { return }
        switch event {
        case .started: break
        case .progress(let attempt, let rows, let bytes):
            progress(attempt, rows, bytes, slot)
        case .delivered(let receipt): deliver(receipt, slot)
        case .failed(let attempt, let code, let text):
            fail(attempt, code, text, slot, slotEnded: false)
        case .died(let attempt, let code, let text):
            if let attempt = attempt ?? slots[slot] {
                fail(attempt, code, text, slot, slotEnded: true)
            }
        }
    }

    private mutating func progress(
        _ attempt: String, _ rows: Int64, _ bytes: Int64, _ slot: Int
    ) {
        guard slots[slot] == attempt, orders[attempt]?.phase == .running else { return }
        orders[attempt]?.progress = (rows, bytes)
        let due = orders[attempt]?.toldAt?.adding(settings.progressEvery)
        if let due, due > now { timers.set(.progress(attempt), due) } else { tellProgress(attempt) }
    }

    private mutating func deliver(_ receipt: Receipt, _ slot: Int) {
        let attempt = receipt.attempt
        // A slot that is being killed is free when its process has ended, not before.
        guard slots[slot] == attempt, orders[attempt]?.phase != .stopping else { return }
        slots[slot] = nil
        timers.remove(.progress(attempt))
        switch orders[attempt]?.phase {
        case .running:
            orders[attempt]?.receipt = receipt
            orders[attempt]?.slot = nil
            move(order: attempt, to: .delivered)
            tellResult(attempt)
        case .queued, .delivered, .stopping, .ended, nil: break
        }
    }

    private mutating func fail(
        _ attempt: String, _ code: FailureCause, _ text: String, _ slot: Int, slotEnded: Bool
    ) {
        guard slots[slot] == attempt, slotEnded || orders[attempt]?.phase != .stopping else {
            return
        }
        slots[slot] = nil
        switch orders[attempt]?.phase {
        case .running:
            timers.remove(.progress(attempt))
            if let order = orders[attempt]?.order { out.discards.append(order) }
            orders[attempt]?.failure = AttemptFailure(
                attempt: attempt, cause: code, text: text, slotEnded: slotEnded)
            orders[attempt]?.slot = nil
            move(order: attempt, to: .delivered)
            // Told after the next welcome where there is no connection.
            tellResult(attempt)
        case .stopping: endStopped(attempt)
        case .queued, .delivered, .ended, nil: break
        }
    }

    private mutating func endStopped(_ attempt: String) {
        guard let order = orders[attempt] else { return }
        if order.isGivenBack { send(.returned(attempt: attempt)) }
        out.discards.append(order.order)
        end(attempt)
    }
}

// MARK: - Ending

extension WorkerMachine {
    private mutating func drain() {
        guard work == .working else { return }
        move(work: .draining)
        giveBackQueued()
    }

    mutating func terminate() {
        guard work == .working || work == .draining else { return }
        move(work: .stopping)
        giveBackQueued()
        set(.grace, after: settings.grace)
    }

    private mutating func giveBackQueued() {
        for order in orders.all where order.phase == .queued {
            send(.returned(attempt: order.attempt))
            end(order.attempt)
        }
    }

    /// The grace is over: what runs is stopped and given back.
    mutating func endGrace() {
        let running = orders.all.filter { $0.phase == .running }
        for order in running {
            orders[order.attempt]?.isGivenBack = true
            discard(order.attempt)
        }
        // The coordinator takes no more results that it has not decided on by now.
        if running.isEmpty { exit(.finished) } else { set(.grace, after: settings.killWait) }
    }

    mutating func endIfDone() {
        guard work == .draining || work == .stopping, orders.isEmpty else { return }
        // A result that was told while apart would be lost; there is none.
        exit(.finished)
    }
}
