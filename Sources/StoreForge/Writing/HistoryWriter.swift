import CoreDataStore
import ManagedObjectModel
import SafeSQLite

/// Writes persistent history.
struct HistoryWriter {
    let plan: ForgePlan

    private var changes: Int { plan.recipe.historyRows }
    private var transactions: Int { changes == 0 ? 0 : changes / 4 + 1 }
    private static let strings = ["com.example.app", "main", "import", "4711"]

    /// Rows of `Z_PRIMARYKEY`; empty without history.
    var primaryKeys: [PrimaryKeys.Row] {
        guard changes > 0 else { return [] }
        let rows = [
            ("CHANGE", changes), ("TRANSACTION", transactions),
            ("TRANSACTIONSTRING", HistoryWriter.strings.count),
        ]
        return zip(Int64(16_001)..., rows).map { number, row in
            PrimaryKeys.Row(number: number, name: row.0, parent: 0, maximum: Int64(row.1))
        }
    }

    /// Makes and fills the tables; there must be a transaction.
    func write(to connection: Connection) throws {
        guard changes > 0 else { return }
        let tombstones = tombstoneCount
        try createTables(connection, tombstones: tombstones)
        let text = try connection.prepare("INSERT INTO ATRANSACTIONSTRING VALUES (?, 16003, 1, ?)")
        for (key, string) in zip(Int64(1)..., HistoryWriter.strings) {
            try text.bind(key, at: 1)
            try text.bind(string, at: 2)
            try text.run()
        }
        let transaction = try connection.prepare(
            "INSERT INTO ATRANSACTION VALUES (?, 16002, 1, 2, 1, 3, 4, ?, NULL, NULL, NULL, NULL, "
                + "NULL)")
        for key in 1...Int64(transactions) {
            try transaction.bind(key, at: 1)
            try transaction.bind(600_000_000 + Double(key) * 1.5, at: 2)
            try transaction.run()
        }
        try writeChanges(connection, tombstones: tombstones)
    }

    private func writeChanges(_ connection: Connection, tombstones: Int) throws {
        let marks = [SQLText](repeating: ", ?", count: tombstones).joined()
        let change = try connection.prepare(
            "INSERT INTO ACHANGE VALUES (?, 16001, 1, ?, ?, ?, ?, ?\(marks))")
        let salt = ForgeHash.salt(plan.recipe.seed, "history")
        let tables = plan.tables.filter { $0.count > 0 }
        for key in 1...Int64(changes) {
            let hash = ForgeHash.number(salt, Int(key))
            let kind = Int64(hash % 3)
            try change.bind(key, at: 1)
            try change.bind(kind, at: 2)
            if tables.isEmpty {
                try change.bind(Int64(1), at: 3)
                try change.bind(Int64(1), at: 4)
            } else {
                let table = tables[Int((hash >> 8) % UInt64(tables.count))]
                let slot = Int((hash >> 32) % UInt64(table.count))
                try change.bind(table.part(ofSlot: slot).number, at: 3)
                try change.bind(table.key(ofSlot: slot), at: 4)
            }
            try change.bind((key - 1) / 4 + 1, at: 5)
            // The bit map of changed properties belongs to updates.
            if kind == 1 {
                try change.bind([UInt8(truncatingIfNeeded: hash >> 40) | 1], at: 6)
            } else {
                try change.bindNull(at: 6)
            }
            for place in 0..<tombstones {
                if kind == 2 {
                    try change.bind([UInt8(place), 7], at: 7 + place)
                } else {
                    try change.bindNull(at: 7 + place)
                }
            }
            try change.run()
        }
    }

    /// The largest number of attributes that any entity keeps after deletion, inherited ones
    /// included.
    private var tombstoneCount: Int {
        let model = plan.layout.model
        let counts = model.entities.keys.map { name in
            model.allAttributes(of: name).count {
                $0.attribute.preservesValueInHistoryOnDeletion
            }
        }
        return min(200, counts.max() ?? 0)
    }

    private func createTables(_ connection: Connection, tombstones: Int) throws {
        let leading: SQLText = "Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER"
        let kept = (0..<tombstones).map { ", ZTOMBSTONE\($0) BLOB" as SQLText }.joined()
        let tables: [(String, SQLText)] = [
            (
                "ACHANGE",
                "ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, "
                    + "ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB\(kept)"
            ),
            (
                "ATRANSACTION",
                "ZAUTHORTS INTEGER, ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, "
                    + "ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, "
                    + "ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB"
            ),
            ("ATRANSACTIONSTRING", "ZNAME VARCHAR"),
        ]
        for (name, columns) in tables {
            try connection.create(
                SchemaDefinition(
                    .table, name,
                    sql: "CREATE TABLE \(.declared(name)) ( \(leading), \(columns) )"))
        }
        try createIndexes(connection)
    }

    private func createIndexes(_ connection: Connection) throws {
        try createIndex("ACHANGE_ZTRANSACTIONID_INDEX", "ACHANGE", "ZTRANSACTIONID", connection)
        for column in ["ZAUTHORTS", "ZBUNDLEIDTS", "ZCONTEXTNAMETS", "ZPROCESSIDTS"] {
            try createIndex(
                "ATRANSACTION_\(column)_INDEX", "ATRANSACTION", .declared(column), connection)
        }
        for (name, column) in [("Author", "ZAUTHOR"), ("Timestamp", "ZTIMESTAMP")] {
            try createIndex(
                "Z_TRANSACTION_Transaction\(name)Index", "ATRANSACTION",
                "\(.declared(column)) COLLATE BINARY ASC", connection)
        }
        try createIndex(
            "Z_TRANSACTIONSTRING_UNIQUE_NAME", "ATRANSACTIONSTRING",
            "ZNAME COLLATE BINARY ASC", isUnique: true, connection)
    }

    private func createIndex(
        _ name: String, _ table: String, _ columns: SQLText, isUnique: Bool = false,
        _ connection: Connection
    ) throws {
        let head: SQLText = isUnique ? "CREATE UNIQUE INDEX" : "CREATE INDEX"
        try connection.create(
            SchemaDefinition(
                .index, name, table: table,
                sql: "\(head) \(.declared(name)) ON \(.declared(table)) (\(columns))"))
    }
}
