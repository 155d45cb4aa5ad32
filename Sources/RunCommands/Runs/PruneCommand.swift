import ArgumentParser
import CommandSupport
import DurableFiles
import Foundation
import Jobs
import RunLedger
import RunMoves
import RunReports
import StateFolders
import StoreRuns

/// `godwit prune`.
package struct PruneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Removes the kept originals and leftovers of a run permanently.",
        discussion: """
            Shows the folders that hold them and the space that they use; --yes removes them. \
            Godwit cannot roll back pruned stores.
            """)

    @OptionGroup
    var arguments: RunArguments

    @Option(help: "Prune every run that ended more than this long ago, such as 30d, 12h or 45m.")
    var olderThan: Age?

    @Flag(
        help: """
            Also remove kept originals whose stores are missing or are no longer Core Data stores.
            """)
    var lost = false

    @Flag(help: "Remove the files. Without --yes, prune only shows what it would remove.")
    var yes = false

    func validate() throws {
        if olderThan != nil, arguments.target != nil {
            throw ValidationError("give a run or store, or --older-than, not both")
        }
    }

    func run() throws {
        let selection = try arguments.selection()
        let environment = CommandEnvironment.make(clock: MonotonicClock.start())
        var (refused, pruned) = (0, 0)
        for run in try runs(selection, now: environment.wallTime()) {
            var chosen = selection
            chosen.run = run
            let estimate = try CommandFailure.translating {
                let run = PruneRun(chosen, environment: environment, takesLost: lost)
                return try run.run(removes: yes) { count in
                    guard Console.isTerminal, count % 16 == 0 else { return }
                    Console.status("\(yes ? "pruning" : "looking"): \(counted(count, "store"))")
                }
            }
            if Console.isTerminal { Console.status("") }
            refused += estimate.refused.count
            pruned += 1
            show(estimate)
        }
        if pruned == 0 { return Console.print("No ended run that was not pruned is that old.") }
        if !yes { Console.print("Godwit removed nothing. Use --yes to remove the files.") }
        if refused > 0 { throw ExitCode(CommandStatus.canBeRepeated.rawValue) }
    }

    /// The runs that are meant; nil stands for the newest.
    private func runs(
        _ selection: RunSelection, now: Int64
    ) throws(CommandFailure) -> [String?] {
        guard let olderThan else { return [selection.run] }
        return try CommandFailure.translating {
            let records = try RunRecords(state: selection.state)
            let chosen = try records.runs().filter { run in
                try !run.state.isUnfinished && now - run.changedAt > olderThan.milliseconds
                    && (!PruneCommand.isPruned(try records.counts(of: run.id))
                        || records.hasFolder(run.id, state: selection.state))
            }
            try records.close()
            return chosen.map(\.id)
        }
    }

    /// Whether every store of a run was pruned before.
    static func isPruned(_ counts: [StoreState: Int]) -> Bool {
        counts[.pruned, default: 0] > 0 && counts.allSatisfy { $0.key == .pruned || $0.value == 0 }
    }

    /// How many folders of kept originals are named.
    private static let shownFolders = 20

    private func show(_ estimate: PruneEstimate) {
        let verb = yes ? "freed" : "would free"
        Console.print(
            "run \(estimate.run): \(verb) \(ByteSize(bytes: estimate.bytes).words), "
                + "\(counted(estimate.backups, "kept original"))")
        for path in estimate.folders.sorted().prefix(Self.shownFolders) + estimate.leftovers {
            Console.print("  \(path)")
        }
        let more = estimate.folders.count - Self.shownFolders
        if more > 0 { Console.print("  and \(counted(more, "more folder")) of kept originals") }
        for change in estimate.refused {
            Console.log(
                "godwit: \(change.path): \(change.text): "
                    + (change.failure.map { "\($0)" } ?? ""))
        }
    }
}

/// A time that has passed, as people write it: `30d`, `12h`, `45m`.
struct Age: Hashable, Sendable, ExpressibleByArgument {
    let milliseconds: Int64

    /// Reads an age; nil for what is none.
    init?(argument: String) {
        let units: [Character: Int64] = ["d": 86_400_000, "h": 3_600_000, "m": 60_000]
        guard let last = argument.last, let unit = units[last],
            let number = Int64(argument.dropLast()), (0...100_000).contains(number)
        else { return nil }
        milliseconds = number * unit
    }
}
