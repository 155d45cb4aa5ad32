import ArgumentParser
import DurableFiles
import LocalRun
import RunLedger

/// `godwit plan`.
struct PlanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Says what a migration would do, and writes nothing.",
        discussion: """
            Stores are read as migrate would read them: a store that is not at rest, and UUID \
            attributes that tables are cut by, need room below --state or in the system's \
            temporary folder (TMPDIR), which is freed at the end.
            """)

    @OptionGroup
    var arguments: MigrationArguments

    func run() throws {
        var reports: [PlanReport] = []
        if let state = arguments.state { try FolderOption.check("--state", state) }
        let fleet = try FleetArguments(
            arguments, output: nil, state: try arguments.stateFolder(output: nil))
        var outcomes = StoreOutcomes(count: fleet.stores.count)
        try ScratchFolder.with(in: arguments.state) { scratch in
            let builder = try RequestBuilder(arguments, scratch: scratch)
            for store in fleet.stores.map(\.path) {
                // A run's folder would bring back the scratch folder that a signal removed.
                Interruption.shared.gate()
                let request = builder.request(store: store, scratch: scratch)
                let migration = LocalMigration(request, clock: MonotonicClock.start())
                do throws(RunError) {
                    reports.append(PlanReport(try migration.plan()))
                } catch {
                    outcomes.fail(store, CommandFailure(error))
                }
            }
        }
        if arguments.json {
            try Console.printJSON(StoreList(stores: reports, failures: outcomes.failures))
        } else if !reports.isEmpty {
            Console.print(reports.map(\.text).joined(separator: "\n\n"))
        }
        try outcomes.finish()
    }
}
