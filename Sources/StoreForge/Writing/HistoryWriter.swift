import CoreDataStore
import ManagedObjectModel

/// Writes persistent history (format page §10).
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
        let marks = [String](repeating: ", ?", count: tombstones).joined()
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
        let leading = "Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER"
        let kept = (0..<tombstones).map { ", ZTOMBSTONE\($0) BLOB" }.joined()
        try connection.execute(
            "CREATE TABLE ACHANGE ( \(leading), ZCHANGETYPE INTEGER, ZENTITY INTEGER, "
                + "ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB\(kept) )")
        try connection.execute(
            "CREATE TABLE ATRANSACTION ( \(leading), ZAUTHORTS INTEGER, ZBUNDLEIDTS INTEGER, "
                + "ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, "
                + "ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, "
                + "ZQUERYGEN BLOB )")
        try connection.execute("CREATE TABLE ATRANSACTIONSTRING ( \(leading), ZNAME VARCHAR )")
        try connection.execute(
            "CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID)")
        for column in ["ZAUTHORTS", "ZBUNDLEIDTS", "ZCONTEXTNAMETS", "ZPROCESSIDTS"] {
            try connection.execute(
                "CREATE INDEX ATRANSACTION_\(column)_INDEX ON ATRANSACTION (\(column))")
        }
        for (name, column) in [("Author", "ZAUTHOR"), ("Timestamp", "ZTIMESTAMP")] {
            try connection.execute(
                "CREATE INDEX Z_TRANSACTION_Transaction\(name)Index ON ATRANSACTION "
                    + "(\(column) COLLATE BINARY ASC)")
        }
        try connection.execute(
            "CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING "
                + "(ZNAME COLLATE BINARY ASC)")
    }
}
