package import CoreDataStore
package import ManagedObjectModel
package import MappingModel
package import SafeSQLite

/// What migrations of stores of the same app have in common, worked out once for all of them.
///
/// Everything in it follows from its keys alone; a migration with a cache comes out as one without.
/// A caller that migrates several stores hands it in, and many threads use it.
package final class PlanningCache: Sendable {
    private struct Pair: Equatable, Sendable {
        let source: Model
        let destination: Model
        let mapping: MappingDefinition?
        let policies: [PolicyDeclaration]
    }

    /// What opening stores works out.
    package let stores = StoreCache()
    private let inferences = Memo<Pair, Inference>(limit: PlanningCache.limit)
    private let shapes = Memo<PlanShape.Key, PlanShape>(limit: PlanningCache.limit)
    private let statements = Memo<StatementKey, [SQLText]>(limit: PlanningCache.limit)

    /// The most pairs of models that are kept.
    private static let limit = 32
    /// The most chunks of a plan whose statements are kept.
    private static let chunkLimit = 1_000

    package init() {}

    /// The mapping between two models by inference.
    ///
    /// - Throws: `InferenceError`, as `Inference`.
    package func inference(
        from source: Model, to destination: Model
    ) throws(InferenceError) -> Inference {
        let pair = Pair(source: source, destination: destination, mapping: nil, policies: [])
        return try inferences.value(for: pair) { () throws(InferenceError) in
            try Inference(from: source, to: destination)
        }
    }

    /// The mapping between two models by a mapping file.
    ///
    /// - Throws: `MappingMismatch`, as `Inference`.
    package func inference(
        from source: Model, to destination: Model, by mapping: MappingDefinition,
        policies: [PolicyDeclaration]
    ) throws(MappingMismatch) -> Inference {
        let pair = Pair(
            source: source, destination: destination, mapping: mapping, policies: policies)
        return try inferences.value(for: pair) { () throws(MappingMismatch) in
            try Inference(from: source, to: destination, by: mapping, policies: policies)
        }
    }

    /// How rows and links go from one layout to another.
    ///
    /// - Throws: `PlanError`, as `PlanShape`.
    func shape(_ context: PlanContext) throws(PlanError) -> PlanShape {
        try shapes.value(for: PlanShape.Key(context)) { () throws(PlanError) in
            try PlanShape(context)
        }
    }

    /// The statements that copy the chunks of a plan, in their order.
    ///
    /// - Throws: what `make` throws; nothing is remembered then.
    package func statements(
        _ plan: MigrationPlan, make: () throws(EngineError) -> [SQLText]
    ) throws(EngineError) -> [SQLText] {
        guard plan.chunks.count <= Self.chunkLimit else { return try make() }
        return try statements.value(for: StatementKey(plan), compute: make)
    }

    /// What the text of copying statements depends on.
    private struct StatementKey: Equatable, Sendable {
        let source: Model
        let splits: [EntitySplit]
        let feeds: [Feed]
        let joins: [JoinPlan]
        let dangling: DanglingPolicy
        let selections: [ChunkSelection]

        init(_ plan: MigrationPlan) {
            source = plan.sourceModel
            splits = plan.splits
            feeds = plan.feeds
            joins = plan.joins
            dangling = plan.options.dangling
            selections = plan.chunks.map {
                ChunkSelection(subject: $0.subject, selection: $0.selection)
            }
        }
    }

    private struct ChunkSelection: Equatable, Sendable {
        let subject: ChunkSubject
        let selection: Selection
    }
}
