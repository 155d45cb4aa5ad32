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
    ///   - laidOut: the store's plan.
    ///   - store: that the plan reads.
    ///   - connection: to the store as its main schema.
    /// - Throws: `EngineError.dataRefused` for a value that cannot be computed, and for computed
    ///   values that are equal where the destination allows none; `.store` for a store that cannot
    ///   be read.
    /// - Complexity: reads each table with computed values once for every `columnLimit` of them.
    ///   Values that must be unique are computed again, and sorted.
    package static func run(
        _ laidOut: LaidOutPlan, store: SourceStore, connection: Connection
    ) throws(EngineError) {
        let plan = laidOut.plan
        let cells = plan.computedCells
        guard cells.count > plan.splits.computedCells.count else { return }
        let failures = ValueFailures(store: store.path.description)
        try EngineError.translating {
            try ExternalDataFunction.register(connection, folder: store.externalData)
            try ValueFunction.register(connection, source: .main, cells: cells, failures: failures)
        }
        let values = ComputedSQL(cells: cells)
        for feed in plan.feeds {
            let rows = TriedRows(of: feed, plan)
            let list = feed.columns.flatMap(\.cells).compactMap { entry -> SQLText? in
                guard case .computed(let cell) = entry.cell, cell.policy == nil else { return nil }
                let condition = CellSQL.membership(entry.sourceNumbers)
                return "count(CASE WHEN \(rows.number) \(condition) "
                    + "THEN \(values.expression(cell, of: rows.row)) END)"
            }
            for start in stride(from: 0, to: list.count, by: columnLimit) {
                let part = Array(list[start..<min(start + columnLimit, list.count)])
                try failures.translating { () throws(EngineError) in
                    try EngineError.translating {
                        let statement = try connection.prepare(
                            "SELECT \(part.joined(separator: ", ")) FROM \(rows.table)")
                        while try statement.step() {}
                    }
                }
            }
        }
        try failures.translating { () throws(EngineError) in
            try UniquenessTrial(laidOut, connection: connection).run(store: store.path.description)
        }
    }
}

/// The rows that a feed reads, each with its number, as a trial reads them.
struct TriedRows {
    /// The row in the statement.
    let row = SourceRow("s", schema: "")
    /// What follows `FROM`.
    let table: SQLText
    /// The row's number: its entity's, or a variant's.
    let number: SQLText

    /// - Parameters:
    ///   - feed: of the plan.
    ///   - plan: of a store that is the main schema.
    init(of feed: Feed, _ plan: MigrationPlan) {
        let name = SQLText.quoted(feed.sourceTable)
        guard plan.splits.contains(where: { $0.table == feed.sourceTable }) else {
            (table, number) = ("\(name) s", "s.Z_ENT")
            return
        }
        // Filters are applied once for all cells: the limit keeps SQLite from merging the queries.
        let found = SplitNumbers(plan.splits, cells: plan.computedCells)
            .number(of: row, in: feed.sourceTable)
        table = "(SELECT s.*, \(found) AS godwit_number FROM \(name) s LIMIT -1) s"
        number = "s.godwit_number"
    }
}
