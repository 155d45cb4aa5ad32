import ArgumentParser
package import CommandSupport
import DurableFiles
import Foundation
import Jobs
import MigrationPlans
import RunLedger
package import RunReports
package import StateFolders
import StoreDiscovery
package import StoreRuns

/// The report at the end of a run: shown, and kept in the run's folder as text, HTML and JSON.
package struct EndReport {
    private let ending: RunEnding
    private let state: FilePath
    private let report: RunReport
    private let stores: StoreReports
    /// Files that were not taken although a user's data may be behind them.
    private let leftOut: Int

    /// The most stores whose reports are kept in memory.
    private static let mostKept = 512

    /// Reads the ledger.
    ///
    /// - Throws: `CommandFailure`.
    package init(
        _ ending: RunEnding, request: RunRequest, destination: String, fleet: FleetArguments?,
        share: RunFacts.Share? = nil, seconds: Double
    ) throws(CommandFailure) {
        self.ending = ending
        state = request.state
        var facts = RunFacts(
            run: ending.id, state: request.state, destination: destination,
            slots: request.slots, seconds: seconds)
        facts.output = request.output
        if ending.isResumed { facts.share = share }
        facts.skipped =
            fleet?.skipped.map(RunFacts.Skipped.init) ?? []
        facts.warnings = fleet?.warnings.map(\.description) ?? []
        leftOut = fleet?.skipped.count(where: \.needsAttention) ?? 0
        let run = ending.id
        // Open as long as the report lives, for each of its forms goes through all stores.
        let records = try CommandFailure.translating { try RunRecords(state: request.state) }
        let read = StoreReports { body in
            try records.forEachStore(of: run) {
                try body(StoreReport($0, $1, names: request.options.versionNames))
            }
        }
        // Each form of the report goes through all stores: few of them are decoded once.
        let isSmall = ending.counts.values.reduce(0, +) <= Self.mostKept
        let stores = try CommandFailure.translating { isSmall ? try read.kept() : read }
        self.stores = stores
        report = try CommandFailure.translating {
            let begun = Date(
                timeIntervalSince1970: Double(try records.run(run).record.begunAt) / 1000)
            facts.begun = begun.ISO8601Format()
            return try RunReport(facts, stores: stores, guide: .commandLine)
        }
    }

    /// Keeps the report and prints it.
    ///
    /// - Parameters:
    ///   - single: the result of a run over one store, which is told at length.
    ///   - asJSON: whether to print JSON.
    /// - Throws: `CommandFailure`.
    package func show(single: StoreResult?, asJSON: Bool) throws(CommandFailure) {
        try keep()
        try CommandFailure.translating {
            if asJSON {
                try JSONReport.write(report, stores: stores) { Console.printRaw($0) }
            } else if let single {
                Console.print(ResultText.text(of: single, run: ending.id))
            } else if ending.counts == [.done: 1] {
                Console.print(
                    "The store already has the destination's model version. Nothing changed.")
            } else if ending.counts.values.reduce(0, +) > 1 {
                try TextReport.write(report, stores: stores) { Console.print($0) }
                Console.print("\nThe whole report: \(folder.appending("report.html"))")
            }
        }
    }

    private var folder: FilePath { state.appending("runs").appending(FilePath(ending.id)) }

    /// Keeps the report in the run's folder.
    ///
    /// - Throws: `CommandFailure`.
    func keep() throws(CommandFailure) {
        try CommandFailure.translating {
            try DurableFileSystem().makeFolders(folder)
            try keep(folder.appending("report.txt")) { write in
                try TextReport.write(report, stores: stores) { try write($0 + "\n") }
            }
            try keep(folder.appending("report.html")) { write in
                try HTMLReport.write(report, stores: stores, to: write)
            }
            try keep(folder.appending("report.json")) { write in
                try JSONReport.write(report, stores: stores, to: write)
            }
        }
    }

    private func keep(
        _ path: FilePath, _ body: ((String) throws -> Void) throws -> Void
    ) throws {
        try DurableFileSystem().publish(to: path) { file in
            // Collected, so that a line costs no system call.
            var pending: [UInt8] = []
            try body { text in
                pending += text.utf8
                guard pending.count >= 1 << 16 else { return }
                try file.write(pending)
                pending = []
            }
            try file.write(pending)
        }
    }

    /// What the command that ends was asked for.
    enum Purpose: Hashable, Sendable {
        /// All stores of the run.
        case migration
        /// What had failed; the others are as they were.
        case replay
    }

    /// Ends the command as the run ended.
    ///
    /// - Parameters:
    ///   - failures: of this command.
    ///   - purpose: what it was asked for.
    /// - Throws: `ExitCode`.
    func finish(failures: StoreOutcomes, of purpose: Purpose = .migration) throws {
        if let reason = ending.stopReason {
            Console.log("godwit: the run stopped: \(reason); the same command resumes it")
        }
        let failed = ending.counts[.failed] ?? 0
        if failed == 1, ending.counts.values.reduce(0, +) == 1,
            let only = failures.failures.first
        {
            throw ExitCode(only.status)
        }
        try failures.finish()
        if failed > 0 {
            let all = ending.counts.values.reduce(0, +)
            Console.log(
                "godwit: \(grouped(failed)) of \(counted(all, "store")) failed earlier in this "
                    + "run; retry them with godwit replay")
        }
        let unfinished = StoreState.allCases.filter(\.isUnfinished).reduce(0) { sum, state in
            // A result that waits for its swap is where it should be.
            state == .validated ? sum : sum + (ending.counts[state] ?? 0)
        }
        if unfinished > 0, ending.stopReason == nil {
            Console.log(
                "godwit: \(counted(unfinished, "store is", plural: "stores are")) not finished; "
                    + "run the same command again to resume the run")
        }
        if let text = EndReport.undone(ending, purpose) { Console.log("godwit: \(text)") }
        if leftOut > 0 {
            Console.log("godwit: \(EndReport.leftOutText(leftOut))")
        }
        guard EndReport.isComplete(ending, leftOut: leftOut, of: purpose) else {
            throw ExitCode(CommandStatus.canBeRepeated.rawValue)
        }
    }

    /// The text on files that were not taken although a user's data may be behind them.
    static func leftOutText(_ count: Int) -> String {
        "skipped \(counted(count, "file")) that may contain user data; see above"
    }

    /// The text on stores that a user took out of the run; nil where there are none.
    static func undone(_ ending: RunEnding, _ purpose: Purpose) -> String? {
        let count = (ending.counts[.cancelled] ?? 0) + (ending.counts[.rolledBack] ?? 0)
        guard count > 0 else { return nil }
        let text = "the run skipped \(counted(count, "cancelled or rolled back store")). "
        let them = count == 1 ? "it" : "them"
        return switch purpose {
        case .migration:
            text + "After the run ends, run the same command again to migrate \(them)"
        case .replay: text + "To migrate \(them), run godwit migrate again"
        }
    }

    /// Whether every store that was meant is done, or built and waiting for its swap.
    ///
    /// A replay does not cover stores that a user took out of the run.
    static func isComplete(
        _ ending: RunEnding, leftOut: Int, of purpose: Purpose = .migration
    ) -> Bool {
        let isEvery = ending.counts.allSatisfy { state, count in
            switch state {
            case .done, .validated, .pruned: true
            case .rolledBack, .cancelled: count == 0 || purpose == .replay
            case .waiting, .running, .failed: count == 0
            }
        }
        return isEvery && leftOut == 0 && ending.stopReason == nil
    }
}

extension RunFacts.Skipped {
    /// A file that was left out, with the reason.
    init(_ file: SkippedFile) {
        self.init(path: file.path.description, reason: "\(file.reason)")
    }
}
