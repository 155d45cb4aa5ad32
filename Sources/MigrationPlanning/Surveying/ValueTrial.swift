package import CoreDataStore
import DurableFiles
package import MigrationPlans
package import SafeSQLite

/// Computes the values of a plan's mappings without writing any, so that a plan tells which one
/// would stop the migration.
package enum ValueTrial {
    /// Values that one statement computes: SQLite's own limit is 2,000 columns.
    private static let columnLimit = 500

    /// Computes everything but what methods of policies compute: they run in migrations alone.
    ///
    /// - Parameters:
    ///   - plan: of the store.
    ///   - store: that the plan reads.
    ///   - connection: to the store as its main schema.
    /// - Throws: `EngineError.dataRefused` for a value that cannot be computed, `.store` for a
    ///   store that cannot be read.
    /// - Complexity: reads each table with computed values once for every `columnLimit` of them,
    ///   and applies the filters of its entities for each value.
    package static func run(
        _ plan: MigrationPlan, store: SourceStore, connection: Connection
    ) throws(EngineError) {
        let cells = plan.computedCells
        guard cells.count > plan.splits.computedCells.count else { return }
        let failures = ValueFailures(store: store.path.description)
        try EngineError.translating {
            try ExternalDataFunction.register(connection, folder: store.externalData)
            try ValueFunction.register(connection, source: .main, cells: cells, failures: failures)
        }
        let values = ComputedSQL(cells: cells)
        let numbers = SplitNumbers(plan.splits, cells: cells)
        for feed in plan.feeds {
            let row = SourceRow("s", schema: "")
            let number = numbers.number(of: row, in: feed.sourceTable)
            let list = feed.columns.flatMap(\.cells).compactMap { entry -> SQLText? in
                guard case .computed(let cell) = entry.cell, cell.policy == nil else { return nil }
                let condition = CellSQL.membership(entry.sourceNumbers)
                return "count(CASE WHEN \(number) \(condition) "
                    + "THEN \(values.expression(cell, of: row)) END)"
            }
            for start in stride(from: 0, to: list.count, by: columnLimit) {
                let part = Array(list[start..<min(start + columnLimit, list.count)])
                try failures.translating { () throws(EngineError) in
                    try EngineError.translating {
                        let statement = try connection.prepare(
                            "SELECT \(part.joined(separator: ", ")) "
                                + "FROM \(SQLText.quoted(feed.sourceTable)) s")
                        while try statement.step() {}
                    }
                }
            }
        }
    }
}
