import ClusterProtocol
import Coordinator
import DurableFiles
import LocalRun
import RunLedger

/// `godwit migrate` with worker processes: one run from its beginning to its report.
struct MigrationWithWorkers {
    let request: RunRequest
    let fleet: FleetArguments
    /// What the destination was called.
    let destination: String
    let workers: Int
    let command: String?
    let trustsWorkers: Bool
    let waitsForRoom: Bool
    let asJSON: Bool
    let clock: @Sendable () -> Double

    /// Runs it, and ends as it ended.
    ///
    /// - Throws: `CommandFailure`, or `ExitCode`.
    func run() throws {
        let view = ClusterView(isLive: Console.isTerminal, clock: clock)
        let cluster = LocalCluster(
            workers: workers, command: command, view: view, trustsWorkers: trustsWorkers)
        let (request, stores, waitsForRoom) = (request, fleet.stores, waitsForRoom)
        let (run, end) = try cluster.run(state: request.state, waitsForRoom: waitsForRoom) {
            coordinator throws(RunError) in
            try coordinator.begin(request, over: stores, waitsForRoom: waitsForRoom)
        }
        try ClusterEnd(run: run, end: end, state: request.state).report(
            request, destination: destination, fleet: fleet, asJSON: asJSON, seconds: clock())
    }
}

/// How a run with workers of its own ended, from the ledger.
struct ClusterEnd {
    let run: String
    let end: LocalCluster.End
    let state: FilePath

    /// Shows the report and ends as the run ended.
    ///
    /// - Throws: `CommandFailure`, or `ExitCode`.
    func report(
        _ request: RunRequest, destination: String, fleet: FleetArguments?, asJSON: Bool,
        seconds: Double, of purpose: EndReport.Purpose = .migration
    ) throws {
        try check()
        let (counts, outcomes, single) = try CommandFailure.translating { try read() }
        let report = try EndReport(
            ending(counts), request: request, destination: destination, fleet: fleet,
            seconds: seconds)
        try report.show(single: single, asJSON: asJSON)
        try report.finish(failures: outcomes, of: purpose)
    }

    /// What became of the stores.
    ///
    /// - Throws: `CommandFailure` where the run did not come to an end.
    func ending() throws(CommandFailure) -> RunEnding {
        try check()
        return ending(try CommandFailure.translating { try read().counts })
    }

    private func ending(_ counts: [StoreState: Int]) -> RunEnding {
        let stopReason: String? = if case .stopped(let reason) = end { reason } else { nil }
        return RunEnding(id: run, counts: counts, isResumed: false, stopReason: stopReason)
    }

    private func check() throws(CommandFailure) {
        switch end {
        case .ended, .stopped: break
        case .noRoom(let reason):
            throw CommandFailure(
                .inputOutput,
                "\(reason). Every original is whole; make room and run the same command again, "
                    + "which goes on with the run \(run)")
        case .withoutWorkers(let text):
            throw CommandFailure(
                .inputOutput,
                "no worker of the run \(run) stays alive (\(text)). Every original is whole; once "
                    + "that is mended, the same command goes on with the run")
        case .interrupted:
            throw CommandFailure(
                .canBeRepeated,
                "the run \(run) was stopped; every original is whole, and the same command goes "
                    + "on with it")
        }
    }

    private func read() throws -> (
        counts: [StoreState: Int], outcomes: StoreOutcomes, single: StoreResult?
    ) {
        let records = try RunRecords(state: state)
        let counts = try records.counts(of: run)
        let all = counts.values.reduce(0, +)
        var outcomes = StoreOutcomes(count: all)
        var single: StoreResult?
        try records.forEachStore(of: run) { store, record in
            if all == 1, case .result(let result)? = record { single = result }
            guard store.state == .failed, let reason = store.reason else { return }
            let status: CommandStatus =
                if case .failure(let cause)? = record { CommandStatus(cause) } else { .bug }
            outcomes.fail(store.found.path, CommandFailure(status, reason.text))
        }
        try records.close()
        return (counts, outcomes, single)
    }
}
