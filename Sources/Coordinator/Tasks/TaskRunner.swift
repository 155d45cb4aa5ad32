package import ClusterVocabulary
package import Jobs
package import RunLedger
package import RunService
import StateFolders
import StoreRuns

/// What a task came to.
package struct TaskReport: Sendable {
    package let task: TaskID
    package let store: StoreKey
    package let outcome: TaskOutcome
    /// What the ledger is told together with what the machine makes of the outcome.
    package var records: [LedgerRecord] = []

    package init(task: TaskID, store: StoreKey, outcome: TaskOutcome) {
        self.task = task
        self.store = store
        self.outcome = outcome
    }

    init(_ task: CoordinatorTask, _ outcome: TaskOutcome, records: [LedgerRecord] = []) {
        self.init(task: task.id, store: task.store, outcome: outcome)
        self.records = records
    }

    /// - Parameters:
    ///   - task: that failed.
    ///   - error: why.
    ///   - hasMoved: whether files of the store have moved already.
    init(_ task: CoordinatorTask, failed error: RunError, hasMoved: Bool = false) {
        let failure = SharedFailure(error)
        // A result that has its name, and is of no use, is no move to be resumed.
        let isComplete =
            switch error {
            case .outdatedOutput, .incompleteOutput: true
            default: false
            }
        self.init(
            task: task.id, store: task.store,
            outcome: hasMoved && !isComplete
                ? .interrupted(failure.cause, text: Self.text(halfway: failure))
                : .failed(failure.cause, text: failure.text))
    }

    /// What reports say about a move that began and did not end.
    private static func text(halfway failure: SharedFailure) -> String {
        guard failure.cause == .syncFailed else { return failure.text }
        return failure.text
            + ". The result may already have its name. The rename may not be on disk, and a later "
            + "sync cannot confirm it. The original is untouched in its place, or in the run's "
            + "backup next to it. Check the disk first. Then resume the run to finish the move, or "
            + "put the original back with godwit rollback"
    }
}

/// A store with the run that it belongs to, as tasks need it.
package struct TaskStore: Sendable {
    package let found: FoundStore
    package let run: ClusterRun

    /// Whether files of the store have moved by a move that has not ended, or may have.
    var hasMoved: Bool {
        do throws(RunError) {
            return try ResultIntake(of: run, checked: ResultIntake.CheckedFiles()).hasBegunMove(
                found)
        } catch {
            return true
        }
    }
}

/// Does work beside the coordinator's loop.
///
/// Nothing of it may wait for the loop; each task is answered once, in any order.
package protocol TaskRunner: AnyObject, Sendable {
    /// Begins a task; the answer comes later, on another thread.
    func begin(_ task: CoordinatorTask, of store: TaskStore)

    /// Tasks of a store are of no use any more: interrupts them, but for moves, which are never
    /// left half done. They are answered all the same.
    func stop(_ key: StoreKey)

    /// Jobs are under way, or none is any more: results are moved together with those that will
    /// be there in a moment, and share their syncs and commits.
    func expectMoves(_ isExpected: Bool)

    /// A store has come to its end, which is durable.
    ///
    /// - Parameters:
    ///   - key: the store.
    ///   - store: its files.
    ///   - discards: whether what was made of it is removed.
    func release(_ key: StoreKey, _ store: TaskStore, discards: Bool)

    /// Ends all threads. Moves that run are finished first, other tasks are interrupted.
    func end()
}
