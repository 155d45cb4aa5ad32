import ArgumentParser
import CoreDataStore
import DurableFiles
import LocalRun
import MigrationEngine

/// `godwit demo`.
struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Makes a few stores in Core Data's format, migrates them, shows what was proved.",
        discussion: """
            Works in ./godwit-demo and nowhere else. A folder of that name that an earlier demo \
            made is replaced; any other one is left alone.
            """)

    /// Slots of the demo's migrations.
    private static let slots = 2

    func run() throws {
        let folder = try CommandFailure.translating {
            try DemoFolder.make(at: FilePath("godwit-demo"))
        }
        Console.print("Making stores as an app would have left them in a backup:")
        let stores = DemoStore.all
        for store in stores {
            let made = try CommandFailure.translating { try store.forge(in: folder) }
            Console.print("  \(made)")
        }
        Console.print("\nMigrating them to version 3 of their models, with \(Self.slots) slots:")
        var table = TextTable([
            ("store", .left), ("version", .left), ("rows", .right), ("size", .right),
            ("chunks", .right), ("time", .right), ("compared", .right), ("different", .right),
        ])
        for store in stores { table.add(try migrate(store, in: folder)) }
        for line in table.lines { Console.print("  \(line)") }
        Console.print(Self.proof)
        Console.print(try CommandFailure.translating { try folder.listing() })
        Console.print(Self.nextCommands(stores))
    }

    private func migrate(
        _ store: DemoStore, in folder: DemoFolder
    ) throws(CommandFailure) -> [String] {
        let before = try CommandFailure.translating { try folder.digest(of: store.fileName) }
        let request = try CommandFailure.translating {
            try folder.request(for: store, slots: Self.slots)
        }
        let view = RunView(store: store.fileName, isLive: Console.isTerminal)
        let clock = MonotonicClock.start()
        let migration = LocalMigration(request, clock: clock) { event in
            if Console.isTerminal { view.show(event, at: clock()) }
        }
        do throws(RunError) {
            let outcome = try migration.run()
            view.end()
            guard try before == digest(of: store, in: folder) else {
                throw RunError.engine(.internalError("the original \(store.fileName) changed"))
            }
            return row(store, outcome, seconds: clock())
        } catch {
            view.end()
            throw CommandFailure(error)
        }
    }

    private func digest(
        of store: DemoStore, in folder: DemoFolder
    ) throws(RunError) -> String {
        do throws(DurableFileError) {
            return try folder.digest(of: store.fileName)
        } catch {
            throw .file(error)
        }
    }

    private func row(
        _ store: DemoStore, _ outcome: MigrationOutcome, seconds: Double
    ) -> [String] {
        let found = outcome.validation
        let compared = found.values + found.links + found.joinRows + found.indexEntries
        let chunks = outcome.plan.strategy == .whole ? "whole" : "\(outcome.plan.chunks.count)"
        return [
            store.fileName, "\(store.version) -> 3", "\(found.rows)",
            ByteSize(bytes: outcome.outputBytes).words, chunks, Seconds.words(seconds),
            "\(compared)", "\(found.differences.count)",
        ]
    }

    private static let proof = """

        What was proved of every result, by code that shares nothing with the copying:
          every value, link, place in an ordered list and index entry is what the source and
          the mapping ask for; required values, cardinality and uniqueness hold; pages, schema,
          metadata and version hashes are right. The originals have the same bytes as before.
        """

    private static func nextCommands(_ stores: [DemoStore]) -> String {
        let first = stores.first?.fileName ?? ""
        return """

            Go on with:
              godwit inspect godwit-demo/backups/\(first)
              godwit plan    godwit-demo/backups/\(first) --to godwit-demo/templates/notes.sqlite
              godwit verify  godwit-demo/backups/\(first) godwit-demo/migrated/\(first)
              godwit model diff godwit-demo/backups/\(first) godwit-demo/templates/notes.sqlite
            (built with `swift build -c release`, the command lies in .build/release)
            """
    }
}
