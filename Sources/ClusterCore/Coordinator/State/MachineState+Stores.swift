import ClusterProtocol
import ClusterTables
import ClusterVocabulary
import Jobs

// How stores begin, take over what is known of them, and wait for their turns and tasks.

extension MachineState {
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

    /// Counts a store no more among its run's large ones at work.
    mutating func leaveLarge(_ index: Int) {
        guard let store = stores[index], store.isLarge else { return }
        stores[index]?.isLarge = false
        runs[store.run]?.large -= 1
    }

    /// Writes down that work on a store begins.
    mutating func setRunning(_ index: Int) {
        guard let store = stores[index], !store.isRunning else { return }
        stores[index]?.isRunning = true
        record(.storeChanged(store.key, .running, nil))
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

    /// The ledger has no unfinished store of that name: what workers hold of it is over.
    ///
    /// - Parameters:
    ///   - key: the store.
    ///   - accepted: attempts of it that the ledger has accepted.
    mutating func dismiss(_ key: StoreKey, accepted: [String] = []) {
        for held in stores.unpark(key) {
            if accepted.contains(held.attempt) {
                send(.committed(attempt: held.attempt), to: held.worker)
            } else {
                send(.denied(attempt: held.attempt, reason: .unknownAttempt), to: held.worker)
                note(.denied(attempt: held.attempt, .unknownAttempt))
            }
        }
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

    /// Swaps a result in, which has to be validated.
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
}

// MARK: - Attempts of an earlier start

extension MachineState {
    /// Takes over attempts that an earlier start began and that have not ended.
    mutating func adopt(_ index: Int) {
        guard let store = stores[index] else { return }
        let held = stores.unpark(store.key)
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
        let attempt = AttemptState(
            job: job, epoch: history.epoch, phase: .unclaimed, worker: nil, name: "",
            grant: lease(to: nil), batch: 1, began: now)
        attempts.enter(id, attempt)
        stores[job.store]?.jobs[job.work]?.live.append(id)
        stores[job.store]?.live.insert(id)
        if let run = stores[job.store]?.run { runs[run]?.running += 1 }
        // As with a worker that falls silent, others may do it, too, before its lease runs out.
        if settings.speculation.isOn { set(.slow(id), after: settings.livenessMilliseconds) }
    }

    /// Ends attempts of an earlier start whose workers ended with it.
    private mutating func release(_ open: [String], _ work: Work, _ index: Int, epoch: Int) {
        guard let key = stores.key(index) else { return }
        for attempt in open {
            record(
                .attemptFailed(
                    key, attempt: attempt,
                    FailureReason(.leaseExpired, "the coordinator and its workers ended")))
        }
        record(.epochRaised(key, work, to: epoch + 1))
    }
}

// MARK: - Turns

extension MachineState {
    /// How many jobs of a store may run ahead of its merge.
    var window: Int {
        max(1, min(settings.sharing.unmergedShards, roster.slots * 2 + 1))
    }

    /// Lets a large store take turns exactly while it has a job that may begin.
    mutating func refresh(_ index: Int) {
        guard let run = stores[index]?.run, stores[index]?.isWhole == false else { return }
        let window = window
        let hasNext = stores[index]?.hasNext(window: window) ?? false
        guard let store = stores[index] else { return }
        runs[run]?.set(
            .large(index), requirement: store.requirement, pass: store.pass, takesPart: hasNext)
    }

    /// Takes no turns any more for a large store.
    mutating func leaveTurn(_ index: Int) {
        guard let store = stores[index] else { return }
        runs[store.run]?.set(
            .large(index), requirement: store.requirement, pass: 0, takesPart: false)
    }

    /// Takes no turns for a flow until it comes back.
    mutating func setAside(_ flow: Flow, of run: Int) {
        switch flow {
        case .large(let store): leaveTurn(store)
        case .small(let requirement):
            runs[run]?.set(flow, requirement: requirement, pass: 0, takesPart: false)
        }
    }

    /// Lets a flow that was set aside take turns again, if it has something.
    mutating func comeBack(_ flow: Flow, of run: Int) {
        switch flow {
        case .large(let store): refresh(store)
        case .small(let requirement): runs[run]?.setSmall(requirement)
        }
    }
}

// MARK: - Tasks

extension MachineState {
    /// Asks for a task of a store.
    mutating func ask(_ kind: CoordinatorTask.Kind, _ store: Int) {
        guard let generation = stores[store]?.generation else { return }
        tasks.append(PendingTask(store: store, generation: generation, kind: kind))
    }

    /// Gives the loop the tasks that it has threads for.
    mutating func startTasks() {
        while let task = tasks.next() {
            guard let store = stores[task.store], isWanted(task, store) else { continue }
            if isHeld(task, store) {
                runs[store.run]?.heldTasks.append(task)
                continue
            }
            stores[task.store]?.tasks += 1
            out.tasks.append(
                CoordinatorTask(id: tasks.begin(task), store: store.key, kind: task.kind))
        }
    }

    private func isWanted(_ task: PendingTask, _ store: StoreProgress) -> Bool {
        guard task.generation == store.generation else { return false }
        switch task.kind {
        case .admit(let receipt): return attempts[receipt.attempt]?.phase == .checking
        case .prepare: return store.phase == .preparing
        case .step: return store.isHandingOut
        case .index: return store.phase == .indexing
        case .validate: return store.phase == .validating
        case .keep, .swap: return store.phase == .swapping
        }
    }

    /// What was delivered is checked also while its run is paused.
    private func isHeld(_ task: PendingTask, _ store: StoreProgress) -> Bool {
        if case .admit = task.kind { return false }
        return runs[store.run]?.phase == .paused
    }

    /// Lets a task rest before its next try; false where it was tried often enough.
    mutating func tryAgain(_ task: PendingTask, _ reason: FailureReason) -> Bool {
        guard let store = stores[task.store] else { return false }
        stores[task.store]?.taskTries += 1
        guard store.taskTries + 1 < settings.quarantine.tasks else { return false }
        rest(task, tries: store.taskTries + 1, after: reason)
        return true
    }

    /// Lets a task rest for as long as so many tries ask for.
    mutating func rest(_ task: PendingTask, tries: Int, after reason: FailureReason?) {
        guard let key = stores.key(task.store) else { return }
        let number = newIndex()
        tasks.rest(task, number, after: reason)
        set(.task(number), after: jitter.wait(settings.backoff, tries: tries, for: "\(key)"))
    }

    /// Lets tasks wait for their turn that waited for the end of a pause.
    mutating func releaseHeldTasks(_ run: Int) {
        let held = runs[run]?.heldTasks ?? []
        runs[run]?.heldTasks = []
        for task in held { tasks.append(task) }
    }
}
