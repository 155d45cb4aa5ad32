import ArgumentParser
import Coordinator
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

    @Option(
        help: """
            Worker processes, with one job at a time each; without it jobs run in this process, \
            as many at a time as there are processors.
            """)
    var workers: Int?

    @Flag(help: "End with 74 where a disk is full, instead of waiting for room.")
    var noWait = false

    @Flag(help: "Run all jobs in this process, on as many threads as --workers says.")
    var inProcess = false

    @Option(help: "The executable of the worker processes; godwit itself without it.")
    var workerCommand: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        let limit = LocalArguments.workerLimit
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
        if !inProcess, workers != nil || workerCommand != nil {
            return try replayWithWorkers(selection, clock: clock)
        }
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
        try report.finish(failures: view.failures, of: .replay)
    }

    private func replayWithWorkers(
        _ selection: RunSelection, clock: @escaping @Sendable () -> Double
    ) throws {
        let count = workers ?? max(1, ProcessInfo.processInfo.activeProcessorCount)
        let view = ClusterView(isLive: Console.isTerminal, clock: clock)
        let cluster = LocalCluster(workers: count, command: workerCommand, view: view)
        var replayed = 0
        let (run, end) = try cluster.run(state: selection.state, waitsForRoom: !noWait) {
            coordinator throws(RunError) in
            let (run, stores) = try coordinator.replay(selection)
            replayed = stores
            return run
        }
        if !json { Console.print("\(counted(replayed, "store")) of run \(run) replayed") }
        let request = try CommandFailure.translating {
            try RunRecords(state: selection.state).request(
                of: run, state: selection.state, slots: count)
        }
        try ClusterEnd(run: run, end: end, state: selection.state).report(
            request, destination: request.destinationName, fleet: nil, asJSON: json, seconds: 0,
            of: .replay)
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
