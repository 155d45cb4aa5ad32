import ClusterCore
import ClusterProtocol
import Coordinator
import DurableFiles
import Foundation
import Jobs
import LocalRun
import MigrationEngine
import RunLedger
import Synchronization
import Threads
import Worker
import ZeroMQ

/// A coordinator in this process with worker processes of its own, for one run.
struct LocalCluster {
    /// Worker processes, with one slot each.
    let workers: Int
    /// The executable of the workers; nil for this process's own.
    let command: String?
    /// Told what watching clients are told.
    let view: ClusterView
    /// Whether results of small stores count that the workers alone have validated.
    var trustsWorkers = false

    /// How a run has ended.
    enum End: Hashable, Sendable {
        /// Every store has come to its end.
        case ended
        /// The failure limit was reached, or a bug was met.
        case stopped(reason: String)
        /// A disk is full, and nobody waits for room.
        case noRoom(String)
        /// A signal asked for the end.
        case interrupted
        /// No worker can be kept alive; the text says why.
        case withoutWorkers(String)
    }

    /// The name of the root that holds everything: all run on one machine.
    private static let root = "local"
    /// Who speaks over the socket, whose folder nobody else can open.
    private static let user = "local"

    /// Runs a body's run to its end.
    ///
    /// - Parameters:
    ///   - state: the state folder.
    ///   - waitsForRoom: whether a full disk is waited for.
    ///   - begin: begins the run or reopens it, and returns its id.
    /// - Returns: the run's id and how it ended.
    /// - Throws: `CommandFailure`.
    func run(
        state: FilePath, waitsForRoom: Bool,
        begin: (RunningCoordinator) throws(RunError) -> String
    ) throws(CommandFailure) -> (run: String, end: End) {
        try StateFolder(state).serving("migrating with workers") { ledger, state in
            var runs = try CoordinatorMaking.runs(
                ledger: ledger, state: state, roots: [Self.root: FilePath("/")], limits: .local,
                slots: workers)
            runs.trustsWorkers = trustsWorkers
            defer { runs.environment.replaced.finish() }
            return try SocketFolder.with { socket in
                try run(runs, socket, waitsForRoom: waitsForRoom, begin: begin)
            }
        }
    }

    private func run(
        _ runs: SharedRun.Surroundings, _ socket: FilePath, waitsForRoom: Bool,
        begin: (RunningCoordinator) throws(RunError) -> String
    ) throws -> (run: String, end: End) {
        var settings = CoordinatorMaking.settings(slots: workers)
        // They end with this process: nobody comes back with what an earlier one was given.
        settings.adoptsOpenAttempts = false
        settings.roomRetry = 5000
        let endpoint = "ipc://\(socket)"
        let user = Self.user
        var plan = CoordinatorPlan(
            endpoint: endpoint, security: .plainServer(domain: "workers"),
            access: AccessPolicy(plain: .fromThisMachine(as: user)),
            peer: { $0 == user ? .local : nil }, settings: settings, runs: runs)
        // Other runs of the folder are other commands' business.
        plan.resumesRuns = false
        // The slots keep the processors busy; what waits for one thread shares syncs and commits.
        plan.taskThreads = 1
        plan.checkThreads = max(1, ProcessInfo.processInfo.activeProcessorCount)
        let ends = EndMailbox()
        let view = view
        let context = try Context()
        let coordinator = try RunningCoordinator(
            plan, context: context,
            surroundings: CoordinatorSurroundings(
                clock: MillisecondClock.start(), note: { _ in },
                watch: { event in
                    ends.take(event, waitsForRoom: waitsForRoom)
                    switch event {
                    case .status(let report): view.show(report)
                    case .note(let note): view.show(note)
                    case .ended: break
                    }
                }, ended: { ends.send(.interrupted) }))
        Interruption.shared.atFirstSignal { ends.send(.interrupted) }
        var processes: [WorkerProcess] = []
        let result: Result<(run: String, end: End), any Error>
        do {
            processes = try start(endpoint, coordinator, ends)
            let run = try begin(coordinator)
            result = .success((run, ends.wait(for: run)))
        } catch {
            result = .failure(error)
        }
        // They are asked first, so that they say goodbye to somebody who listens.
        WorkerProcess.end(processes)
        coordinator.terminate()
        view.end()
        try coordinator.join()
        return try result.get()
    }

    private func start(
        _ endpoint: String, _ coordinator: RunningCoordinator, _ ends: EndMailbox
    ) throws -> [WorkerProcess] {
        let view = view
        let alive = Workers(workers)
        var started: [WorkerProcess] = []
        for number in 1...workers {
            let name = "worker-\(number)"
            let program = WorkerProcess.Program(
                path: command ?? "/proc/self/exe",
                arguments: [
                    "work", "--connect", endpoint, "--slots", "1", "--root", "\(Self.root)=/",
                    "--name", name, "--grace", "0", "--exit-when-orphaned", "--parent",
                    "\(getpid())", "--quiet",
                ])
            started.append(
                try WorkerProcess(name: name, program: program) { death in
                    coordinator.workerEnded(name)
                    view.log("godwit: \(name): \(death.text)")
                    guard death.isFinal, alive.isLastGone() else { return }
                    ends.send(.withoutWorkers("\(name): \(death.text)"))
                })
        }
        return started
    }
}

/// How many workers are not given up.
private final class Workers: Sendable {
    private let count: Mutex<Int>

    init(_ count: Int) { self.count = Mutex(count) }

    /// Counts one that is given up; true where it was the last.
    func isLastGone() -> Bool {
        count.withLock { count in
            count -= 1
            return count == 0
        }
    }
}

/// Where the end of a run arrives.
private final class EndMailbox: Sendable {
    private let ends = BoundedMailbox<(run: String?, end: LocalCluster.End)>(capacity: 64)

    func send(_ end: LocalCluster.End) { _ = ends.sendIfRoom((nil, end)) }

    /// Looks whether an event is an end.
    func take(_ event: WatchEvent, waitsForRoom: Bool) {
        switch event {
        case .ended(let run, _): _ = ends.sendIfRoom((run, .ended))
        case .note(let note) where note.kind == WatchNote.runStopped:
            _ = ends.sendIfRoom((note.run, .stopped(reason: note.text)))
        case .note(let note) where note.kind == "run-paused" && !waitsForRoom:
            guard note.text.hasPrefix(PauseReason.room) else { return }
            _ = ends.sendIfRoom((note.run, .noRoom(note.text)))
        case .note, .status: return
        }
    }

    /// Waits for the end of a run.
    func wait(for run: String) -> LocalCluster.End {
        while let (ended, end) = ends.receive() {
            if ended == nil || ended == run { return end }
        }
        return .interrupted
    }
}

/// A folder for a socket, which nobody else may open.
enum SocketFolder {
    /// Makes the folder for the time of a body.
    ///
    /// - Parameter body: gets the socket's path, short enough for sockaddr_un (unix(7)).
    /// - Returns: what the body returns.
    /// - Throws: `RunError.file` where the folder cannot be made, and what the body throws.
    static func with<Result>(_ body: (FilePath) throws -> Result) throws -> Result {
        let given = FilePath(ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp")
        // A path that is too long cannot be bound.
        let parent = given.bytes.count > 60 ? FilePath("/tmp") : given
        let real = try CommandFailure.translating {
            try DurableFileSystem(links: .followed).resolve(parent)
        }
        let folder = real.appending(FilePath("godwit-\(RandomText.hexadecimal(bytes: 6))"))
        do throws(DurableFileError) {
            try Interruption.shared.make(folder)
        } catch {
            throw RunError.file(error)
        }
        let result = Swift.Result { try body(folder.appending(FilePath("socket"))) }
        do throws(DurableFileError) {
            try Interruption.shared.remove(folder)
        } catch {
            if case .success = result { throw RunError.file(error) }
        }
        return try result.get()
    }
}
