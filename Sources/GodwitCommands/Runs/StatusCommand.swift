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

    @OptionGroup
    var connection: ConnectChoice

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
        if let connection = try connection.connection(state: arguments.state) {
            return try show(connection)
        }
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
        let lock = selection.state.appending(FilePath(Ledger.lockName))
        let holder = try CommandFailure.translating { try OwnerLock.currentHolder(of: lock) }
        var table = TextTable([("run", .left), ("state", .left), ("stores", .left)])
        for entry in entries {
            let stores = entry.stores.sorted { $0.key < $1.key }
                .map { "\(grouped($0.value)) \($0.key)" }
            table.add([
                entry.run, entry.state,
                stores.joined(separator: ", "),
            ])
        }
        for line in table.lines { Console.print(line) }
        for entry in entries where entry.state == "paused" {
            Console.print("\(entry.run) is paused: \(entry.reason)")
        }
        if let holder {
            Console.print("at work: \(holder)")
        } else if entries.contains(where: { $0.state == "open" || $0.state == "paused" }) {
            Console.print("nobody is at work: the command of an unfinished run goes on with it")
        }
    }
}
