package import ArgumentParser
import ClusterClient
import ClusterProtocol
import CommandSupport
import DurableFiles
import Jobs
import MigrationPlans
import RunReports
import StoreDiscovery
import StoreRuns

/// `godwit submit`.
package struct SubmitCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "submit",
        abstract: "Submits a run to a coordinator.",
        discussion: """
            submit sends PATHs and --output as paths within shared folders. Each machine \
            resolves them below its own --root. Run the same command again to resume the run.
            """)

    @OptionGroup
    var arguments: MigrationArguments

    @Flag(help: "Print JSON.")
    var json = false

    /// Understood so that the refusal can say what to take instead.
    @OptionGroup(visibility: .hidden)
    var place: LocalArguments

    @OptionGroup(title: MigrationArguments.main)
    var connection: ConnectArguments

    @OptionGroup(title: MigrationArguments.main)
    package var results: OutputOption

    @Option(
        name: .customLong("root"),
        help: """
            A shared folder as NAME=FOLDER: the coordinator's name and the path on this machine. \
            Required; repeatable.
            """)
    var roots: [String] = []

    @Flag(
        help: """
            Stop before the swap. To swap later, use godwit swap --connect, or the same command \
            without --defer-swap.
            """)
    var deferSwap = false

    @Flag(
        help: """
            Swap in place even if the coordinator cannot detect whether a program has a store \
            open. First stop every program that uses the stores.
            """)
    var assumeClosed = false

    @Flag(help: "If a disk is full, fail the store instead of waiting for space.")
    package var noWait = false

    @Option(help: "Stop the run after this many stores have failed. Default: no limit.")
    var maxFailures: Int?

    @Option(help: "Maximum number of the run's stores at a time.")
    var limitStores: Int?

    @Option(help: "Maximum number of the run's jobs at a time.")
    var limitJobs: Int?

    @Flag(
        help: """
            Wait until the run ends. The exit code is 0 if every store was migrated or is ready \
            to swap, and 75 otherwise.
            """)
    var wait = false

    package init() {}

    package func validate() throws {
        let limits = [
            ("--max-failures", maxFailures), ("--limit-stores", limitStores),
            ("--limit-jobs", limitJobs),
        ]
        for (name, value) in limits {
            if let value, !(1...MessageLimits.index).contains(value) {
                throw ValidationError("\(name) must be 1 or more")
            }
        }
        try arguments.engine.checkLinks(output: results.output)
        if deferSwap, results.output != nil {
            throw ValidationError("--defer-swap cannot be used with --output: nothing is swapped")
        }
        if assumeClosed, results.output != nil {
            throw ValidationError(
                "--assume-closed cannot be used with --output: nothing is swapped")
        }
        if place.workers != nil {
            throw ValidationError(
                "submit does not take --workers: workers join with godwit work. To limit a run, "
                    + "use --limit-jobs")
        }
        if place.state != nil {
            throw ValidationError("submit does not take --state: the coordinator has its own")
        }
    }

    package func run() throws {
        let connection = try connection.connection()
        let request = try request()
        let clock = MonotonicClock.start()
        let client = try ConnectedCoordinator(connection, clock: clock).client
        // The coordinator looks for the stores first, which may be many.
        let reply = try client.ask(
            .submit(request),
            patience: CoordinatorClient.Patience(
                answer: .seconds(3600),
                whenSlow: { Console.log("the coordinator is searching for stores") }))
        guard case .accepted(let run) = reply else {
            throw ClientError(.unexpectedAnswer, connection)
        }
        guard wait else {
            if json { return try Console.printJSON(AcceptedRun(run: run)) }
            Console.print("run \(run) is submitted")
            Console.print("follow it with: godwit watch \(run) \(connection.options)")
            return
        }
        let view = ClusterView(isLive: Console.isTerminal, clock: clock)
        let session = WatchSession(
            client, run: run, observer: WatchLines(view, of: connection, run: run))
        let ending = try session.followed(view)
        try RunEnd(
            ending, run: run, connection: connection, leftOut: session.leftOut,
            failures: session.failures
        ).show(asJSON: json)
    }

    /// What is sent.
    ///
    /// - Throws: `CommandFailure`.
    private func request() throws(CommandFailure) -> SubmitRequest {
        let shared = try ClientRoots(roots)
        let paths = try SubmittedPaths.references(of: arguments, in: shared)
        let folder = try results.output.map { text throws(CommandFailure) in
            try shared.reference(to: FilePath(text), mustExist: false)
        }
        let submitted = try CommandFailure.translating {
            try ScratchFolder.with { scratch in
                var request = try RequestBuilder(
                    arguments, slots: place.slots, scratch: scratch
                ).request(
                    inputs: [], output: nil, state: FilePath(""), defersSwap: deferSwap,
                    waitsForRoom: !noWait, failureLimit: nil)
                request.assumesClosed = assumeClosed
                guard request.options.ways.programs.isEmpty else {
                    throw CommandFailure.usage(
                        "--via: \(SubmittedRequest.noPrograms): use migrate")
                }
                return SubmittedRequest(
                    request, output: folder,
                    include: arguments.filters.include.map { FilePath($0) },
                    exclude: arguments.filters.exclude.map { FilePath($0) })
            }
        }
        return SubmitRequest(
            request: try CommandFailure.translating { try submitted.text() }, paths: paths,
            limits: RunLimits(stores: limitStores, jobs: limitJobs, failures: maxFailures))
    }
}

/// The paths of a command line as a coordinator is told them.
enum SubmittedPaths {
    /// Reads the lists and translates all paths, each once.
    ///
    /// - Throws: `CommandFailure` with status 64 for paths outside the shared folders, and for
    ///   more paths than a request can have.
    static func references(
        of arguments: MigrationArguments, in shared: ClientRoots
    ) throws(CommandFailure) -> [FileReference] {
        var references: [FileReference] = []
        var known: Set<FileReference> = []
        func take(_ path: FilePath, mustExist: Bool) throws(CommandFailure) {
            let reference = try shared.reference(to: path, mustExist: mustExist)
            guard known.insert(reference).inserted else { return }
            references.append(reference)
            guard references.count <= MessageLimits.paths else {
                throw .usage(
                    "a run can have at most \(grouped(MessageLimits.paths)) paths. Give "
                        + "folders or patterns, or submit the lists one at a time")
            }
        }
        for text in arguments.stores { try take(FilePath(text), mustExist: true) }
        for text in arguments.filters.lists {
            let list = try CommandFailure.translating { try StoreListFile(FilePath(text)) }
            for entry in list.entries {
                let path = entry.root.appending(entry.relative)
                // A list of many stores may name one that is gone; the run tells.
                try take(path.bytes.isEmpty ? FilePath(".") : path, mustExist: false)
            }
        }
        guard !references.isEmpty else { throw .usage("the lists name no store") }
        return references
    }
}
