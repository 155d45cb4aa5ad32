import CoreDataStore
import DurableFiles
import Foundation
import Jobs
import MappingModel
import MigrationEngine
import MigrationPlans
import MigrationValidation
import SafeSQLite
import StateFolders

// Stores that are written on the way to the result.
extension StorePreparation {
    /// Goes the rest of a way: what a plan gives is written, validated and planned in its turn,
    /// until the plan of the last leg is there.
    ///
    /// - Parameters:
    ///   - first: the plan of the first leg.
    ///   - connection: to the original; closed where another store is read.
    ///   - way: of the store.
    /// - Returns: the plan of the last leg, with a connection to what it reads.
    /// - Throws: `RunError`, which names the step where data or mappings are the reason.
    func finished(
        _ first: PlannedStore, _ connection: Connection, _ way: ModelWay
    ) throws -> (planned: PlannedStore, connection: Connection) {
        var planned = first
        var connection = connection
        for number in way.legs.indices.dropFirst() {
            let (before, open) = (planned, connection)
            planned.written.append(
                try RunError.during(way.legs[number - 1].title) { try obtain(before, open) })
            let isEdited = !way.legs[number - 1].programs.isEmpty
            if isEdited {
                planned.written[number - 1].changes = try RunError.during(
                    way.legs[number - 1].title
                ) { try edit(number, way, first.original) }
            }
            let (source, next) = try opened(leg: number, first.original, isEdited: isEdited)
            // What was read for it is not needed any more, unless it is delivered.
            if number > 1, !steps.areDelivered { try places.removeWritten(number - 1, files) }
            connection = next
            let earlier = planned
            planned = try RunError.during(way.legs[number].title) {
                try plan(
                    number, of: way, original: first.original, source, next,
                    after: earlier.written)
            }
            if let losses = planned.losses {
                planned.losses = Loss.combined((earlier.losses ?? []) + losses)
            }
        }
        if planned.plan.strategy == .partitioned, !planned.written.isEmpty {
            try record(planned.written)
        }
        return (planned, connection)
    }

    /// The store that a plan gives, validated.
    ///
    /// The connection to its source is closed.
    private func obtain(_ planned: PlannedStore, _ connection: Connection) throws -> WrittenStore {
        switch steps {
        case .written(let policies, _): return try write(planned, connection, policies)
        case .writtenOrLeft: return try write(planned, connection, PolicyLibrary())
        case .delivered(let check):
            try connection.close()
            return try check(planned)
        }
    }

    private func write(
        _ planned: PlannedStore, _ connection: Connection, _ policies: PolicyLibrary
    ) throws -> WrittenStore {
        let leg = planned.plan.leg + 1
        let places = places.written(leg)
        try self.places.removeWritten(leg, files)
        let builder = ResultBuilder(
            places: places, files: files, cache: cache, slots: slots, isInPlace: true,
            steps: StoreSteps(clock: { 0 }), policies: policies)
        let (report, sums) = try build(builder, planned, connection)
        try connection.close()
        guard let report, report.isEqual else {
            throw report.map(RunError.validationFailed)
                ?? .engine(.internalError("a store was not validated"))
        }
        return WrittenStore(
            planned, bytes: try FileStatus(of: places.building).size, validation: report,
            recordedSums: sums)
    }

    private func build(
        _ builder: ResultBuilder, _ planned: PlannedStore, _ connection: Connection
    ) throws(RunError) -> (report: ValidationReport?, recordedSums: [String: ContentSum]) {
        do throws(RunError) {
            return try builder.buildWhole(
                planned, isInline(planned.source) ? connection : nil, validates: true)
        } catch {
            throw ResultBuilder.named(error, planned.original.path)
        }
    }

    /// Opens the store that a leg gave, as programs changed it or before.
    func opened(
        leg: Int, _ original: SourceStore, isEdited: Bool
    ) throws -> (store: SourceStore, connection: Connection) {
        let opened = try opener.openConnected(
            StoreLocation(original.path), scratch: places.folder, checksPages: false,
            snapshot: .made(isEdited ? places.edited(leg) : places.written(leg).building))
        // Links and other machines' numbers say nothing of contents.
        let changes = opened.store.fingerprint.differences(from: original.fingerprint)
        guard changes.subtracting([.place, .changed]).isEmpty else {
            throw EngineError.changed(original.path)
        }
        return opened
    }

    /// What a plan reads, of a store that was planned before.
    func source(of plan: MigrationPlan, _ original: SourceStore) throws -> SourceStore {
        guard plan.leg > 0 else { return original }
        let (store, connection) = try opened(leg: plan.leg, original, isEdited: false)
        try connection.close()
        return store
    }

    // MARK: - Records

    private func record(_ written: [WrittenStore]) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try files.publish(Array(try encoder.encode(written)), to: places.steps)
    }

    /// What was found of the stores that were written before a plan.
    func recordedSteps(_ plan: MigrationPlan) throws -> [WrittenStore] {
        guard plan.leg > 0 else { return [] }
        let bytes = try files.contents(of: places.steps, limit: Self.stepsLimit)
        return try JSONDecoder().decode([WrittenStore].self, from: Data(bytes))
    }

    /// The longest record of steps that is read, in bytes.
    private static let stepsLimit = 64 << 20
}

extension RunError {
    /// Runs a part of a migration; errors that speak of data or mappings name it.
    fileprivate static func during<Result>(
        _ step: String, _ body: () throws -> Result
    ) throws(RunError) -> Result {
        do throws(RunError) {
            return try translating(body)
        } catch {
            throw error.during(step)
        }
    }

    private func during(_ step: String) -> RunError {
        func named(_ text: String) -> String { "\(step): \(text)" }
        return switch self {
        case .plan(.refused(let texts)): .plan(.refused(texts.map(named)))
        case .plan(.unsupported(let text)): .plan(.unsupported(named(text)))
        case .engine(.dataRefused(let text)): .engine(.dataRefused(named(text)))
        case .engine(.policyFailed(let text)): .engine(.policyFailed(named(text)))
        case .engine(.policyMissing(let text)): .engine(.policyMissing(named(text)))
        case .engine(.programFailed(let text)): .engine(.programFailed(named(text)))
        case .engine(.losses(let text)): .engine(.losses(named(text)))
        case .engine(.noMapping(let text)): .engine(.noMapping(named(text)))
        default: self
        }
    }
}
