package import CoreDataStore
import ManagedObjectModel
import MappingModel
package import SafeSQLite

/// What the plans of stores of the same app have in common, worked out once for all of them.
///
/// Everything in it follows from its keys alone. Many threads use it.
package final class PlanCache: Sendable {
    /// What opening stores works out.
    package let stores = StoreCache()
    private let statements = Memo<StatementKey, [SQLText]>(limit: 32)

    /// The most chunks of a plan whose statements are kept.
    private static let chunkLimit = 1_000

    package init() {}

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
