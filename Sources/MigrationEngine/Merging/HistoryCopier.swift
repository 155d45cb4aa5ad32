import CoreDataStore
import MappingModel
import MigrationPlans
import SafeSQLite

/// Carries persistent history over, entity numbers and keys renumbered.
///
/// Column bitmaps of changes are kept as they are: history is refused beforehand for entities
/// whose properties changed.
struct HistoryCopier {
    let file: LaidOutPlan
    /// The destination, with the source attached as `src`.
    let connection: Connection
    let schema: StoreSchema

    static let tables = ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]

    /// Makes the tables as the source has them and copies their rows.
    func copyTables() throws(EngineError) {
        try EngineError.translating {
            for name in Self.tables {
                guard let table = schema.object(.table, name) else { continue }
                try connection.create(table)
                let columns = (schema.columns[name] ?? []).map(\.name)
                let values = columns.map { value(of: $0, in: name) }
                let list = columns.map(SQLText.quoted).joined(separator: ", ")
                let quoted = SQLText.quoted(name)
                try connection.execute(
                    "INSERT INTO main.\(quoted) (\(list)) "
                        + "SELECT \(values.joined(separator: ", ")) FROM src.\(quoted) s "
                        + "ORDER BY Z_PK")
            }
        }
    }

    /// Makes the indexes of history as the source has them.
    func copyIndexes() throws(EngineError) {
        try EngineError.translating {
            for object in schema.objects
            where object.kind == .index && Self.tables.contains(object.table) {
                if object.sql != nil { try connection.create(object) }
            }
        }
    }

    /// The rows of `Z_PRIMARYKEY` that history reserves, no maximum below a key in use.
    func reservedKeys(_ rows: [PrimaryKeys.Row]) throws(EngineError) -> [PrimaryKeys.Row] {
        try EngineError.translating {
            try rows.map { row in
                let table = "A" + row.name
                guard Self.tables.contains(table), schema.hasTable(table) else { return row }
                let highest =
                    try connection.integer(
                        "SELECT max(Z_PK) FROM main.\(SQLText.quoted(table))") ?? 0
                return PrimaryKeys.Row(
                    number: row.number, name: row.name, parent: row.parent,
                    maximum: max(row.maximum, highest))
            }
        }
    }

    private func value(of column: String, in table: String) -> SQLText {
        guard table == "ACHANGE" else { return CellSQL.column(column) }
        // History is kept of entities alone that stay what they are.
        var entities: [(Feed, EntityFeed)] = []
        let copies = file.plan.feeds.flatMap { feed in
            feed.entities.filter { file.plan.mapping.entityMappings[$0.pass].kind == .copy }
                .map { (feed, $0) }
        }.sorted { $0.1.pass < $1.1.pass }
        // Of several copies the first one has the history.
        for copy in copies
        where !entities.contains(where: { number(of: $0.1) == number(of: copy.1) }) {
            entities.append(copy)
        }
        switch column {
        case "ZENTITY":
            let cases = entities.map {
                "WHEN \(number(of: $1)) THEN \($1.destinationNumber)" as SQLText
            }
            return "CASE s.ZENTITY \(cases.joined(separator: " ")) ELSE s.ZENTITY END"
        case "ZENTITYPK":
            let cases = entities.filter { $0.0.offset != 0 }
                .map {
                    "WHEN \(number(of: $1)) THEN s.ZENTITYPK + \($0.offset)" as SQLText
                }
            guard !cases.isEmpty else { return "s.ZENTITYPK" }
            return "CASE s.ZENTITY \(cases.joined(separator: " ")) ELSE s.ZENTITYPK END"
        default: return CellSQL.column(column)
        }
    }
    private func number(of feed: EntityFeed) -> Int64 {
        file.plan.splits.storedNumber(of: feed.sourceNumber)
    }
}
