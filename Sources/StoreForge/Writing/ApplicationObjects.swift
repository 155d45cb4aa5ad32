import CoreDataStore
import SafeSQLite

/// Objects of an app's own in the file of its store.
enum ApplicationObjects {
    /// Makes them; there must be a transaction.
    static func write(to connection: Connection, layout: StoreLayout) throws {
        for definition in definitions(layout) { try connection.create(definition) }
        let insert = try connection.prepare(
            "INSERT INTO RADAR_LOG (word, score, payload) VALUES (?, ?, ?)")
        for number in 1...20 {
            try insert.bind("word \(number % 7)", at: 1)
            try insert.bind(Double(number) / 4, at: 2)
            try insert.bind([UInt8](repeating: UInt8(number), count: number), at: 3)
            try insert.run()
        }
        try connection.execute(
            "INSERT INTO RADAR_SETTINGS VALUES ('theme', 'dark'), ('depth', 3), ('none', NULL)")
    }

    private static func definitions(_ layout: StoreLayout) -> [SchemaDefinition] {
        var list: [SchemaDefinition] = [
            .init(
                .table, "RADAR_LOG",
                sql: "CREATE TABLE RADAR_LOG (id INTEGER PRIMARY KEY AUTOINCREMENT, "
                    + "word TEXT NOT NULL DEFAULT 'none', score REAL, "
                    + "payload BLOB CHECK (length(payload) < 1000))"),
            .init(
                .table, "RADAR_SETTINGS",
                sql: "CREATE TABLE RADAR_SETTINGS (key TEXT PRIMARY KEY, value) WITHOUT ROWID"),
            .init(
                .index, "RADAR_LOG_WORD", table: "RADAR_LOG",
                sql: "CREATE INDEX RADAR_LOG_WORD ON RADAR_LOG (word COLLATE NOCASE DESC) "
                    + "WHERE score > 1"),
            .init(
                .view, "RADAR_WORDS",
                sql: "CREATE VIEW RADAR_WORDS AS SELECT word, count(*) AS number FROM RADAR_LOG "
                    + "GROUP BY word"),
            .init(
                .trigger, "RADAR_TRIM", table: "RADAR_LOG",
                sql: "CREATE TRIGGER RADAR_TRIM AFTER INSERT ON RADAR_LOG WHEN NEW.id > 1000 "
                    + "BEGIN DELETE FROM RADAR_LOG WHERE id = NEW.id - 1000; END"),
        ]
        if let table = layout.tables.first?.name {
            list.append(
                .init(
                    .index, "RADAR_OPT_INDEX", table: table,
                    sql: "CREATE INDEX RADAR_OPT_INDEX ON \(.quoted(table)) (Z_OPT)"))
            list.append(
                .init(
                    .trigger, "RADAR_TOUCHED", table: table,
                    sql: "CREATE TRIGGER RADAR_TOUCHED AFTER UPDATE ON \(.quoted(table)) BEGIN "
                        + "INSERT INTO RADAR_LOG (word) VALUES ('touched'); END"))
        }
        return list
    }
}
