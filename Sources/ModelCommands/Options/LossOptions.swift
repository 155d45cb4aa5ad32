import ArgumentParser
import ManagedObjectModel
package import MigrationPlans

/// `--losses` and `--accept-loss`.
package struct LossOptions: ParsableArguments {
    @Option(
        help: """
            Report losses of values, links or objects, or refuse them. With refuse, a store fails \
            before Godwit writes anything, and a version fails its check.
            """)
    var losses = RefusalArgument.report

    @Option(
        help: ArgumentHelp(
            "With --losses refuse, accept the loss of this property, entity or history; * allowed.",
            valueName: "Entity.property"))
    var acceptLoss: [String] = []

    package init() {}

    package func validate() throws {
        if !acceptLoss.isEmpty, losses == .report {
            throw ValidationError("--accept-loss needs --losses refuse")
        }
    }

    /// The warning of a pattern that fits no loss.
    package static func unused(_ pattern: String, among names: some Sequence<String>) -> String {
        let nearest = NameSuggestion.nearest(to: pattern, among: names)
        let hint = nearest.isEmpty ? "" : ". Did you mean \(nearest.joined(separator: " or "))?"
        return "--accept-loss \(pattern) matches no loss\(hint)"
    }

    /// What is done about losses.
    package func policy() -> LossPolicy {
        losses == .refuse ? .refuse(accepted: acceptLoss) : .report
    }
}

/// `--losses` and `--data`.
package enum RefusalArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    case report, refuse
}
