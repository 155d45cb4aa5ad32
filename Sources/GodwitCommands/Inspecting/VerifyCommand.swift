package import ArgumentParser
import CommandSupport
import DurableFiles
import ManagedObjectModel
import MappingModel
import MigrationEngine
import MigrationPlans
import MigrationValidation
package import ModelCommands
import RunReports
import RunService
import StoreRuns

/// `godwit verify`.
package struct VerifyCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Compares a store with the result of its migration.",
        discussion: """
            Lists differences by object URI, never by value. Exits with 1 if there are any. It \
            changes neither store. Without --to, Godwit compares the result with the model \
            stored in it.
            """)

    @Argument(help: "The original store.")
    var source: String

    @Argument(help: "The migrated store.")
    var destination: String

    @Option(name: .customLong("to"), help: "The destination's model, if it holds none.")
    var to: ModelArgument?

    @Option(name: .customLong("from"), help: "The source's model, if it holds none.")
    package var from: ModelArgument?

    @OptionGroup
    var mappings: MappingOptions

    @OptionGroup
    var via: ViaOption

    @Option(help: "The --dangling that the migration used.")
    var dangling = DanglingPolicy.keep

    @Flag(help: "Print JSON.")
    var json = false

    package init() {}

    package func run() throws {
        let original = try StorePath.check(source)
        let result = try StorePath.check(destination)
        var versions: VerifiedVersions?
        let choices = try mappings.choices()
        let route = try via.route()
        if let program = route.programs.first {
            throw CommandFailure.usage(
                "\(program.name) runs between two steps: verify does not know what it changed. The "
                    + "run itself validated its results")
        }
        let used = choices + route.directions.compactMap(\.mapping)
        if let timed = used.first(where: \.usesNow) {
            throw CommandFailure.usage(
                "\(timed.name) uses now(): verify does not know when the result was made. The run "
                    + "itself validated its results")
        }
        if let coded = used.first(where: \.hasPolicies) {
            throw CommandFailure.usage(
                "\(coded.name) names a migration policy: verify does not know what that gave. The "
                    + "run itself validated its results")
        }
        let report = try ScratchFolder.with { scratch in
            let given = try from?.load(option: "--from", scratch: scratch)
            let loaded = try load(scratch)
            var verification = LocalVerification(
                source: original, destination: result, choice: try choice(loaded),
                sourceModel: given?.model, dangling: dangling, mappings: choices)
            verification.ways = try ways(by: route, to: loaded, choices)
            return try verification.run(scratch: scratch) { source, destination in
                let found = VerifiedVersions(
                    source: source, destination: destination, isDestinationNamed: to != nil)
                if let warning = found.warning { Console.log("warning: \(warning)") }
                versions = found
            }
        }
        try show(
            VerificationReport(report, source: original, result: result, versions: versions))
        if !report.isEqual { throw ExitCode(CommandStatus.differences.rawValue) }
    }

    private func show(_ report: VerificationReport) throws(CommandFailure) {
        if json {
            try Console.printJSON(report)
        } else {
            Console.print(report.text)
        }
    }

    /// The destination that the user names; nil where that is the result's or the source's model.
    private func load(_ scratch: FilePath) throws(CommandFailure) -> LoadedModel? {
        guard let to else { return nil }
        if case .itself = to.form { return nil }
        let loaded = try to.load(option: "--to", scratch: scratch)
        for warning in loaded.warnings { Console.log("warning: \(warning)") }
        return loaded
    }

    private func choice(_ loaded: LoadedModel?) throws(CommandFailure) -> DestinationChoice? {
        guard let loaded else { return to == nil ? nil : .itself }
        return .model(try CommandFailure.translating { try loaded.destination() })
    }

    /// The ways that the migration took.
    private func ways(
        by route: ViaRoute, to loaded: LoadedModel?, _ choices: [MappingChoice]
    ) throws(CommandFailure) -> VersionWays {
        guard let loaded else {
            guard !route.isGiven else {
                throw .usage("--via needs --to with the destination's bundle")
            }
            return VersionWays()
        }
        var options = PlanOptions()
        options.mappings = choices
        return try route.ways(to: loaded, options)
    }
}

/// The JSON of `godwit verify`.
struct VerificationReport: Sendable, Codable {
    var source: String
    var destination: String
    var sourceVersion: StoreVersion?
    var destinationVersion: StoreVersion?
    var isEqual: Bool
    var validation: ValidationReport

    init(
        _ report: ValidationReport, source: FilePath, result: FilePath,
        versions: VerifiedVersions?
    ) {
        self.source = source.description
        destination = result.description
        sourceVersion = versions?.source
        destinationVersion = versions?.destination
        isEqual = report.isEqual
        validation = report
    }

    /// The report for a terminal.
    var text: String {
        var lines: [String] = []
        if let sourceVersion { lines.append("source       \(source): \(sourceVersion.text)") }
        if let destinationVersion {
            lines.append("destination  \(destination): \(destinationVersion.text)")
        }
        return (lines + validation.lines).joined(separator: "\n")
    }
}
