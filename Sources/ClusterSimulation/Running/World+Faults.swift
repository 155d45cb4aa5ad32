import ClusterCore
import ClusterProtocol
import Jobs

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
            end(worker: worker, restartsAfter: delay)
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
            strike(slot: slot, worker: worker, code: .slotCrashed, after: 1)
        case .slotHang(let worker, let slot):
            strike(slot: slot, worker: worker, code: .slotTimedOut, after: tuning.watchdog)
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
        tell(.terminate, worker: worker, life: workers[worker].life)
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
        let run = runs[chance.number(0...runs.count - 1)].run
        switch action {
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
        switch request {
        case .replay(let run, let store) where !isOpened(run):
            // The machine does not keep runs that were over when it started; its loop opens them.
            answer(.failed(run: run, store: store))
        case .swap(let run, let store) where !isOpened(run):
            answer(.validated(run: run, store: store))
        default: tell(.request(request, from: ClientID("client")))
        }
    }

    private func isOpened(_ run: String) -> Bool { runs.contains { $0.run == run && $0.isOpened } }

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
