import ClusterProtocol
import Jobs

// Work beside the loop.

extension CoordinatorMachine {
    /// Asks for a task of a store.
    mutating func ask(_ kind: CoordinatorTask.Kind, _ store: Int) {
        guard let generation = stores[store]?.generation else { return }
        tasks.append(PendingTask(store: store, generation: generation, kind: kind))
    }

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

    mutating func resume(task number: Int) {
        if let task = restingTasks.removeValue(forKey: number) { tasks.append(task) }
    }

    /// Takes the outcome of a task.
    mutating func end(_ id: TaskID, _ outcome: TaskOutcome) {
        // Single values, never the whole store: it would be copied when it is changed.
        guard let task = tasks.end(id), let phase = stores[task.store]?.phase,
            let generation = stores[task.store]?.generation
        else {
            return note(.unexpected("task \(id.number) ended, which was never begun"))
        }
        stores[task.store]?.tasks -= 1
        let isLast = stores[task.store]?.tasks == 0
        switch phase {
        case .ending:
            if isLast, let end = stores[task.store]?.end { finish(task.store, end) }
        case .replanning:
            guard isLast else { return }
            move(store: task.store, to: .preparing)
            ask(.prepare, task.store)
        case .waiting, .preparing, .copying, .linking, .indexing, .validating, .swapping, .ended:
            guard task.generation == generation else { return }
            if case .failed(let code, let text) = outcome {
                return failed(task, Cause(code, text))
            }
            if case .interrupted(let code, let text) = outcome {
                return interrupted(task, Cause(code, text))
            }
            stores[task.store]?.taskTries = 0
            if let run = stores[task.store]?.run { runs[run]?.interrupted.remove(task.store) }
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
                refuse(old, Cause(.internalError, "another receipt was admitted"))
            }
        case (.step, .stepped):
            stores[index]?.finishStep()
            advance(index)
        case (.index, .indexed):
            move(store: index, to: .validating)
            if let key = key(index) { note(.store(key, .stage(.validate))) }
            ask(.validate, index)
        case (.validate, .validated): validated(index)
        case (.validate, .different(let text)):
            if let key = key(index) { record(.progressReset(key, reason: text)) }
            finish(
                index, StoreEnd(state: .failed, cause: Cause(.internalError, text)))
        case (.keep, .kept): endKeeping(index)
        case (.swap, .swapped): finish(index, StoreEnd(state: .done, cause: nil))
        default:
            note(.unexpected("task \(task.kind) ended with \(outcome)"))
            failed(task, Cause(.internalError, "a task ended with another one's outcome"))
        }
    }

    /// Ends the task that wrote down how a result will move.
    ///
    /// The swap begins at once where the run does not defer swaps any more.
    private mutating func endKeeping(_ index: Int) {
        guard let run = stores[index]?.run, runs[run]?.defersSwap == false else {
            return finish(index, StoreEnd(state: .validated, cause: nil))
        }
        stores[index]?.isKeeping = false
        beginSwap(index)
    }

    private mutating func failed(_ task: PendingTask, _ cause: Cause) {
        guard let store = stores[task.store] else { return }
        if case .admit(let receipt) = task.kind {
            return refuse(receipt, cause)
        }
        switch cause.code.decision {
        case .retry, .quarantineWorker, .nothing:
            guard tryAgain(task, cause) else {
                // A result that waited for its swap waits on: the swap can be asked for again.
                if task.kind == .swap, store.isSwapRequested, store.generation == 0 {
                    let end = StoreEnd(state: .validated, cause: cause)
                    return finish(task.store, end, isKnown: true)
                }
                return finish(task.store, StoreEnd(state: .failed, cause: cause))
            }
        case .pause: wait(task, .space(cause.text))
        case .planAgain: replan(task.store, cause)
        case .quarantineChunk: finish(task.store, StoreEnd(state: .failed, cause: cause))
        case .stopRun:
            finish(task.store, StoreEnd(state: .failed, cause: cause))
            hold(store.run, .stopped(cause.text))
        }
    }

    /// Lets a task rest before its next try; false where it was tried often enough.
    private mutating func tryAgain(_ task: PendingTask, _ cause: Cause) -> Bool {
        guard let store = stores[task.store] else { return false }
        stores[task.store]?.taskTries += 1
        guard store.taskTries + 1 < settings.quarantine.tasks else { return false }
        rest(task, tries: store.taskTries + 1, after: cause)
        return true
    }

    /// Lets a task rest for as long as so many tries ask for.
    private mutating func rest(_ task: PendingTask, tries: Int, after cause: Cause?) {
        guard let key = key(task.store) else { return }
        let number = nextIndex
        nextIndex += 1
        restingTasks[number] = task
        restingTasks[number]?.cause = cause
        set(.task(number), after: jitter.wait(settings.backoff, tries: tries, for: "\(key)"))
    }

    /// Keeps a swap that stands between two names.
    ///
    /// What stopped it has to be repaired; then a request or the next start resumes it.
    private mutating func interrupted(_ task: PendingTask, _ cause: Cause) {
        guard stores[task.store] != nil else { return }
        switch cause.code.decision {
        case .pause:
            stores[task.store]?.taskTries = 0
            wait(task, .space(cause.text))
        case .retry, .quarantineWorker, .nothing:
            if tryAgain(task, cause) { return }
            guard isAlone(task.store) else {
                return rest(task, tries: settings.quarantine.tasks, after: cause)
            }
            stores[task.store]?.taskTries = 0
            wait(task, .stopped(cause.text))
        case .planAgain, .quarantineChunk, .stopRun:
            // The same once more proves nothing, such as a sync after one that failed, and the
            // store can neither be planned again nor fail: people have to look.
            stop(task, cause.text)
        }
    }

    /// Whether nothing is left of a store's run but stores like it, between two names: a program
    /// that has one store open must not stop the others.
    private mutating func isAlone(_ index: Int) -> Bool {
        guard let number = stores[index]?.run else { return true }
        runs[number]?.interrupted.insert(index)
        guard let run = runs[number], run.isOpen else { return true }
        return run.toOffer == 0 && run.questions == 0 && run.inside <= run.interrupted.count
    }

    /// Keeps a task until its run goes on; in a run that can be paused no more, for a while.
    private mutating func wait(_ task: PendingTask, _ reason: PauseReason) {
        guard let run = stores[task.store]?.run else { return }
        hold(run, reason)
        if runs[run]?.phase == .paused {
            runs[run]?.heldTasks.append(task)
        } else {
            rest(task, tries: 1, after: nil)
        }
    }

    /// Keeps a task until a request resumes its run.
    ///
    /// In a run that cannot be paused any more, the next start decides.
    private mutating func stop(_ task: PendingTask, _ text: String) {
        guard let store = stores[task.store], let run = runs[store.run] else { return }
        stores[task.store]?.taskTries = 0
        runs[store.run]?.heldTasks.append(task)
        if run.phase == .cancelled {
            note(.run(run.name, .stopped(reason: text)))
        } else {
            hold(store.run, .stopped(text))
        }
    }

    mutating func releaseHeldTasks(_ run: Int) {
        let held = runs[run]?.heldTasks ?? []
        runs[run]?.heldTasks = []
        for task in held { tasks.append(task) }
    }
}
