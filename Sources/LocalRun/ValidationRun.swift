import CoreDataStore
import DurableFiles
import MigrationEngine

/// The validation of one result, its parts on slots: the source's side may begin while the
/// result is still being built.
final class ValidationRun {
    private let validator: Validator
    private let early: [ValidationPart]
    private let late: [ValidationPart]
    private let jobs: SlotJobs<PartialResult>
    private var whole = PartialResult()

    /// Parts of the validation.
    var count: Int { early.count + late.count }

    /// - Parameters:
    ///   - planned: the source and its plan.
    ///   - building: the result's file.
    ///   - slots: parts at a time.
    ///   - externalData: the result's folder of external data.
    /// - Throws: `EngineError` where threads cannot be started.
    init(
        planned: PlannedStore, building: FilePath, slots: Int, externalData: FilePath
    ) throws(EngineError) {
        let files = ValidationFiles(
            source: planned.source.database, sourceExternalData: planned.source.externalData,
            destination: building, destinationExternalData: externalData)
        validator = try EngineError.translating {
            try Validator(plan: planned.plan, files: files, hashes: planned.destination.hashes)
        }
        let parts = validator.parts(
            sourceRanges: planned.plan.sourceRanges,
            destinationRanges: planned.plan.destinationRanges)
        early = parts.filter(\.readsSourceAlone)
        late = parts.filter { !$0.readsSourceAlone }
        jobs = try SlotJobs(count: slots, jobs: parts.count)
    }

    /// Queues the parts that read nothing but the source.
    func beginSource() { for part in early { submit(part) } }

    /// Queues the other parts and waits for all.
    ///
    /// - Parameter done: told the rows of each part.
    /// - Returns: what all parts found, taken together.
    /// - Throws: `EngineError` when a part cannot be run.
    func finish(_ done: (Int64) -> Void) throws(EngineError) -> ValidationReport {
        for part in late { submit(part) }
        for _ in 0..<count {
            let result = try jobs.next()
            done(result.sourceRows + result.destinationRows + result.joinRows)
            whole.merge(result)
        }
        return try EngineError.translating { try validator.report(on: whole) }
    }

    /// Ends the slots.
    func end() { jobs.end() }

    private func submit(_ part: ValidationPart) {
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
        case .destination, .destinationJoin, .index, .otherIndexes, .dangling, .relationships,
            .externalData, .keptTables, .pages, .file:
            false
        }
    }
}
