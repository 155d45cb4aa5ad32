import ClusterProtocol
import ClusterTables
import ClusterVocabulary
import Jobs

// Who gets what: runs take turns, then the small stores of a run together with each of its large
// stores, by the bytes that they were given.

extension MachineState {
    /// Hands out what there is to workers that have room.
    mutating func handOut() {
        widen()
        var aside: [(run: Int, flow: Flow)] = []
        for kind in roster.classes.indices {
            while isUnthrottled(), roster.freest(kind) != nil {
                if let turn = nextTurn(kind) {
                    // Who may not have these jobs, as it failed them, leaves them for others;
                    // a job is given up before it has failed on more workers than are asked.
                    let taker = roster.someFree(kind).first { worker in
                        give(turn.flow, of: turn.run, to: worker)
                    }
                    if taker == nil {
                        setAside(turn.flow, of: turn.run)
                        aside.append((turn.run, turn.flow))
                    }
                } else if !repeatSlow(kind) {
                    break
                }
            }
        }
        for (run, flow) in aside { comeBack(flow, of: run) }
    }

    /// Lets large stores take turns again whose next jobs had to wait for a merge with fewer slots.
    private mutating func widen() {
        let window = window
        if window > knownWindow {
            for index in stores.keys where stores[index]?.isHandingOut == true { refresh(index) }
        }
        knownWindow = window
    }

    private mutating func isUnthrottled() -> Bool {
        if let limit = throttle.jobs, attempts.count >= limit { return false }
        if throttle.bucket.isOpen(now) { return true }
        timers.set(.throttle, max(throttle.bucket.opens(after: now), now.adding(1)))
        return false
    }

    /// Whose turn it is among what workers of a class can do.
    ///
    /// O(runs at work · requirements), both of which are few.
    private mutating func nextTurn(_ kind: Int) -> (run: Int, flow: Flow)? {
        var best: (run: Int, flow: Flow, runPass: Int64)?
        for index in runs.open {
            guard var run = runs[index], run.isOpen, !run.isFull else { continue }
            if let best, run.pass >= best.runPass { continue }
            guard run.bucket.isOpen(now) else {
                let opens = max(run.bucket.opens(after: now), now.adding(1))
                if timers.priority(of: .throttle).map({ opens < $0 }) ?? true {
                    timers.set(.throttle, opens)
                }
                continue
            }
            runs[index]?.bucket = run.bucket
            guard let flow = nextFlow(run, kind) else { continue }
            best = (index, flow, run.pass)
        }
        return best.map { ($0.run, $0.flow) }
    }

    private func nextFlow(_ run: RunProgress, _ kind: Int) -> Flow? {
        var best: (flow: Flow, pass: Int64)?
        for requirement in run.requirements where roster.fits(kind, requirement) {
            guard let next = run.next(requirement) else { continue }
            if let best, next.pass >= best.pass { continue }
            if case .small = next.flow, !run.hasStorePlace, !hasBegunSmall(run, requirement) {
                continue
            }
            best = next
        }
        return best?.flow
    }

    /// Whether the first small store that waits counts among those begun already.
    private func hasBegunSmall(_ run: RunProgress, _ requirement: Int) -> Bool {
        guard let first = run.small[requirement]?.first else { return false }
        return stores[first]?.phase == .copying
    }

    private mutating func give(_ flow: Flow, of run: Int, to worker: Int) -> Bool {
        switch flow {
        case .large(let store): return giveLarge(store, to: worker)
        case .small(let requirement): return giveSmall(requirement, of: run, to: worker)
        }
    }

    private mutating func giveLarge(_ index: Int, to worker: Int) -> Bool {
        guard let name = roster[worker]?.name, let engine = roster[worker]?.engine,
            let run = stores[index]?.run
        else { return false }
        let window = window
        guard let work = stores[index]?.takeJob(for: name, window: window) else { return false }
        grant([JobID(store: index, work: work)], to: worker)
        let requirement = stores[index]?.requirement ?? 0
        let bytes = stores[index]?.jobBytes ?? 0
        let pass = runs[run]?.charge(.large(index), requirement: requirement, bytes: bytes)
        stores[index]?.pass = pass ?? 0
        if stores[index]?.planned?.plan.template.engine == nil, stores[index]?.engine == nil {
            // Chunks of one store all come from one engine.
            leaveTurn(index)
            stores[index]?.engine = engine
            setRequirement(index)
        }
        refresh(index)
        return true
    }

    private mutating func giveSmall(_ requirement: Int, of run: Int, to worker: Int) -> Bool {
        guard let name = roster[worker]?.name else { return false }
        var jobs: [JobID] = []
        var bytes: Int64 = 0
        var passedOver: [Int] = []
        let window = window
        let most = min(batchSize(run), roster.mostAttempts(for: worker))
        var left = runs[run]?.small[requirement]?.count ?? 0
        while jobs.count < most, bytes < settings.sharing.batchBytes, left > 0,
            let index = runs[run]?.small[requirement]?.popFirst()
        {
            left -= 1
            runs[run]?.waitingSmall -= 1
            guard let phase = stores[index]?.phase, stores[index]?.isWhole == true,
                phase == .waiting || phase == .copying
            else { continue }
            if phase == .waiting, runs[run]?.hasStorePlace == false {
                passedOver.append(index)
                break
            }
            enterCopying(index)
            guard stores[index]?.takeJob(for: name, window: window) != nil else {
                passedOver.append(index)
                continue
            }
            jobs.append(JobID(store: index, work: .whole))
            bytes = bytes.addingReportingOverflow(stores[index]?.bytes ?? 0).partialValue
        }
        // Stores that have begun come first: others may have to wait for their end.
        let begun = passedOver.filter { stores[$0]?.phase == .copying }
        let fresh = passedOver.filter { stores[$0]?.phase == .waiting }
        for index in (begun + fresh).reversed() {
            runs[run]?.small[requirement]?.prepend(index)
            runs[run]?.waitingSmall += 1
        }
        if !jobs.isEmpty {
            grant(jobs, to: worker)
            let cost = max(bytes, RunProgress.leastCost * Int64(jobs.count))
            _ = runs[run]?.charge(.small(requirement), requirement: requirement, bytes: cost)
        }
        runs[run]?.setSmall(requirement)
        return !jobs.isEmpty
    }

    /// Small stores in one batch: fewer and fewer as they come to an end, so that no worker has
    /// many left while others have none.
    private func batchSize(_ run: Int) -> Int {
        let waiting = (runs[run]?.waitingSmall ?? 0) + (runs[run]?.toOffer ?? 0)
        let share = waiting / max(1, 2 * roster.slots)
        var most = min(max(1, share), max(1, settings.sharing.batchJobs))
        if let limit = runs[run]?.limits.jobs {
            most = min(most, limit - (runs[run]?.running ?? 0))
        }
        if let limit = runs[run]?.throttleJobs {
            most = min(most, limit - (runs[run]?.running ?? 0))
        }
        if let limit = throttle.jobs { most = min(most, limit - attempts.count) }
        if runs[run]?.isShortOfSpace == true { most = 1 }
        return max(1, most)
    }

    /// Begins an attempt of each job, all under one lease.
    private mutating func grant(_ jobs: [JobID], to worker: Int) {
        guard let state = roster[worker] else { return }
        var orders: [JobOrder] = []
        let lease = lease(to: worker)
        for id in jobs {
            // Single values, never the whole store: it would be copied when it is changed.
            guard let key = stores.key(id.store), let planned = stores[id.store]?.planned,
                let run = stores[id.store]?.run, let bytes = stores[id.store]?.jobBytes,
                let epoch = stores[id.store]?.jobs[id.work]?.epoch,
                let earlier = stores[id.store]?.jobs[id.work]?.attempts
            else { continue }
            let number = earlier + 1
            let name = "\(key.run)-\(key.number)-\(id.work.name)-\(number)"
            let live = stores[id.store]?.jobs[id.work]?.live.count ?? 0
            guard
                holds(
                    live < 2 && attempts[name] == nil, .twoAttempts, run: run,
                    "\(name) beside \(live)")
            else { continue }
            stores[id.store]?.jobs[id.work]?.attempts = number
            stores[id.store]?.jobs[id.work]?.live.append(name)
            stores[id.store]?.live.insert(name)
            move(job: id, to: .running)
            timers.remove(.openToAll(id))
            let attempt = AttemptState(
                job: id, epoch: epoch, phase: .leased, worker: worker, name: state.name,
                grant: lease, batch: jobs.count, began: now)
            attempts.enter(name, attempt)
            roster.update(worker) { $0.attempts += 1 }
            runs[run]?.running += 1
            runs[run]?.bucket.take(bytes)
            throttle.bucket.take(bytes)
            let folder = FileReference(
                root: planned.plan.attempts.root,
                path: planned.plan.attempts.path.isEmpty
                    ? "\(id.work.name)-\(number)"
                    : "\(planned.plan.attempts.path)/\(id.work.name)-\(number)")
            record(
                .attemptBegan(
                    key, id.work, attempt: name, epoch: epoch, worker: state.name))
            orders.append(
                JobOrder(
                    job: planned.plan.template.job(key, id.work, engine: state.engine),
                    attempt: Attempt(id: name, epoch: epoch, folder: folder),
                    leaseMilliseconds: settings.lease))
            if settings.speculation.isOn {
                set(.slow(name), after: max(1, settings.speculation.least))
            }
        }
        send(.jobs(orders), to: worker)
    }
}

// MARK: - Second attempts

extension MachineState {
    /// Checks whether an attempt takes long, compared with others of its kind.
    ///
    /// An attempt also takes long if no worker came back with it, or if its worker is silent.
    mutating func becomeSlow(_ name: String) {
        if attempts[name]?.phase == .unclaimed { return attempts.setSlow(name, now) }
        guard let attempt = attempts[name], attempt.phase == .leased,
            let isWhole = stores[attempt.job.store]?.isWhole,
            let run = stores[attempt.job.store]?.run
        else { return }
        if attempt.worker.flatMap({ roster[$0] }).map(isSilent) ?? true {
            return attempts.setSlow(name, now)
        }
        let limits = settings.speculation
        let small = runs[run]?.spent ?? Durations()
        let spent = isWhole ? small : stores[attempt.job.store]?.spent ?? Durations()
        guard spent.jobs >= Int64(limits.samples) else {
            // Too little is known yet.
            return set(.slow(name), after: max(1, limits.least))
        }
        let (long, overflows) = spent.mean.multipliedReportingOverflow(by: limits.factor)
        let one = max(overflows ? Int64.max / 64 : long, limits.least)
        // Those of a batch run one after the other.
        let time = one.multipliedReportingOverflow(by: Int64(attempt.batch))
        let due = attempt.began.adding(time.overflow ? Int64.max : time.partialValue)
        if due <= now { attempts.setSlow(name, now) } else { timers.set(.slow(name), due) }
    }

    /// Gives a slow job to a second worker, where there is nothing else to do: both share the
    /// fence, and the first accepted wins.
    ///
    /// - Returns: whether something was given.
    private mutating func repeatSlow(_ kind: Int) -> Bool {
        guard settings.speculation.isOn else { return false }
        for name in attempts.slow.prefix(32) {
            guard let attempt = attempts[name], let store = stores[attempt.job.store] else {
                attempts.removeSlow(name)
                continue
            }
            // Free workers of another kind get it at their turn.
            if !roster.fits(kind, store.requirement), roster.hasFree(for: store.requirement) {
                continue
            }
            guard let worker = secondWorker(kind, attempt, store) else {
                // It makes place for others, and is looked at again soon.
                attempts.removeSlow(name)
                set(.slow(name), after: max(1, settings.speculation.again))
                continue
            }
            attempts.removeSlow(name)
            grant([attempt.job], to: worker)
            let newest = stores[attempt.job.store]?.jobs[attempt.job.work]?.live.last ?? ""
            note(
                .store(
                    store.key,
                    .secondAttempt(
                        Note.JobAttempt(
                            attempt.job.work, attempt: newest,
                            worker: roster[worker]?.name ?? ""))))
            return true
        }
        return false
    }

    /// The free worker of a class that may have a second attempt; nil where none may now.
    private func secondWorker(
        _ kind: Int, _ attempt: AttemptState, _ store: StoreProgress
    ) -> Int? {
        guard let job = store.jobs[attempt.job.work], job.live.count == 1, store.isHandingOut,
            // What was lost or failed twice is judged by one attempt at a time.
            job.losses < 2, job.failures < 2,
            job.phase == .running, roster.fits(kind, store.requirement),
            // Chunks of one store all come from one engine, whichever has begun.
            store.isWhole || roster.requirements[store.requirement].engine != nil,
            let run = runs[store.run], run.isOpen, !run.isFull
        else { return nil }
        return roster.someFree(kind).first { worker in
            worker != attempt.worker
                && roster[worker].map { !job.failedOn.contains($0.name) } == true
        }
    }
}
