package import ArgumentParser
import CommandSupport
import Coordinator
import CoreDataStore
import DurableFiles
import LocalCluster
import MigrationPlans
import ModelCommands
import RunLedger
import RunReports
import RunService
import SafeSQLite
import StateFolders
import StoreLocks
import StoreRuns

/// `godwit migrate`.
package struct MigrateCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Migrates stores, in place or into another folder.",
        discussion: """
            Without --output, Godwit validates each result, swaps it in and keeps the original \
            next to it until prune removes it; rollback puts it back. With --output, it never \
            touches the originals. Run the same command again to resume a stopped run.
            """)

    @OptionGroup
    var arguments: MigrationArguments

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup(title: MigrationArguments.main)
    var results: OutputOption

    @OptionGroup(title: MigrationArguments.main)
    var place: LocalArguments

    @Flag(help: "Stop before the swap; godwit swap does it later.")
    var deferSwap = false

    @Flag(
        help: """
            Swap in place even if Godwit cannot detect whether a program has a store open \
            (network file systems, FUSE, stores of other users without CAP_LEASE). First stop \
            every program that uses the stores.
            """)
    var assumeClosed = false

    @Flag(
        help: """
            Exit with 74 instead of waiting if disk space is too low, before or during the run.
            """)
    var noWait = false

    @Option(
        help: """
            Stop the run after this many stores have failed. Default: no limit. The same command \
            resumes it.
            """)
    var maxFailures: Int?

    @OptionGroup(title: "WORKER PROCESSES")
    var slotOptions: SlotOptions

    @Flag(
        help: """
            Accept results of small stores that only the worker processes have validated. The \
            report notes this.
            """)
    var trustWorkers = false

    @OptionGroup(title: "LOG")
    var logOptions: LogOptions

    package init() {}

    private var output: String? { results.output }

    package func validate() throws {
        if assumeClosed, output != nil {
            throw ValidationError(
                "--assume-closed cannot be used with --output: nothing is swapped")
        }
        try arguments.engine.checkLinks(output: output)
        if trustWorkers, slotOptions.inProcess {
            throw ValidationError("--trust-workers cannot be used with --in-process")
        }
        if let maxFailures, maxFailures < 1 {
            throw ValidationError("--max-failures must be 1 or more")
        }
        if deferSwap, output != nil {
            throw ValidationError("--defer-swap cannot be used with --output: nothing is swapped")
        }
    }

    /// Warns of programs that have a large store open: its swap would fail after hours of work.
    private func warnOfUsers(_ fleet: FleetArguments) {
        var open: [FilePath] = []
        for store in fleet.stores where store.bytes > PlanOptions.wholeLimit {
            do throws(DurableFileError) {
                if try ClientVisibility(of: store.path) == .open { open.append(store.path) }
            } catch {
                // Its own preparation says more.
                continue
            }
        }
        for path in open.prefix(Self.warningLimit) {
            Console.log(
                "warning: a program has \(path) open; close it there before Godwit swaps it")
        }
        let more = open.count - Self.warningLimit
        if more > 0 { Console.log("warning: and \(counted(more, "more large store")) open") }
    }

    /// How many open stores are named.
    private static let warningLimit = 10

    package func run() throws {
        if let output { try FolderOption.check("--output", output) }
        if let state = place.state { try FolderOption.check("--state", state) }
        let state = try place.stateFolder(of: arguments, output: output)
        TemporaryFiles.use(state)
        let clock = MonotonicClock.start()
        let (fleet, request) = try ScratchFolder.with { scratch in
            let fleet = try FleetArguments(arguments, output: output, state: state)
            let builder = try RequestBuilder(
                arguments, slots: place.slots, scratch: scratch,
                workerCommand: slotOptions.workerCommand)
            var request = try builder.request(
                fleet, output: output, state: state, defersSwap: deferSwap,
                waitsForRoom: !noWait, failureLimit: maxFailures)
            request.assumesClosed = assumeClosed
            return (fleet, request)
        }
        if output == nil { warnOfUsers(fleet) }
        try MissingReports(state: state, slots: place.slots).write()
        var runs = LocalRuns(
            slots: slotOptions.slots(count: place.slots), waitsForSpace: !noWait,
            trustsWorkers: trustWorkers, clock: clock)
        // A log instead of the live view where one is asked for.
        if logOptions.isGiven { runs.log = logOptions.logger }
        var begun: BegunRun?
        var end = try runs.run(
            state: state, purpose: "migrating \(counted(fleet.stores.count, "store"))"
        ) {
            coordinator throws(RunError) in
            let run = try coordinator.begin(request, over: fleet.stores, waitsForRoom: !noWait)
            begun = run
            return run.id
        }
        end.before = begun
        try end.report(
            request, destination: arguments.to.text, fleet: fleet, asJSON: json,
            seconds: clock())
    }
}
