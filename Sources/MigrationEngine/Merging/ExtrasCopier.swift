import DurableFiles
import MigrationPlans
import SafeSQLite

/// Carries over what the plan keeps beside the model.
///
/// That is the app's own tables, indexes, views and triggers, and SQLite's statistics. Nothing
/// of it runs.
struct ExtrasCopier {
    let extras: [ExtraObject]
    /// The destination, with the source attached as `src`.
    let connection: Connection
    /// The source's database, whose declarations are a stranger's.
    let source: FilePath
    let schema: StoreSchema

    private func kept(_ kind: SchemaObject.Kind) -> [SchemaObject] {
        extras.filter { $0.isKept && $0.object.kind == kind }.map(\.object)
    }

    /// Whether rows of the source are to be copied.
    var hasTables: Bool { !kept(.table).isEmpty }

    /// Makes the app's own tables and copies their rows.
    func copyTables() throws(EngineError) {
        try EngineError.translating {
            try connection.bounded(by: source) {
                for table in kept(.table) where !table.name.hasPrefix("sqlite_") {
                    try connection.create(table)
                    try connection.execute(copySQL(table))
                }
                try copySequences()
            }
        }
    }

    /// The statement that copies a table's rows with their rowids.
    ///
    /// Columns that SQLite computes cannot be written and need not be.
    private func copySQL(_ table: SchemaObject) throws(StoreError) -> SQLText {
        let name = SQLText.quoted(table.name)
        guard let columns = schema.columns[table.name] else {
            return "INSERT INTO main.\(name) SELECT * FROM src.\(name)"
        }
        var names = columns.filter { !$0.isGenerated }.map { SQLText.quoted($0.name) }
        let rowid = try connection.rowidName(of: table.name, columns: columns)
        if let rowid, schema.rowidColumns[table.name] == nil { names.insert(rowid, at: 0) }
        let list = names.joined(separator: ", ")
        return "INSERT INTO main.\(name) (\(list)) SELECT \(list) FROM src.\(name)"
            + (rowid.map { " ORDER BY \($0)" } ?? "")
    }

    /// Numbers that `AUTOINCREMENT` has given out, also those of rows that are gone.
    private func copySequences() throws(StoreError) {
        guard hasTables, schema.hasTable("sqlite_sequence"),
            try connection.integer(
                "SELECT count(*) FROM main.sqlite_master WHERE name = 'sqlite_sequence'") == 1
        else { return }
        let names = kept(.table).map { SQLText.text($0.name) }.joined(separator: ", ")
        try connection.execute("DELETE FROM main.sqlite_sequence")
        try connection.execute(
            "INSERT INTO main.sqlite_sequence (name, seq) "
                + "SELECT name, seq FROM src.sqlite_sequence WHERE name IN (\(names))")
    }

    /// Makes the app's own indexes, views and triggers, in this order.
    func copyRest() throws(EngineError) {
        try EngineError.translating {
            try connection.bounded(by: source) {
                for kind in [SchemaObject.Kind.index, .view, .trigger] {
                    for object in kept(kind) { try connection.create(object) }
                }
                try copyStatistics()
            }
        }
    }

    /// Copies statistics of tables and indexes that are there.
    private func copyStatistics() throws {
        for table in kept(.table) where table.name.hasPrefix("sqlite_stat") {
            guard table.name == "sqlite_stat1" else { continue }
            try connection.makeStatistics()
            try connection.execute(
                "INSERT INTO main.sqlite_stat1 (tbl, idx, stat) SELECT tbl, idx, stat "
                    + "FROM src.sqlite_stat1 s WHERE EXISTS (SELECT 1 FROM main.sqlite_master m "
                    + "WHERE m.type = 'table' AND m.name = s.tbl) AND (idx IS NULL OR EXISTS "
                    + "(SELECT 1 FROM main.sqlite_master m WHERE m.type = 'index' "
                    + "AND m.name = s.idx AND m.tbl_name = s.tbl))")
        }
    }
}
