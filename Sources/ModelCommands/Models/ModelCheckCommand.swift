package import ArgumentParser
import CommandSupport
import MigrationPlans
import RunReports

/// `godwit model check`.
package struct ModelCheckCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks whether stores of other versions can be migrated to a model.",
        discussion: """
            Needs no store. Give a bundle (.xcdatamodeld or .momd) to check all its versions \
            against its current one (BUNDLE:VERSION: against that one), or a source and a \
            destination model. Verdicts: same, inferred, data (depends on what a store holds), \
            mapping (needs a mapping model), refused. Exits with 65 for mapping and refused, and \
            for versions that are rejected by --losses refuse or --data refuse.
            Example: godwit model check App.xcdatamodeld --losses refuse --format github
            """)

    @Argument(
        help: "The bundle, or the source model. For a bundle without :VERSION, all its versions.")
    var source: ModelArgument

    @Argument(help: "The destination model.")
    var destination: ModelArgument?

    @OptionGroup
    var mappings: MappingOptions

    @OptionGroup
    var via: ViaOption

    @OptionGroup
    var format: FormatOptions

    @OptionGroup
    var losses: LossOptions

    @Option(
        help: """
            Report versions whose stores can be migrated only if their data fulfil a rule, or \
            refuse them.
            """)
    var data = RefusalArgument.report

    @Flag(help: "Also allow versions that are newer than the destination.")
    var allowOlder = false

    package init() {}

    package func run() throws {
        try format.reporting("godwit model check") { try check($0) }
    }

    private func check(_ report: CheckReport) throws {
        let clock = MonotonicClock.start()
        let check = try ModelCheck(
            source: source, destination: destination,
            rules: ModelCheck.Rules(
                losses: losses.policy(), refusesData: data == .refuse, allowsOlder: allowOlder,
                mappings: mappings.choices(), via: via.text))
        for warning in check.warnings {
            Console.log("warning: \(warning.replacing("\n", with: " "))")
        }
        switch format.chosen {
        case .text: Console.print(check.text)
        case .json: try Console.printJSON(check)
        case .junit, .github:
            var report = report
            report.cases = check.cases(seconds: clock())
            report.destination = check.destination
            report.notes = check.warnings
            format.print(report)
        }
        guard check.isPassed else { throw ExitCode(CommandStatus.badData.rawValue) }
    }
}
