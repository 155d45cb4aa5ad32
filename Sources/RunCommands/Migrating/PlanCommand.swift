import ArgumentParser
import CommandSupport
import DurableFiles
import RunLedger
import RunReports
import RunService
import StoreRuns

/// `godwit plan`.
package struct PlanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Shows what a migration would do, and writes nothing.",
        discussion: """
            plan reads stores as migrate does. It needs temporary space in --state or TMPDIR for \
            a store with an active -wal or journal, and for --partition uuid. It frees that \
            space at the end.
            """)

    @OptionGroup
    var arguments: MigrationArguments

    @OptionGroup
    var place: PlanPlace

    @Flag(help: "With several stores, print the plan of each one before the totals.")
    var all = false

    func run() throws {
        var reports: [PlanReport] = []
        var totals = PlanTotals()
        if let state = place.state { try FolderOption.check("--state", state) }
        let fleet = try FleetArguments(
            arguments, output: nil, state: try place.stateFolder(of: arguments, output: nil))
        var outcomes = StoreOutcomes(count: fleet.stores.count)
        var room: [String] = []
        try ScratchFolder.with(in: place.state) { scratch in
            let builder = try RequestBuilder(arguments, slots: place.slots, scratch: scratch)
            room = try self.room(fleet, builder, scratch)
            let listsAll = all || arguments.json || fleet.stores.count == 1
            for store in fleet.stores.map(\.path) {
                // A run's folder would bring back the scratch folder that a signal removed.
                Interruption.shared.gate()
                let request = builder.request(store: store, scratch: scratch)
                do throws(RunError) {
                    let report = PlanReport(try StorePlanning(request).plan())
                    totals.add(report)
                    // Of a fleet, plans that are not printed are not kept.
                    if listsAll { reports.append(report) }
                } catch {
                    let failure = CommandFailure(error)
                    totals.refuse(store, FailureCause(error), failure.description)
                    outcomes.fail(store, failure, isTold: listsAll)
                }
            }
        }
        if arguments.json {
            try Console.printJSON(StoreList(stores: reports, failures: outcomes.failures))
        } else if fleet.stores.count == 1 {
            for report in reports { Console.print(report.text) }
        } else {
            let told = all ? totals.short : totals.text
            Console.print((reports.map(\.text) + [told] + room).joined(separator: "\n\n"))
        }
        try outcomes.finish()
    }

    /// What a run over all stores in place would reserve; nothing for one store.
    private func room(
        _ fleet: FleetArguments, _ builder: RequestBuilder, _ scratch: FilePath
    ) throws -> [String] {
        guard fleet.stores.count > 1, let first = fleet.stores.first else { return [] }
        let request = builder.request(store: first.path, scratch: scratch)
        var measure = try StoreMeasure(
            options: request.options, slots: request.slots,
            state: try place.stateFolder(of: arguments, output: nil), files: DurableFileSystem())
        let lines = measure.needs(of: fleet.stores).sorted { $0.key < $1.key }
            .map { folder, need in
                "\(ByteSize(bytes: need.bytes).words) and \(counted(need.inodes, "inode")) on "
                    + "the file system of \(folder)"
            }
        return [PlanReport.list("room for all stores in place", lines).joined(separator: "\n")]
    }
}
