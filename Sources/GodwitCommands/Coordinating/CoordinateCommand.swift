import ArgumentParser
import ClusterVocabulary
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
import StateFolders
import StoreRuns
import Synchronization
import Threads
import ZeroMQ

/// `godwit coordinate`.
struct CoordinateCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "coordinate",
        abstract: "Assigns jobs to workers until you stop it.",
        discussion: """
            Workers connect with godwit work; godwit submit starts runs. You can kill coordinate \
            at any moment. The next start with the same --state resumes every unfinished run.
            """)

    @Option(help: "Where to listen: tcp://HOST:PORT (0.0.0.0 for all addresses) or ipc:///PATH.")
    var listen: String

    @Option(help: "The folder of the ledger, on a local file system.")
    var state: String

    @Option(
        name: .customLong("root"),
        help: "A folder shared with the workers, as NAME=FOLDER. Required; repeatable.")
    var roots: [String] = []

    @Option(help: "The folder that godwit keys new made, or its coordinator folder.")
    var keys: String?

    @Flag(help: "Listen unencrypted. Allowed only for local addresses.")
    var plain = false

    @Option(help: "Number of parallel jobs to plan for.")
    var slots = 8

    @Option(help: "Maximum number of jobs at a time. Default: no limit.")
    var jobs: Int?

    @Option(help: "Maximum bytes of stores per second, such as 50MiB. Default: no limit.")
    var bytesPerSecond: ByteSize?

    @Flag(
        help: """
            Accept results of small stores that only the workers have validated. This saves the \
            coordinator from reading them. Reports note it.
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
                "give each folder that holds stores with --root NAME=FOLDER (repeatable). "
                    + "Workers use the same names")
        }
        if keys != nil, plain { throw ValidationError("choose one of --keys and --plain") }
        if keys == nil {
            switch endpoint.reach {
            case .file: break
            case .loopback where plain: break
            case .loopback:
                throw ValidationError("use --keys FOLDER, or --plain to listen unencrypted")
            case .network:
                throw ValidationError(
                    "other machines can reach \(listen): use --keys FOLDER. Unencrypted "
                        + "connections are allowed only on this machine")
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
                clock: MillisecondClock.start(), note: { log.log($0) },
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
