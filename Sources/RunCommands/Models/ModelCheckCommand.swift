package import ArgumentParser
import CommandSupport
import DurableFiles
import MigrationPlanning
import RunReports

/// `godwit model check`.
package struct ModelCheckCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks whether stores of other versions can be migrated to a model.",
        discussion: """
            Needs no store. Give a bundle (.xcdatamodeld or .momd) to check all its versions \
            against its current one, or a source and a destination model. Verdicts: same, \
            inferred, data (depends on what a store holds), mapping (needs a mapping model), \
            refused. Exits with 65 if a version is mapping or refused.
            Example: godwit model check App.xcdatamodeld --losses refuse --format github
            """)

    @Argument(
        help: "The bundle, or the source model.")
    var source: ModelArgument

    @Argument(help: "The destination model.")
    var destination: ModelArgument?

    @OptionGroup
    var format: FormatOptions

    @OptionGroup
    var losses: LossOptions

    @Flag(help: "Allow versions that are newer than the destination, too.")
    var allowOlder = false

    package init() {}

    package func run() throws {
        let clock = MonotonicClock.start()
        var report = format.checkReport("godwit model check")
        let check = try ModelCheck(
            source: source, destination: destination, policy: losses.policy(),
            allowsOlder: allowOlder)
        for warning in check.warnings { Console.log("warning: \(warning)") }
        switch format.chosen {
        case .text: Console.print(check.text)
        case .json: try Console.printJSON(check)
        case .junit, .github:
            report.cases = check.cases(seconds: clock())
            Console.printRaw(format.chosen == .junit ? report.junit : report.github)
        }
        guard check.isPassed else { throw ExitCode(CommandStatus.badData.rawValue) }
    }
}
