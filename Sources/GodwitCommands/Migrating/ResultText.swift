import CoreDataStore
import DurableFiles
import LocalRun
import MigrationEngine

/// What `godwit migrate` tells of a single store that was migrated.
enum ResultText {
    /// The report for a terminal.
    static func text(of found: StoreResult) -> String {
        let validation = found.validation
        let rows = validation.rows
        let dropped = validation.sourceRows - rows
        let all = found.seconds.values.reduce(0, +)
        let steps = RunStep.allCases.compactMap { step in
            found.seconds[step].map { "\(step.rawValue) \(Seconds.words($0))" }
        }
        var lines = ["store      \(found.store)"]
        if let backup = found.backup {
            lines.append("result     swapped in; the original is kept in \(backup)")
        } else if found.isInPlace {
            lines.append("result     built and validated; godwit swap puts it in its place")
        } else {
            lines.append("result     \(found.output)")
        }
        lines += [
            "migrated   \(counted(rows, "row")), \(ByteSize(bytes: found.outputBytes).words), "
                + "\(found.strategy.rawValue)",
            "time       \(Seconds.words(all)): \(steps.joined(separator: ", "))",
        ]
        if dropped > 0 {
            lines.append(
                "dropped    \(counted(dropped, "row")) of entities that the destination has not")
        }
        lines += zip(validation.lines, 0...).map { line, place in
            (place == 0 ? "validated  " : "           ") + line
        }
        let changed = found.changedURIs.values.reduce(0, +)
        if changed > 0 { lines.append("URIs       of \(counted(changed, "object")) changed") }
        for (label, isKept) in [("kept", true), ("dropped", false)] {
            lines += PlanReport.list(
                label,
                found.extras.filter { $0.isKept == isKept }.map {
                    "\($0.object.kind.rawValue) \($0.object.name): \($0.reason)"
                })
        }
        let remarks = found.notes + found.oddities.map { "the source: \($0)" } + found.leftovers
        lines += PlanReport.list("notes", remarks)
        return lines.joined(separator: "\n")
    }
}
