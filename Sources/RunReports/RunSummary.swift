package import Jobs
import MigrationEngine
import MigrationPlans
import MigrationValidation
import RunService
import StoreFileChecks

/// What the stores of a run add up to; its size does not grow with theirs.
package struct RunSummary: Hashable, Sendable, Codable {
    /// Failures of one cause.
    package struct Cause: Hashable, Sendable, Codable {
        package var cause: FailureCause
        package var stores: Int
        /// The first ones.
        package var examples: [String]
    }

    /// Something that could not be carried over or removed.
    package struct Warning: Hashable, Sendable, Codable {
        package var text: String
        package var stores: Int
        /// The first one.
        package var example: String
    }

    /// A store that took long.
    package struct Slow: Hashable, Sendable, Codable {
        package var store: String
        package var seconds: Double
        package var rows: Int64
        package var bytes: Int64
        /// The stage that took longest.
        package var stage: String
    }

    /// Stores of one source version.
    package struct Version: Hashable, Sendable, Codable {
        /// Identifiers or the start of the digest; `other` for those past the limit.
        package var version: String
        package var stores: Int
        package var failed: Int
        package var rows: Int64
        package var bytes: Int64
        package var seconds: Double
    }

    package private(set) var stores = 0
    package private(set) var outcomes: [StoreOutcome: Int] = [:]
    /// Those of the most stores first.
    package private(set) var causes: [Cause] = []
    /// The slowest first.
    package private(set) var slowest: [Slow] = []
    /// In the order of first occurrence; those past the limit are left to the stores' reports.
    package private(set) var warnings: [Warning] = []
    /// In the order of first occurrence.
    package private(set) var versions: [Version] = []
    /// Of stores that have a result.
    package private(set) var rows = StoreReport.Change(before: 0, after: 0)
    package private(set) var bytes = StoreReport.Change(before: 0, after: 0)
    /// Of all stores, by stage: slots work at the same time, so this passes the run's time.
    package private(set) var seconds: [String: Double] = [:]
    package private(set) var validation = StoreReport.Sums(
        values: 0, links: 0, joinRows: 0, indexEntries: 0, differences: 0)
    /// Inherited faults by the raw value of their kind.
    package private(set) var inherited: [String: Int64] = [:]
    package private(set) var storesWithInherited = 0
    /// The greatest first.
    package private(set) var losses: [FleetLoss] = []
    /// Stores with a result, by how they were migrated.
    package private(set) var strategies: [String: Int] = [:]
    /// Stores that were begun more than once.
    package private(set) var repeated = 0
    package private(set) var backups = 0
    package private(set) var backupBytes: Int64 = 0

    /// How many stores are listed as the slowest.
    package static let slowestLimit = 10
    /// How many failed stores stand as examples of their cause.
    package static let exampleLimit = 3
    /// How many warnings are told apart.
    package static let warningLimit = 20
    /// How many source versions are told apart.
    package static let versionLimit = 50

    package init() {}

    /// Stores that have a result or had one.
    package var migrated: Int {
        [StoreOutcome.done, .deferred, .pruned, .rolledBack].reduce(0) {
            $0 + (outcomes[$1] ?? 0)
        }
    }

    /// Takes in one store.
    package mutating func add(_ report: StoreReport) {
        stores += 1
        outcomes[report.outcome, default: 0] += 1
        if report.attempts > 1 { repeated += 1 }
        if report.outcome != .notStarted { addVersion(report) }
        if let failure = report.failure { addFailure(failure, of: report) }
        for (stage, time) in report.seconds { seconds[stage, default: 0] += time }
        addSlow(report)
        for warning in report.warnings { addWarning(warning, of: report) }
        if let backup = report.backup {
            backups += 1
            backupBytes.add(clamped: backup.bytes)
        }
        guard report.failure == nil, let counts = report.rows else { return }
        add(counts, of: report)
    }

    private mutating func add(_ counts: StoreReport.Change, of report: StoreReport) {
        if let strategy = report.strategy { strategies[strategy.rawValue, default: 0] += 1 }
        rows.add(counts)
        bytes.add(report.bytes)
        if let sums = report.validation {
            validation.values.add(clamped: sums.values)
            validation.links.add(clamped: sums.links)
            validation.joinRows.add(clamped: sums.joinRows)
            validation.indexEntries.add(clamped: sums.indexEntries)
            validation.differences.add(clamped: sums.differences)
        }
        if !report.inherited.isEmpty { storesWithInherited += 1 }
        for fault in report.inherited {
            inherited[fault.fault.kind.rawValue, default: 0].add(clamped: fault.count)
        }
        losses.add(report.losses)
    }

    private mutating func addFailure(
        _ failure: StoreReport.Failure, of report: StoreReport
    ) {
        if let place = causes.firstIndex(where: { $0.cause == failure.cause }) {
            causes[place].stores += 1
            if causes[place].examples.count < RunSummary.exampleLimit {
                causes[place].examples.append(report.store)
            }
        } else {
            causes.append(Cause(cause: failure.cause, stores: 1, examples: [report.store]))
        }
        // There are few causes: sorting them again costs nothing.
        causes.sort { ($1.stores, $0.cause.name) < ($0.stores, $1.cause.name) }
    }

    private mutating func addWarning(_ text: String, of report: StoreReport) {
        if let place = warnings.firstIndex(where: { $0.text == text }) {
            warnings[place].stores += 1
        } else if warnings.count < RunSummary.warningLimit {
            warnings.append(Warning(text: text, stores: 1, example: report.store))
        }
    }

    private mutating func addSlow(_ report: StoreReport) {
        let time = report.totalSeconds
        let isFull = slowest.count == RunSummary.slowestLimit
        guard time > 0, !isFull || time > slowest[slowest.count - 1].seconds else { return }
        if isFull { slowest.removeLast() }
        let stage = report.seconds.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
        let slow = Slow(
            store: report.store, seconds: time, rows: report.rows?.before ?? 0,
            bytes: report.bytes.before, stage: stage ?? "")
        slowest.insert(slow, at: slowest.firstIndex { $0.seconds < time } ?? slowest.endIndex)
    }

    private mutating func addVersion(_ report: StoreReport) {
        let label = report.source?.label ?? "unknown"
        let isKnown = versions.contains { $0.version == label }
        let isOver = !isKnown && versions.count >= RunSummary.versionLimit
        let name = isOver ? "other" : label
        let found = versions.firstIndex { $0.version == name }
        let place = found ?? versions.endIndex
        if found == nil {
            versions.append(
                Version(version: name, stores: 0, failed: 0, rows: 0, bytes: 0, seconds: 0))
        }
        versions[place].stores += 1
        if report.failure != nil { versions[place].failed += 1 }
        versions[place].rows.add(clamped: report.rows?.before ?? 0)
        versions[place].bytes.add(clamped: report.bytes.before)
        versions[place].seconds += report.totalSeconds
    }
}

extension StoreReport.Change {
    fileprivate mutating func add(_ other: StoreReport.Change) {
        before.add(clamped: other.before)
        var sum = after ?? 0
        sum.add(clamped: other.after ?? 0)
        after = sum
    }
}

extension Int64 {
    /// Adds a count that comes from a file of a stranger: the end of the range is the limit.
    mutating func add(clamped other: Int64) {
        let (sum, overflow) = addingReportingOverflow(other)
        self = overflow ? (other < 0 ? .min : .max) : sum
    }
}
