import DurableFiles
import MigrationEngine
import MigrationPlans
import MigrationValidation
import RunReports
import RunService
import SafeSQLite
import StoreRuns

/// What `godwit migrate` reports of a single store that was migrated.
enum ResultText {
    /// The report for a terminal of 80 columns.
    static func text(of found: StoreResult, run: String? = nil) -> String {
        let validation = found.validation
        let rows = validation.rows
        let all = found.seconds.values.reduce(0, +)
        let steps = RunStep.allCases.compactMap { step in
            found.seconds[step].map { "\(step.rawValue) \(Seconds.words($0))" }
        }
        var lines = labelled("store", "\(found.store)")
        if let run { lines += labelled("run", run) }
        if let backup = found.backup {
            lines += labelled("result", "swapped in; the original is kept in \(backup)")
        } else if found.isInPlace {
            lines += labelled(
                "result",
                "built and validated. Run godwit swap to replace the original")
        } else {
            lines += labelled("result", "\(found.output)")
        }
        lines += labelled(
            "migrated",
            "\(counted(rows, "row")), \(ByteSize(bytes: found.outputBytes).words), "
                + "\(found.strategy.rawValue)")
        if found.steps.count > 1 {
            let between = found.steps.dropLast().map { step in
                step.version + (step.reasonToWrite == nil ? "" : " (written)")
            }
            lines += labelled("through", between.joined(separator: ", "))
        }
        if !steps.isEmpty {
            lines += labelled("time", "\(Seconds.words(all)): \(steps.joined(separator: ", "))")
        }
        for (place, line) in validation.lines.enumerated() {
            lines += labelled(place == 0 ? "validated" : "", line)
        }
        let changed = found.changedURIs.values.reduce(0, +)
        if changed > 0 { lines += labelled("URIs", "of \(counted(changed, "object")) changed") }
        for (label, isKept) in [("kept", true), ("dropped", false)] {
            lines += list(
                label,
                found.extras.filter { $0.isKept == isKept }.map {
                    "\($0.object.kind.rawValue) \($0.object.name): \($0.reason)"
                })
        }
        lines += list("warnings", found.leftovers)
        lines += list("notes", found.notes + found.oddities.map { "the source: \($0)" })
        return lines.joined(separator: "\n")
    }

    private static func labelled(_ label: String, _ text: String) -> [String] {
        let first = label + String(repeating: " ", count: 11 - label.count)
        return WrappedText.lines(text, first: first, rest: String(repeating: " ", count: 11))
    }

    private static func list(_ title: String, _ items: [String]) -> [String] {
        guard !items.isEmpty else { return [] }
        return [title] + items.flatMap { WrappedText.lines($0, first: "- ", rest: "  ") }
    }
}
