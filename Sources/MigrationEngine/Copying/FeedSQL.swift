import MigrationPlans
import SafeSQLite

/// The statement that copies one chunk of a feed.
struct FeedSQL {
    let plan: MigrationPlan
    let feed: Feed
    /// Numbers of all entities and variants of the source table: rows of others do not occur, but
    /// in a table of one entity, whose rows are all read as that entity.
    let tableEntities: Set<Int64>

    /// `INSERT … SELECT` from `src` into the main schema, in ascending keys.
    ///
    /// - Throws: `EngineError.internalError` for a cell that SQL cannot write.
    func statement(_ selection: Selection) throws(EngineError) -> SQLText {
        let fed = Set(feed.entities.map(\.sourceNumber))
        let chosen: Set<Int64>
        if case .entities(let numbers, _) = selection {
            chosen = fed.intersection(numbers)
        } else {
            chosen = fed
        }
        let isSplit = plan.splits.contains { $0.table == feed.sourceTable }
        let number: SQLText = isSplit ? "s.\(Self.numberColumn)" : "s.Z_ENT"
        let cells = CellSQL(plan, rowNumber: number)
        var values: [SQLText] = [
            CellSQL.moved("s.Z_PK", by: feed.offset), entityNumber(chosen, number), "s.Z_OPT",
        ]
        var names: [SQLText] = ["Z_PK", "Z_ENT", "Z_OPT"]
        for column in feed.columns {
            names.append(SQLText.quoted(column.name))
            values.append(try cells.expression(column, entities: chosen))
        }
        var conditions: [SQLText] = []
        // Every row of a table of one entity is that entity's, whatever its number says.
        if chosen != tableEntities {
            conditions.append("\(number) \(CellSQL.membership(Array(chosen)))")
        }
        var inner: [SQLText] = []
        var rows = rows(selection, &inner)
        if isSplit {
            rows = (numbered(rows, inner, cells), "")
        } else {
            conditions += inner
        }
        let condition: SQLText =
            conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
        return "INSERT INTO main.\(SQLText.quoted(feed.destinationTable)) "
            + "(\(names.joined(separator: ", "))) "
            + "SELECT \(values.joined(separator: ", ")) FROM \(rows.table)\(condition)"
            + rows.order
    }

    /// The column of `numbered` that has the number of each row.
    private static let numberColumn: SQLText = "godwit_number"

    /// The rows with the number of each, worked out once for all cells: the limit keeps SQLite from
    /// merging the two queries.
    private func numbered(
        _ rows: (table: SQLText, order: SQLText), _ conditions: [SQLText], _ cells: CellSQL
    ) -> SQLText {
        let number = cells.numbers.number(of: .attached("s"), in: feed.sourceTable)
        let condition: SQLText =
            conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
        return "(SELECT s.*, \(number) AS \(Self.numberColumn) FROM \(rows.table)\(condition)"
            + "\(rows.order) LIMIT -1) s"
    }

    private func entityNumber(_ chosen: Set<Int64>, _ number: SQLText) -> SQLText {
        let entities = feed.entities.filter { chosen.contains($0.sourceNumber) }
        if tableEntities.count == 1, let only = entities.first {
            return "\(only.destinationNumber)"
        }
        if entities.allSatisfy({ $0.sourceNumber == $0.destinationNumber }) { return number }
        if entities.count == 1, let only = entities.first { return "\(only.destinationNumber)" }
        let cases = entities.map {
            "WHEN \($0.sourceNumber) THEN \($0.destinationNumber)" as SQLText
        }
        return "CASE \(number) \(cases.joined(separator: " ")) END"
    }

    private func rows(
        _ selection: Selection, _ conditions: inout [SQLText]
    ) -> (table: SQLText, order: SQLText) {
        let table: SQLText = "src.\(SQLText.quoted(feed.sourceTable)) s"
        let byKey: SQLText = " ORDER BY s.Z_PK"
        switch selection {
        case .keys(let range), .entities(_, let range):
            conditions += range.conditions(on: "s.Z_PK")
            return (table, byKey)
        case .listed(_, let list):
            // The table is read forwards. The limit keeps SQLite from merging the two queries.
            let keys = SQLText.quoted(RouteFile.table(of: list))
            return (
                "(SELECT key FROM route.\(keys) ORDER BY key LIMIT -1) r CROSS JOIN \(table) "
                    + "ON s.Z_PK = r.key", ""
            )
        }
    }
}
