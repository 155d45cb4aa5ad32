import ArgumentParser
import DurableFiles
import LocalRun
import RunLedger

/// `godwit status`.
struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows where runs stand, also while they go on.")

    @OptionGroup
    var arguments: RunArguments

    @Flag(help: "Print JSON.")
    var json = false

    /// A run as `--json` prints it.
    struct Entry: Codable {
        var run: String
        var state: String
        var reason: String
        var stores: [String: Int]
    }

    func run() throws {
        let selection = try arguments.selection()
        let entries = try CommandFailure.translating { () -> [Entry] in
            let records = try RunRecords(state: selection.state)
            let runs = try selection.run.map { [try records.run($0)] } ?? records.runs()
            let entries = try runs.map { run in
                Entry(
                    run: run.id, state: run.state.rawValue, reason: run.reason,
                    stores: Dictionary(
                        uniqueKeysWithValues: try records.counts(of: run.id)
                            .map { ($0.key.rawValue, $0.value) }))
            }
            try records.close()
            return entries
        }
        if json { return try Console.printJSON(entries) }
        var table = TextTable([("run", .left), ("state", .left), ("stores", .left)])
        for entry in entries {
            let stores = entry.stores.sorted { $0.key < $1.key }
                .map { "\(grouped($0.value)) \($0.key)" }
            table.add([
                entry.run, entry.state + (entry.state == "paused" ? ": \(entry.reason)" : ""),
                stores.joined(separator: ", "),
            ])
        }
        for line in table.lines { Console.print(line) }
    }
}
