import DurableFiles
package import MappingModel
import MigrationEngine
import MigrationValidation
import RunService
import StoreFileChecks
import StoreRuns

/// Words and orders that the report has in text and in HTML.
package enum ReportWords {
    /// Stages in the order of a run; unknown ones come last, by name.
    static func ordered(_ seconds: [String: Double]) -> [(stage: String, seconds: Double)] {
        let order = RunStep.allCases.map(\.rawValue) + ["swap"]
        return seconds.sorted { left, right in
            let places = (order.firstIndex(of: left.key), order.firstIndex(of: right.key))
            return (places.0 ?? order.count, left.key) < (places.1 ?? order.count, right.key)
        }.map { (stage: $0.key, seconds: $0.value) }
    }

    /// `1.2 GiB`, or `1.2 GiB → 1.1 GiB` where it changed.
    static func bytes(_ change: StoreReport.Change) -> String {
        let before = ByteSize(bytes: change.before).words
        guard let after = change.after else { return before }
        return "\(before) → \(ByteSize(bytes: after).words)"
    }

    /// `12 rows`, or `12 → 10 rows` where it changed.
    static func rows(_ change: StoreReport.Change) -> String {
        guard let after = change.after, after != change.before else {
            return counted(change.before, "row")
        }
        return "\(grouped(change.before)) → \(counted(after, "row"))"
    }

    /// What was compared, in one line.
    static func validation(_ sums: StoreReport.Sums, hasLosses: Bool) -> String {
        let compared = [
            counted(sums.values, "value"), counted(sums.links, "link"),
            counted(sums.joinRows, "join row"),
            counted(sums.indexEntries, "index entry", plural: "index entries"),
        ].joined(separator: ", ")
        let found =
            sums.differences == 0
            ? hasLosses ? "equal\(Loss.exception)" : "no difference"
            : counted(sums.differences, "difference")
        return "\(compared): \(found)"
    }

    /// The kinds of inherited faults in words, the most frequent first.
    static func inherited(_ faults: [String: Int64]) -> [String] {
        faults.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { kind, count in
            "\(grouped(count)) × \(Fault.Kind(rawValue: kind)?.text ?? kind)"
        }
    }

    /// Losses over several stores, the first of them, for a terminal of 80 columns.
    package static func losses(_ losses: [FleetLoss]) -> [String] {
        guard !losses.isEmpty else { return [] }
        var lines = ["losses: data that the stores have and the results lack"]
        for loss in losses.prefix(lossLimit) {
            lines += WrappedText.lines(self.loss(loss), first: "  ", rest: "      ")
        }
        if losses.count > lossLimit {
            lines.append("  and \(grouped(losses.count - lossLimit)) more")
        }
        return lines
    }

    /// How many losses of several stores a text lists.
    private static let lossLimit = 20

    /// A loss in words: `Post.content: 20 values`.
    package static func loss(_ loss: Loss) -> String {
        "\(loss.subject.name): \(counted(loss.count, loss.noun))\(loss.qualifier)\(loss.hint)"
    }

    /// What several stores lose together: `Post.content: 20 values in 2 stores`.
    static func loss(_ loss: FleetLoss) -> String {
        "\(self.loss(loss.loss)) in \(counted(loss.stores, "store"))\(loss.hint)"
    }

    /// `8.2 stores/s, 3.1 MiB/s`; nil where there is no rate.
    static func rates(_ report: RunReport) -> String? {
        // Without times, all results are those of earlier runs.
        guard let rate = report.storesPerSecond, !report.summary.seconds.isEmpty else {
            return nil
        }
        let all = report.facts.share?.bytes ?? report.summary.bytes.before
        let bytes = Double(all) / report.facts.seconds
        let bounded = Int64(min(max(bytes, 0), 1e18))
        let volume = "\(ByteSize(bytes: bounded).words)/s"
        // Of few large stores the number a second says nothing.
        return rate < 0.1 ? volume : "\(tenths(rate)) stores/s, \(volume)"
    }

    /// A number with one digit after the point.
    package static func tenths(_ number: Double) -> String {
        let bounded = number.isFinite ? min(max(number, 0), 1e15) : 0
        let scaled = Int64((bounded * 10).rounded())
        return "\(grouped(scaled / 10)).\(scaled % 10)"
    }

    /// The figures of the whole run: a label and what it says.
    static func totals(_ report: RunReport) -> [(label: String, text: String)] {
        let (facts, summary) = (report.facts, report.summary)
        var totals: [(String, String)] = [("model", facts.destination)]
        totals.append(("result", facts.output?.description ?? "in place"))
        let slots = counted(facts.slots, "slot")
        if facts.seconds > 0 {
            let share = facts.share.map { ", for \(counted($0.stores, "store")) of the run" }
            totals.append(
                ("time", "\(Seconds.words(facts.seconds)) with \(slots)\(share ?? "")"))
        }
        if let rates = rates(report) { totals.append(("speed", rates)) }
        if summary.migrated > 0 {
            let strategies = summary.strategies.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            if !strategies.isEmpty {
                let counts = strategies.map { "\(counted($0.value, "store")) \($0.key)" }
                totals.append(("strategy", counts.joined(separator: ", ")))
            }
            totals.append(("rows", rows(summary.rows)))
            totals.append(("size", bytes(summary.bytes)))
            totals.append(
                ("compared", validation(summary.validation, hasLosses: !summary.losses.isEmpty)))
        }
        if summary.storesWithInherited > 0 {
            let faults = inherited(summary.inherited).joined(separator: "; ")
            totals.append(
                ("inherited", "in \(counted(summary.storesWithInherited, "store")): \(faults)"))
        }
        if summary.repeated > 0 {
            totals.append(
                ("repeated", "\(counted(summary.repeated, "store")) started more than once"))
        }
        if summary.backups > 0 {
            let size = ByteSize(bytes: summary.backupBytes).words
            totals.append(
                ("originals", "\(counted(summary.backups, "store")) kept, \(size)"))
        }
        return totals
    }
}
