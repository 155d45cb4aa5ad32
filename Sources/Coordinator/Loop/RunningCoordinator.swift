import ClusterCore
import ClusterProtocol
import ClusterVocabulary
import DurableFiles
import Jobs
package import RunLedger
package import RunMoves
import RunService
import RunSupervision
package import StateFolders
package import StoreRuns
import Synchronization
import Threads
package import ZeroMQ

/// A coordinator that runs on threads of its own.
package final class RunningCoordinator: Sendable {
    private let loop: PollLoop<CoordinatorLoop>
    private let tasks: any TaskRunner
    let queues: BlockingQueues
    private let plan: CoordinatorPlan
    /// Whether the caller writes reports of runs that have ended.
    private let reportsEnds: Bool

    /// Makes what does work beside the loop; it is given what takes the reports.
    package typealias MakeTasks =
        (@escaping @Sendable (TaskReport) -> Void) throws -> any TaskRunner

    /// Starts the threads, listens, and goes on with unfinished runs, if the plan says so.
    ///
    /// - Parameters:
    ///   - plan: what the coordinator is made of.
    ///   - context: that of the process.
    ///   - dependencies: clock and log.
    ///   - makeTasks: nil for the tasks of real migrations.
    /// - Throws: `ZeroMQError` where it cannot listen, `RunError` where the ledger cannot be
    ///   read, `ThreadError`.
    package init(
        _ plan: CoordinatorPlan, context: Context, dependencies: CoordinatorDependencies,
        makeTasks: MakeTasks? = nil
    ) throws {
        self.plan = plan
        reportsEnds = dependencies.runEnded != nil
        let queues = try BlockingQueues(capacity: plan.queueCapacity)
        self.queues = queues
        let handle = queues.loop
        let answer: @Sendable (TaskReport) -> Void = { report in
            handle.submit { $0.ended(report) }
        }
        let made: any TaskRunner
        do {
            made =
                try makeTasks?(answer)
                ?? StoreTasks(
                    threads: plan.taskThreads, checkers: plan.checkThreads,
                    note: dependencies.note, answer: answer)
        } catch {
            queues.end()
            throw error
        }
        tasks = made
        do {
            loop = try PollLoop(
                name: "coordinator", context: context, access: plan.access,
                clock: dependencies.clock
            ) { sockets in
                try CoordinatorLoop(plan, sockets, dependencies, tasks: made, queues: queues)
            }
        } catch {
            made.end()
            queues.end()
            throw error
        }
        handle.set(loop)
        do {
            try tidy()
            if plan.resumesRuns { try resume() }
        } catch {
            end()
            throw error
        }
    }

    /// Has the rest of cancelled runs given up, and removed what ended runs left, whose coordinator
    /// was killed before it had.
    private func tidy() throws(RunError) {
        let runs: [RunOverview]
        do throws(LedgerError) {
            runs = try plan.runs.ledger.runs()
        } catch {
            throw .ledger(error)
        }
        let requests = requestsInRoots()
        for overview in runs where !overview.state.isUnfinished {
            guard case .end(let isCancelled, let reports) = try decision(overview, requests)
            else { continue }
            // No other run may be begun or replayed before that.
            if !plan.resumesRuns {
                tidy(overview, isCancelled)
                continue
            }
            let run = overview.id
            queues.loop.submit {
                $0.handle(.endLeft(run: run, isCancelled: isCancelled, reports: reports))
            }
        }
    }

    /// What this start does with a run that is over.
    private func decision(
        _ overview: RunOverview, _ requests: [FilePath]
    ) throws(RunError) -> RunAtStart.Decision {
        let shared = ClusterRuns(plan.runs)
        let hasWork = try hasStores(overview.id, in: [.waiting, .running])
        var isUntidy = try shared.isUntidy(overview.id, requests)
        if overview.state == .cancelled, !isUntidy {
            isUntidy = try hasStores(overview.id, in: [.validated])
            if !isUntidy { isUntidy = try shared.hasStoppedPublication(in: overview.id) }
        }
        var isReported = true
        if reportsEnds, plan.resumesRuns { isReported = try !shared.lacksReport(overview) }
        return RunAtStart(
            state: overview.state, hasWork: hasWork, isUntidy: isUntidy,
            isReported: isReported
        ).decision
    }

    private func tidy(_ overview: RunOverview, _ isCancelled: Bool) {
        do throws(RunError) {
            let run = try ClusterRun(overview, plan.runs)
            if isCancelled { try ClusterRuns(plan.runs).cancelRest(run, but: []) }
            try run.clean()
        } catch {
            queues.loop.submit {
                $0.dependencies.note(.runNotCleaned(run: overview.id, text: "\(error)"))
            }
        }
    }

    private func requestsInRoots() -> [FilePath] {
        do throws(RunError) {
            return try ClusterRuns(plan.runs).requestsInRoots()
        } catch {
            queues.loop.submit {
                $0.dependencies.note(.searchFailed("\(error)"))
            }
            return []
        }
    }

    /// Opens the unfinished runs again, the oldest first.
    private func resume() throws(RunError) {
        let runs: [RunOverview]
        do throws(LedgerError) {
            runs = try plan.runs.ledger.runs()
        } catch {
            throw .ledger(error)
        }
        for overview in runs.reversed() {
            let known = RunAtStart(
                state: overview.state,
                hasWork: try hasStores(overview.id, in: [.waiting, .running]), isUntidy: false,
                isReported: true)
            guard known.decision == .resume else { continue }
            do throws(RunError) {
                try ClusterRuns(plan.runs).finishRollbacks(of: overview.id)
            } catch {
                queues.loop.submit {
                    $0.dependencies.note(
                        .rollbackUnfinished(run: overview.id, text: "\(error)"))
                }
                continue
            }
            let opening = try Opening(overview, plan.runs)
            queues.loop.submit { $0.open(opening, .resumed) }
        }
        queues.loop.submit { $0.handle(.resumed) }
    }

    private func hasStores(_ run: String, in states: Set<StoreState>) throws(RunError) -> Bool {
        do throws(LedgerError) {
            let counts = try plan.runs.ledger.storeCounts(of: run)
            return states.contains { counts[$0] ?? 0 > 0 }
        } catch {
            throw .ledger(error)
        }
    }

    /// Begins a run over these stores, or goes on with the same request's unfinished one.
    ///
    /// Takes its time; not to be called on the coordinator's thread.
    ///
    /// - Returns: the run, with what it had done before.
    /// - Throws: `RunError` where it cannot begin.
    package func begin(
        _ request: RunRequest, over stores: [FoundStore], waitsForRoom: Bool
    ) throws(RunError) -> BegunRun {
        let opening = try CoordinatorLoop.begin(
            request, over: stores, waitsForRoom: waitsForRoom, plan)
        let begun = try ClusterRuns(plan.runs).begun(
            opening.run.id, isResumed: opening.isResumed)
        enter(opening)
        return begun
    }

    /// Runs again what failed in a run that has ended.
    ///
    /// Takes its time; not to be called on the coordinator's thread.
    ///
    /// - Parameter selection: the run, or one of its stores.
    /// - Returns: the run, with what it had done before, and how many stores are run again.
    /// - Throws: `RunError.nothingFailed` where nothing is to be replayed.
    package func replay(
        _ selection: RunSelection
    ) throws(RunError) -> (run: BegunRun, stores: Int) {
        let (overview, count) = try ClusterRuns(plan.runs).replay(selection)
        let begun = try ClusterRuns(plan.runs).begun(overview.id, isResumed: true)
        enter(try Opening(overview, plan.runs))
        return (begun, count)
    }

    /// Swaps in results that wait for it.
    ///
    /// Takes its time; not to be called on the coordinator's thread.
    ///
    /// - Parameters:
    ///   - selection: the run, or one of its stores.
    ///   - assumesClosed: whether stores may be swapped where programs that have them open cannot
    ///     be seen; what the run was asked for holds beside it.
    /// - Returns: the run's id.
    /// - Throws: `RunError.nothingToDo` where no result waits.
    package func swap(
        _ selection: RunSelection, assumesClosed: Bool
    ) throws(RunError) -> String {
        let runs = ClusterRuns(plan.runs)
        let (known, store, _) = try runs.awaitingSwap(selection)
        var overview = known
        if assumesClosed { overview = try runs.assumeClosed(in: overview) }
        try runs.finishRollbacks(of: overview.id)
        let opening = try Opening(overview, plan.runs)
        queues.loop.submit { loop in
            loop.open(opening, .named)
            loop.handle(.request(.swap(run: opening.run.id, store: store), from: .local))
        }
        return opening.run.id
    }

    /// Lets a run enter; its end is published also where it was cancelled meanwhile.
    private func enter(_ opening: Opening) {
        queues.loop.submit { $0.open(opening, .submitted) }
    }

    /// A worker's process has ended: the coordinator does not wait for its leases.
    package func workerEnded(_ worker: String) {
        queues.loop.submit { $0.take(.workerEnded(worker: worker)) }
    }

    /// Who may come in from now on; connections that are there stay.
    package func setAccess(_ access: AccessPolicy) {
        queues.loop.submit { $0.sockets.access = access }
    }

    /// Asks the coordinator to end; it returns at once.
    ///
    /// Nothing is lost: another start goes on.
    package func terminate() { loop.end() }

    /// Waits until the coordinator has ended.
    ///
    /// - Throws: what made going on impossible.
    package func join() throws {
        defer { release() }
        try loop.join()
    }

    private func end() {
        loop.end()
        do { try join() } catch { return }
    }

    private func release() {
        tasks.end()
        queues.end()
        queues.loop.set(nil)
    }
}
