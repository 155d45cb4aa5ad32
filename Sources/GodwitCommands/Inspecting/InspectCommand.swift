import ArgumentParser
import CommandSupport
import CoreDataStore
import DurableFiles
import ModelCommands
import RunCommands

/// `godwit inspect`.
struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Shows what a store holds and what is unusual in it.",
        discussion: """
            Never writes to the store. If the -wal has content or a journal is hot, it reads a \
            temporary copy in TMPDIR and removes the copy at the end.
            """)

    @Argument(help: "The store's database file.")
    var store: String

    @Option(name: .customLong("from"), help: "The store's model, for a store that holds none.")
    var from: ModelArgument?

    @Flag(help: "Print JSON.")
    package var json = false

    @Flag(help: "Do not check every page before reading.")
    var noCheck = false

    func run() throws {
        let path = try StorePath.check(store)
        let inspection = try ScratchFolder.with { scratch in
            let given = try from?.load(option: "--from", scratch: scratch)
            let real = try DurableFileSystem(links: .followed).resolve(path)
            let source = try StoreOpener().open(
                StoreLocation(real), scratch: scratch, given: given?.model, checksPages: !noCheck)
            return try StoreInspector.inspect(source, isChecked: !noCheck)
        }
        if json {
            try Console.printJSON(inspection)
        } else {
            Console.print(inspection.text)
        }
    }
}
