package import ArgumentParser
import CommandSupport
import ManagedObjectModel
import RunReports

/// `godwit model`: looks at models without migrating anything.
package struct ModelCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "model",
        abstract: "Shows, checks, compares and hashes models.",
        discussion: ModelCommand.modelHelp,
        subcommands: [
            ModelShowCommand.self, ModelCheckCommand.self, ModelDiffCommand.self,
            ModelHashCommand.self,
        ])

    package init() {}

    static let modelHelp = """
        A MODEL is an .xcdatamodel, an .xcdatamodeld[:VERSION], a .mom, a .momd[:VERSION], or a \
        store, whose cached model Godwit reads.
        """

    /// Reads a model and says on standard error what is unusual.
    static func load(_ argument: ModelArgument) throws(CommandFailure) -> LoadedModel {
        try ScratchFolder.with { scratch in
            let loaded = try argument.load(scratch: scratch, checksPages: false)
            for warning in loaded.warnings { Console.log("warning: \(warning)") }
            return loaded
        }
    }
}

/// `godwit model show`.
struct ModelShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Prints a model's entities and all their declarations.",
        discussion: ModelCommand.modelHelp)

    @Argument(help: "The model.")
    var model: ModelArgument

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let summary = ModelSummary(try ModelCommand.load(model).model)
        if json {
            try Console.printJSON(summary)
        } else {
            Console.print(String(summary.text.dropLast()))
        }
    }
}

/// `godwit model diff`.
struct ModelDiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Lists the differences between two models.",
        discussion: ModelCommand.modelHelp)

    @Argument(help: "The source model.")
    var source: ModelArgument

    @Argument(help: "The destination model.")
    var destination: ModelArgument

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Exit with 1 if the models differ. Default: 0, whether or not they differ.")
    var exitCode = false

    func run() throws {
        let diff = ModelDiff(
            from: try ModelCommand.load(source).model, to: try ModelCommand.load(destination).model)
        if json {
            try Console.printJSON(diff)
        } else {
            Console.print(diff.isEmpty ? "no differences" : diff.lines.joined(separator: "\n"))
        }
        if exitCode, !diff.isEmpty { throw ExitCode(CommandStatus.differences.rawValue) }
    }
}

/// `godwit model hash`.
struct ModelHashCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hash", abstract: "Prints the version hash of each entity.",
        discussion: ModelCommand.modelHelp)

    @Argument(help: "The model.")
    var model: ModelArgument

    @Flag(help: "Print JSON: {\"entities\": {NAME: base64}, \"digest\": …, \"checksum\": …}.")
    var json = false

    func run() throws {
        let hashes = try ModelCommand.load(model).hashes
        if json {
            try Console.printJSON(hashes)
        } else {
            Console.print(hashes.text)
        }
    }
}
