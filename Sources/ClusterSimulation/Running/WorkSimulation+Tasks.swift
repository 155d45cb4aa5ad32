import ClusterVocabulary
import Jobs

/// What the coordinator has done beside its loop.
extension WorkSimulation {
    /// Does a task now and answers it a little later; a crash may come in between.
    func run(_ task: CoordinatorTask, life: Int) {
        guard world.coordinator?.life == life else { return }
        let outcome: TaskOutcome
        do throws(FailureCause) {
            if world.hasFaults, world.chance.happens(perMille: world.tuning.slotFailure / 8) {
                throw world.chance.happens(perMille: 300) ? .sourceChanged : .inputOutput
            }
            if world.isDiskFull, task.kind != .validate { throw .noSpace }
            outcome = try carryOut(task)
        } catch {
            outcome = .failed(error, text: "the task failed")
        }
        world.note("task \(task.id.number) \(task.store) is done: \(text(outcome))")
        let answer = WorldEvent.coordinator(.taskEnded(task.id, outcome), life: life)
        world.queue.schedule(answer, at: world.now + world.chance.span(0...40))
    }

    private func text(_ outcome: TaskOutcome) -> String {
        switch outcome {
        case .prepared(_, let resumption): "prepared \(resumption)"
        case .unchanged: "unchanged"
        case .admitted(let receipt): "admitted \(receipt.attempt)"
        case .stepped: "stepped"
        case .indexed: "indexed"
        case .needsOtherPlan: "needs another plan"
        case .validated: "validated"
        case .different: "different"
        case .kept: "kept"
        case .swapped: "swapped"
        case .failed(let code, _): "failed \(code.rawValue)"
        case .interrupted(let code, _): "interrupted \(code.rawValue)"
        }
    }

    private func carryOut(_ task: CoordinatorTask) throws(FailureCause) -> TaskOutcome {
        guard let store = world.stores[task.store] else { throw .damaged }
        switch task.kind {
        case .prepare: return prepare(store, task.store)
        case .admit(let receipt): return try admit(receipt)
        case .step(let index, let step, let shards):
            return try take(step, index, shards: shards, task.store)
        case .index:
            guard store.destination != nil else { throw .wrongPlan }
            world.stores[task.store]?.destination?.isIndexed = true
            return .indexed
        case .validate:
            guard let destination = store.destination else { throw .wrongPlan }
            let isRight =
                destination.isIndexed && SimulatedEngine.isRight(destination.rows, for: store.rows)
            world.stores[task.store]?.isValidated = isRight
            return isRight ? .validated : .different(text: "the sums differ")
        case .keep: return .kept
        case .swap: return try swap(task.store)
        }
    }

    private func prepare(_ store: SimulatedStore, _ key: StoreKey) -> TaskOutcome {
        let plan = world.plan(store, key)
        if store.needsNothing { return .unchanged }
        if world.ledger.written.stores[key]?.plan == plan, let destination = store.destination {
            return .prepared(plan, .kept(steps: destination.steps))
        }
        let hadProgress = world.ledger.written.stores[key]?.jobs.isEmpty == false
        world.stores[key]?.destination = SimulatedDestination()
        world.stores[key]?.isSpoiled = false
        world.stores[key]?.isValidated = false
        return .prepared(plan, .fresh(reason: hadProgress ? "the plan is new" : nil))
    }

    /// Checks a delivered shard and gives it a name that no worker writes.
    private func admit(_ receipt: Receipt) throws(FailureCause) -> TaskOutcome {
        var admitted: [DeliveredFile] = []
        for delivered in receipt.files {
            let name = FileReference(root: "run", path: "admitted/\(receipt.attempt)")
            if let content = world.files[delivered.file], content.digest == delivered.digest {
                world.files[name] = content
                world.files[delivered.file] = nil
            } else if world.files[name]?.digest != delivered.digest {
                throw .inputOutput
            }
            admitted.append(
                DeliveredFile(file: name, bytes: delivered.bytes, digest: delivered.digest))
        }
        return .admitted(receipt.with(files: admitted))
    }

    /// Takes a step of the plan, unless the destination holds it already.
    private func take(
        _ step: StorePlan.Step, _ index: Int, shards: [Receipt], _ key: StoreKey
    ) throws(FailureCause) -> TaskOutcome {
        guard var destination = world.stores[key]?.destination else { throw .wrongPlan }
        guard index == destination.steps else {
            if index < destination.steps { return .stepped }
            world.fail(.rowsOnce, "\(key) takes step \(index) after \(destination.steps) steps")
            throw .wrongPlan
        }
        for receipt in shards {
            guard let file = receipt.files.first, let content = world.files[file.file],
                content.digest == file.digest
            else { throw .inputOutput }
            switch step {
            case .append, .merge: try SimulatedEngine.merge(content, into: &destination)
            case .link: try SimulatedEngine.apply(content, to: &destination)
            }
        }
        destination.steps += 1
        destination.isIndexed = false
        world.stores[key]?.destination = destination
        world.stores[key]?.isValidated = false
        return .stepped
    }

    /// Exchanges the original for the result, unless that was done before a crash.
    private func swap(_ key: StoreKey) throws(FailureCause) -> TaskOutcome {
        guard let store = world.stores[key] else { throw .damaged }
        if store.live != nil { return .swapped }
        let result: [SimulatedResultRow]
        if store.isWhole {
            let job = JobKey(store: key, work: .whole)
            guard let receipt = world.ledger.durable.jobs[job]?.accepted,
                let file = receipt.files.first
            else {
                world.fail(.validatedSwap, "\(key) is swapped without an accepted result")
                throw .wrongPlan
            }
            guard case .whole(let rows) = world.files[file.file],
                world.files[file.file]?.digest == file.digest
            else {
                world.fail(
                    .acceptedFilesOnly, "\(key): the accepted file of \(receipt.attempt) is gone")
                throw .inputOutput
            }
            result = rows
        } else {
            guard let destination = store.destination else { throw .wrongPlan }
            if !store.isValidated { world.fail(.validatedSwap, "\(key) is swapped unvalidated") }
            result = destination.rows
        }
        if !store.isSpoiled, !SimulatedEngine.isRight(result, for: store.rows) {
            world.fail(.rowsOnce, "\(key): the result is swapped in and is wrong")
        }
        world.stores[key]?.live = result
        world.stores[key]?.swaps += 1
        world.stores[key]?.destination = nil
        return .swapped
    }
}

extension Receipt {
    /// The same receipt for files of other names.
    fileprivate func with(files: [DeliveredFile]) -> Receipt {
        let none = FileReference(root: "run", path: "none")
        let job = Job(
            run: run, store: store, work: work, plan: none, planDigest: "", source: none,
            sourceSupport: nil, destination: nil, sourceFingerprint: "", engine: "",
            limits: .standard)
        return Receipt(
            job: job, attempt: Attempt(id: attempt, epoch: epoch, folder: none), files: files,
            rows: rows, sums: sums, counts: counts)
    }
}
