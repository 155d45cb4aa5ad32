import ClusterProtocol
import ClusterTables
import ClusterVocabulary
import Jobs

// The life of a store, and what becomes of its tasks.

extension CoordinatorMachine {
    /// A store enters.
    mutating func take(_ offer: StoreOffer) {
        guard let run = state.runs.index(of: offer.key.run),
            state.stores.index(of: offer.key) == nil
        else {
            let text = "store \(offer.key) was offered twice, or its run is not open"
            return state.note(.unexpected(text))
        }
        let left = (state.runs[run]?.toOffer ?? 0) - 1
        state.runs[run]?.toOffer = max(0, left)
        guard state.runs[run]?.phase != .cancelled else { return }
        let index = state.newIndex()
        state.stores.enter(StoreProgress(offer, run: run), at: index)
        state.runs[run]?.inside += 1
        switch offer.entry {
        case .prepare:
            state.runs[run]?.waitingLarge.append(index)
            state.beginLarge(run)
        case .whole(let plan):
            begin(index, plan)
        case .swap(let isRequested):
            let waiting = state.runs[run]?.ended[.validated] ?? 0
            if !offer.isMoving, waiting > 0 { state.runs[run]?.ended[.validated] = waiting - 1 }
            if state.runs[run]?.defersSwap == true, !isRequested {
                finish(index, StoreEnd(state: .validated, cause: nil), isKnown: true)
            } else {
                state.runs[run]?.begun += 1
                state.beginSwap(index)
            }
        }
    }

    /// Takes what a preparation found.
    mutating func prepared(_ index: Int, _ plan: StorePlan, _ resumption: Resumption) {
        guard let store = state.stores[index], store.phase == .preparing else { return }
        if let fault = StoreProgress.fault(in: plan) {
            return finish(
                index, StoreEnd(state: .failed, cause: FailureReason(.bug, fault)))
        }
        switch resumption {
        case .kept: break
        case .fresh(let reason):
            let hadProgress = !store.history.isEmpty || !store.known.isEmpty
            if reason != nil || (hadProgress && store.generation == 0) {
                state.record(.progressReset(store.key, reason: reason ?? "planned again"))
            }
            state.stores[index]?.known = []
            state.stores[index]?.history = store.history.mapValues {
                JobHistory(epoch: $0.epoch, attempts: $0.attempts)
            }
        }
        state.record(.storePrepared(store.key, plan))
        begin(index, plan, resumption)
    }

    /// Begins to work by a plan.
    private mutating func begin(
        _ index: Int, _ plan: StorePlan, _ resumption: Resumption = .kept(steps: 0)
    ) {
        var steps = 0
        if case .kept(let done) = resumption { steps = done }
        state.stores[index]?.begin(plan, done: steps)
        state.setRequirement(index)
        guard let store = state.stores[index] else { return }
        if store.phase == .preparing {
            if store.isWhole {
                // It takes part in batches from here, and leaves its place to another one.
                state.leaveLarge(index)
                state.runs[store.run]?.begun -= 1
                state.move(store: index, to: .waiting)
                state.beginLarge(store.run)
            } else {
                state.move(store: index, to: .copying)
                state.note(.store(store.key, .stage(.copy)))
            }
        }
        state.adopt(index)
        if store.isWhole {
            if let receipt = state.stores[index]?.jobs[.whole]?.receipt {
                state.enterCopying(index)
                return built(index, receipt)
            }
            if state.stores[index]?.jobs[.whole] == nil { state.queueSmall(index) }
            if state.stores[index]?.hasQuarantined == true { state.enterCopying(index) }
        }
        advance(index)
    }
}

// MARK: - Progress and end

extension CoordinatorMachine {
    /// Brings a store on after something of it has ended.
    mutating func advance(_ index: Int) {
        guard let store = state.stores[index] else { return }
        switch store.phase {
        case .copying where store.isWhole:
            if let receipt = store.jobs[.whole]?.receipt { return built(index, receipt) }
            if store.hasQuarantined { return fail(index) }
        case .copying, .linking: advanceSteps(index)
        case .waiting, .preparing, .indexing, .validating, .swapping, .replanning, .ending,
            .ended:
            break
        }
        state.refresh(index)
    }

    private mutating func advanceSteps(_ index: Int) {
        guard var store = state.stores[index] else { return }
        if store.phase == .copying, store.copies.isSettled, !store.hasQuarantined {
            let isMerged: Bool =
                switch store.current {
                case .append, .merge: false
                case .link, nil: true
                }
            if isMerged, store.links.count > 0 {
                state.move(store: index, to: .linking)
                state.note(.store(store.key, .stage(.link)))
                store.phase = .linking
            }
        }
        if store.current == nil, !store.hasQuarantined {
            state.move(store: index, to: .indexing)
            return state.ask(.index, index)
        }
        if store.isStepDue, let step = store.current {
            state.stores[index]?.isStepAsked = true
            let shards = store.shards
            guard
                state.holds(
                    store.areAccepted(shards, for: step), .acceptedShards, run: store.run,
                    "\(store.key) step \(store.step)")
            else { return }
            return state.ask(.step(store.step, step, shards: shards), index)
        }
        let stage = store.phase == .linking ? store.links : store.copies
        if store.hasQuarantined, stage.isSettled, !store.isStepAsked { fail(index) }
    }

    /// Ends a store with jobs that were given up.
    private mutating func fail(_ index: Int) {
        finish(index, StoreEnd(state: .failed, cause: state.stores[index]?.end?.cause))
    }

    /// A small store's result is there.
    private mutating func built(_ index: Int, _ receipt: Receipt) {
        // Nothing is to be swapped, now or later: the task only writes that down.
        if receipt.saysUnchanged { return state.beginSwap(index) }
        state.validated(index)
    }

    /// Plans a store again: nothing that was made of it counts any more.
    mutating func replan(_ index: Int, _ reason: FailureReason) {
        guard let store = state.stores[index], store.phase != .ending, store.phase != .replanning
        else { return }
        // Only a swap outlives its run, and one that found another store has changed nothing.
        if state.runs[store.run]?.phase == .cancelled {
            return finish(index, StoreEnd(state: .cancelled, cause: nil))
        }
        state.cancelAttempts(index)
        state.record(.progressReset(store.key, reason: reason.text))
        // First: also a store that is given up must not call an attempt accepted any more.
        state.stores[index]?.jobs = [:]
        state.stores[index]?.known = []
        if store.generation + 1 >= state.settings.quarantine.plans {
            return finish(index, StoreEnd(state: .failed, cause: reason))
        }
        state.stores[index]?.history = store.nextHistory
        state.stores[index]?.generation += 1
        state.stores[index]?.end = nil
        state.stores[index]?.isStepAsked = false
        if store.tasks > 0 {
            state.move(store: index, to: .replanning)
            state.out.stops.append(store.key)
        } else {
            state.move(store: index, to: .preparing)
            state.ask(.prepare, index)
        }
        state.refresh(index)
    }

    /// Ends a store, once its tasks have ended.
    ///
    /// - Parameters:
    ///   - index: of the store.
    ///   - end: how.
    ///   - isKnown: whether the ledger has it so already.
    mutating func finish(_ index: Int, _ end: StoreEnd, isKnown: Bool = false) {
        guard let store = state.stores[index] else { return }
        state.cancelAttempts(index)
        state.stores[index]?.end = end
        if store.tasks > 0 {
            state.move(store: index, to: .ending)
            state.out.stops.append(store.key)
            return state.refresh(index)
        }
        _ = state.holds(
            state.stores[index]?.live.isEmpty == true, .endsIdle, run: store.run, "\(store.key)")
        if !isKnown { state.record(.storeChanged(store.key, end.state, end.cause)) }
        state.note(.store(store.key, .ended(end.state, end.cause)))
        let hadBegun = store.phase != .waiting
        state.move(store: index, to: .ended)
        state.refresh(index)
        state.leaveLarge(index)
        // In an order of its own: equal histories must behave alike in every process.
        let waiting = store.jobs.filter { $0.value.phase == .resting || $0.value.phase == .ready }
        for work in waiting.keys.sorted(by: { $0.name < $1.name }) {
            state.timers.remove(.rest(JobID(store: index, work: work)))
            state.timers.remove(.openToAll(JobID(store: index, work: work)))
        }
        state.stores.remove(index)
        state.dismiss(
            store.key,
            accepted: store.jobs.values.compactMap(\.accepted) + store.known.map(\.attempt))
        state.runs[store.run]?.leave(index)
        if hadBegun { state.runs[store.run]?.begun -= 1 }
        state.runs[store.run]?.ended[end.state, default: 0] += 1
        if end.state == .failed { countFailure(store.run) }
        state.beginLarge(store.run)
        endIfDone(store.run)
    }
}

// MARK: - Tasks

extension CoordinatorMachine {
    /// Takes the outcome of a task.
    mutating func end(_ id: TaskID, _ outcome: TaskOutcome) {
        // Single values, never the whole store: it would be copied when it is changed.
        guard let task = state.tasks.end(id), let phase = state.stores[task.store]?.phase,
            let generation = state.stores[task.store]?.generation
        else {
            return state.note(.unexpected("task \(id.number) ended, which was never begun"))
        }
        state.stores[task.store]?.tasks -= 1
        let isLast = state.stores[task.store]?.tasks == 0
        switch phase {
        case .ending:
            if isLast, let end = state.stores[task.store]?.end { finish(task.store, end) }
        case .replanning:
            guard isLast else { return }
            state.move(store: task.store, to: .preparing)
            state.ask(.prepare, task.store)
        case .waiting, .preparing, .copying, .linking, .indexing, .validating, .swapping, .ended:
            guard task.generation == generation else { return }
            if case .failed(let code, let text) = outcome {
                return failed(task, FailureReason(code, text))
            }
            if case .interrupted(let code, let text) = outcome {
                return interrupted(task, FailureReason(code, text))
            }
            state.stores[task.store]?.taskTries = 0
            if let run = state.stores[task.store]?.run {
                state.runs[run]?.interrupted.remove(task.store)
            }
            take(outcome, of: task)
        }
    }

    private mutating func take(_ outcome: TaskOutcome, of task: PendingTask) {
        let index = task.store
        switch (task.kind, outcome) {
        case (.prepare, .prepared(let plan, let resumption)): prepared(index, plan, resumption)
        case (.prepare, .unchanged):
            finish(index, StoreEnd(state: .done, cause: nil))
        case (.admit(let old), .admitted(let receipt)):
            if receipt.attempt == old.attempt, receipt.work == old.work,
                receipt.epoch == old.epoch
            {
                accept(receipt)
            } else {
                refuse(old, FailureReason(.bug, "another receipt was admitted"))
            }
        case (.step, .stepped):
            state.stores[index]?.finishStep()
            advance(index)
        case (.index, .indexed):
            state.move(store: index, to: .validating)
            if let key = state.stores.key(index) { state.note(.store(key, .stage(.validate))) }
            state.ask(.validate, index)
        case (.index, .needsOtherPlan(let reason)):
            replan(index, FailureReason(.wrongPlan, reason))
        case (.validate, .validated): state.validated(index)
        case (.validate, .different(let text)):
            if let key = state.stores.key(index) { state.record(.progressReset(key, reason: text)) }
            finish(index, StoreEnd(state: .failed, cause: FailureReason(.validationFailed, text)))
        case (.keep, .kept): endKeeping(index)
        case (.swap, .swapped): finish(index, StoreEnd(state: .done, cause: nil))
        default:
            state.note(.unexpected("task \(task.kind) ended with \(outcome)"))
            failed(task, FailureReason(.bug, "a task ended with another one's outcome"))
        }
    }

    /// Ends the task that wrote down how a result will move.
    ///
    /// The swap begins at once where the run does not defer swaps any more.
    private mutating func endKeeping(_ index: Int) {
        guard let run = state.stores[index]?.run, state.runs[run]?.defersSwap == false else {
            return finish(index, StoreEnd(state: .validated, cause: nil))
        }
        state.stores[index]?.isKeeping = false
        state.beginSwap(index)
    }

    private mutating func failed(_ task: PendingTask, _ reason: FailureReason) {
        guard let store = state.stores[task.store] else { return }
        if case .admit(let receipt) = task.kind {
            return refuse(receipt, reason)
        }
        switch reason.decision {
        case .retry, .quarantineWorker, .nothing:
            guard state.tryAgain(task, reason) else {
                // A result that waited for its swap waits on: the swap can be asked for again.
                if task.kind == .swap, store.isSwapRequested, store.generation == 0 {
                    let end = StoreEnd(state: .validated, cause: reason)
                    return finish(task.store, end, isKnown: true)
                }
                return finish(task.store, StoreEnd(state: .failed, cause: reason))
            }
        case .pause: wait(task, .space(reason.text))
        case .planAgain: replan(task.store, reason)
        case .quarantineChunk: finish(task.store, StoreEnd(state: .failed, cause: reason))
        case .stopRun:
            finish(task.store, StoreEnd(state: .failed, cause: reason))
            hold(store.run, .stopped(reason.text))
        }
    }

    /// Keeps a swap that stands between two names.
    ///
    /// What stopped it has to be repaired; then a request or the next start resumes it.
    private mutating func interrupted(_ task: PendingTask, _ reason: FailureReason) {
        guard state.stores[task.store] != nil else { return }
        switch reason.decision {
        case .pause:
            state.stores[task.store]?.taskTries = 0
            wait(task, .space(reason.text))
        case .retry, .quarantineWorker, .nothing:
            if state.tryAgain(task, reason) { return }
            guard isAlone(task.store) else {
                return state.rest(task, tries: state.settings.quarantine.tasks, after: reason)
            }
            state.stores[task.store]?.taskTries = 0
            wait(task, .stopped(reason.text))
        case .planAgain, .quarantineChunk, .stopRun:
            // The same once more proves nothing, such as a sync after one that failed, and the
            // store can neither be planned again nor fail: people have to look.
            stop(task, reason.text)
        }
    }

    /// Whether nothing is left of a store's run but stores like it, between two names: a program
    /// that has one store open must not stop the others.
    private mutating func isAlone(_ index: Int) -> Bool {
        guard let number = state.stores[index]?.run else { return true }
        state.runs[number]?.interrupted.insert(index)
        guard let run = state.runs[number], run.isOpen else { return true }
        return run.toOffer == 0 && run.questions == 0 && run.inside <= run.interrupted.count
    }

    /// Keeps a task until its run goes on; in a run that can be paused no more, for a while.
    private mutating func wait(_ task: PendingTask, _ reason: PauseReason) {
        guard let run = state.stores[task.store]?.run else { return }
        hold(run, reason)
        if state.runs[run]?.phase == .paused {
            state.runs[run]?.heldTasks.append(task)
        } else {
            state.rest(task, tries: 1, after: nil)
        }
    }

    /// Keeps a task until a request resumes its run.
    ///
    /// In a run that cannot be paused any more, the next start decides.
    private mutating func stop(_ task: PendingTask, _ text: String) {
        guard let store = state.stores[task.store], let run = state.runs[store.run] else { return }
        state.stores[task.store]?.taskTries = 0
        state.runs[store.run]?.heldTasks.append(task)
        if run.phase == .cancelled {
            state.note(.run(run.name, .stopped(reason: text)))
        } else {
            hold(store.run, .stopped(text))
        }
    }
}
