import ClusterProtocol
import Jobs

// The life of a store, up to its end.

extension CoordinatorMachine {
    /// A store enters.
    mutating func take(_ offer: StoreOffer) {
        guard let run = runIndexes[offer.key.run], storeIndexes[offer.key] == nil else {
            return note(.unexpected("store \(offer.key) was offered twice, or its run is not open"))
        }
        let left = (runs[run]?.toOffer ?? 0) - 1
        runs[run]?.toOffer = max(0, left)
        guard runs[run]?.phase != .cancelled else { return }
        let index = nextIndex
        nextIndex += 1
        storeIndexes[offer.key] = index
        stores[index] = StoreProgress(offer, run: run)
        runs[run]?.inside += 1
        switch offer.entry {
        case .prepare:
            runs[run]?.waitingLarge.append(index)
            beginLarge(run)
        case .whole(let plan):
            begin(index, plan)
        case .swap(let isRequested):
            let waiting = runs[run]?.ended[.validated] ?? 0
            if !offer.isMoving, waiting > 0 { runs[run]?.ended[.validated] = waiting - 1 }
            if runs[run]?.defersSwap == true, !isRequested {
                finish(index, StoreEnd(state: .validated, cause: nil), isKnown: true)
            } else {
                runs[run]?.begun += 1
                beginSwap(index)
            }
        }
    }

    /// The ledger has no unfinished store of that name: what workers hold of it is over.
    ///
    /// - Parameters:
    ///   - key: the store.
    ///   - accepted: attempts of it that the ledger has accepted.
    mutating func dismiss(_ key: StoreKey, accepted: [String] = []) {
        for held in parked.removeValue(forKey: key) ?? [] {
            if accepted.contains(held.attempt) {
                send(.committed(attempt: held.attempt), to: held.worker)
            } else {
                send(.denied(attempt: held.attempt, reason: .unknownAttempt), to: held.worker)
                note(.denied(attempt: held.attempt, .unknownAttempt))
            }
        }
    }

    /// Begins large stores while there is place for them.
    mutating func beginLarge(_ run: Int) {
        while let progress = runs[run], progress.isOpen, progress.hasStorePlace,
            progress.large < settings.sharing.largeStores,
            let index = runs[run]?.waitingLarge.popFirst()
        {
            guard stores[index]?.phase == .waiting else { continue }
            runs[run]?.large += 1
            runs[run]?.begun += 1
            stores[index]?.isLarge = true
            setRunning(index)
            move(store: index, to: .preparing)
            ask(.prepare, index)
        }
    }

    /// Writes down that work on a store begins.
    mutating func setRunning(_ index: Int) {
        guard let store = stores[index], !store.isRunning else { return }
        stores[index]?.isRunning = true
        record(.storeChanged(store.key, .running, nil))
    }

    /// Takes what a preparation found.
    mutating func prepared(_ index: Int, _ plan: StorePlan, _ resumption: Resumption) {
        guard let store = stores[index], store.phase == .preparing else { return }
        if let fault = StoreProgress.fault(in: plan) {
            return finish(
                index, StoreEnd(state: .failed, cause: Cause(.internalError, fault)))
        }
        switch resumption {
        case .kept: break
        case .fresh(let reason):
            let hadProgress = !store.history.isEmpty || !store.known.isEmpty
            if reason != nil || (hadProgress && store.generation == 0) {
                record(.progressReset(store.key, reason: reason ?? "planned again"))
            }
            stores[index]?.known = []
            stores[index]?.history = store.history.mapValues {
                JobHistory(epoch: $0.epoch, attempts: $0.attempts)
            }
        }
        record(.storePrepared(store.key, plan))
        begin(index, plan, resumption)
    }

    /// Begins to work by a plan.
    private mutating func begin(
        _ index: Int, _ plan: StorePlan, _ resumption: Resumption = .kept(steps: 0)
    ) {
        var steps = 0
        if case .kept(let done) = resumption { steps = done }
        stores[index]?.begin(plan, done: steps)
        setRequirement(index)
        guard let store = stores[index] else { return }
        if store.phase == .preparing {
            if store.isWhole {
                // It takes part in batches from here, and leaves its place to another one.
                leaveLarge(index)
                runs[store.run]?.begun -= 1
                move(store: index, to: .waiting)
                beginLarge(store.run)
            } else {
                move(store: index, to: .copying)
                note(.store(store.key, .stage(.copy)))
            }
        }
        adopt(index)
        if store.isWhole {
            if let receipt = stores[index]?.jobs[.whole]?.receipt {
                enterCopying(index)
                return built(index, receipt)
            }
            if stores[index]?.jobs[.whole] == nil { queueSmall(index) }
            if stores[index]?.hasQuarantined == true { enterCopying(index) }
        }
        advance(index)
    }

    /// A small store begins.
    mutating func enterCopying(_ index: Int) {
        guard let store = stores[index], store.phase == .waiting else { return }
        runs[store.run]?.begun += 1
        setRunning(index)
        move(store: index, to: .copying)
    }

    /// Lets a small store wait for its turn.
    mutating func queueSmall(_ index: Int) {
        guard let store = stores[index] else { return }
        if store.phase == .copying {
            runs[store.run]?.small[store.requirement, default: Queue()].prepend(index)
        } else {
            runs[store.run]?.small[store.requirement, default: Queue()].append(index)
        }
        runs[store.run]?.waitingSmall += 1
        runs[store.run]?.setSmall(store.requirement)
    }

    /// Finds what workers must have for the store's jobs.
    mutating func setRequirement(_ index: Int) {
        guard let store = stores[index], let plan = store.planned?.plan else { return }
        let requirement = Requirement(
            engine: plan.template.engine ?? store.engine, roots: plan.roots,
            policies: plan.policies)
        stores[index]?.requirement = roster.index(of: requirement)
    }

    /// Takes over attempts that an earlier start began and that have not ended.
    private mutating func adopt(_ index: Int) {
        guard let store = stores[index] else { return }
        let held = parked.removeValue(forKey: store.key) ?? []
        var adopted: Set<String> = []
        for (work, history) in store.history.sorted(by: { $0.key.name < $1.key.name }) {
            guard !history.open.isEmpty, store.isPlanned(work), store.jobs[work] == nil else {
                continue
            }
            guard settings.adoptsOpenAttempts else {
                release(history.open, work, index, epoch: history.epoch)
                continue
            }
            for attempt in history.open.prefix(2) {
                adopt(attempt, JobID(store: index, work: work), history)
                adopted.insert(attempt)
            }
        }
        for held in held {
            if adopted.contains(held.attempt) {
                // Who has left meanwhile may come back and claim it.
                if roster[held.worker] != nil { bind(held.attempt, to: held.worker) }
            } else if stores[index]?.accepts(held.attempt) == true {
                send(.committed(attempt: held.attempt), to: held.worker)
            } else {
                send(.denied(attempt: held.attempt, reason: .staleEpoch), to: held.worker)
                note(.denied(attempt: held.attempt, .staleEpoch))
            }
        }
    }

    private mutating func adopt(_ id: String, _ job: JobID, _ history: JobHistory) {
        if stores[job.store]?.jobs[job.work] == nil {
            var state = JobState(history)
            // Its lease goes on, and so does its fence.
            state.epoch = history.epoch
            state.phase = .running
            stores[job.store]?.jobs[job.work] = state
            stores[job.store]?.withStage(of: job.work) {
                $0.setKnown(StoreProgress.number(of: job.work))
            }
            enterCopying(job.store)
        }
        attempts[id] = AttemptState(
            job: job, epoch: history.epoch, phase: .unclaimed, worker: nil, name: "",
            grant: lease([id], to: nil), batch: 1, began: now)
        stores[job.store]?.jobs[job.work]?.live.append(id)
        stores[job.store]?.live.insert(id)
        if let run = stores[job.store]?.run { runs[run]?.running += 1 }
        // As with a worker that falls silent, others may do it, too, before its lease runs out.
        if settings.speculation.isOn { set(.slow(id), after: settings.livenessMilliseconds) }
    }

    /// Ends attempts of an earlier start whose workers ended with it.
    private mutating func release(_ open: [String], _ work: Work, _ index: Int, epoch: Int) {
        guard let key = key(index) else { return }
        for attempt in open {
            record(
                .attemptFailed(
                    key, attempt: attempt,
                    Cause(.leaseExpired, "the coordinator and its workers ended")))
        }
        record(.epochRaised(key, work, to: epoch + 1))
    }
}

// MARK: - Progress

extension CoordinatorMachine {
    /// How many jobs of a store may run ahead of its merge.
    var window: Int {
        max(1, min(settings.sharing.unmergedShards, roster.slots * 2 + 1))
    }

    /// Brings a store on after something of it has ended.
    mutating func advance(_ index: Int) {
        guard let store = stores[index] else { return }
        switch store.phase {
        case .copying where store.isWhole:
            if let receipt = store.jobs[.whole]?.receipt { return built(index, receipt) }
            if store.hasQuarantined { return fail(index) }
        case .copying, .linking: advanceSteps(index)
        case .waiting, .preparing, .indexing, .validating, .swapping, .replanning, .ending,
            .ended:
            break
        }
        refresh(index)
    }

    private mutating func advanceSteps(_ index: Int) {
        guard var store = stores[index] else { return }
        if store.phase == .copying, store.copies.isSettled, !store.hasQuarantined {
            let isMerged: Bool =
                switch store.current {
                case .append, .merge: false
                case .link, nil: true
                }
            if isMerged, store.links.count > 0 {
                move(store: index, to: .linking)
                note(.store(store.key, .stage(.link)))
                store.phase = .linking
            }
        }
        if store.current == nil, !store.hasQuarantined {
            move(store: index, to: .indexing)
            return ask(.index, index)
        }
        if store.isStepDue, let step = store.current {
            stores[index]?.isStepAsked = true
            let shards = store.shards
            guard
                holds(
                    store.areAccepted(shards, for: step), .acceptedShards, run: store.run,
                    "\(store.key) step \(store.step)")
            else { return }
            return ask(.step(store.step, step, shards: shards), index)
        }
        let stage = store.phase == .linking ? store.links : store.copies
        if store.hasQuarantined, stage.isSettled, !store.isStepAsked { fail(index) }
    }

    /// Ends a store with jobs that were given up.
    private mutating func fail(_ index: Int) {
        finish(index, StoreEnd(state: .failed, cause: stores[index]?.end?.cause))
    }

    /// A small store's result is there.
    private mutating func built(_ index: Int, _ receipt: Receipt) {
        // Nothing is to be swapped, now or later: the task only writes that down.
        if receipt.saysUnchanged { return beginSwap(index) }
        validated(index)
    }

    /// The result is validated: it is swapped, or waits for that.
    mutating func validated(_ index: Int) {
        guard let store = stores[index] else { return }
        guard runs[store.run]?.defersSwap == true, !store.isSwapRequested else {
            return beginSwap(index)
        }
        move(store: index, to: .swapping)
        stores[index]?.isKeeping = true
        ask(.keep, index)
    }

    mutating func beginSwap(_ index: Int) {
        guard let store = stores[index] else { return }
        guard
            holds(
                store.maySwap, .validatedSwap, run: store.run, "\(store.key) in \(store.phase)")
        else { return }
        let key = store.key
        move(store: index, to: .swapping)
        record(.swapIntended(key))
        ask(.swap, index)
    }

    /// Plans a store again: nothing that was made of it counts any more.
    mutating func replan(_ index: Int, _ cause: Cause) {
        guard let store = stores[index], store.phase != .ending, store.phase != .replanning
        else { return }
        // Only a swap outlives its run, and one that found another store has changed nothing.
        if runs[store.run]?.phase == .cancelled {
            return finish(index, StoreEnd(state: .cancelled, cause: nil))
        }
        cancelAttempts(index)
        record(.progressReset(store.key, reason: cause.text))
        if store.generation + 1 >= settings.quarantine.plans {
            return finish(index, StoreEnd(state: .failed, cause: cause))
        }
        let history = history(of: store)
        stores[index]?.history = history
        stores[index]?.jobs = [:]
        stores[index]?.generation += 1
        stores[index]?.known = []
        stores[index]?.end = nil
        stores[index]?.isStepAsked = false
        if store.tasks > 0 {
            move(store: index, to: .replanning)
            out.stops.append(store.key)
        } else {
            move(store: index, to: .preparing)
            ask(.prepare, index)
        }
        refresh(index)
    }

    /// What is to be known of jobs under the next plan: numbers of attempts and fences.
    private func history(of store: StoreProgress) -> [Work: JobHistory] {
        let begun = store.jobs.mapValues {
            JobHistory(epoch: $0.epoch, attempts: $0.attempts)
        }
        return store.history.mapValues { JobHistory(epoch: $0.epoch, attempts: $0.attempts) }
            .merging(begun) { _, new in new }
    }
}
