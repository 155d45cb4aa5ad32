import ClusterProtocol
import ClusterVocabulary
import Jobs
import RunSupervision
import WorkerRules

/// What goes wrong, and how it is repaired.
extension World {
    func happen(_ fault: Fault) {
        guard hasFaults else { return }
        statistics.faults += 1
        note("fault \(fault)")
        switch fault {
        case .coordinatorCrash(let delay):
            crashCoordinator()
            queue.schedule(.coordinatorStarts, at: now + delay)
        case .workerCrash(let worker, let delay), .workerDies(let worker, let delay):
            workerSimulation.end(worker: worker, restartsAfter: delay)
        case .workerStop(let worker, let duration):
            workers[worker].stoppedUntil = now + duration
        case .partition(let worker, let duration): cut(worker, duration)
        case .wallClockJump(let jump): wallOffset += jump
        case .slowLedger(let delay, let duration):
            ledgerDelay = delay
            queue.schedule(.faultEnds(.slowLedger), at: now + duration)
        case .slowWorker(let worker, let factor, let duration):
            workers[worker].slowness = factor
            queue.schedule(.faultEnds(.slowWorker(worker: worker)), at: now + duration)
        case .fullDisk(let duration):
            isDiskFull = true
            queue.schedule(.faultEnds(.fullDisk), at: now + duration)
        case .slotCrash(let worker, let slot):
            workerSimulation.strike(slot: slot, worker: worker, code: .crashed, after: 1)
        case .slotHang(let worker, let slot):
            workerSimulation.strike(
                slot: slot, worker: worker, code: .timedOut, after: tuning.watchdog)
        case .workerTerminate(let worker, let delay):
            terminate(worker, downFor: delay)
        case .workerJoins:
            if workers.count < 8 { queue.schedule(.workerStarts(worker: addWorker()), at: now) }
        case .spoiledDestination(let store): spoil(store)
        case .client(let action): act(action)
        }
    }

    /// Cuts a worker off; it may be told so by its transport.
    private func cut(_ worker: Int, _ duration: Int64) {
        network.cut(worker: worker, until: now + duration)
        guard workers[worker].machine != nil, chance.happens(perMille: 400) else { return }
        let event = WorldEvent.worker(
            .disconnected, worker: worker, life: workers[worker].life)
        queue.schedule(event, at: now + chance.span(1...5_000))
    }

    /// Flips a bit in a result that is being built.
    private func spoil(_ number: Int) {
        let keys = runs.flatMap(\.stores)
        let key = keys[number % keys.count]
        guard var destination = stores[key]?.destination, let row = destination.rows.first else {
            return
        }
        destination.rows[0] = SimulatedResultRow(
            key: row.key, value: row.value ^ 1, target: row.target)
        stores[key]?.destination = destination
        stores[key]?.isSpoiled = true
        note("the result of \(key) is spoiled")
    }

    private func terminate(_ worker: Int, downFor delay: Int64) {
        guard workers[worker].machine != nil else { return }
        workers[worker].restartsAfter = delay
        workerSimulation.tell(.terminate, worker: worker, life: workers[worker].life)
        // A process that does not end when it is asked to is killed.
        queue.schedule(.fault(.workerDies(worker: worker, downFor: 500)), at: now + 30_000)
    }

    func end(_ fault: EndingFault) {
        switch fault {
        case .slowLedger: ledgerDelay = 0
        case .slowWorker(let worker): workers[worker].slowness = 1
        case .fullDisk:
            guard isDiskFull else { return }
            isDiskFull = false
            note("there is room again")
            guard let life = coordinator?.life, chance.happens(perMille: 500) else { return }
            for spec in runs {
                queue.schedule(.coordinator(.room(run: spec.run), life: life), at: now + 1)
            }
        }
    }

    private func act(_ action: ClientAction) {
        let index = chance.number(0...runs.count - 1)
        let run = runs[index].run
        switch action {
        case .submit: submit(index)
        case .pause(let duration):
            ask(.pause(run: run))
            queue.schedule(.request(.resume(run: run)), at: now + duration)
        case .cancel: ask(.cancel(run: run))
        case .drain(let worker, let delay):
            workers[worker].restartsAfter = delay
            ask(.drain(worker: workers[worker].name))
        case .replay: ask(.replay(run: run, store: nil))
        case .throttle(let jobs, let duration):
            ask(.throttle(ThrottleSettings(run: nil, bytesPerSecond: nil, jobs: jobs)))
            let none = ThrottleSettings(run: nil, bytesPerSecond: nil, jobs: nil)
            queue.schedule(.request(.throttle(none)), at: now + duration)
        case .status: ask(.status(run: nil))
        }
    }

    /// A client's request reaches the coordinator, if one is there.
    func ask(_ request: ClientRequest) {
        guard coordinator != nil else { return }
        switch request {
        case .status: break
        default: note("client asks \(request)")
        }
        tell(.request(request, from: ClientID("client")))
    }

    /// A client submits a run again: it is read, and perhaps gets another store, now; it enters
    /// later, whatever became of it meanwhile.
    private func submit(_ index: Int) {
        guard let (life, last) = coordinator.map({ ($0.life, $0.lastOpening) }) else { return }
        // Of a run that is over the same request makes a new one.
        switch ledger.durable.runs[runs[index].run]?.state {
        case .open, .paused: break
        case .ended, .cancelled, nil: return
        }
        var added = 0
        if chance.happens(perMille: 500) {
            let key = StoreKey(run: runs[index].run, number: runs[index].stores.count)
            stores[key] = SimulatedStore.random(
                number: key.number, isWhole: chance.happens(perMille: tuning.wholeStores),
                using: &chance)
            runs[index].stores.append(key)
            ledger.change { $0.stores[key] = LedgerFacts.StoreFacts() }
            added = 1
        }
        if chance.happens(perMille: 200) { runs[index].defersSwap.toggle() }
        var opening = opening(runs[index])
        opening.added = added
        opening.shortage = workSimulation.shortage()
        note("client submits \(opening.run) again, \(added) stores more")
        let time = max(last, now + chance.span(0...tuning.workTime.upperBound * 2))
        coordinator?.lastOpening = time
        coordinator?.works[opening.run, default: 0] += 1
        queue.schedule(.opened(opening, life: life), at: time)
    }

    /// What a submission has read enters.
    func take(_ opening: RunOpening, _ life: Int) {
        guard coordinator?.life == life else { return }
        coordinator?.works[opening.run, default: 1] -= 1
        let opening = workSimulation.refreshed(opening)
        tell(.opened(opening, .submitted, client: ClientID("client")))
    }

    /// Nothing goes wrong from here on, and what stands still is started.
    func stopFaults() {
        note("faults stop")
        hasFaults = false
        network.calmDown()
        ledgerDelay = 0
        end(.fullDisk)
        for index in workers.indices {
            workers[index].slowness = 1
            workers[index].stoppedUntil = min(workers[index].stoppedUntil, now)
            workers[index].restartsAfter = 1_000
            queue.schedule(.workerStarts(worker: index), at: now + 1 + chance.span(0...2_000))
        }
        queue.schedule(.coordinatorStarts, at: now + 1 + chance.span(0...2_000))
        let none = ThrottleSettings(run: nil, bytesPerSecond: nil, jobs: nil)
        queue.schedule(.request(.throttle(none)), at: now + 5_000)
        for spec in runs {
            queue.schedule(.request(.resume(run: spec.run)), at: now + 5_000)
        }
        phase = 1
        phaseBegan = now
    }
}
