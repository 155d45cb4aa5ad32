import ClusterVocabulary
import Coordinator
import Jobs
import Threads

/// The coordinator's own part of a migration that has no files: every task has done all at once.
///
/// A preparation answers a plan of as many chunk jobs as are wanted, whose shards are taken in
/// steps of equal size.
final class EmptyTasks: TaskRunner {
    private let orders = BoundedMailbox<CoordinatorTask>(capacity: 4096)
    private let thread: OwnedThread

    /// - Parameters:
    ///   - jobs: of each store.
    ///   - shards: that one step takes.
    ///   - answer: given each task's report.
    /// - Throws: `ThreadError`.
    init(
        jobs: Int, shards: Int, answer: @escaping @Sendable (TaskReport) -> Void
    ) throws(ThreadError) {
        let plan = Self.plan(jobs: jobs, shards: max(1, shards))
        let orders = orders
        // The loop's own thread may not hand anything to the loop.
        thread = try OwnedThread(name: "empty tasks") {
            while let task = orders.receive() {
                answer(
                    TaskReport(
                        task: task.id, store: task.store, outcome: Self.outcome(task, plan)))
            }
        }
    }

    func begin(_ task: CoordinatorTask, of store: TaskStore) { orders.send(task) }

    func stop(_ key: StoreKey) {}

    func expectMoves(_ isExpected: Bool) {}

    func release(_ key: StoreKey, _ store: TaskStore, discards: Bool) {}

    func end() {
        orders.close()
        thread.join()
    }

    private static func outcome(_ task: CoordinatorTask, _ plan: StorePlan) -> TaskOutcome {
        switch task.kind {
        case .prepare: .prepared(plan, .fresh(reason: nil))
        case .admit(let receipt): .admitted(receipt)
        case .step: .stepped
        case .index: .indexed
        case .validate: .validated
        case .keep: .kept
        case .swap: .swapped
        }
    }

    /// Texts are as long as those of a real plan.
    private static func plan(jobs: Int, shards: Int) -> StorePlan {
        let digest = String(repeating: "5a", count: 32)
        let steps = stride(from: 0, to: jobs, by: shards).map { first in
            StorePlan.Step.merge(chunks: first..<min(first + shards, jobs))
        }
        return StorePlan(
            shape: .partitioned(steps: steps),
            template: JobTemplate(
                plan: FileReference(root: "state", path: "runs/r1/store-1/plan.json"),
                planDigest: digest,
                source: FileReference(root: "data", path: "accounts/4711/Library.sqlite"),
                destination: FileReference(
                    root: "data", path: "accounts/4711/.godwit-r1-1/Library.sqlite"),
                sourceFingerprint: digest, engine: EmptyCoordinator.engine, limits: .standard),
            attempts: FileReference(root: "state", path: "runs/r1/store-1/attempts"))
    }
}
