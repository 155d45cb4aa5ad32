import CSQLite

/// A schema object that a model or a step of ours demands, and the statement that makes it.
package struct SchemaDefinition: Hashable, Sendable {
    /// What is made.
    package enum Kind: Hashable, Sendable {
        case table, index, trigger, view
        /// A virtual table of SQLite's module `rtree`, or of its form for integers, `rtree_i32`.
        case rTree
    }

    package let kind: Kind
    package let name: String
    /// The table that an index or a trigger belongs to; the name itself otherwise.
    package let table: String
    /// Whether it goes into the temporary schema, and not into the main one.
    package let isTemporary: Bool
    package let sql: SQLText

    package init(
        _ kind: Kind, _ name: String, table: String? = nil, isTemporary: Bool = false,
        sql: SQLText
    ) {
        self.kind = kind
        self.name = name
        self.table = table ?? name
        self.isTemporary = isTemporary
        self.sql = sql
    }

    fileprivate var step: godwit_sqlite_step {
        switch kind {
        case .table: godwit_sqlite_step_create_table
        case .index: godwit_sqlite_step_create_index
        case .trigger: godwit_sqlite_step_create_trigger
        case .view: godwit_sqlite_step_create_view
        case .rTree: godwit_sqlite_step_create_rtree
        }
    }
}

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
}
