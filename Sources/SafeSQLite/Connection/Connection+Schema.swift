import CSQLite
import GRDBSQLite

/// Schema objects that a connection makes, drops and looks at.
extension Connection {
    /// Makes one schema object.
    ///
    /// The statement can do nothing else: making another object, another kind of object, or
    /// running a query does not compile.
    ///
    /// - Throws: `StoreError` with SQLite's message.
    package func create(_ definition: SchemaDefinition) throws(StoreError) {
        try opening(
            definition.step, name: definition.name, table: definition.table,
            isTemporary: definition.isTemporary
        ) { () throws(StoreError) in try execute(definition.sql) }
    }

    /// Makes a schema object as a file of strangers holds it; its text can do nothing else.
    ///
    /// - Throws: `StoreError.notAStore` for a text that is anything else.
    package func create(_ object: SchemaObject) throws(StoreError) {
        guard let sql = SQLText.statement(of: object), object.isCreateStatement else {
            throw .notAStore(
                path: path, reason: "the schema holds an unexpected statement for \(object.name)")
        }
        let kind: SchemaDefinition.Kind =
            switch object.kind {
            case .table: object.isRTree ? .rTree : .table
            case .index: .index
            case .trigger: .trigger
            case .view: .view
            }
        try create(SchemaDefinition(kind, object.name, table: object.table, sql: sql))
    }

    /// Drops a table of the main schema.
    ///
    /// - Throws: `StoreError` with SQLite's message.
    package func drop(table: String) throws(StoreError) {
        try opening(godwit_sqlite_step_drop_table, name: table) { () throws(StoreError) in
            try execute("DROP TABLE main.\(SQLText.quoted(table))")
        }
    }

    /// Drops an index of the main schema.
    ///
    /// - Throws: `StoreError` with SQLite's message.
    package func drop(index: String) throws(StoreError) {
        try opening(godwit_sqlite_step_drop_index, name: index) { () throws(StoreError) in
            try execute("DROP INDEX main.\(SQLText.quoted(index))")
        }
    }

    /// Takes indexes out of the schema of a file of our own; their root pages stay.
    ///
    /// This connection goes on using them: the caller opens another one.
    ///
    /// - Throws: `StoreError` with SQLite's message.
    package func hide(indexes: [String]) throws(StoreError) {
        guard !indexes.isEmpty else { return }
        try editingSchema { () throws(StoreError) in
            let delete = try prepare(
                "DELETE FROM main.sqlite_master WHERE type = 'index' AND name = ?1")
            for name in indexes {
                try delete.bind(name, at: 1)
                try delete.run()
            }
        }
    }

    /// Puts an index whose pages are there into the schema of a file of our own.
    ///
    /// Connections that are opened later know it.
    ///
    /// - Parameters:
    ///   - index: that was hidden.
    ///   - rootPage: of its tree.
    /// - Throws: `StoreError` with SQLite's message.
    package func reveal(_ index: SchemaDefinition, rootPage: Int64) throws(StoreError) {
        try editingSchema { () throws(StoreError) in
            let insert = try prepare(
                "INSERT INTO main.sqlite_master VALUES ('index', ?1, ?2, ?3, ?4)")
            try insert.bind(index.name, at: 1)
            try insert.bind(index.table, at: 2)
            try insert.bind(rootPage, at: 3)
            try insert.bind(index.sql.description, at: 4)
            try insert.run()
        }
    }

    private func editingSchema(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        let code = godwit_sqlite_edit_schema(handle, 1)
        guard code == SQLITE_OK else { throw failure(code) }
        defer { _ = godwit_sqlite_edit_schema(handle, 0) }
        try opening(godwit_sqlite_step_edit_schema, body)
    }

    /// Makes SQLite's table of statistics, `sqlite_stat1`, without rows.
    ///
    /// - Throws: `StoreError` with SQLite's message.
    package func makeStatistics() throws(StoreError) {
        // The only way to make the table; its own rows are not wanted.
        try opening(godwit_sqlite_step_analyze) { () throws(StoreError) in
            try execute("ANALYZE main.Z_METADATA")
        }
        try execute("DELETE FROM main.sqlite_stat1")
    }

    /// A name of a table's rowid that no column has; nil for a table without rowids, and where
    /// columns have taken every name.
    package func rowidName(
        of table: String, columns: [StoreSchema.Column]
    ) throws(StoreError) -> SQLText? {
        let taken = Set(columns.map { $0.name.lowercased() })
        let names: [SQLText] = ["rowid", "_rowid_", "oid"]
        guard let name = names.first(where: { !taken.contains($0.description) }) else {
            return nil
        }
        let probe: SQLText = "SELECT \(name) FROM main.\(SQLText.quoted(table)) LIMIT 0"
        do throws(StoreError) {
            _ = try prepare(probe)
            return name
        } catch {
            return nil
        }
    }
}
