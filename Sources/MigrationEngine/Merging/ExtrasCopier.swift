import CoreDataStore

/// Carries over what the plan keeps beside the model: the app's own tables, indexes, views and
/// triggers, and SQLite's statistics. Nothing of it runs.
struct ExtrasCopier {
    let extras: [ExtraObject]
    /// The destination, with the source attached as `src`.
    let connection: Connection
    let schema: StoreSchema

    private func kept(_ kind: SchemaObject.Kind) -> [SchemaObject] {
        extras.filter { $0.isKept && $0.object.kind == kind }.map(\.object)
    }

    /// Makes the app's own tables and copies their rows.
    func copyTables() throws(EngineError) {
        try EngineError.translating {
            for table in kept(.table) where !table.name.hasPrefix("sqlite_") {
                try connection.create(table)
                let name = SQLText.quoted(table.name)
                let hasRowid = schema.columns[table.name] != nil && !isWithoutRowid(table)
                try connection.execute(
                    "INSERT INTO main.\(name) SELECT * FROM src.\(name)"
                        + (hasRowid ? " ORDER BY rowid" : ""))
            }
        }
    }

    private func isWithoutRowid(_ table: SchemaObject) -> Bool {
        (table.sql ?? "").uppercased().contains("WITHOUT ROWID")
    }

    /// Makes the app's own indexes, views and triggers, in this order.
    func copyRest() throws(EngineError) {
        try EngineError.translating {
            for kind in [SchemaObject.Kind.index, .view, .trigger] {
                for object in kept(kind) { try connection.create(object) }
            }
            try copyStatistics()
        }
    }

    /// Copies statistics of tables and indexes that are there.
    private func copyStatistics() throws {
        for table in kept(.table) where table.name.hasPrefix("sqlite_stat") {
            guard table.name == "sqlite_stat1" else { continue }
            // The only way to make the table; its own rows are not wanted.
            try connection.execute("ANALYZE main.Z_METADATA; DELETE FROM main.sqlite_stat1")
            try connection.execute(
                "INSERT INTO main.sqlite_stat1 (tbl, idx, stat) SELECT tbl, idx, stat "
                    + "FROM src.sqlite_stat1 s WHERE EXISTS (SELECT 1 FROM main.sqlite_master m "
                    + "WHERE m.type = 'table' AND m.name = s.tbl) AND (idx IS NULL OR EXISTS "
                    + "(SELECT 1 FROM main.sqlite_master m WHERE m.type = 'index' "
                    + "AND m.name = s.idx AND m.tbl_name = s.tbl))")
        }
    }
}
