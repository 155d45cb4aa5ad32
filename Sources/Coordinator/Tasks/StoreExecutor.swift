import ClusterVocabulary
import DurableFiles
import Jobs
import MigrationEngine
import MigrationPlans
import RunLedger
import RunService
import SafeSQLite
import StateFolders
import StoreRuns
import Synchronization
import Threads

/// The thread of one store that is cut into chunks.
final class StoreExecutor: Sendable {
    private enum Order: Sendable {
        case task(CoordinatorTask)
        case discard
    }

    private let orders: BoundedMailbox<Order>
    private let thread: OwnedThread
    private let end: End
    private let shape: Shape

    private final class End: Sendable {
        let isReached = Atomic(false)
    }

    /// What the last preparation found.
    private final class Shape: Sendable {
        let isWhole = Atomic(false)
    }

    /// Whether the store turned out to be one job, whose result is not this thread's.
    var isWhole: Bool { shape.isWhole.load(ordering: .acquiring) }

    /// Whether joining it takes no time.
    var hasEnded: Bool { end.isReached.load(ordering: .acquiring) }

    /// - Parameters:
    ///   - store: the store.
    ///   - key: what its tasks are interrupted by.
    ///   - stops: those of all tasks.
    ///   - note: told what could not be removed.
    ///   - answer: given each task's report.
    /// - Throws: `ThreadError`.
    init(
        _ store: TaskStore, _ key: StoreKey, stops: TaskStops,
        note: @escaping @Sendable (CoordinatorNote) -> Void,
        answer: @escaping @Sendable (TaskReport) -> Void
    ) throws(ThreadError) {
        // The machine has one task of a store done at a time, and one more may wait for a retry.
        let orders = BoundedMailbox<Order>(capacity: 8)
        let end = End()
        let shape = Shape()
        (self.orders, self.end, self.shape) = (orders, end, shape)
        thread = try OwnedThread(name: "store \(store.found.number)") {
            var made: PartitionedStoreSession?
            var stop: StatementStop?
            while let order = orders.receive() {
                switch order {
                case .task(let task):
                    if case .prepare = task.kind {
                        // What the store has open belongs to the former one, and is closed.
                        stops.remove(stop, of: key)
                        stop = stops.make(for: key)
                    }
                    let reach = task.isMove ? nil : stop
                    let report = StatementStop.reaching(reach) { Self.run(task, store, &made) }
                    if case .prepared(let plan, _) = report.outcome {
                        // Before it is answered: what comes next goes by it.
                        shape.isWhole.store(plan.shape == .whole, ordering: .releasing)
                    }
                    answer(report)
                case .discard:
                    made?.close()
                    do throws(RunError) {
                        try PartitionedStoreSession(store.found, of: store.run).removeAll()
                    } catch {
                        note(
                            .storeNotCleaned(path: "\(store.found.path)", text: "\(error)"))
                    }
                }
            }
            made?.close()
            stops.remove(stop, of: key)
            end.isReached.store(true, ordering: .releasing)
        }
    }

    /// Gives the thread a task; false where it takes no more.
    func take(_ task: CoordinatorTask) -> Bool { orders.sendIfRoom(.task(task)) }

    /// Lets the thread end after what it has.
    ///
    /// - Parameter discards: whether what was made of the store is removed first.
    func close(discards: Bool) {
        if discards { _ = orders.sendIfRoom(.discard) }
        orders.close()
    }

    /// Waits for the thread's end.
    func join() { thread.join() }

    private static func run(
        _ task: CoordinatorTask, _ store: TaskStore, _ made: inout PartitionedStoreSession?
    ) -> TaskReport {
        do throws(RunError) {
            if made == nil { made = try PartitionedStoreSession(store.found, of: store.run) }
            guard let made else { throw .engine(.internalError("no store was made")) }
            return try run(task, made, store)
        } catch {
            guard case .swap = task.kind else {
                return TaskReport(task, failed: made?.explained(error) ?? error)
            }
            return TaskReport(task, failed: error, hasMoved: store.hasMoved)
        }
    }

    private static func run(
        _ task: CoordinatorTask, _ chunked: PartitionedStoreSession, _ store: TaskStore
    ) throws(RunError) -> TaskReport {
        switch task.kind {
        case .prepare: return try prepared(task, chunked, store)
        case .step(_, let step, let shards):
            try chunked.take(step.assembly, shards: shards)
            return TaskReport(task, .stepped)
        case .index:
            guard try chunked.index() else {
                let reason = "statements have to copy some of its rows"
                return TaskReport(task, .needsOtherPlan(reason: reason))
            }
            return TaskReport(task, .indexed)
        case .validate:
            guard let difference = try chunked.validate() else {
                return TaskReport(task, .validated)
            }
            return TaskReport(task, .different(text: "\(difference)"))
        case .keep:
            try chunked.keep()
            return TaskReport(task, .kept)
        case .swap: return TaskReport(task, .swapped, records: try chunked.move())
        case .admit:
            throw .engine(.internalError("a delivery was given to the thread of its store"))
        }
    }

    private static func prepared(
        _ task: CoordinatorTask, _ chunked: PartitionedStoreSession, _ store: TaskStore
    ) throws(RunError) -> TaskReport {
        switch try chunked.prepare() {
        case .unchanged:
            let record = try StoreRecord.unchanged.record(
                run: store.run.id, store: store.found.number)
            let released = LedgerRecord.released(run: store.run.id, store: store.found.number)
            return TaskReport(task, .unchanged, records: [record, released])
        case .whole(let whole):
            return TaskReport(
                task, .prepared(StorePlan(whole, store.run.limits), .fresh(reason: nil)))
        case .chunks(let chunks):
            let resumption: Resumption =
                chunks.done.map { .kept(steps: $0) } ?? .fresh(reason: chunks.voided)
            return TaskReport(
                task, .prepared(StorePlan(chunks, store.run.limits), resumption))
        }
    }
}

extension StorePlan {
    /// The plan of a store that workers migrate by one job.
    init(_ whole: ClusterRun.WholeStore, _ limits: JobLimits) {
        self.init(
            shape: .whole,
            template: JobTemplate(
                plan: whole.request, planDigest: whole.requestDigest, source: whole.source,
                destination: whole.destination, sourceFingerprint: whole.fingerprint,
                engine: nil, limits: limits),
            attempts: whole.attempts, roots: whole.roots, policies: whole.policies)
    }

    /// The plan of a store that was cut into chunks.
    init(_ chunks: PartitionedStoreSession.Chunks, _ limits: JobLimits) {
        self.init(
            shape: .partitioned(steps: chunks.steps.compactMap { Step($0) }),
            template: JobTemplate(
                plan: chunks.plan, planDigest: chunks.planDigest, source: chunks.source,
                sourceSupport: chunks.support, sourceFingerprint: chunks.fingerprint,
                engine: chunks.engine, limits: limits),
            attempts: chunks.attempts, hasSnapshot: chunks.hasSnapshot, roots: chunks.roots,
            policies: chunks.policies)
    }
}

extension StorePlan.Step {
    /// The step as the machine knows it; nil for one that takes no shards.
    fileprivate init?(_ step: AssemblyStep) {
        switch step {
        case .append(let chunk): self = .append(chunk: chunk)
        case .merge(let chunks): self = .merge(chunks: chunks)
        case .link(let chunk): self = .link(chunk: chunk)
        case .tables, .foundObjects, .rowsComplete, .pageIndexes, .index, .finish: return nil
        }
    }

    /// The step as the engine knows it.
    fileprivate var assembly: AssemblyStep {
        switch self {
        case .append(let chunk): .append(chunk: chunk)
        case .merge(let chunks): .merge(chunks: chunks)
        case .link(let chunk): .link(chunk: chunk)
        }
    }
}

extension CoordinatorTask {
    /// Whether it writes down or makes the move of a result, which is never left half done.
    var isMove: Bool {
        switch kind {
        case .keep, .swap: true
        case .prepare, .admit, .step, .index, .validate: false
        }
    }
}
