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

    /// What a connection may do while it makes the object.
    var step: godwit_sqlite_step {
        switch kind {
        case .table: godwit_sqlite_step_create_table
        case .index: godwit_sqlite_step_create_index
        case .trigger: godwit_sqlite_step_create_trigger
        case .view: godwit_sqlite_step_create_view
        case .rTree: godwit_sqlite_step_create_rtree
        }
    }
}
