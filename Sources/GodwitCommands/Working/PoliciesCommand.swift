import ArgumentParser
import CommandSupport
import MappingModel
import MigrationEngine

/// `godwit policies`.
struct PoliciesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policies",
        abstract: "Lists the migration policies that this executable carries.",
        discussion: """
            godwit itself carries none. Build an executable with your own policies, and use it in \
            place of godwit, or as --worker-command.
            """)

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let policies = CarriedPolicies.all.declarations
        if json { return try Console.printJSON(policies) }
        guard !policies.isEmpty else {
            return Console.print("This executable carries no policies.")
        }
        for policy in policies { Console.print(Self.lines(of: policy).joined(separator: "\n")) }
    }

    private static func lines(of policy: PolicyDeclaration) -> [String] {
        var lines = [policy.className]
        func add(_ noun: String, _ names: [String]) {
            if !names.isEmpty { lines.append("  \(noun): \(names.joined(separator: ", "))") }
        }
        add("sets", policy.sets)
        add(
            "creates",
            policy.creates.map { created in
                let found = created.key.isEmpty ? "" : " by \(created.key.joined(separator: "+"))"
                return "\(created.entity)\(found) (at most \(created.most))"
            })
        add("carries", policy.carries)
        add("answers", policy.functions)
        if !policy.isDeterministic { lines.append("  not deterministic") }
        return lines
    }
}
