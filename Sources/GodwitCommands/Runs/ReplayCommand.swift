import ArgumentParser
import DurableFiles
import Foundation
import LocalRun
import RunLedger
import MigrationEngine

/// `godwit replay`.
struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Runs again what failed in a run, and nothing else.",
        discussion: """
            Once the causes are mended. Chunks of a large store that had been copied are not \
            copied again.
            """)

    @OptionGroup
    var arguments: RunArguments

    @OptionGroup
    var connection: ConnectChoice

    @OptionGroup
    var choice: StoreOfRun

    @Option(help: "Jobs at a time; as many as there are processors without it.")
    var workers: Int?

    @Flag(help: "End with 74 where a disk is full, instead of waiting for room.")
    var noWait = false

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        let limit = MigrationArguments.workerLimit
        if let workers, !(1...limit).contains(workers) {
            throw ValidationError("--workers takes 1 to \(limit)")
        }
    }

    func run() throws {
        if let connection = try connection.connection(state: arguments.state) {
            return try replay(connection)
        }
        try choice.refuse()
        let selection = try arguments.selection()
        let clock = MonotonicClock.start()
        let slots = workers ?? max(1, ProcessInfo.processInfo.activeProcessorCount)
        let failed = try CommandFailure.translating { try failedStores(selection) }
        let view = FleetView(stores: failed, isLive: Console.isTerminal, clock: clock)
        let ending: RunEnding
        let replayed: Int
        let request: RunRequest
        do throws(RunError) {
            (ending, replayed, request) = try FleetRun.replay(
                selection, slots: slots, waitsForRoom: !noWait,
                environment: CommandEnvironment.make(clock: clock)
            ) { view.show($0) }
        } catch {
            view.end()
            throw CommandFailure(error)
        }
        view.end()
        if !json {
            Console.print("\(counted(replayed, "store")) of run \(ending.id) replayed")
        }
        // The time of a replay says nothing of the run: its report goes without.
        let report = try EndReport(
            ending, request: request, destination: request.destinationName, fleet: nil,
            share: view.migrated, seconds: 0)
        try report.show(single: nil, asJSON: json)
        try report.finish(failures: view.failures)
    }

    /// How many stores will be run again, for the view.
    private func failedStores(_ selection: RunSelection) throws -> Int {
        guard selection.store == nil else { return 1 }
        let records = try RunRecords(state: selection.state)
        let count = try records.counts(of: records.run(selection.run).id)[.failed] ?? 0
        try records.close()
        return count
    }
}
