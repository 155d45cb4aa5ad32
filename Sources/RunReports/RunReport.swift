package import DurableFiles

/// What a run reports about itself, beside its stores.
package struct RunFacts: Hashable, Sendable, Codable {
    /// Something that was named or looked like a store and was not taken.
    package struct Skipped: Hashable, Sendable, Codable {
        package var path: String
        package var reason: String

        package init(path: String, reason: String) {
            self.path = path
            self.reason = reason
        }
    }

    /// Stores that were migrated, with their bytes.
    package struct Share: Hashable, Sendable, Codable {
        package var stores: Int
        package var bytes: Int64

        package init(stores: Int, bytes: Int64) {
            self.stores = stores
            self.bytes = bytes
        }
    }

    /// The run's id.
    package var run: String
    /// When it began, as people write it; nil where that is not known.
    package var begun: String?
    /// Where its ledger lies.
    package var state: FilePath
    /// Where the results lie; nil for stores that are swapped in place.
    package var output: FilePath?
    /// What `--to` named.
    package var destination: String
    package var slots: Int
    /// From the beginning of the command to its end, pauses included.
    package var seconds: Double
    /// What this command did of a run that others had begun; nil where it did all.
    package var share: Share?
    package var skipped: [Skipped] = []
    /// What is odd about the fleet as a whole.
    package var warnings: [String] = []

    package init(
        run: String, state: FilePath, destination: String, slots: Int, seconds: Double
    ) {
        self.run = run
        self.state = state
        self.destination = destination
        self.slots = slots
        self.seconds = seconds
    }
}

/// The report of a run: what it says about itself, and what its stores add up to.
///
/// The stores themselves are read twice, once to add them up and once to list them, and never
/// held together.
package struct RunReport: Sendable {
    package let facts: RunFacts
    package let summary: RunSummary
    let guide: ReportGuide

    /// Adds the stores up.
    ///
    /// - Parameters:
    ///   - facts: what the run reports about itself.
    ///   - stores: its stores.
    ///   - guide: the program's words on causes and next steps.
    /// - Throws: what reading the stores throws.
    package init(_ facts: RunFacts, stores: StoreReports, guide: ReportGuide) throws {
        self.guide = guide
        var summary = RunSummary()
        try stores.forEach { summary.add($0) }
        self.facts = facts
        self.summary = summary
    }

    /// Up to this many stores are all listed; of more, those that failed and the slowest.
    package static let listLimit = 2000

    /// Whether every store is listed.
    package var listsAllStores: Bool { summary.stores <= RunReport.listLimit }

    /// Stores that were migrated, per second of the run; nil where that says nothing.
    package var storesPerSecond: Double? {
        let stores = facts.share?.stores ?? summary.migrated
        return facts.seconds > 0 && stores > 0 ? Double(stores) / facts.seconds : nil
    }

    /// The report in one sentence.
    package var headline: String {
        let all = counted(summary.stores, "store")
        if summary.stores == 0 { return "No stores were found" }
        // Pruning takes nothing from the result.
        let whole: Set<StoreOutcome> = [.done, .pruned]
        let done = whole.reduce(0) { $0 + (summary.outcomes[$1] ?? 0) }
        if summary.outcomes[.unchanged] == summary.stores {
            return summary.stores == 1
                ? "\(all) already had the destination's version"
                : "All \(all) already had the destination's version"
        }
        let losses = summary.losses.isEmpty ? "" : ", with losses"
        if done == summary.stores {
            return (done == 1 ? "\(all) migrated" : "All \(all) migrated") + losses
        }
        let parts = StoreOutcome.allCases.compactMap { outcome -> String? in
            guard !whole.contains(outcome), let count = summary.outcomes[outcome] else {
                return nil
            }
            return "\(grouped(count)) \(outcome.words)"
        }
        return (["\(grouped(done)) of \(all) migrated"] + parts).joined(separator: ", ") + losses
    }
}

/// The reports on the stores of a run, which can be read again and again.
package struct StoreReports {
    private let visit: ((StoreReport) throws -> Void) throws -> Void

    /// - Parameter visit: hands every report to its argument, in the order of the run, and
    ///   throws what that throws.
    package init(visit: @escaping ((StoreReport) throws -> Void) throws -> Void) {
        self.visit = visit
    }

    /// Reports that are at hand, or are made one by one.
    package init(_ reports: some Sequence<StoreReport>) {
        visit = { body in for report in reports { try body(report) } }
    }

    /// The same reports, read now and kept.
    ///
    /// - Returns: reports in memory.
    /// - Throws: what reading them throws.
    package func kept() throws -> StoreReports {
        var reports: [StoreReport] = []
        try forEach { reports.append($0) }
        return StoreReports(reports)
    }

    /// Reads the reports, one at a time.
    ///
    /// - Throws: what reading them or the body throws.
    package func forEach(_ body: (StoreReport) throws -> Void) throws {
        try withoutActuallyEscaping(body) { try visit($0) }
    }
}
