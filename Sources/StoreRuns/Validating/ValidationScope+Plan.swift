package import CoreDataStore
package import ManagedObjectModel
import MappingModel
import MigrationEngine
package import MigrationPlans
package import SafeSQLite
import StoreFileChecks
package import ValidationScans

extension ValidationScope {
    /// The scope of a plan.
    ///
    /// Of the plan it takes what the user and the design decided, never how the copy is carried
    /// out.
    ///
    /// - Parameters:
    ///   - plan: of the store.
    ///   - hashes: as a template or a compiled model names them; computed where nil.
    ///   - stores: what is known of stores of the same app.
    ///   - cache: what other validations of the app worked out.
    /// - Throws: `StoreError.layoutUnknown` for a model without a layout.
    package init(
        plan: MigrationPlan, hashes: VersionHashes? = nil, stores: StoreCache = StoreCache(),
        cache: ValidationCache = ValidationCache()
    ) throws(StoreError) {
        self.init(
            source: try stores.layout(of: plan.sourceModel, framework: plan.sourceFramework),
            destination: try stores.layout(of: plan.destinationModel, framework: plan.framework),
            mapping: plan.mapping,
            splits: plan.splits.map { split in
                SourceSplit(
                    entity: split.entity,
                    numbers: Dictionary(
                        split.variants.map { ($0.mask, $0.number) },
                        uniquingKeysWith: { first, _ in first }))
            }, moves: plan.keyMoves,
            maxima: plan.maxima, dangling: plan.options.dangling,
            allowsMissingExternalData: plan.options.allowsMissingExternalData,
            keptObjects: plan.extras.filter(\.isKept).map(\.object), hashes: hashes,
            stores: stores, cache: cache)
        intermediateRenames = plan.intermediateRenames
        now = plan.options.now
        policyRows = plan.recordedRows.map { PolicyRows($0, plan) }
        policyLinks = plan.policyLinks
    }
}

extension PolicyRows {
    /// What a plan records.
    fileprivate init(_ rows: RecordedRows, _ plan: MigrationPlan) {
        let block = plan.policies.flatMap(\.blocks).first { $0.objects == rows.objects }
        self.init(
            entity: rows.objects.entity, number: rows.objects.number, table: rows.objects.table,
            keys: rows.objects.keys, areCreated: rows.areCreated,
            columns: rows.columns.map {
                Column(name: $0.name, label: rows.label(of: $0), found: $0.found)
            }, key: rows.areCreated ? block?.key.map(\.column) ?? [] : [])
    }
}

extension MigrationPlan {
    /// How keys move, by the names of entity mappings.
    fileprivate var keyMoves: [String: ValidationScope.KeyMove] {
        var moves: [String: ValidationScope.KeyMove] = [:]
        for pass in passes {
            moves[mapping.entityMappings[pass.mapping].name] = ValidationScope.KeyMove(
                layer: pass.layer, offset: pass.offset)
        }
        return moves
    }
}

extension MadeFileCheck.Expectation {
    /// What a plan says of its result.
    package init(_ laidOut: LaidOutPlan) {
        let plan = laidOut.plan
        self.init(
            layout: laidOut.destination, maxima: plan.maxima,
            kept: plan.extras.filter(\.isKept).map(\.object),
            keepsHistory: plan.options.history == .keep)
    }
}
