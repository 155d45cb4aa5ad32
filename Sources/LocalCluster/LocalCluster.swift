package import ClusterProtocol
import ClusterVocabulary
package import Coordinator
import CoreDataStore
package import DurableFiles
import Jobs
import MigrationEngine
import MigrationPlans
import RunLedger
import RunService
import SafeSQLite
package import StateFolders
import StoreRuns
import Threads
import Worker
import WorkerRules
import ZeroMQ

/// A coordinator and a worker of this process, for one run: what `migrate`, `replay` and `swap` are
/// on one machine.
///
/// The slots of the worker are child processes, or threads. The two sides speak over a socket in a
/// folder that no other user can open, as they would over a network.
package struct LocalCluster: Sendable {
    /// How many slots there are, and what they are.
    package let slots: LocalSlots
    /// Whether a full disk is waited for.
    package let waitsForSpace: Bool
    /// Whether results of small stores count that worker processes alone have validated.
    package var trustsWorkers = false
    /// Whether a job is to be expected, so that its slot gets ready while the run begins.
    package var expectsJobs = false
    /// Told what clients that watch a run are told, on the coordinator's thread.
    package var watch: @Sendable (WatchEvent) -> Void = { _ in }
    /// Told what operators should know and no report holds, on any thread.
    package var log: @Sendable (String) -> Void = { _ in }
    package var times = LocalTimes()
    private let environment: RunEnvironment
    private let place: LocalPlace

    /// - Parameters:
    ///   - slots: what jobs run on.
    ///   - waitsForSpace: whether a full disk is waited for.
    ///   - environment: files, clocks, identifiers.
    ///   - place: where sockets are, and how the end is asked for.
    package init(
        slots: LocalSlots, waitsForSpace: Bool, environment: RunEnvironment, place: LocalPlace
    ) {
        self.slots = slots
        self.waitsForSpace = waitsForSpace
        self.environment = environment
        self.place = place
    }

    /// The name of the root that holds everything: all run on one machine.
    private static let root = "local"
    /// Who speaks over the socket.
    private static let user = "local"

    /// Begins, reopens or swaps a run, and works on it until it ends.
    ///
    /// - Parameters:
    ///   - state: the state folder.
    ///   - purpose: what others are told who want the folder meanwhile.
    ///   - begin: asks the coordinator for the run.
    /// - Returns: the run's id and how it ended.
    /// - Throws: `RunError` where the run could not be begun, and where the ledger or the machine
    ///   ended it; failures of stores stand in the ledger.
    package func run(
        state: FilePath, purpose: String,
        begin: (RunningCoordinator) throws(RunError) -> String
    ) throws(RunError) -> (run: String, end: LocalEnd) {
        let folder = StateFolder(state, files: environment.files)
        var isWaiting = false
        while true {
            do throws(RunError) {
                return try folder.withLedger(purpose) { ledger, state throws(RunError) in
                    isWaiting = false
                    return try run(ledger, state, begin)
                }
            } catch {
                // Where not even the ledger or its folder has room, only the user can learn of
                // that. The ledger's lock may outlast it by a moment, in a process that is just
                // being started.
                var isLocked = false
                if isWaiting, case .ledger(let failure) = error { isLocked = failure.isLocked }
                guard waitsForSpace, error.isOutOfSpace || isLocked else { throw error }
                if !isWaiting {
                    log("paused: not enough space: \(error); the run resumes automatically")
                }
                isWaiting = true
                environment.wait(Double(times.spaceRetry) / 1000)
            }
        }
    }

    private func run(
        _ ledger: Ledger, _ state: FilePath,
        _ begin: (RunningCoordinator) throws(RunError) -> String
    ) throws(RunError) -> (run: String, end: LocalEnd) {
        var runs = ClusterRun.Dependencies(
            ledger: ledger, state: state,
            roots: try SharedRoots([Self.root: FilePath("/")], files: environment.files),
            environment: environment, limits: .local, slots: slots.count)
        // The only worker says what it lacks at once, instead of waiting for another one.
        runs.choosesByPolicies = false
        runs.rebuildsStores = true
        if slots.kind == .threads {
            runs.validation = .ownThreads
        } else if trustsWorkers {
            runs.validation = .workers
        }
        // While the ledger is open: a backup that becomes a copy is recorded.
        defer {
            place.interruption(nil)
            environment.replaced.finish()
        }
        let ends = EndMailbox()
        var begun: String?
        do {
            let result = try SocketFolder.with(place) { socket in
                try serve(runs, "ipc://\(socket)", ends) { coordinator throws(RunError) in
                    let run = try begin(coordinator)
                    begun = run
                    return run
                }
            }
            if case .noSpace = result.end {
                try ClusterRuns(runs).removeUnfinishedFiles(of: result.run)
            }
            return result
        } catch {
            let failure = Self.failure(error)
            if let begun, failure.isOutOfSpace, !waitsForSpace { giveRoom(begun, runs) }
            throw failure
        }
    }

    private static func failure(_ error: any Error) -> RunError {
        switch error {
        case let error as RunError: error
        case let error as DurableFileError: .file(error)
        case let error as LedgerError: .ledger(error)
        default: .resources("\(error)")
        }
    }

    /// Removes what a run was making that ended for want of room.
    private func giveRoom(_ run: String, _ runs: ClusterRun.Dependencies) {
        do throws(RunError) {
            try ClusterRuns(runs).removeUnfinishedFiles(of: run)
        } catch {
            log("could not remove unfinished files of the run \(run): \(error)")
        }
    }

    private func serve(
        _ runs: ClusterRun.Dependencies, _ endpoint: String, _ ends: EndMailbox,
        _ begin: (RunningCoordinator) throws(RunError) -> String
    ) throws -> (run: String, end: LocalEnd) {
        let context = try Context(needed: Context.descriptors(jobs: slots.count))
        let coordinator = try coordinator(at: endpoint, runs, context, ends)
        var worker: RunningWorker?
        let result: Result<(run: String, end: LocalEnd), any Error>
        do {
            worker = try self.worker(at: endpoint, runs, context, ends)
            let run = try begin(coordinator)
            result = .success((run, ends.wait(for: run)))
        } catch {
            result = .failure(error)
        }
        worker?.abandon()
        coordinator.terminate()
        let ended = Result { try coordinator.join() }
        let left = Result { try Self.check(worker?.join()) }
        context.end()
        // What ended the coordinator is the reason for everything else.
        try ended.get()
        let value = try result.get()
        try left.get()
        return value
    }

    /// Looks whether the worker ended by itself, without which no job is done.
    private static func check(_ exit: WorkerExit?) throws(RunError) {
        switch exit {
        case nil, .finished, .orphaned: return
        case .refused(let text): throw .resources("the run's own worker was refused: \(text)")
        case .broken(let broken): throw .resources("the run's own worker ended: \(broken)")
        }
    }

    // MARK: - The two sides

    private func coordinator(
        at endpoint: String, _ runs: ClusterRun.Dependencies, _ context: Context,
        _ ends: EndMailbox
    ) throws -> RunningCoordinator {
        var settings = CoordinatorSettings.standard(
            coordinator: String(place.number(), radix: 16), jitterSeed: place.number(),
            slots: slots.count)
        // The worker ends with this process: no worker returns with what an earlier one got.
        settings.adoptsOpenAttempts = false
        // Slots are this program's own: the final validation looks at what they copied.
        settings.admitsShards = false
        settings.roomRetry = times.spaceRetry
        settings.backoff = times.backoff
        let user = Self.user
        var plan = CoordinatorPlan(
            endpoint: endpoint, security: .plainServer(domain: "workers"),
            access: AccessPolicy(plain: .fromThisMachine(as: user)),
            peer: { $0 == user ? .local : nil }, settings: settings, runs: runs)
        // Other runs of the folder are other commands' business.
        plan.resumesRuns = false
        plan.waitsForLedgerSpace = waitsForSpace
        // The slots keep the processors busy; what waits for one thread shares syncs and commits.
        plan.taskThreads = 1
        plan.checkThreads = slots.count
        let (watch, waits, log) = (watch, waitsForSpace, log)
        let coordinator = try RunningCoordinator(
            plan, context: context,
            dependencies: CoordinatorDependencies(
                clock: place.milliseconds, note: { log("\($0)") }, tell: { _ in },
                watch: { event in
                    watch(event)
                    ends.take(event, waitsForSpace: waits)
                }, ended: { ends.send(.interrupted) }))
        place.interruption { ends.send(.interrupted) }
        return coordinator
    }

    private func worker(
        at endpoint: String, _ runs: ClusterRun.Dependencies, _ context: Context,
        _ ends: EndMailbox
    ) throws -> RunningWorker {
        var settings = WorkerSettings(
            worker: "local", protocols: .current, engine: MigrationPlan.engineVersion,
            sqlite: SQLiteLibrary.version, slots: slots.count, jitterSeed: place.number())
        settings.grace = 0
        var setup = SlotSetup(
            roots: [Self.root: FilePath("/")], reportMilliseconds: times.report)
        setup.runsPrograms = true
        var slotPlan = SlotPlan(
            count: slots.count, body: try slots.body(environment, setup, runs.ownResults),
            limits: slots.limits, setup: setup)
        slotPlan.startsFirst = expectsJobs
        let plan = WorkerPlan(
            endpoint: endpoint, security: .none, settings: settings, slots: slotPlan)
        let starts = SlotStarts(limit: LocalTimes.mostFailedStarts)
        let (log, place) = (log, place)
        return try RunningWorker(
            plan, context: context,
            dependencies: WorkerDependencies(
                clock: place.milliseconds,
                routingID: { "local-\(String(place.number(), radix: 16))" },
                note: { note in
                    switch note {
                    case .slotEnded(_, let text):
                        log("\(note)")
                        if starts.isHopeless(after: note) { ends.send(.withoutSlots(text)) }
                    case .slotBegan: _ = starts.isHopeless(after: note)
                    case .cannotRemove, .cannotMeasure, .unsendable, .unreadable, .scratchExceeded:
                        log("\(note)")
                    case .connecting, .welcomed, .refused, .unanswered, .lost, .parted, .drained,
                        .terminating:
                        return
                    }
                },
                // Without the worker the run would wait without end.
                ended: { ends.send(.interrupted) }))
    }
}
