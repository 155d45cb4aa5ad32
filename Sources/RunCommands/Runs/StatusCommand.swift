import ArgumentParser
import ClusterCore
import CommandSupport
import DurableFiles
import Foundation
import Jobs
import RunLedger
import RunMoves
import RunReports
import StoreRuns

/// `godwit status`.
package struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows the state of runs. It also works during a run.",
        discussion: """
            Without a TARGET it lists all runs in --state. If TARGET is a store, it lists the \
            runs that include it. With --connect, TARGET must be a run.
            """)

    @OptionGroup
    var arguments: RunArguments

    @OptionGroup
    var connection: ConnectChoice

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        if let connection = try connection.connection(state: arguments.state) {
            return try show(connection)
        }
        let selection = try arguments.selection()
        let entries = try CommandFailure.translating { () -> [RecordedStatus] in
            let records = try RunRecords(state: selection.state)
            let runs =
                if let run = selection.run {
                    [try records.run(run)]
                } else if let store = selection.store {
                    try records.runs(with: store)
                } else {
                    try records.runs()
                }
            let entries = try runs.map { try RecordedStatus($0, records) }
            try records.close()
            return entries
        }
        if json { return try Console.printJSON(entries) }
        let lock = selection.state.appending(FilePath(Ledger.lockName))
        let holder = try CommandFailure.translating { try OwnerLock.currentHolder(of: lock) }
        for line in RecordedStatus.lines(of: entries, holder: holder) { Console.print(line) }
    }
}

/// Where a run stands, as `status` tells it.
struct RecordedStatus: Hashable, Sendable, Codable {
    /// What had become of stores before they were pruned.
    struct Pruned: Hashable, Sendable, Codable {
        var migrated: Int
        var unchanged: Int
        var failed: Int
        var rolledBack = 0
        var cancelled = 0
    }

    var run: String
    var state: String
    var reason: String
    var stores: [String: Int]
    /// When it began and when its state changed last, as ISO 8601.
    var begun: String
    var changed: String
    var pruned: Pruned?

    /// Why it is paused; nil where it is not.
    var pause: PauseReason?

    enum CodingKeys: CodingKey {
        case run, state, reason, stores, begun, changed, pruned
    }

    init(run: String, state: RunState, reason: RunReason?, stores: [StoreState: Int]) {
        self.run = run
        self.state = state.rawValue
        self.reason = reason?.text ?? ""
        pause = reason?.pause
        self.stores = Dictionary(
            uniqueKeysWithValues: stores.map { ($0.key.rawValue, $0.value) })
        begun = ""
        changed = ""
    }

    init(_ run: RunOverview, _ records: RunRecords) throws {
        let counts = try records.counts(of: run.id)
        self.init(run: run.id, state: run.state, reason: run.reason, stores: counts)
        begun = RecordedStatus.text(of: run.record.begunAt)
        changed = RecordedStatus.text(of: run.changedAt)
        guard (counts[.pruned] ?? 0) > 0 else { return }
        let outcomes = try records.prunedOutcomes(of: run.id)
        pruned = Pruned(
            migrated: outcomes.migrated, unchanged: outcomes.unchanged, failed: outcomes.failed,
            rolledBack: outcomes.rolledBack, cancelled: outcomes.cancelled)
    }

    private static func text(of milliseconds: Int64) -> String {
        let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
        return date.ISO8601Format()
    }

    /// What is printed of some runs.
    ///
    /// - Parameters:
    ///   - runs: the newest first.
    ///   - holder: the process that works on the state folder; nil where none does.
    /// - Returns: lines of text.
    static func lines(of runs: [RecordedStatus], holder: String?) -> [String] {
        var table = TextTable([
            ("run", .left), ("state", .left), ("started", .left), ("in state since", .left),
            ("stores", .left),
        ])
        for run in runs { table.add([run.run, run.state, run.begun, run.changed, run.words]) }
        var lines = table.lines
        for run in runs {
            guard let pause = run.pause else { continue }
            let way = pause.isForSpace ? "it resumes automatically" : "resume it with godwit resume"
            lines += WrappedText.lines(
                "\(run.run) is \(pause.words)" + (holder == nil ? "" : "; \(way)"))
        }
        let unfinished = runs.filter { RunState(rawValue: $0.state)?.isUnfinished == true }
        if let holder {
            lines.append("running: \(holder)")
            return lines
        }
        for run in unfinished where run.waitsForSwap {
            let results = counted(run.stores[StoreState.validated.rawValue] ?? 0, "result")
            lines += WrappedText.lines(
                "\(run.run) has \(results) to swap in: godwit swap \(run.run). godwit rollback "
                    + "\(run.run) discards them.")
        }
        if unfinished.contains(where: { !$0.waitsForSwap }) {
            lines += WrappedText.lines(
                "No command is working on an unfinished run. To resume it, run its command again. "
                    + "If that was godwit submit, start godwit coordinate with this --state.")
        }
        return lines
    }

    /// Whether nothing is left but to swap results in.
    private var waitsForSwap: Bool {
        func count(_ state: StoreState) -> Int { stores[state.rawValue] ?? 0 }
        return count(.validated) > 0 && count(.waiting) == 0 && count(.running) == 0
    }

    private var words: String {
        let parts = stores.sorted { $0.key < $1.key }.map { state, count -> String in
            let words = "\(grouped(count)) \(state)"
            guard state == StoreState.pruned.rawValue, let pruned else { return words }
            let before = [
                (pruned.migrated, "migrated"), (pruned.unchanged, "unchanged"),
                (pruned.failed, "failed"), (pruned.rolledBack, "rolled back"),
                (pruned.cancelled, "cancelled"),
            ].filter { $0.0 > 0 }.map { "\(grouped($0.0)) \($0.1)" }
            return before.isEmpty ? words : "\(words) (\(before.joined(separator: ", ")))"
        }
        return parts.joined(separator: ", ")
    }
}
