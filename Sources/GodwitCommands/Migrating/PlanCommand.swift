import ArgumentParser
import DurableFiles
import LocalRun

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
        var outcomes = StoreOutcomes(count: arguments.stores.count)
        try ScratchFolder.with(in: arguments.state) { scratch in
            let builder = try RequestBuilder(arguments, scratch: scratch)
            for store in builder.stores {
                let request = builder.request(
                    store: store, output: scratch.appending("result"),
                    state: scratch.appending("state"))
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
