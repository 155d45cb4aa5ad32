import DurableFiles
import Jobs
import MappingModel
import MigrationEngine
import MigrationPlans
import RunService
import StoreFileChecks

@testable import MigrationValidation
@testable import RunReports

/// Reports on stores that were never there.
enum ReportSamples {
    static let versions = (
        old: ModelVersion(identifiers: ["1"], digest: "b2xkZXI="),
        current: ModelVersion(identifiers: ["2"], digest: "bmV3ZXI=")
    )

    static func done(_ path: String, rows: Int64 = 1000, seconds: Double = 0.5) -> StoreReport {
        var report = StoreReport(
            store: path, outcome: .done,
            bytes: .init(before: rows * 1024, after: rows * 1000))
        report.result = "out/\(path)"
        report.source = versions.old
        report.destination = versions.current
        report.steps = ["1", "2"]
        report.strategy = .whole
        report.rows = .init(before: rows, after: rows)
        report.seconds = ["copy": seconds * 0.75, "validate": seconds * 0.25]
        report.validation = .init(
            values: rows * 7, links: rows, joinRows: 10, indexEntries: rows * 2, differences: 0)
        return report
    }

    static func failed(
        _ path: String, _ cause: FailureCause = .damaged,
        reason: String = "it is damaged: page 7 is never used"
    ) -> StoreReport {
        var report = StoreReport(store: path, outcome: .failed, bytes: .init(before: 8192))
        report.failure = .init(cause: cause, status: 65, reason: "\(path) \(reason)")
        return report
    }

    /// A store of which everything is told.
    static func rich(_ path: String) -> StoreReport {
        var report = done(path, rows: 2_500_000, seconds: 75)
        report.strategy = .partitioned
        report.chunks = 12
        report.attempts = 2
        report.rows = .init(before: 2_500_000, after: 2_499_000)
        report.inherited = [
            CountedFault(
                fault: Fault(entity: "Note", property: "folder", kind: .dangling), count: 3)
        ]
        report.losses = [
            Loss(.init(.entity, "Draft"), count: 1000), Loss(.history, count: 12),
            Loss(.init(.attribute, "Note", "text"), count: 1),
        ]
        report.droppedObjects = ["view appView: it does not fit"]
        report.notes = ["indexes of the app were kept"]
        report.oddities = ["pages of 2048 bytes"]
        report.backup = .init(path: ".godwit/kept/\(path)", bytes: 2_560_000_000)
        return report
    }

    static func facts() -> RunFacts {
        var facts = RunFacts(
            run: "run-1", state: "backups/.godwit", destination: "Notes 2.mom", slots: 2,
            seconds: 61)
        facts.begun = "2025-03-01 12:00:00"
        return facts
    }

    /// The words of some program.
    static let guide = ReportGuide(
        advice: { "advice on \($0)" },
        command: { step, facts in
            "type \("\(step)".prefix { $0 != "(" }) for \(facts.run)"
        })

    static func report(
        _ stores: [StoreReport], _ change: (inout RunFacts) -> Void = { _ in }
    ) throws -> RunReport {
        var facts = facts()
        change(&facts)
        return try RunReport(facts, stores: StoreReports(stores), guide: guide)
    }

    static func text(_ report: RunReport, _ stores: [StoreReport]) throws -> String {
        var lines: [String] = []
        try TextReport.write(report, stores: StoreReports(stores)) { lines.append($0) }
        return lines.joined(separator: "\n")
    }

    static func html(_ report: RunReport, _ stores: [StoreReport]) throws -> String {
        var html = ""
        try HTMLReport.write(report, stores: StoreReports(stores)) { html += $0 }
        return html
    }
}
