package import ClusterProtocol
package import CommandSupport
package import Coordinator
package import DurableFiles
import Foundation
import Jobs
package import LocalCluster
package import Logging
import RunLedger
import RunReports
package import StateFolders
import StoreRuns

/// Runs on slots of this machine, as commands begin, show and report them.
package struct LocalRuns {
    let slots: LocalSlots
    let waitsForSpace: Bool
    var trustsWorkers = false
    /// Gets what happens; nil shows the live view instead.
    var log: Logger?
    /// Seconds since the command began.
    let clock: @Sendable () -> Double

    package init(
        slots: LocalSlots, waitsForSpace: Bool, trustsWorkers: Bool = false, log: Logger? = nil,
        clock: @escaping @Sendable () -> Double
    ) {
        self.slots = slots
        self.waitsForSpace = waitsForSpace
        self.trustsWorkers = trustsWorkers
        self.log = log
        self.clock = clock
    }

    /// Works on a run until it ends; a live view shows it meanwhile.
    ///
    /// - Parameters:
    ///   - state: the state folder.
    ///   - purpose: what others are told who want the folder meanwhile.
    ///   - expectsJobs: whether there is more to do than moves.
    ///   - watch: told what happens, beside the view.
    ///   - begin: asks the coordinator for the run.
    /// - Returns: how it ended.
    /// - Throws: `CommandFailure`.
    package func run(
        state: FilePath, purpose: String, expectsJobs: Bool = true,
        watch: @escaping @Sendable (WatchEvent) -> Void = { _ in },
        begin: (RunningCoordinator) throws(RunError) -> String
    ) throws(CommandFailure) -> LocalRunEnd {
        let view = ClusterView(isLive: Console.isTerminal, tellsWorkers: false, clock: clock)
        defer { view.end() }
        let result = try CommandFailure.translating {
            var cluster = LocalCluster(
                slots: slots, waitsForSpace: waitsForSpace,
                environment: CommandEnvironment.make(clock: clock), place: try Self.place())
            cluster.trustsWorkers = trustsWorkers
            cluster.expectsJobs = expectsJobs
            if let log {
                cluster.log = { log.warning("\($0)") }
            } else {
                cluster.log = { view.log("godwit: \($0)") }
            }
            cluster.watch = { event in
                show(event, view)
                watch(event)
            }
            return try cluster.run(state: state, purpose: purpose, begin: begin)
        }
        return LocalRunEnd(run: result.run, end: result.end, state: state)
    }

    private func show(_ event: WatchEvent, _ view: ClusterView) {
        switch event {
        case .status(let report):
            guard let log else { return view.show(report) }
            for run in report.runs {
                log.debug(
                    "\(ClusterPicture.line(of: run))", metadata: Logger.Metadata([.run: run.run]))
            }
        case .note(let note):
            if let log { return log.log(note) }
            if !Self.isToldElsewhere(note) { view.show(note) }
        case .ended: break
        }
    }

    /// Whether the command's own end tells it, or it is about the one worker, which is the command.
    private static func isToldElsewhere(_ note: Note) -> Bool {
        switch note {
        case .store(_, _, .ended(.failed, _, _)), .worker(_, .joined), .worker(_, .left): true
        // No other attempt follows: the end reports the same cause as the store's.
        case .store(_, _, .attemptFailed(_, let cause)): cause.decision == .quarantineChunk
        default: false
        }
    }

    private static func place() throws -> LocalPlace {
        let given = FilePath(ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp")
        // A path that is too long cannot be bound.
        let parent = given.bytes.count > 60 ? FilePath("/tmp") : given
        return LocalPlace(
            sockets: try DurableFileSystem(links: .followed).resolve(parent),
            milliseconds: MillisecondClock.start(),
            number: {
                var generator = SystemRandomNumberGenerator()
                return .random(in: 0 ... .max, using: &generator)
            },
            interruption: { Interruption.shared.atFirstSignal($0) },
            makeFolder: { folder throws(DurableFileError) in
                try Interruption.shared.make(folder)
            },
            removeFolder: { folder throws(DurableFileError) in
                try Interruption.shared.remove(folder)
            })
    }
}

/// How a run on this machine ended, from the ledger.
package struct LocalRunEnd {
    let run: String
    let end: LocalEnd
    let state: FilePath
    /// What the run had done before this command.
    var before: BegunRun?
    /// How many stores the command was about; nil for all of the run.
    var stores: Int?

    /// Shows the report and ends as the run ended.
    ///
    /// - Throws: `CommandFailure`, or `ExitCode`.
    func report(
        _ request: RunRequest, destination: String, fleet: FleetArguments?, asJSON: Bool,
        seconds: Double, of purpose: EndReport.Purpose = .migration
    ) throws {
        try check()
        let (counts, outcomes, single, share) = try CommandFailure.translating { try read() }
        let report = try EndReport(
            ending(counts), request: request, destination: destination, fleet: fleet,
            share: share, seconds: seconds)
        try report.show(single: single, asJSON: asJSON)
        try report.finish(failures: outcomes, of: purpose)
    }

    /// What became of the stores.
    ///
    /// - Throws: `CommandFailure` where the run did not come to an end.
    package func ending() throws(CommandFailure) -> RunEnding {
        try check()
        return ending(try CommandFailure.translating { try read().counts })
    }

    private func ending(_ counts: [StoreState: Int]) -> RunEnding {
        let stopReason: String? = if case .stopped(let reason) = end { reason } else { nil }
        return RunEnding(
            id: run, counts: counts, isResumed: before?.isResumed ?? false,
            stopReason: stopReason)
    }

    /// Looks whether the run came to an end.
    ///
    /// - Throws: `CommandFailure` where it did not.
    func check() throws(CommandFailure) {
        switch end {
        case .ended, .stopped: break
        case .noSpace(let reason):
            throw CommandFailure(
                .inputOutput,
                "\(reason). Every original is intact. Free disk space, then run the same command "
                    + "again to resume the run \(run)")
        case .withoutSlots(let text):
            throw CommandFailure(
                .inputOutput,
                "Godwit cannot start a worker process of the run \(run) (\(text)). Every original "
                    + "is intact. Fix the cause, then run the same command again to resume the run")
        case .interrupted:
            throw CommandFailure(
                .canBeRepeated,
                "the run \(run) was stopped. Every original is intact. Run the same command again "
                    + "to resume the run")
        }
    }

    private func read() throws -> (
        counts: [StoreState: Int], outcomes: StoreOutcomes, single: StoreResult?,
        share: RunFacts.Share?
    ) {
        let records = try RunRecords(state: state)
        let counts = try records.counts(of: run)
        let all = counts.values.reduce(0, +)
        var outcomes = StoreOutcomes(count: stores ?? all)
        var single: StoreResult?
        try records.forEachStore(
            of: run, recordsWhere: { all == 1 || $0.state == .failed }
        ) { store, record in
            if all == 1, case .result(let result)? = record { single = result }
            guard store.state == .failed, let reason = store.reason else { return }
            let cause: FailureCause? = if case .failure(let cause)? = record { cause } else { nil }
            outcomes.fail(
                store.found.path,
                CommandFailure(
                    cause.map { CommandStatus($0) } ?? .bug, reason.text + (cause?.help ?? "")))
        }
        let done = try records.migrated(in: run)
        try records.close()
        let share = before.map { before in
            RunFacts.Share(
                stores: done.stores - before.migrated.stores,
                bytes: done.bytes - before.migrated.bytes)
        }
        return (counts, outcomes, single, share)
    }
}
