import CoreDataStore
package import DurableFiles
package import Jobs
import MigrationEngine
package import MigrationPlans
package import MigrationValidation
package import SafeSQLite
package import StoreFileChecks
import ValidationScans

/// The validation of one result, its parts on slots: the source's side may begin while the
/// result is still being built.
///
/// A small store with one slot is validated on the caller's thread, over one connection to each
/// file.
package final class ValidationRun {
    private let validator: Validator
    private let early: [ValidationPart]
    private let late: [ValidationPart]
    /// Nil where all parts run on the caller's thread.
    private let jobs: SlotJobs<PartialResult>?
    /// Both files, for what runs on the caller's thread.
    private let reading: ValidationReading
    private var whole = PartialResult()

    /// - Parameters:
    ///   - planned: the source and its plan.
    ///   - building: the result's file.
    ///   - slots: parts at a time.
    ///   - externalData: the result's folder of external data.
    ///   - cache: what is known of stores of the same app.
    ///   - recordedSums: over what policies gave, by labels.
    ///   - source: a connection to the source for parts on the caller's thread.
    ///   - pagesAreChecked: whether SQLite's check of the result's pages was run before.
    /// - Throws: `EngineError` where threads cannot be started.
    package init(
        planned: PlannedStore, building: FilePath, slots: Int, externalData: FilePath,
        cache: MigrationCache = MigrationCache(), recordedSums: [String: ContentSum] = [:],
        source: Connection? = nil,
        pagesAreChecked: Bool = false
    ) throws(EngineError) {
        let files = ValidationFiles(
            source: planned.source.database, sourceExternalData: planned.source.externalData,
            destination: building, destinationExternalData: externalData)
        validator = try EngineError.translating {
            var scope = try ValidationScope(
                plan: planned.plan, hashes: planned.destination.hashes,
                stores: cache.stores, cache: cache.validations)
            scope.recordedSums = recordedSums
            return Validator(scope: scope, files: files)
        }
        reading = ValidationReading(
            validator, source: source, schema: planned.source.schema)
        let parts = validator.parts(
            sourceRanges: planned.plan.sourceRanges,
            destinationRanges: planned.plan.destinationRanges
        ).filter { !pagesAreChecked || $0 != .pages }
        early = parts.filter(\.readsSourceAlone)
        late = parts.filter { !$0.readsSourceAlone }
        let isInline = slots == 1 && planned.source.bytes <= PlanOptions.wholeLimit
        jobs = isInline ? nil : try SlotJobs(count: slots, jobs: parts.count)
    }

    /// Queues the parts that read nothing but the source.
    package func beginSource() {
        guard let jobs else { return }
        for part in early { submit(part, jobs) }
    }

    /// Checks a result that another process made, before any other part reads it.
    ///
    /// - Throws: `EngineError` where it cannot be read.
    package func inspect(_ check: MadeFileCheck) throws(EngineError) -> MadeFileCheck.Findings {
        try EngineError.translating { try check.run(reading) }
    }

    /// Queues the other parts and waits for all.
    ///
    /// - Returns: what all parts found, taken together.
    /// - Throws: `EngineError` when a part cannot be run.
    package func finish() throws(EngineError) -> ValidationReport {
        if let jobs {
            for part in late { submit(part, jobs) }
            for _ in 0..<early.count + late.count { whole.merge(try jobs.next()) }
        } else {
            for part in late + early {
                whole.merge(try EngineError.translating { try validator.run(part, over: reading) })
            }
        }
        return try EngineError.translating { try validator.report(on: whole) }
    }

    /// Ends the slots.
    package func end() { jobs?.end() }

    private func submit(_ part: ValidationPart, _ jobs: SlotJobs<PartialResult>) {
        let validator = validator
        jobs.submit { () throws(EngineError) in
            try EngineError.translating { try validator.run(part) }
        }
    }
}

extension ValidationPart {
    /// Whether the part can run before the destination is complete.
    fileprivate var readsSourceAlone: Bool {
        switch self {
        case .source, .sourceJoin: true
        case .destination, .destinationJoin, .policyRows, .policyLinks, .index, .otherIndexes,
            .dangling,
            .relationships, .externalData, .keptTables, .pages, .file:
            false
        }
    }
}
