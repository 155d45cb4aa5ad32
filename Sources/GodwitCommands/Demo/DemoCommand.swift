import ArgumentParser
import CommandSupport
import Coordinator
import CoreDataStore
import DurableFiles
import Jobs
import LocalCluster
import MigrationEngine
import MigrationPlans
import RunCommands
import RunLedger
import RunReports
import RunService
import StateFolders
import StoreRuns

/// `godwit demo`.
struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Makes a small fleet in Core Data's format, migrates it and shows the report.",
        discussion: """
            Writes only to ./godwit-demo. It replaces the folder of an earlier demo and refuses \
            any other folder with that name. One of the stores is broken on purpose. \
            With --scenario it runs the commands of one page of docs/examples instead, and shows \
            each: \(Scenario.all.map(\.name).joined(separator: ", ")).
            """)

    @Option(help: "The scenario to run.")
    var scenario: String?

    @Option(help: "The size of the scenario, in the unit that its page names.")
    var objects: Int?

    @Option(help: "The executable to run as worker processes, for a scenario that needs one.")
    var workerCommand: String?

    /// Worker processes of the demo's run, with one slot each.
    private static let workers = 2
    /// Small enough to cut the large store into several chunks.
    private static let chunkBytes: Int64 = 16 << 20

    func validate() throws {
        guard let scenario else {
            if objects != nil { throw ValidationError("--objects needs --scenario") }
            if workerCommand != nil { throw ValidationError("--worker-command needs --scenario") }
            return
        }
        guard let found = Scenario.named(scenario) else {
            let names = Scenario.all.map(\.name).joined(separator: ", ")
            throw ValidationError("there is no scenario \(scenario); there are \(names)")
        }
        if let objects, objects < 1 { throw ValidationError("--objects must be at least 1") }
        switch (found.package, workerCommand) {
        case (let package?, nil):
            throw ValidationError("\(scenario) needs --worker-command. \(package.advice)")
        case (nil, _?):
            throw ValidationError("\(scenario) needs no --worker-command: leave it out")
        default: break
        }
    }

    func run() throws {
        if let scenario = scenario.flatMap(Scenario.named) {
            return try CommandFailure.translating {
                try ScenarioRun(
                    scenario: scenario, objects: objects ?? scenario.objects,
                    folder: DemoFolder.cleared(at: FilePath("godwit-demo")),
                    worker: workerCommand.map { try FleetArguments.absolute(FilePath($0)) }
                ).run()
            }
        }
        try runFleet()
    }

    private func runFleet() throws {
        let folder = try CommandFailure.translating {
            try DemoFolder.make(at: FilePath("godwit-demo"))
        }
        Console.print("Making a fleet like the backups of an app's users:")
        let stores = try CommandFailure.translating { try forge(in: folder) }
        Console.print(
            "\nMigrating it in place to version 3 of the model, with a coordinator and "
                + "\(Self.workers) worker\nprocesses, as godwit migrate does:\n")
        let clock = MonotonicClock.start()
        let request = try CommandFailure.translating {
            RunRequest(
                destination: try folder.destination(),
                options: PlanOptions(chunkBytes: Self.chunkBytes), output: nil,
                state: folder.state, inputs: [folder.backups],
                destinationName: folder.template.description, slots: Self.workers)
        }
        let runs = LocalRuns(
            slots: LocalSlots(.processes, count: Self.workers), waitsForSpace: true, clock: clock)
        let ending = try runs.run(state: request.state, purpose: "migrating the demo's fleet") {
            coordinator throws(RunError) in
            try coordinator.begin(request, over: stores, waitsForRoom: true).id
        }.ending()
        let report = try EndReport(
            ending, request: request, destination: request.destinationName, fleet: nil,
            seconds: clock())
        try report.show(single: nil, asJSON: false)
        guard ending.counts == [.done: stores.count - 1, .failed: 1] else {
            throw CommandFailure(.bug, "a bug in Godwit: the demo did not finish as expected")
        }
        Console.print(Self.proof)
        Console.print("\nFiles in \(folder.path):")
        for line in try CommandFailure.translating({ try folder.listing() }) {
            Console.print(line)
        }
        Console.print(Self.nextCommands)
    }

    private func forge(in folder: DemoFolder) throws -> [FoundStore] {
        let root = try FleetArguments.absolute(folder.backups)
        var small: Int64 = 0
        var stores: [FoundStore] = []
        for store in DemoStore.all {
            let bytes = try store.forge(in: folder.backups)
            stores.append(
                FoundStore(
                    number: stores.count + 1,
                    location: StoreLocation(root.appending(FilePath(store.fileName))),
                    output: nil, bytes: bytes))
            if bytes > PlanOptions.wholeLimit {
                Console.print(
                    "  \(store.fileName)  version \(store.version), "
                        + ByteSize(bytes: bytes).words)
            } else if store.isBroken {
                Console.print("  \(store.fileName)  cut off in the middle, on purpose")
            } else {
                small += bytes
            }
        }
        Console.print(
            "  \(stores.count - 2) small stores of versions 1 and 2, together "
                + ByteSize(bytes: small).words)
        return stores
    }

    private static let proof = """

        Before each swap, separate validation code, which shares nothing with the
        copying code, checked the result: every value, link, place in an ordered list
        and index entry matches the source and the mapping; required values,
        cardinality and uniqueness hold; pages, schema, metadata and version hashes
        are right. The broken store is unchanged.
        """

    private static let nextCommands = """

        Try next:
          godwit inspect  godwit-demo/backups/user-01.sqlite
          godwit status   --state godwit-demo/.godwit
          godwit replay   --state godwit-demo/.godwit  after you repair the broken store
          godwit rollback --state godwit-demo/.godwit  puts every original back
          godwit prune    --state godwit-demo/.godwit  shows the size of kept originals
        (After `swift build -c release`, the program is .build/release/godwit.)
        """
}
