import ArgumentParser
import CoreDataStore
import DurableFiles
import LocalRun
import MigrationEngine
import RunLedger

/// `godwit migrate`.
struct MigrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Migrates stores, in place or into another folder.",
        discussion: """
            Without --output each store is swapped for its result once that has been validated, \
            and the original is kept beside it until it is pruned; rollback puts it back. With \
            --output the originals are never touched. The same command again goes on with a run \
            that was stopped, whatever stopped it.
            """)

    @OptionGroup
    var arguments: MigrationArguments

    @OptionGroup
    var place: LocalArguments

    @Option(
        help: """
            The folder of the results, made where it is missing; without it stores are swapped in \
            place.
            """)
    var output: String?

    @Flag(help: "Stop before the swap; godwit swap goes on.")
    var deferSwap = false

    @Flag(
        help: """
            Swap in place also where godwit cannot see whether a program has a store open: on \
            network file systems, FUSE, and for stores of other users without CAP_LEASE. You have \
            stopped every program that uses the stores.
            """)
    var assumeClosed = false

    @Flag(
        help: """
            End with 74 where there is too little room for the whole run before it begins, or a \
            disk is full later, instead of waiting for room.
            """)
    var noWait = false

    @Option(help: "End the run after this many failed stores; any number without it.")
    var maxFailures: Int?

    @Flag(
        help: """
            Run all jobs in this process, on as many threads as --workers says, instead of in \
            worker processes.
            """)
    var inProcess = false

    @Option(
        help: """
            The executable of the worker processes, such as one that carries migration policies; \
            godwit itself without it.
            """)
    var workerCommand: String?

    @Flag(
        help: """
            Take results of small stores that the worker processes alone have validated; the \
            report says so.
            """)
    var trustWorkers = false

    func validate() throws {
        if assumeClosed, output != nil {
            throw ValidationError(
                "--assume-closed has no meaning with --output: nothing is swapped")
        }
        if trustWorkers, isInProcess {
            throw ValidationError(
                "--trust-workers needs --workers: without them the command validates itself")
        }
        if let maxFailures, maxFailures < 1 {
            throw ValidationError("--max-failures takes a number from 1 on")
        }
        if deferSwap, output != nil {
            throw ValidationError("--defer-swap has no meaning with --output: nothing is swapped")
        }
        if inProcess, workerCommand != nil {
            throw ValidationError("--in-process starts no workers: leave out --worker-command")
        }
    }

    /// Whether worker processes are asked for: they keep a store that crashes SQLite from the run.
    private var isInProcess: Bool {
        inProcess || (place.workers == nil && workerCommand == nil)
    }

    func run() throws {
        if let output { try FolderOption.check("--output", output) }
        if let state = place.state { try FolderOption.check("--state", state) }
        let state = try place.stateFolder(of: arguments, output: output)
        TemporaryFiles.use(state)
        let clock = MonotonicClock.start()
        let (fleet, request) = try ScratchFolder.with { scratch in
            let fleet = try FleetArguments(arguments, output: output, state: state)
            let builder = try RequestBuilder(arguments, slots: place.slots, scratch: scratch)
            var request = try builder.request(
                fleet, output: output, state: state, defersSwap: deferSwap,
                waitsForRoom: !noWait, failureLimit: maxFailures)
            request.assumesClosed = assumeClosed
            return (fleet, request)
        }
        guard isInProcess else {
            return try MigrationWithWorkers(
                request: request, fleet: fleet, destination: arguments.to.text,
                workers: place.slots, command: workerCommand, trustsWorkers: trustWorkers,
                waitsForRoom: !noWait,
                asJSON: arguments.json, clock: clock
            ).run()
        }
        let view = FleetView(
            stores: fleet.stores.count,
            bytes: Dictionary(
                fleet.stores.map { ($0.path, $0.bytes) }, uniquingKeysWith: { first, _ in first }),
            isLive: Console.isTerminal, clock: clock)
        let run = FleetRun(request, environment: CommandEnvironment.make(clock: clock)) {
            view.show($0)
        }
        let ending: RunEnding
        do throws(RunError) {
            ending = try run.run(over: fleet.stores)
        } catch {
            view.end()
            throw CommandFailure(error)
        }
        view.end()
        let report = try EndReport(
            ending, request: request, destination: arguments.to.text, fleet: fleet,
            share: view.migrated, seconds: clock())
        try report.show(single: view.onlyResult, asJSON: arguments.json)
        try report.finish(failures: view.failures)
    }
}
