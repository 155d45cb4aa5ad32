import ArgumentParser
import DurableFiles
import LocalRun
import ManagedObjectModel
import MigrationEngine

/// `godwit verify`.
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Compares a store with the result of its migration.",
        discussion: """
            Differences are listed by object URI, never by value, and end the command with 1. \
            Neither store is changed.
            """)

    @Argument(help: "The original store.")
    var source: String

    @Argument(help: "The migrated store.")
    var destination: String

    @Option(name: .customLong("to"), help: "The destination's model, if it holds none.")
    var to: ModelArgument?

    @Option(name: .customLong("from"), help: "The source's model, if it holds none.")
    var from: ModelArgument?

    @Option(help: "What migrate was told of references to objects that are gone.")
    var dangling = DanglingPolicy.keep

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let original = try StorePath.check(source)
        let result = try StorePath.check(destination)
        let report = try ScratchFolder.with { scratch in
            let verification = LocalVerification(
                source: original, destination: result, choice: try choice(scratch),
                sourceModel: try from?.load(scratch: scratch).model, dangling: dangling)
            return try verification.run(scratch: scratch)
        }
        if json {
            try Console.printJSON(VerificationReport(report, source: original, result: result))
        } else {
            Console.print(report.lines.joined(separator: "\n"))
        }
        if !report.isEqual { throw ExitCode(CommandStatus.differences.rawValue) }
    }

    /// The destination that the user names; nil leaves it to the result's own model.
    private func choice(_ scratch: FilePath) throws(CommandFailure) -> DestinationChoice? {
        guard let to else { return nil }
        if case .itself = to.form { return .itself }
        let loaded = try to.load(scratch: scratch)
        return .model(try CommandFailure.translating { try loaded.destination() })
    }
}

/// The JSON of `godwit verify`.
struct VerificationReport: Sendable, Codable {
    var source: String
    var destination: String
    var isEqual: Bool
    var validation: ValidationReport

    init(_ report: ValidationReport, source: FilePath, result: FilePath) {
        self.source = source.description
        destination = result.description
        isEqual = report.isEqual
        validation = report
    }
}
