import ClusterProtocol
import ClusterTables
import ClusterVocabulary
import Jobs

/// Why jobs and runs wait.
///
/// Whatever waits has a reason, also while other things are at work.
struct WaitSurvey {
    let snapshot: MachineSnapshot

    private var machine: MachineState { _read { yield snapshot.state } }

    /// Why a job waits; nil where it runs or has ended, or its store is not here.
    ///
    /// - Parameters:
    ///   - key: the store.
    ///   - work: the job.
    /// - Returns: the first thing that has to change.
    func reason(of key: StoreKey, _ work: Work) -> WaitingReason? {
        guard let index = machine.stores.index(of: key), let store = machine.stores[index],
            let run = machine.runs[store.run]
        else { return nil }
        let job = store.jobs[work]
        switch job?.phase {
        case .running:
            return job.flatMap { isUnclaimed($0) ? unclaimedReason([$0]) : nil }
        case .checking, .accepted: return nil
        case .quarantined: return .quarantined(job?.cause)
        case .ready, .resting, nil: break
        }
        if let reason = reason(of: run) { return reason }
        if let until = job?.restsUntil { return backOff(until, job?.restsAfter) }
        switch store.phase {
        case .waiting where store.isWhole: break
        case .waiting: return beginReason(run)
        case .copying:
            if case .link = work { return .stage(.copying) }
        case .linking: break
        case .preparing, .indexing, .validating, .swapping, .replanning, .ending, .ended:
            return store.phase.stage.map { .stage($0) }
        }
        return handOutReason(store, run, worker: workerReason(store.requirement))
    }

    /// Why something of a run waits, what is to be done something about first.
    ///
    /// O(stores in hand and their jobs).
    ///
    /// - Parameter name: of the run.
    /// - Returns: nil where nothing waits: all of it is at work, or it is over.
    func reason(run name: String) -> WaitingReason? {
        machine.runs.index(of: name).flatMap { waits(of: [$0])[$0]?.first }
    }

    /// All that waits in some runs; O(stores in hand and their jobs), however many runs.
    func waits(of indexes: [Int]) -> [Int: RunWaits] {
        var found = FoundWaits()
        for index in indexes {
            guard let run = machine.runs[index] else { continue }
            found.waits[index] = RunWaits()
            if let reason = reason(of: run) {
                found.waits[index]?.add(reason)
            } else if run.phase == .open {
                found.open.insert(index)
            }
        }
        guard !found.open.isEmpty else { return found.waits }
        for (number, task) in machine.tasks.resting.sorted(by: { $0.key < $1.key }) {
            guard let until = machine.timers.priority(of: .task(number)) else { continue }
            if let known = found.resting[task.store], known.until <= until { continue }
            found.resting[task.store] = (until, task.cause)
        }
        for index in machine.stores.keys {
            guard let store = machine.stores[index], found.open.contains(store.run),
                let run = machine.runs[store.run]
            else { continue }
            add(store, index, run, to: &found)
        }
        for index in found.open {
            if let jobs = found.unclaimed[index] { found.waits[index]?.add(unclaimedReason(jobs)) }
            guard found.waits[index]?.isEmpty == true, let run = machine.runs[index],
                run.toOffer > 0 || run.questions > 0
            else { continue }
            found.waits[index]?.add(.offers)
        }
        return found.waits
    }

    /// Adds why a store, or jobs of it, wait, if any do.
    private func add(
        _ store: StoreProgress, _ index: Int, _ run: RunProgress, to found: inout FoundWaits
    ) {
        // What is left of a store that ends waits for nothing but its end.
        if store.phase == .ending { return }
        let number = store.key.number
        if store.waitsForTask {
            let resting = found.resting[index]
            found.waits[store.run]?.add(
                resting.map { backOff($0.until, $0.cause) } ?? .behindOtherTasks, store: number,
                until: resting?.until)
        }
        if store.phase == .waiting, !store.isWhole {
            found.waits[store.run]?.add(beginReason(run), store: number)
            return
        }
        // Of the many small stores that wait for the same workers one says it all.
        if store.phase == .waiting,
            found.waits[store.run]?.enterSmall(store.requirement) == false
        {
            return
        }
        if let wait = waitOfReady(store, run, &found) {
            found.waits[store.run]?.add(wait.reason, requirement: wait.requirement, store: number)
        }
        for job in store.jobs.values {
            if let until = job.restsUntil, job.phase == .resting {
                found.waits[store.run]?.add(
                    backOff(until, job.restsAfter), requirement: store.requirement,
                    store: number, until: until)
            } else if isUnclaimed(job) {
                found.unclaimed[store.run, default: []].append(job)
            }
        }
    }

    /// Why jobs of a store that could begin, or are still to come, wait.
    private func waitOfReady(
        _ store: StoreProgress, _ run: RunProgress, _ found: inout FoundWaits
    ) -> (reason: WaitingReason, requirement: Int?)? {
        let jobs = WaitingJobs(store)
        switch store.phase {
        case .waiting,
            .copying where jobs.copies > 0,
            .linking where jobs.links > 0:
            let worker = found.workerReason(store.requirement) { workerReason($0) }
            return (handOutReason(store, run, worker: worker), store.requirement)
        case .copying: return jobs.links > 0 ? (.stage(.copying), nil) : nil
        case .linking: return nil
        case .preparing, .indexing, .validating, .swapping, .replanning, .ending, .ended:
            guard jobs.copies + jobs.links > 0 else { return nil }
            return store.phase.stage.map { (.stage($0), nil) }
        }
    }
}

/// What one pass over the stores in hand found.
private struct FoundWaits {
    var waits: [Int: RunWaits] = [:]
    /// The runs that are looked at.
    var open: Set<Int> = []
    /// The next try of a task, by store.
    var resting: [Int: (until: Instant, cause: FailureReason?)] = [:]
    var unclaimed: [Int: [JobState]] = [:]
    private var workers: [Int: WaitingReason?] = [:]

    /// What keeps workers from a requirement, looked up once for all of its stores.
    mutating func workerReason(
        _ requirement: Int, _ look: (Int) -> WaitingReason?
    ) -> WaitingReason? {
        if let known = workers[requirement] { return known }
        let reason = look(requirement)
        workers[requirement] = .some(reason)
        return reason
    }
}

// MARK: - Reasons

extension WaitSurvey {
    private func reason(of run: RunProgress) -> WaitingReason? {
        switch run.phase {
        case .paused: .paused(run.hold ?? .request)
        case .queued: .behindOtherRuns
        case .open, .ended, .cancelled: nil
        }
    }

    /// Why a store does not begin.
    private func beginReason(_ run: RunProgress) -> WaitingReason {
        if !run.hasStorePlace, let limit = run.limits.stores { return .storeLimit(limit) }
        return hasMerges ? .behindCoordinator : .behindOtherStores
    }

    /// Whether the coordinator is at work on a large store of which no worker has anything; O(its
    /// tasks).
    private var hasMerges: Bool {
        machine.tasks.running.values.contains { task in
            if case .prepare = task.kind { return false }
            guard task.isHeavy, let store = machine.stores[task.store] else { return false }
            return store.isLarge && store.live.isEmpty
        }
    }

    /// Why no worker gets a job that could begin.
    private func handOutReason(
        _ store: StoreProgress, _ run: RunProgress, worker reason: WaitingReason?
    ) -> WaitingReason {
        if let reason { return reason }
        if store.phase == .waiting, !run.hasStorePlace { return beginReason(run) }
        if let reason = limitReason(run) { return reason }
        if !store.isWhole {
            var copy = store
            if !copy.hasNext(window: machine.window) { return .merge }
        }
        return machine.roster.hasFree(for: store.requirement)
            ? .failedOnFreeWorkers : .allWorkersBusy
    }

    /// The limit that holds jobs of a run back.
    private func limitReason(_ run: RunProgress) -> WaitingReason? {
        if let limit = machine.throttle.jobs, machine.attempts.count >= limit {
            return .throttledJobs(run: nil, limit)
        }
        if let limit = run.throttleJobs, run.running >= limit {
            return .throttledJobs(run: run.name, limit)
        }
        if let limit = run.limits.jobs, run.running >= limit { return .jobLimit(limit) }
        var (all, own) = (machine.throttle.bucket, run.bucket)
        if let limit = all.bytesPerSecond, !all.isOpen(machine.now) {
            return .throttled(run: nil, bytesPerSecond: limit)
        }
        if let limit = own.bytesPerSecond, !own.isOpen(machine.now) {
            return .throttled(run: run.name, bytesPerSecond: limit)
        }
        return nil
    }

    /// Why no worker can have what asks for a requirement; nil where one can, once it is free.
    private func workerReason(_ requirement: Int) -> WaitingReason? {
        if machine.roster.hasActive(for: requirement) { return nil }
        let present = machine.roster.workers.values.filter {
            $0.phase != .silent && $0.phase != .gone
        }
        if present.isEmpty { return .noWorker }
        var unready = UnreadyWorkers()
        for worker in present where machine.roster.fits(worker.kind, requirement) {
            switch worker.phase {
            case .quarantined: unready.quarantined += 1
            case .draining: unready.draining += 1
            case .greeted, .ready, .silent, .gone: unready.notReady += 1
            }
        }
        if unready != UnreadyWorkers() { return .noReadyWorker(unready) }
        let wanted = machine.roster.requirements[requirement]
        let kinds = Set(present.map(\.kind)).sorted().map { machine.roster.classes[$0] }.filter {
            wanted.engine == nil || $0.engine == wanted.engine
        }
        let nearest = kinds.map { Shortage(of: wanted, in: $0) }.min {
            $0.roots.count + $0.policies.count < $1.roots.count + $1.policies.count
        }
        return nearest.map { .noSuitableWorker($0) }
            ?? wanted.engine.map { .noWorkerWithEngine($0) }
    }

    private func backOff(_ until: Instant, _ reason: FailureReason?) -> WaitingReason {
        .backOff(seconds: machine.seconds(until: until), reason)
    }

    private func unclaimedReason(_ jobs: [JobState]) -> WaitingReason {
        let ends = jobs.flatMap(\.live).compactMap { id in
            machine.attempts[id].flatMap { machine.attempts.grants[$0.grant]?.deadline }
        }
        return .unclaimed(jobs: jobs.count, seconds: machine.seconds(until: ends.max()))
    }

    /// Whether a job is given out and none of its workers is heard of.
    func isUnclaimed(_ job: JobState) -> Bool {
        // A job of a store that ends has none left.
        job.phase == .running && !job.live.isEmpty
            && job.live.allSatisfy { id in
                guard let attempt = machine.attempts[id] else { return false }
                switch attempt.phase {
                case .unclaimed: return true
                case .leased:
                    let worker = attempt.worker.flatMap { machine.roster[$0] }
                    return worker.map(machine.isSilent) ?? true
                case .checking, .ended: return false
                }
            }
    }
}

/// Jobs of a store that no worker has, resting ones left out, by their stage.
private struct WaitingJobs {
    var copies: Int
    var links: Int

    init(_ store: StoreProgress) {
        copies = store.isWhole ? 1 : store.copies.count
        links = store.links.count
        for (work, job) in store.jobs where job.phase != .ready {
            if case .link = work { links -= 1 } else { copies -= 1 }
        }
    }
}

extension StorePhase {
    /// What its store does before more jobs of it begin; nil where none is left to begin.
    fileprivate var stage: WaitingReason.StoreStage? {
        switch self {
        case .preparing: .preparing
        case .copying: .copying
        case .indexing: .indexing
        case .validating: .validating
        case .swapping: .swapping
        case .replanning: .replanning
        // Jobs of a store at these phases wait for workers, or are over.
        case .waiting, .linking, .ending, .ended: nil
        }
    }
}

extension Shortage {
    /// What a kind of worker lacks of a requirement.
    init(of requirement: Requirement, in kind: WorkerClass) {
        self.init(
            roots: NameList(requirement.roots.subtracting(kind.roots)),
            policies: NameList(requirement.policies.subtracting(kind.policies)),
            present: NameList(kind.roots))
    }
}

extension StoreProgress {
    /// Whether a task of it was asked for that the loop does not have.
    fileprivate var waitsForTask: Bool {
        if tasks > 0 { return false }
        switch phase {
        case .preparing, .indexing, .validating, .swapping: return true
        case .copying, .linking:
            return isStepAsked || jobs.values.contains { $0.phase == .checking }
        case .waiting, .replanning, .ending, .ended: return false
        }
    }
}
