import ArgumentParser
import CommandSupport
import DurableFiles
import ModelCommands
import RunLedger
import RunReports
import RunService
import StateFolders
import StoreRuns

/// `godwit plan`.
package struct PlanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Shows what a migration would do, and writes nothing.",
        discussion: """
            plan reads stores as migrate does, and exits as migrate --output would. It reports \
            obstacles to a swap in place. It needs temporary space in --state or TMPDIR for a \
            store with an active -wal or journal, for --partition uuid, and for a chain that \
            writes intermediate stores. It frees that space at the end.
            """)

    @OptionGroup
    var arguments: MigrationArguments

    @OptionGroup
    var format: FormatOptions

    @OptionGroup
    var place: PlanPlace

    @Option(help: "The executable with the migration policies that mappings name.")
    var workerCommand: String?

    @Flag(help: "With several stores, print the plan of each one before the totals.")
    var all = false

    func validate() throws {
        if all, format.hasCases {
            throw ValidationError("--all cannot be used with --format junit and github")
        }
    }

    func run() throws {
        try format.reporting("godwit plan") { try plan($0) }
    }

    private func plan(_ report: CheckReport) throws {
        let clock = MonotonicClock.start()
        var checks = report
        if let state = place.state { try FolderOption.check("--state", state) }
        let fleet = try FleetArguments(
            arguments, output: nil, state: try place.stateFolder(of: arguments, output: nil))
        let plans = try ScratchFolder.with(in: place.state) { scratch in
            let builder = try RequestBuilder(
                arguments, slots: place.slots, scratch: scratch, workerCommand: workerCommand)
            var plans = PlanList(
                fleet, policy: builder.losses, versions: builder.bundleDigests())
            plans.keepsPlans = all || format.chosen == .json || fleet.stores.count == 1
            try measure(fleet, builder.request(store: scratch, scratch: scratch), &plans)
            for store in fleet.stores.map(\.path) {
                // A run's folder would bring back the scratch folder that a signal removed.
                Interruption.shared.gate()
                let beginning = clock()
                let one = plans.add(store, builder.request(store: store, scratch: scratch))
                if format.hasCases { checks.cases.append(one.taking(clock() - beginning)) }
            }
            plans.warnOfUnusedPatterns()
            return plans
        }
        switch format.chosen {
        case .text: plans.print(all: all)
        case .json: try Console.printJSON(plans)
        case .junit, .github:
            checks.cases += plans.leftOutCases
            checks.notes = plans.warnings
            format.print(checks)
        }
        try plans.finish()
    }

    /// Measures what a run over all stores in place would reserve.
    private func measure(
        _ fleet: FleetArguments, _ request: MigrationRequest, _ plans: inout PlanList
    ) throws {
        var measure = try StoreMeasure(
            options: request.options, slots: request.slots,
            state: try place.stateFolder(of: arguments, output: nil), files: DurableFileSystem())
        var needs = measure.needs(of: fleet.stores)
        if try needs.contains(where: { try SpaceShortage(of: $1, at: $0) != nil }) {
            // Results have no free pages. Looking at that opens every store, so only now.
            measure.countsFreePages = true
            needs = measure.needs(of: fleet.stores)
        }
        for (folder, need) in needs.sorted(by: { $0.key < $1.key }) {
            plans.addRoom(need, at: folder, short: try SpaceShortage(of: need, at: folder))
        }
    }
}
