import CommandSupport
import DurableFiles
import Jobs
import MigrationEngine
import MigrationPlans
import RunReports
import RunService

/// What the plans of several stores add up to; its size does not grow with theirs.
struct PlanTotals: Hashable, Sendable {
    /// A store that is among the largest.
    private struct Large: Hashable {
        let store: String
        let bytes: Int64
        let rows: Int64
        let work: String
    }

    /// A store that cannot be migrated.
    private struct Refused: Hashable {
        let store: String
        let reason: String
    }

    private var stores = 0
    private var bytes: Int64 = 0
    private var rows: Int64 = 0
    private var strategies: [String: Int] = [:]
    private var changedURIs: Int64 = 0
    private var storesWithChangedURIs = 0
    private var losses: [FleetLoss] = []
    private var largest: [Large] = []
    /// Stores whose version the destination's bundle does not have.
    private var unknownVersions = 0
    /// Stores that a program has open.
    private var open = 0
    /// Stores that have the destination's version already.
    private var unchanged = 0
    /// Stores on whose way a policy or a program runs.
    private var storesWithCode = 0
    private var refusals = 0
    private var refused: [Refused] = []
    private var causes: [FailureCause: Int] = [:]

    private static let largeLimit = 10
    private static let refusedLimit = 50

    /// Takes in the plan of a store.
    ///
    /// - Parameters:
    ///   - plan: of the store.
    ///   - isUnknownVersion: whether the destination's bundle does not have its version.
    ///   - isOpen: whether a program has it open.
    ///   - isUnchanged: whether it has the destination's version already.
    ///   - runsCode: whether a policy or a program runs before the last step.
    mutating func add(
        _ plan: PlanReport, isUnknownVersion: Bool = false, isOpen: Bool = false,
        isUnchanged: Bool = false, runsCode: Bool = false
    ) {
        stores += 1
        if isUnchanged { unchanged += 1 }
        if runsCode { storesWithCode += 1 }
        if isUnknownVersion { unknownVersions += 1 }
        if isOpen { open += 1 }
        let held = plan.resources.sourceBytes
        let rows = PlanTotals.sum(Array(plan.sourceRows.values))
        bytes = PlanTotals.sum([bytes, held])
        self.rows = PlanTotals.sum([self.rows, rows])
        strategies[plan.strategy.rawValue, default: 0] += 1
        let changed = PlanTotals.sum(Array(plan.changedURIs.values))
        changedURIs = PlanTotals.sum([changedURIs, changed])
        if changed > 0 { storesWithChangedURIs += 1 }
        losses.add(plan.losses)
        let chunks = plan.strategy == .whole ? "" : ", \(counted(plan.chunks, "chunk"))"
        let large = Large(
            store: plan.store, bytes: held, rows: rows, work: plan.strategy.rawValue + chunks)
        let place = largest.firstIndex { $0.bytes < held } ?? largest.endIndex
        largest.insert(large, at: place)
        if largest.count > PlanTotals.largeLimit { largest.removeLast() }
    }

    /// Takes in a store that cannot be migrated.
    mutating func refuse(_ store: FilePath, _ cause: FailureCause, _ reason: String) {
        refusals += 1
        causes[cause, default: 0] += 1
        guard refused.count < PlanTotals.refusedLimit else { return }
        let path = store.description
        refused.append(Refused(store: path, reason: reason.withoutStore(path)))
    }

    /// The totals alone.
    var short: String {
        (headLines + causeLines + ReportWords.losses(losses)).joined(separator: "\n")
    }

    /// The totals, what is refused, and the largest stores.
    var text: String {
        let hint = ["--all prints the plan of each store"]
        return [
            headLines + causeLines, ReportWords.losses(losses), refusedLines, largestLines, hint,
        ]
        .filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
    }

    private var headLines: [String] {
        let kinds = strategies.sorted { $0.key < $1.key }
            .map { "\(grouped($0.value)) \($0.key)" }
        let all = counted(stores + refusals, "store")
        var lines = [
            refusals == 0
                ? "\(all) can be migrated"
                : "\(grouped(stores)) of \(all) can be migrated, \(grouped(refusals)) cannot"
        ]
        if !losses.isEmpty { lines[0] += ", with losses" }
        guard stores > 0 else { return lines }
        lines += [
            "source     \(ByteSize(bytes: bytes).words), \(counted(rows, "row"))",
            "strategy   \(kinds.joined(separator: ", "))",
        ]
        let changed =
            changedURIs == 0
            ? "no change"
            : "of \(counted(changedURIs, "object")) in "
                + "\(counted(storesWithChangedURIs, "store")) change"
        lines.append("URIs       \(changed)")
        if unchanged > 0 {
            lines.append(
                "unchanged  \(counted(unchanged, "store")) already at the destination's version, "
                    + "which migrate skips in place")
        }
        if unknownVersions > 0 {
            lines.append(
                "versions   \(counted(unknownVersions, "store has", plural: "stores have")) a "
                    + "version that the bundle does not contain")
        }
        if storesWithCode > 0 {
            lines += WrappedText.lines(
                "policies or programs run on the way of \(counted(storesWithCode, "store")): only "
                    + "the run shows what later steps change and lose",
                first: "steps      ", rest: "           ")
        }
        if open > 0 {
            lines.append("in use     programs have \(counted(open, "store")) open")
        }
        return lines
    }

    private var causeLines: [String] {
        causes.sorted { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }
            .flatMap { cause, count in
                WrappedText.lines(
                    "\(counted(count, "store")): \(cause.title). \(cause.advice)",
                    first: "refused    ", rest: "           ")
            }
    }

    private var refusedLines: [String] {
        guard refusals > 0 else { return [] }
        let lines = refused.flatMap { one in
            ["  \(one.store)"]
                + WrappedText.lines(one.reason, first: "      ", rest: "      ")
        }
        let more = refusals - refused.count
        return ["refused stores"] + lines + (more > 0 ? ["  and \(grouped(more)) more"] : [])
    }

    private var largestLines: [String] {
        guard !largest.isEmpty else { return [] }
        var table = TextTable([
            ("size", .right), ("rows", .right), ("strategy", .left), ("store", .left),
        ])
        for one in largest {
            table.add([
                ByteSize(bytes: one.bytes).words, grouped(one.rows), one.work, one.store,
            ])
        }
        return [stores > largest.count ? "the largest stores" : "stores"] + table.lines
    }

    /// Counts come from files of strangers: a sum that passes the range stays at its end.
    private static func sum(_ numbers: [Int64]) -> Int64 {
        numbers.reduce(0) { sum, number in
            let (result, overflow) = sum.addingReportingOverflow(max(0, number))
            return overflow ? .max : result
        }
    }
}
