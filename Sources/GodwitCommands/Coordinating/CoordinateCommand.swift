import ArgumentParser
import ClusterCore
import CommandSupport
import Coordinator
import CoreDataStore
import DurableFiles
import Foundation
import Jobs
import Logging
import MigrationEngine
import RunCommands
import RunLedger
import RunReports
import RunService
import SafeSQLite
import StoreRuns
import Synchronization
import Threads
import ZeroMQ

/// `godwit coordinate`.
struct CoordinateCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "coordinate",
        abstract: "Hands out the jobs of runs to workers, until it is asked to end.",
        discussion: """
            Workers connect with godwit work; runs begin with godwit submit. It may be killed at \
            any moment: the next start with the same --state resumes every unfinished run.
            """)

    @Option(help: "Where to listen: tcp://HOST:PORT (0.0.0.0 for all addresses) or ipc:///PATH.")
    var listen: String

    @Option(help: "The folder of the ledger, on a local file system.")
    var state: String

    @Option(
        name: .customLong("root"),
        help: "A folder that workers see, too, as NAME=FOLDER; needed, may be repeated.")
    var roots: [String] = []

    @Option(help: "The folder that keys new has written, or the coordinator's part of it.")
    var keys: String?

    @Flag(help: "Listen unencrypted; this machine's own addresses only.")
    var plain = false

    @Option(help: "Jobs at a time that plans assume.")
    var slots = 8

    @Option(help: "The most jobs at a time.")
    var jobs: Int?

    @Option(help: "The most bytes of stores a second, such as 50MiB.")
    var bytesPerSecond: ByteSize?

    @Flag(
        help: """
            Take results of small stores that the workers alone have validated, which saves the \
            coordinator the reading; the reports say so.
            """)
    var trustWorkers = false

    @OptionGroup(title: "LOG")
    var logOptions: LogOptions

    func validate() throws {
        guard let endpoint = CoordinatorEndpoint(listen) else {
            throw ValidationError("--listen takes tcp://HOST:PORT or ipc:///PATH")
        }
        if roots.isEmpty {
            throw ValidationError(
                "name the folders that hold the stores by --root NAME=FOLDER, which may be "
                    + "repeated; workers have them under the same names")
        }
        if keys != nil, plain { throw ValidationError("choose one of --keys and --plain") }
        if keys == nil {
            switch endpoint.reach {
            case .file: break
            case .loopback where plain: break
            case .loopback:
                throw ValidationError("give --keys FOLDER, or --plain to listen in the clear")
            case .network:
                throw ValidationError(
                    "\(listen) can be reached from other machines: give --keys FOLDER; nothing "
                        + "goes over a network in the clear")
            }
        }
        guard (1...4096).contains(slots) else {
            throw ValidationError("--slots takes a number from 1 to 4096")
        }
        if let jobs, jobs < 1 { throw ValidationError("--jobs must be 1 or more") }
    }

    func run() throws {
        try FolderOption.check("--state", state)
        let folders = try ClientRoots(roots).folders
        try FolderOption.checkRoots(folders)
        let accessControl = try AccessControl(keys: keys, endpoint: listen)
        try StateFolder(FilePath(state)).serving("coordinating at \(listen)") { ledger, state in
            var runs = ClusterRun.Dependencies(
                ledger: ledger, state: state, roots: try SharedRoots(folders),
                environment: CommandEnvironment.make(clock: MonotonicClock.start()),
                limits: .standard, slots: slots)
            if trustWorkers { runs.validation = .workers }
            defer {
                Interruption.shared.atFirstSignal(nil)
                runs.environment.replaced.finish()
            }
            try serve(runs, accessControl)
        }
    }

    private func serve(_ runs: ClusterRun.Dependencies, _ accessControl: AccessControl) throws {
        TemporaryFiles.use(runs.state)
        var generator = SystemRandomNumberGenerator()
        var settings = CoordinatorSettings.standard(
            coordinator: RandomText.hexadecimal(bytes: 8),
            jitterSeed: .random(in: 0 ... .max, using: &generator), slots: slots)
        settings.throttle = Throttle(jobs: jobs, bytesPerSecond: bytesPerSecond?.bytes)
        var plan = CoordinatorPlan(
            endpoint: listen, security: accessControl.security, access: accessControl.access,
            peer: { accessControl.peer(user: $0) }, settings: settings, runs: runs)
        plan.checkThreads = max(2, ProcessInfo.processInfo.activeProcessorCount)
        let log = logOptions.logger
        let reports = ReportWriter(state: runs.state, slots: slots, log: log)
        let coordinator = try RunningCoordinator(
            plan, context: Context(needed: Context.descriptors(jobs: plan.checkThreads)),
            dependencies: CoordinatorDependencies(
                clock: MillisecondClock.start(), note: { log.warning("\($0)") },
                tell: { log.log($0) },
                runEnded: { reports.write($0) }))
        log.info("coordinating at \(listen), ledger \(runs.ledger.path)")
        if runs.validation == .workers {
            log.notice(
                "workers are trusted: results of small stores are validated by them only")
        }
        let watch = try accessControl.watch(log: log) { coordinator.setAccess($0) }
        Interruption.shared.atFirstSignal { coordinator.terminate() }
        let result = Swift.Result { try coordinator.join() }
        watch.end()
        do {
            try result.get()
        } catch {
            let failure = CommandFailure(caught: error)
            throw CommandFailure(
                failure.status,
                "\(failure). The coordinator has ended; every store is whole, and the next start "
                    + "with the same --state resumes")
        }
        log.info("the coordinator has ended; the next start resumes its runs")
    }
}
