package import ArgumentParser
import CommandSupport
import Foundation
import ManagedObjectModel
import MappingFiles
import MappingModel
import RunReports

/// `godwit mapping`: looks at mapping models without migrating anything.
package struct MappingCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "mapping",
        abstract: "Shows, checks, writes and converts mapping models.",
        discussion: MappingCommand.mappingHelp,
        subcommands: [
            MappingShowCommand.self, MappingCheckCommand.self, MappingScaffoldCommand.self,
            MappingConvertCommand.self,
        ])

    package init() {}

    static let mappingHelp = """
        A MAPPING is an .xcmappingmodel, a .cdm, or a .yaml in Godwit's own format. \
        \(ModelCommand.modelHelp)
        """
}

/// The mapping file of a command.
struct MappingArgument: ParsableArguments {
    @Argument(help: "The mapping: .xcmappingmodel, .cdm or .yaml.")
    var mapping: String

    /// Reads the file and says on standard error what is unusual.
    func load() throws(CommandFailure) -> MappingFile {
        let file = try MappingFile.load(mapping)
        for warning in file.warnings { Console.log("warning: \(mapping): \(warning)") }
        return file
    }
}

/// The two models that a mapping is held against.
struct MappingModels: ParsableArguments {
    @Argument(help: "The source model.")
    var source: ModelArgument?

    @Argument(help: "The destination model.")
    var destination: ModelArgument?

    func validate() throws {
        guard (source == nil) == (destination == nil) else {
            throw ValidationError("give a source and a destination model, or neither")
        }
    }

    /// Reads the models; nil where none are given.
    ///
    /// Copies in the file that differ from the given models are reported: what Xcode shows in its
    /// editor is then not what the mapping is used for.
    func load(
        _ file: MappingFile
    ) throws(CommandFailure) -> (source: LoadedModel, destination: LoadedModel)? {
        let embedded = file.embedded
        guard let source, let destination else { return nil }
        let given = (try ModelCommand.load(source), try ModelCommand.load(destination))
        for (model, own, side) in [
            (given.0.model, embedded?.source, "source"),
            (given.1.model, embedded?.destination, "destination"),
        ] {
            guard let own else { continue }
            let differing = own.differences(from: model)
            guard !differing.isEmpty else { continue }
            Console.log(
                "warning: \(file.path): it was made for a different \(side) model; they differ "
                    + "in \(differing.joined(separator: ", "))")
        }
        return given
    }
}

/// `godwit mapping show`.
struct MappingShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Prints a mapping, completed from the two models if you give them.",
        discussion: MappingCommand.mappingHelp)

    @OptionGroup
    var file: MappingArgument

    @OptionGroup
    var models: MappingModels

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let file = try file.load()
        var definition = file.definition
        if let (source, destination) = try models.load(file), !definition.infersRest {
            definition = definition.completed(from: source.model, to: destination.model)
        }
        if json {
            try Console.printJSON(MappingSummary(definition))
        } else {
            Console.print(definition.lines.joined(separator: "\n"))
        }
    }
}

/// `godwit mapping check`.
struct MappingCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks whether a mapping fits two models and Godwit can run it.",
        discussion: """
            \(MappingCommand.mappingHelp)
            Exits with 65 if the mapping has errors or needs an unavailable feature or policy.
            """)

    @OptionGroup
    var file: MappingArgument

    @OptionGroup
    var models: MappingModels

    @Option(help: "The executable with the migration policies that the mapping names.")
    var workerCommand: String?

    @OptionGroup
    var format: FormatOptions

    func run() throws {
        try format.reporting("godwit mapping check") { try check($0) }
    }

    private func check(_ report: CheckReport) throws {
        let file = try file.load()
        guard let (source, destination) = try models.load(file) else {
            throw CommandFailure.usage(
                "give the source and the destination model after \(file.path)")
        }
        let check = MappingVerdict(
            file, from: source.model, to: destination.model,
            hashes: (source.hashes, destination.hashes),
            policies: try WorkerPolicies.declarations(of: workerCommand))
        switch format.chosen {
        case .text: Console.print(check.text)
        case .json: try Console.printJSON(check)
        case .junit, .github:
            var report = report
            report.cases = check.cases
            format.print(report)
        }
        guard check.mistakes.isEmpty else { throw ExitCode(CommandStatus.badData.rawValue) }
    }
}

/// `godwit mapping scaffold`.
struct MappingScaffoldCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scaffold",
        abstract: "Writes a mapping to start from, with all that Godwit can infer.",
        discussion: """
            \(ModelCommand.modelHelp)
            Writes a comment with the reason for each part that it cannot infer.
            Example: godwit mapping scaffold App.xcdatamodeld:1 App.xcdatamodeld:2 > 1to2.yaml
            """)

    @Argument(help: "The source model.")
    var source: ModelArgument

    @Argument(help: "The destination model.")
    var destination: ModelArgument

    @Flag(help: "Name the version hashes, so that the mapping fits these versions alone.")
    var hashes = false

    @OptionGroup
    var output: TextOutput

    func run() throws {
        let text = YAMLMappingWriter.scaffold(
            from: try ModelCommand.load(source).model,
            to: try ModelCommand.load(destination).model,
            comments: [
                "A mapping for godwit migrate --mapping. Edit it as needed.",
                "Godwit infers entities and properties that this file does not mention.",
            ], hasHashes: hashes)
        try output.write(text)
    }
}

/// `godwit mapping convert`.
struct MappingConvertCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Converts a mapping of any form to YAML.",
        discussion: MappingCommand.mappingHelp)

    @OptionGroup
    var file: MappingArgument

    @OptionGroup
    var output: TextOutput

    func run() throws {
        let file = try file.load()
        try output.write(YAMLMappingWriter.text(file.definition))
    }
}
