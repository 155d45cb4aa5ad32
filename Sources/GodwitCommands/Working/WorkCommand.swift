import ArgumentParser
import ClusterProtocol
import CommandSupport
import CoreDataStore
import DurableFiles
import Foundation
import Glibc
import Logging
import MappingModel
import MigrationEngine
import MigrationPlans
import RunReports
import SafeSQLite
import Threads
import Worker
import WorkerRules
import ZeroMQ

/// `godwit work`.
struct WorkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "work", abstract: "Runs jobs for a coordinator until you stop it.",
        discussion: """
            The worker retries until it reaches the coordinator. On SIGTERM or SIGINT it starts \
            no more jobs and gives running jobs --grace seconds to finish. It returns the rest \
            to the coordinator. A second signal stops it at once and loses only the work on \
            running jobs.
            """)

    @Option(help: "Where the coordinator listens: tcp://HOST:PORT or ipc:///PATH.")
    var connect: String

    @Option(help: "Number of jobs at a time. Default: the number of processors.")
    package var slots: Int?

    @Option(
        name: .customLong("root"),
        help: "A shared folder, as NAME=FOLDER. Required; repeatable.")
    var roots: [String] = []

    @Option(help: "The folder that godwit keys new made, or this worker's folder in it.")
    var keys: String?

    @Flag(help: "Connect unencrypted. Allowed only for local addresses.")
    package var plain = false

    @Option(
        help: """
            With --keys, the worker whose key to use. Default: the first free key. Without \
            --keys, the worker's permanent name. Default: the host name and a suffix.
            """)
    package var name: String?

    @Option(help: "The folder of SQLite's temporary files, on a local disk.")
    var scratch: String?

    @Option(
        help: """
            Maximum size of the --scratch files of all slots. Above it, the worker stops the job \
            that uses most, and another worker retries it.
            """)
    var scratchLimit: ByteSize?

    @Option(help: "Maximum address space of a slot, at least 512MiB.")
    var slotMemory = ByteSize(bytes: 4 << 30)

    @Option(help: "Seconds that running jobs have to finish after SIGTERM or SIGINT.")
    var grace = 20

    @Flag(help: "Exit when the parent process exits.")
    var exitWhenOrphaned = false

    @OptionGroup(title: "LOG")
    var logOptions: LogOptions

    func validate() throws {
        if let slots, !(1...MessageLimits.slots).contains(slots) {
            throw ValidationError("--slots takes a number from 1 to \(MessageLimits.slots)")
        }
        guard (0...86_400).contains(grace) else {
            throw ValidationError("--grace takes seconds from 0 to 86400")
        }
        guard let endpoint = CoordinatorEndpoint(connect) else {
            throw ValidationError("--connect takes tcp://HOST:PORT or ipc:///PATH")
        }
        guard slotMemory.bytes >= SlotLimits.leastAddressSpaceBytes else {
            let least = ByteSize(bytes: SlotLimits.leastAddressSpaceBytes).words
            throw ValidationError(
                "--slot-memory takes \(least) or more: the program and its libraries reserve up "
                    + "to 330 MiB of that before a slot has a job")
        }
        if roots.isEmpty { throw ValidationError("name the folders of jobs by --root NAME=FOLDER") }
        if keys == nil { try endpoint.checkPlain(isAllowed: plain) }
        if scratchLimit != nil, scratch == nil {
            throw ValidationError("--scratch-limit needs --scratch FOLDER")
        }
        if keys != nil, plain { throw ValidationError("choose one of --keys and --plain") }
    }

    func run() throws {
        // First of all, for the process that started this one may end at any moment.
        let parent = Int64(getppid())
        // Held until the worker has ended: no other worker takes its key meanwhile.
        let member = try keys.map { text throws(CommandFailure) in
            try KeyFolder(FilePath(text)).worker(named: name)
        }
        defer { withExtendedLifetime(member) {} }
        var plan = try plan(member)
        if exitWhenOrphaned { plan.parent = parent }
        let made = plan
        let log = logOptions.logger
        try CommandFailure.translating {
            if let scratch { setenv("SQLITE_TMPDIR", scratch, 1) }
            let clock = ContinuousClock()
            let beginning = clock.now
            let worker = try RunningWorker(
                made, context: Context(needed: Context.descriptors(jobs: made.slots.count)),
                dependencies: WorkerDependencies(
                    clock: { Int64((clock.now - beginning) / .milliseconds(1)) },
                    routingID: { RandomText.hexadecimal(bytes: 16) },
                    note: { log.log($0) }))
            Interruption.shared.atFirstSignal { worker.terminate() }
            switch try worker.join() {
            case .finished, nil: log.info("the worker has ended")
            case .orphaned:
                log.notice(
                    "ended, because the process that started this worker is gone")
            case .refused(let text): throw CommandFailure(.canBeRepeated, text)
            case .broken(let broken):
                throw CommandFailure(
                    .bug,
                    "this worker stopped because of a bug in Godwit (\(broken)). Other workers "
                        + "take over its jobs. Restart it and report the bug")
            }
        }
    }

    private func plan(_ member: KeyFolder.Member?) throws(CommandFailure) -> WorkerPlan {
        let setup: SlotSetup
        do throws(SlotError) {
            setup = try SlotSetup(roots: roots, reportMilliseconds: 1000)
        } catch {
            throw .usage("--root: \(error)")
        }
        guard setup.roots.count == roots.count else { throw .usage("a --root NAME is given twice") }
        try FolderOption.checkRoots(setup.roots)
        let host = HostName.own
        let count = slots ?? max(1, ProcessInfo.processInfo.activeProcessorCount)
        var generator = SystemRandomNumberGenerator()
        var settings = WorkerSettings(
            worker: member?.keys.publicKey.text ?? name
                ?? "\(host)-\(RandomText.hexadecimal(bytes: 4))",
            protocols: .current, engine: MigrationPlan.engineVersion, sqlite: SQLiteLibrary.version,
            slots: count, jitterSeed: .random(in: 0 ... .max, using: &generator))
        settings.host = host
        settings.policies = CarriedPolicies.all.declarations.map(\.identity).sorted()
        settings.instance = RandomText.hexadecimal(bytes: 8)
        settings.grace = Int64(grace) * 1000
        var limits = SlotLimits.standard
        limits.addressSpaceBytes = UInt64(slotMemory.bytes)
        var plan = WorkerPlan(
            endpoint: connect,
            security: member?.security ?? .none,
            settings: settings,
            slots: SlotPlan(count: count, program: .own, limits: limits, setup: setup))
        plan.scratch = scratch.map { FilePath($0) }
        plan.scratchLimit = scratchLimit?.bytes ?? .max
        return plan
    }
}
