import CoreDataStore
import DurableFiles
import LocalRun
import MigrationEngine

/// What `godwit migrate` tells of a finished store.
///
/// Its JSON is documented in `docs/reference/json.md`.
struct MigrationReport: Sendable, Codable {
    var store: String
    /// The result; nil where nothing was published.
    var output: String?
    var outputBytes: Int64
    /// Seconds by step.
    var seconds: [String: Double]
    var plan: PlanReport
    var validation: ValidationReport

    init(_ outcome: MigrationOutcome, store: FilePath) {
        self.store = store.description
        output = outcome.output?.description
        outputBytes = outcome.outputBytes
        seconds = Dictionary(
            uniqueKeysWithValues: outcome.seconds.map { ($0.key.rawValue, $0.value) })
        plan = PlanReport(
            outcome.plan, store: store.description, oddities: outcome.oddities)
        validation = outcome.validation
    }

    /// The report for a terminal.
    var text: String {
        let rows = validation.rows
        let dropped = validation.sourceRows - rows
        let all = seconds.values.reduce(0, +)
        let steps = RunStep.allCases.compactMap { step in
            seconds[step.rawValue].map { "\(step.rawValue) \(Seconds.words($0))" }
        }
        var lines = [
            "store      \(store)", "result     \(output ?? "none")",
            "migrated   \(counted(rows, "row")), \(ByteSize(bytes: outputBytes).words), "
                + "\(plan.strategy.rawValue)",
            "time       \(Seconds.words(all)): \(steps.joined(separator: ", "))",
        ]
        if dropped > 0 {
            lines.append(
                "dropped    \(counted(dropped, "row")) of entities that the destination has not")
        }
        lines += zip(validation.lines, 0...).map { line, place in
            (place == 0 ? "validated  " : "           ") + line
        }
        let changed = plan.changedURIs.values.reduce(0, +)
        if changed > 0 { lines.append("URIs       of \(counted(changed, "object")) changed") }
        for (label, isKept) in [("kept", true), ("dropped", false)] {
            lines += PlanReport.list(
                label,
                plan.extras.filter { $0.isKept == isKept }.map {
                    "\($0.kind.rawValue) \($0.name): \($0.reason)"
                })
        }
        lines += PlanReport.list("notes", plan.notes + plan.oddities.map { "the source: \($0)" })
        return lines.joined(separator: "\n")
    }
}
