import ClusterCore
import ClusterProtocol
import ClusterVocabulary
import Jobs
import RunSupervision

/// Checks a world against the rules of the design.
///
/// Here: what the coordinator's machine says, in the turn in which it says it.
struct WorldChecker {
    let world: World

    /// Before the ledger takes the records; the ledger itself checks what it can see alone.
    func checkRecords(
        _ records: [CoordinatorRecord], _ notes: [Note], of event: SupervisorEvent
    ) {
        for record in records {
            switch record {
            case .attemptBegan(let store, let work, let attempt, _, _):
                world.statistics.attempts += 1
                checkAlone(attempt, JobKey(store: store, work: work), records, notes)
                world.checks.renewed(attempt, world.now)
            case .accepted(let receipt):
                world.statistics.accepted += 1
                world.checks.ended(receipt.attempt)
                checkAccepted(receipt)
            case .attemptFailed(_, let attempt, let reason):
                if reason.cause == .leaseExpired { checkExpired(attempt, event) }
                world.checks.ended(attempt)
            case .swapIntended(let store): checkValidated(store, records)
            case .storeChanged(let store, .validated, _): checkValidated(store, records)
            case .storeChanged(let store, .done, _):
                if world.stores[store]?.live == nil, world.stores[store]?.needsNothing == false {
                    world.fail(.rowsOnce, "\(store) is done unswapped")
                }
            case .storeChanged(let store, .failed, _), .storeChanged(let store, .cancelled, _):
                checkOriginal(store)
            case .runChanged, .storePrepared, .storeChanged, .progressReset, .epochRaised,
                .jobQuarantined, .workerQuarantined:
                break
            }
        }
    }

    /// An attempt begins beside one that holds a lease only as the second one of a slow job.
    private func checkAlone(
        _ attempt: String, _ job: JobKey, _ records: [CoordinatorRecord],
        _ notes: [Note]
    ) {
        let ended = records.compactMap { record -> String? in
            guard case .attemptFailed(_, let ended, _) = record else { return nil }
            return ended
        }
        let held = (world.ledger.written.jobs[job]?.attempts ?? []).filter {
            world.ledger.written.isOpen(attempt: $0) && !ended.contains($0)
        }
        let isSecond = notes.contains { note in
            guard case .store(_, _, .secondAttempt(let second)) = note else { return false }
            return second.attempt == attempt
        }
        if held.count > (isSecond ? 1 : 0) {
            world.fail(
                .leaseKept, "\(attempt) begins although \(held[0]) holds the lease of \(job)")
        }
    }

    /// What is accepted was delivered whole: the file is there, as the receipt says.
    private func checkAccepted(_ receipt: Receipt) {
        guard let file = receipt.files.first else {
            return world.fail(.acceptedFilesOnly, "\(receipt.attempt) is accepted without a file")
        }
        guard world.files[file.file]?.digest == file.digest else {
            return world.fail(
                .acceptedFilesOnly, "\(receipt.attempt) is accepted without its bytes")
        }
    }

    /// A lease runs its full term, unless its worker's process ended or came back without it.
    private func checkExpired(_ attempt: String, _ event: SupervisorEvent) {
        world.statistics.leasesExpired += 1
        switch event {
        case .machine(.workerEnded): return
        case .machine(.message(.hello(let hello), _, _)):
            if !hello.held.contains(where: { $0.attempt == attempt }) { return }
        default: break
        }
        let age = world.checks.age(of: attempt, now: world.now)
        guard age < Int64(world.tuning.lease) else { return }
        world.fail(
            .leaseKept, "the lease of \(attempt) ends after \(age) ms, not \(world.tuning.lease)")
    }

    /// A partitioned store's result must have been validated as it is; a small one's is by its job.
    private func checkValidated(_ key: StoreKey, _ records: [CoordinatorRecord]) {
        guard let store = world.stores[key], store.live == nil else { return }
        if store.isWhole {
            let job = world.ledger.written.jobs[JobKey(store: key, work: .whole)]
            if job?.accepted == nil, !accepts(key, records) {
                world.fail(.validatedSwap, "\(key) goes to its swap without an accepted result")
            }
        } else if !store.isValidated {
            world.fail(.validatedSwap, "\(key) goes to its swap unvalidated")
        }
    }

    /// Whether the turn itself accepts the small store's job.
    private func accepts(_ key: StoreKey, _ records: [CoordinatorRecord]) -> Bool {
        records.contains { record in
            guard case .accepted(let receipt) = record else { return false }
            return receipt.run == key.run && receipt.store == key.number
        }
    }

    private func checkOriginal(_ key: StoreKey) {
        // A swap may have happened just before the crash that made it unknown.
        guard let store = world.stores[key], store.live != nil,
            world.ledger.durable.stores[key]?.isSwapIntended != true
        else { return }
        world.fail(.originalWhole, "\(key) is given up although its original was exchanged")
    }

    /// After the ledger took the turn's records: what the machine answers fits what it wrote.
    func check(_ event: SupervisorEvent, _ effects: CoordinatorEffects) {
        for note in effects.notes {
            if case .unexpected(let text) = note { world.note("  unexpected: \(text)") }
            // A planted fault has to be found by the rule that it breaks.
            if case .broken(let broken) = note, world.options.plant == nil {
                world.fail(.soundMachine, broken)
            }
        }
        switch event {
        case .machine(.message(.progress(let attempt, _, _), let connection, let worker)):
            // What arrives by an old connection, or before the hello, renews nothing.
            if world.checks.isWelcome(worker, connection) {
                world.checks.renewed(attempt, world.now)
            }
        case .machine(.message(.hello(let hello), _, _)):
            check(hello, effects)
        default: break
        }
        for send in effects.sends {
            if case .denied = send.message { world.statistics.denied += 1 }
            if case .welcome = send.message, let number = world.connections[send.to] {
                world.checks.welcomed(world.workers[number].name, send.to)
            }
        }
        for reply in effects.replies {
            if case .status(let report) = reply.reply { check(report) }
        }
    }

    /// Now and then, whether the machine's own books agree; a planted fault may not be found so.
    func checkMachine() {
        guard world.options.plant == nil, let process = world.coordinator, process.turns % 8 == 0
        else {
            return
        }
        let found = process.machine.check().sorted()
        if let first = found.first { world.fail(.soundMachine, first) }
        checkReasons(process.machine.report())
    }

    /// Whatever waits has a reason, also while something else is at work, and so has a worker that
    /// has nothing.
    private func checkReasons(_ report: StatusReport) {
        var waiting = 0
        for run in report.runs where run.state.isUnfinished {
            // Its stores are being read, or it is held.
            if isReading(run.run) { continue }
            let words = ["waiting", "ready", "resting", "unclaimed"]
            let jobs = words.reduce(0) { $0 + run.jobs[$1, default: 0] }
            let stores = run.stores[.waiting, default: 0]
            waiting += jobs + stores
            if jobs + stores > 0, run.waitingFor == nil {
                world.fail(
                    .waitingHasReason, "\(run.run): \(jobs) jobs, \(stores) stores: no reason"
                )
            }
        }
        for worker in report.workers where worker.reason == nil {
            let isFull = worker.running >= worker.slots
            if worker.state != .active || worker.running == 0 || (waiting > 0 && !isFull) {
                world.fail(.waitingHasReason, "\(worker.name) has no jobs for no reason")
            }
        }
    }

    /// Whether the ledger or the disks are being looked at for a run, or wait for that.
    private func isReading(_ run: String) -> Bool {
        guard let coordinator = world.coordinator else { return false }
        return coordinator.works[run, default: 0] > 0
            || coordinator.supervisor.waitingReason(of: run) != nil
    }

    /// The end of a run is told after its report is written.
    func check(_ event: WatchEvent) {
        world.note("  \(event)")
        guard case .ended(let run, _) = event, let facts = world.ledger.written.runs[run] else {
            return
        }
        world.statistics.endsTold += 1
        if !facts.isReported { world.fail(.endCarriedOut, "the end of \(run) is told unreported") }
    }

    /// A worker that comes back keeps every attempt that could still be accepted.
    ///
    /// The late hello of a process that has ended is refused where its successor is there, and
    /// renews nothing.
    private func check(_ hello: WorkerHello, _ effects: CoordinatorEffects) {
        for send in effects.sends {
            guard case .welcome(let welcome) = send.message else { continue }
            for held in hello.held { world.checks.renewed(held.attempt, world.now) }
            world.statistics.heldKept += welcome.keep.count
            for held in hello.held where !welcome.keep.contains(held.attempt) {
                guard world.ledger.written.isOpen(attempt: held.attempt),
                    let job = world.ledger.written.attempts[held.attempt]?.job,
                    world.ledger.written.stores[job.store]?.isUnfinished == true,
                    world.ledger.written.runs[job.store.run]?.state != .cancelled
                else { continue }
                world.fail(.leaseKept, "\(hello.worker) comes back and loses \(held.attempt)")
            }
        }
    }

    /// What a client is shown agrees with the ledger, and what stands still has a reason.
    private func check(_ report: StatusReport) {
        for status in report.runs {
            guard let spec = world.runs.first(where: { $0.run == status.run }) else {
                return world.fail(.countsAgree, "the unknown run \(status.run) is shown")
            }
            let open = spec.stores.filter { world.isOffered($0, spec) }
            let attempts = spec.stores.reduce(0) { $0 + world.ledger.written.openAttempts(of: $1) }
            let tasks = (world.coordinator?.tasks ?? []).filter { $0.store.run == spec.run }.count
            let isOpen =
                world.ledger.written.runs[spec.run]?.state == .open
                || world.ledger.written.runs[spec.run]?.state == .paused
            if isOpen, !open.isEmpty, attempts == 0, tasks == 0, status.waitingFor == nil,
                !isReading(spec.run)
            {
                world.fail(.waitingHasReason, "\(spec.run): \(open.count) stores wait for nothing")
            }
        }
    }
}
