package import ArgumentParser
import CommandSupport
import Coordinator
import DurableFiles
import Foundation
import Jobs
import RunLedger
import RunMoves
import RunReports
import StateFolders
import StoreRuns

/// `godwit replay`.
package struct ReplayCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Retries the failed stores of a run.",
        discussion: """
            Fix the causes first. Godwit does not copy finished chunks of a large store again.
            """)

    @OptionGroup
    var arguments: RunArguments

    @OptionGroup
    var connection: ConnectChoice

    @OptionGroup
    var choice: StoreOfRun

    @Option(
        help: """
            Number of worker processes; each runs one job at a time. Default: the number of \
            processors.
            """)
    var workers: Int?

    @OptionGroup
    var slotOptions: SlotOptions

    @Flag(help: "Exit with 74 instead of waiting if a disk is full.")
    var noWait = false

    @Flag(help: "Print JSON.")
    var json = false

    package init() {}

    package func validate() throws {
        let limit = LocalArguments.workerLimit
        if let workers, !(1...limit).contains(workers) {
            throw ValidationError("--workers takes 1 to \(limit)")
        }
    }

    /// Refuses to say that nothing is left where another run has failed stores and none was named.
    private func refuseOthers(than run: String, _ selection: RunSelection) throws(CommandFailure) {
        guard selection.run == nil, selection.store == nil else { return }
        let failed = try CommandFailure.translating {
            let records = try RunRecords(state: selection.state)
            return try records.runs().filter { other in
                try other.id != run && other.state != .cancelled
                    && records.counts(of: other.id)[.failed] ?? 0 > 0
            }.map(\.id)
        }
        guard !failed.isEmpty else { return }
        throw CommandFailure(
            .canBeRepeated,
            "no store of the newest run \(run) failed, but stores of "
                + "\(failed.joined(separator: ", ")) did. Name the run to replay")
    }

    package func run() throws {
        if let connection = try connection.connection(state: arguments.state) {
            return try replay(connection)
        }
        try choice.refuse()
        let selection = try arguments.selection()
        let clock = MonotonicClock.start()
        let count = workers ?? max(1, ProcessInfo.processInfo.activeProcessorCount)
        try MissingReports(state: selection.state, slots: count).write()
        let runs = LocalRuns(
            slots: slotOptions.slots(count: count), waitsForSpace: !noWait, clock: clock)
        var begun: (run: BegunRun, stores: Int)?
        var nothing: RunError?
        var end: LocalRunEnd
        do {
            end = try runs.run(state: selection.state, purpose: "replaying") {
                coordinator throws(RunError) in
                do throws(RunError) {
                    let replayed = try coordinator.replay(selection)
                    begun = replayed
                    return replayed.run.id
                } catch {
                    if case .nothingFailed = error { nothing = error }
                    throw error
                }
            }
        } catch {
            // Scripts replay until nothing is left.
            guard case .nothingFailed(let run, _)? = nothing, let nothing else { throw error }
            try refuseOthers(than: run, selection)
            if json { try Console.printJSON(AcceptedRun(run: run)) }
            return Console.log("godwit: \(nothing)")
        }
        end.before = begun?.run
        end.stores = begun?.stores
        if !json {
            Console.print("\(counted(begun?.stores ?? 0, "store")) of run \(end.run) replayed")
        }
        let request = try CommandFailure.translating {
            try RunRecords(state: selection.state).request(
                of: end.run, state: selection.state, slots: count)
        }
        // The time of a replay says nothing of the run: its report goes without.
        try end.report(
            request, destination: request.destinationName, fleet: nil, asJSON: json, seconds: 0,
            of: .replay)
    }
}
