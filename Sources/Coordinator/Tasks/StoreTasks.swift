import ClusterVocabulary
import DurableFiles
import Jobs
import MigrationEngine
import RunLedger
import RunService
import SafeSQLite
import StateFolders
import StoreRuns
import Synchronization
import Threads

/// The coordinator's own part of migrations, on threads of its own.
///
/// Deliveries are checked and small stores moved by a few threads that serve all runs; each store
/// that is cut into chunks has a thread, on which its connections live.
final class StoreTasks: TaskRunner {
    private enum WorkItem: Sendable {
        case task(CoordinatorTask, TaskStore)
        case clean(TaskStore)
        /// Wakes a thread that waits for more.
        case nothing
    }

    private final class Expectation: Sendable {
        let isSet = Atomic<Bool>(false)
    }

    private let answer: @Sendable (TaskReport) -> Void
    private let note: @Sendable (CoordinatorNote) -> Void
    private let checked = ResultIntake.CheckedFiles()
    private let stops = TaskStops()
    private let workItems: BoundedMailbox<WorkItem>
    /// Deliveries that are to be checked, which takes time of a processor.
    private let checks: BoundedMailbox<WorkItem>
    /// Whether jobs are under way whose results will be moved.
    private let expectation = Expectation()
    private let movers: Int
    private let threads = Mutex<[OwnedThread]>([])
    private let chunked = Mutex<[StoreKey: StoreExecutor]>([:])
    /// Threads of stores that have ended, or are about to.
    private let closed = Mutex<[StoreExecutor]>([])

    /// Small stores that are moved together: they share syncs and commits.
    private static let batch = 32
    /// How long results wait for others to be moved with.
    private static let gathering = Duration.milliseconds(100)
    /// More than the machine ever asks for at a time.
    private static let capacity = 4096

    /// - Parameters:
    ///   - count: of threads that move small stores of all runs.
    ///   - checkers: threads that check deliveries of all runs.
    ///   - note: told what could not be removed.
    ///   - answer: given each task's report, on a thread of this.
    /// - Throws: `ThreadError`.
    init(
        threads count: Int, checkers: Int, note: @escaping @Sendable (CoordinatorNote) -> Void,
        answer: @escaping @Sendable (TaskReport) -> Void
    ) throws(ThreadError) {
        self.note = note
        self.answer = answer
        workItems = BoundedMailbox(capacity: Self.capacity)
        checks = BoundedMailbox(capacity: Self.capacity)
        movers = max(1, count)
        for index in 0..<movers {
            let (workItems, work, expectation) = (workItems, worker, expectation)
            let thread = try OwnedThread(name: "tasks \(index)") {
                while true {
                    let some = workItems.receive(
                        upTo: Self.batch, gathering: Self.gathering,
                        while: { expectation.isSet.load(ordering: .relaxed) })
                    if some.isEmpty { return }
                    work.take(some)
                }
            }
            threads.withLock { $0.append(thread) }
        }
        for index in 0..<max(1, checkers) {
            let (checks, work) = (checks, worker)
            let thread = try OwnedThread(name: "checks \(index)") {
                while let one = checks.receive() { work.take([one]) }
            }
            threads.withLock { $0.append(thread) }
        }
    }

    private var worker: Worker {
        Worker(answer: answer, note: note, checked: checked, stops: stops)
    }

    func stop(_ key: StoreKey) { stops.set(key) }

    func expectMoves(_ isExpected: Bool) {
        guard expectation.isSet.exchange(isExpected, ordering: .relaxed), !isExpected else {
            return
        }
        for _ in 0..<movers { _ = workItems.sendIfRoom(.nothing) }
    }

    func begin(_ task: CoordinatorTask, of store: TaskStore) {
        if case .admit = task.kind { return give(.task(task, store), to: checks) }
        if let thread = thread(for: task, store), task.kind == .prepare || !thread.isWhole {
            if !thread.take(task) { answer(TaskReport(task, failed: .stopped)) }
        } else {
            give(.task(task, store), to: workItems)
        }
    }

    private func give(_ workItem: WorkItem, to mailbox: BoundedMailbox<WorkItem>) {
        guard !mailbox.sendIfRoom(workItem), case .task(let task, _) = workItem else { return }
        answer(TaskReport(task, failed: .stopped))
    }

    /// The thread of a store; a preparation makes it.
    private func thread(for task: CoordinatorTask, _ store: TaskStore) -> StoreExecutor? {
        chunked.withLock { chunked in
            if let known = chunked[task.store] { return known }
            guard case .prepare = task.kind else { return nil }
            do throws(ThreadError) {
                let made = try StoreExecutor(
                    store, task.store, stops: stops, note: note, answer: answer)
                chunked[task.store] = made
                return made
            } catch {
                return nil
            }
        }
    }

    func release(_ key: StoreKey, _ store: TaskStore, discards: Bool) {
        if let thread = chunked.withLock({ $0.removeValue(forKey: key) }) {
            thread.close(discards: discards)
            closed.withLock { $0.append(thread) }
            sweep()
        } else if discards {
            give(.clean(store), to: workItems)
        }
    }

    /// Joins threads of stores that ended some time ago.
    private func sweep() {
        let ended = closed.withLock { closed -> [StoreExecutor] in
            // Each is asked once: one may end between two looks, and would never be joined.
            let looks = closed.map { (thread: $0, hasEnded: $0.hasEnded) }
            closed = looks.filter { !$0.hasEnded }.map(\.thread)
            return looks.filter(\.hasEnded).map(\.thread)
        }
        for thread in ended { thread.join() }
    }

    func end() {
        stops.setAll()
        workItems.close()
        checks.close()
        for thread in chunked.withLock({ $0 }).values {
            thread.close(discards: false)
            thread.join()
        }
        for thread in closed.withLock({ $0 }) { thread.join() }
        for thread in threads.withLock({ $0 }) { thread.join() }
    }

    /// What one of the threads for all runs does.
    private struct Worker: Sendable {
        let answer: @Sendable (TaskReport) -> Void
        let note: @Sendable (CoordinatorNote) -> Void
        let checked: ResultIntake.CheckedFiles
        let stops: TaskStops

        func take(_ workItems: [WorkItem]) {
            var moves: [String: (run: ClusterRun, tasks: [(CoordinatorTask, FoundStore)])] = [:]
            for workItem in workItems {
                switch workItem {
                case .nothing: continue
                case .clean(let store): clean(store)
                case .task(let task, let store):
                    switch task.kind {
                    case .admit(let receipt): admit(receipt, task, store)
                    case .keep, .swap:
                        moves[store.run.id, default: (store.run, [])].tasks
                            .append((task, store.found))
                    case .prepare, .step, .index, .validate:
                        // Its thread could not be started.
                        answer(
                            TaskReport(
                                task.id, task.store,
                                .failed(.inputOutput, text: "cannot start a thread")))
                    }
                }
            }
            for key in moves.keys.sorted() {
                if let (run, tasks) = moves[key] { move(tasks, of: run) }
            }
        }

        private func admit(_ receipt: Receipt, _ task: CoordinatorTask, _ store: TaskStore) {
            let stop = stops.make(for: task.store)
            defer { stops.remove(stop, of: task.store) }
            do throws(RunError) {
                let admitted = try stop.reaching { () throws(RunError) in
                    try ResultIntake(of: store.run, checked: checked).admit(receipt)
                }
                answer(TaskReport(task, .admitted(admitted)))
            } catch {
                answer(TaskReport(task, failed: error))
            }
        }

        private func move(_ tasks: [(CoordinatorTask, FoundStore)], of run: ClusterRun) {
            let deliveries = ResultIntake(of: run, checked: checked)
            for keeps in [true, false] {
                let some = tasks.filter { ($0.0.kind == .keep) == keeps }
                if some.isEmpty { continue }
                do throws(RunError) {
                    let stores = some.map(\.1)
                    let endings = try keeps ? deliveries.keep(stores) : deliveries.move(stores)
                    report(endings, some, of: run, keeps ? .kept : .swapped)
                } catch {
                    for (task, store) in some { fail(task, store, of: run, error) }
                }
            }
        }

        private func report(
            _ endings: [ResultIntake.Ending], _ tasks: [(CoordinatorTask, FoundStore)],
            of run: ClusterRun, _ outcome: TaskOutcome
        ) {
            let found = Dictionary(
                endings.map { ($0.store, $0.result) }, uniquingKeysWith: { first, _ in first })
            for (task, store) in tasks {
                switch found[store.number] {
                case .success(let records): answer(TaskReport(task, outcome, records: records))
                case .failure(let error): fail(task, store, of: run, error)
                case nil:
                    answer(
                        TaskReport(
                            task.id, task.store,
                            .failed(.bug, text: "\(store.path) was not looked at")))
                }
            }
        }

        private func fail(
            _ task: CoordinatorTask, _ store: FoundStore, of run: ClusterRun, _ error: RunError
        ) {
            var hasMoved = false
            if case .swap = task.kind { hasMoved = TaskStore(found: store, run: run).hasMoved }
            answer(TaskReport(task, failed: error, hasMoved: hasMoved))
        }

        private func clean(_ store: TaskStore) {
            do throws(RunError) {
                let intake = ResultIntake(of: store.run, checked: checked)
                guard !intake.isClean(store.found), try !intake.keepsResult(store.found) else {
                    return
                }
                try intake.removeAll(of: store.found)
            } catch {
                note(.storeNotCleaned(path: "\(store.found.path)", text: "\(error)"))
            }
        }
    }
}

extension TaskReport {
    init(_ task: TaskID, _ store: StoreKey, _ outcome: TaskOutcome) {
        self.init(task: task, store: store, outcome: outcome)
    }
}
