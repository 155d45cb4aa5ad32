package import MigrationPlans
import SafeSQLite

/// Counts what copies of chunks wrote, to be held against what the survey counted.
package struct CopiedRows {
    private let plan: MigrationPlan
    private var byFeed: [Int: Int64] = [:]

    package init(plan: MigrationPlan) { self.plan = plan }

    /// Takes in the rows of one chunk.
    package mutating func add(_ chunk: Chunk, rows: Int64) {
        if case .feed(let place) = chunk.subject { byFeed[place, default: 0] += rows }
    }

    /// Checks that every row that was counted was copied, once.
    ///
    /// - Parameter store: as errors name it.
    /// - Throws: `EngineError.store` for a table with rows of an entity that its model does not
    ///   have there: they were counted, but belong to no mapping.
    package func check(store: String) throws(EngineError) {
        for (place, feed) in plan.feeds.enumerated() {
            let counted = feed.entities.reduce(Int64(0)) { sum, entity in
                sum + plan.rows(of: entity)
            }
            let copied = byFeed[place] ?? 0
            guard copied == counted else {
                throw .store(
                    .notAStore(
                        path: store,
                        reason: "table \(feed.sourceTable) has \(counted - copied) rows of an "
                            + "entity that its model does not store there"))
            }
        }
    }
}
