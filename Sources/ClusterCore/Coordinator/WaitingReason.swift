import ClusterProtocol
package import Jobs

/// Why a job, or a whole run, does not move.
package enum WaitingReason: Hashable, Sendable, CustomStringConvertible {
    case noWorker
    case noWorkerWithEngine(String)
    /// Workers are there, but none has the roots and policies that the store needs.
    case noSuitableWorker
    case allWorkersBusy
    /// It failed and is tried again then.
    case backOff(until: Instant, Cause?)
    case paused(String)
    case behindOtherRuns
    case storeLimit
    case jobLimit
    case throttled
    /// Its store has not begun: others of the run are at work.
    case behindOtherStores
    /// Its store is at another stage first.
    case stage(StorePhase)
    /// Enough shards of its store wait for their merge.
    case merge
    case quarantined(Cause?)
    /// Stores of the run are read from the ledger.
    case offers
    /// Merges, checks and swaps of other stores come first.
    case behindOtherTasks
    /// It may go on elsewhere first; for a while the free workers, which failed it, do not get it.
    case failedOnFreeWorkers

    package var description: String {
        switch self {
        case .noWorker: "no worker is connected"
        case .noWorkerWithEngine(let engine): "no worker with engine \(engine)"
        case .noSuitableWorker: "no worker with the roots and policies that are needed"
        case .allWorkersBusy: "all workers are busy"
        case .backOff(_, let cause):
            "waits before the next try" + (cause.map { " after: \($0.text)" } ?? "")
        case .paused(let reason): "paused: \(reason)"
        case .behindOtherRuns: "other runs come first"
        case .storeLimit: "the run's limit of stores is reached"
        case .jobLimit: "the limit of jobs is reached"
        case .throttled: "throttled"
        case .behindOtherStores: "other stores come first"
        case .stage(let phase): "its store is \(phase)"
        case .merge: "waits for the merge of earlier shards"
        case .quarantined(let cause):
            "given up until a replay" + (cause.map { ": \($0.text)" } ?? "")
        case .offers: "the next stores are being read"
        case .behindOtherTasks: "merges, checks and swaps of other stores come first"
        case .failedOnFreeWorkers: "the free workers have just failed it"
        }
    }
}

extension CoordinatorMachine {
    /// Why a job waits; nil where it runs or has ended, or its store is not here.
    ///
    /// - Parameters:
    ///   - key: the store.
    ///   - work: the job.
    /// - Returns: the first thing that has to change.
    package func waitingReason(of key: StoreKey, _ work: Work) -> WaitingReason? {
        guard let index = storeIndexes[key], let store = stores[index], let run = runs[store.run]
        else { return nil }
        switch store.jobs[work]?.phase {
        case .running, .checking, .accepted: return nil
        case .quarantined: return .quarantined(store.jobs[work]?.cause)
        case .ready, .resting, nil: break
        }
        if let reason = waitingReason(of: run) { return reason }
        if let until = store.jobs[work]?.restsUntil {
            return .backOff(until: until, store.jobs[work]?.cause)
        }
        if let reason = stageReason(store, work, run) { return reason }
        if run.isFull || throttle.jobs.map({ attempts.count >= $0 }) == true { return .jobLimit }
        return workerReason(store.requirement) ?? mergeReason(store, work) ?? throttleReason
            ?? busyReason(store.requirement)
    }

    private func waitingReason(of run: RunProgress) -> WaitingReason? {
        switch run.phase {
        case .paused: .paused(run.hold?.reason ?? "")
        case .queued: .behindOtherRuns
        case .open, .ended, .cancelled: nil
        }
    }

    private func stageReason(
        _ store: StoreProgress, _ work: Work, _ run: RunProgress
    ) -> WaitingReason? {
        switch store.phase {
        case .waiting:
            if !run.hasStorePlace { return .storeLimit }
            return store.isWhole ? nil : .behindOtherStores
        case .copying:
            if case .link = work { return .stage(.copying) }
            return nil
        case .linking: return nil
        case .preparing, .indexing, .validating, .swapping, .replanning, .ending, .ended:
            return .stage(store.phase)
        }
    }

    private func mergeReason(_ store: StoreProgress, _ work: Work) -> WaitingReason? {
        guard !store.isWhole, roster.hasFree(for: store.requirement) else { return nil }
        var copy = store
        return copy.hasNext(window: window) ? nil : .merge
    }

    private var throttleReason: WaitingReason? {
        timers.contains(.throttle) ? .throttled : nil
    }

    private func busyReason(_ requirement: Int) -> WaitingReason {
        roster.hasFree(for: requirement) ? .failedOnFreeWorkers : .allWorkersBusy
    }

    private func workerReason(_ requirement: Int) -> WaitingReason? {
        if roster.hasActive(for: requirement) { return nil }
        if !roster.hasActive(engine: nil) { return .noWorker }
        let engine = roster.requirements[requirement].engine
        if let engine, !roster.hasActive(engine: engine) { return .noWorkerWithEngine(engine) }
        return .noSuitableWorker
    }

    /// Why nothing of a run moves; nil where an attempt or a task of it is at work, or it is over.
    ///
    /// O(stores of the run in hand).
    package func waitingReason(run name: String) -> WaitingReason? {
        guard let index = runIndexes[name], let run = runs[index] else { return nil }
        if let reason = waitingReason(of: run) { return reason }
        guard run.phase == .open, run.running == 0 else { return nil }
        let inside = stores.values.filter { $0.run == index }.sorted { $0.key < $1.key }
        if inside.contains(where: { $0.tasks > 0 || $0.phase == .replanning }) { return nil }
        guard !inside.isEmpty else { return run.toOffer > 0 ? .offers : nil }
        if let reason = taskReason(inside) { return reason }
        let resting = inside.flatMap { $0.jobs.values }.compactMap { job in
            job.restsUntil.map { (until: $0, cause: job.cause) }
        }
        let store = inside.first { $0.isHandingOut && !$0.isResting } ?? inside[0]
        if store.isHandingOut || !store.isWhole, let next = resting.min(by: { $0.until < $1.until })
        {
            return .backOff(until: next.until, next.cause)
        }
        if store.phase == .waiting, !run.hasStorePlace { return .storeLimit }
        if run.isFull || throttle.jobs.map({ attempts.count >= $0 }) == true { return .jobLimit }
        return workerReason(store.requirement) ?? throttleReason
            ?? busyReason(store.requirement)
    }

    /// Whether stores wait for tasks that have not begun.
    private func taskReason(_ inside: [StoreProgress]) -> WaitingReason? {
        guard inside.contains(where: { $0.waitsForTask }) else { return nil }
        let keys = Set(inside.map(\.key))
        let resting = restingTasks.filter { key($0.value.store).map(keys.contains) == true }
        let next = resting.keys.compactMap { timers.priority(of: .task($0)) }.min()
        if let next { return .backOff(until: next, nil) }
        return .behindOtherTasks
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

    fileprivate var isResting: Bool { jobs.values.contains { $0.restsUntil != nil } }
}
