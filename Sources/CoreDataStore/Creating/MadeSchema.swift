import DurableFiles
package import SafeSQLite

/// The schema of a finished store as `StoreBuilder` writes it: every object with its text.
///
/// A file that another user made for the same layout holds these objects, and nothing beside them
/// but what its source explains.
package struct MadeSchema: Hashable, Sendable {
    /// One object, wherever it lies in its file.
    package struct Object: Hashable, Sendable {
        package let kind: SchemaObject.Kind
        package let name: String
        package let table: String
        /// Nil for indexes that SQLite makes by itself.
        package let sql: String?

        package init(_ object: SchemaObject) {
            (kind, name, table, sql) = (object.kind, object.name, object.table, object.sql)
        }

        // Names and texts by their bytes, as SQLite has them.
        package static func == (left: Object, right: Object) -> Bool {
            left.kind == right.kind && left.name.isExactly(right.name)
                && left.table.isExactly(right.table) && left.sql.isExactly(right.sql)
        }
    }

    package let objects: Set<Object>

    /// Makes an empty store in memory and reads its schema.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    package init(_ layout: StoreLayout) throws(StoreError) {
        let connection = try Connection(path: FilePath("schema"), mode: .memory)
        try StoreBuilder.createTables(of: layout, connection)
        try connection.transaction { () throws(StoreError) in
            for index in layout.indexes { try connection.create(index.definition) }
            for tree in layout.rTrees { try connection.create(tree.definition) }
            for trigger in layout.triggers { try connection.create(trigger.definition) }
        }
        objects = Set(try StoreSchema.read(connection).objects.map(Object.init))
        try connection.close()
    }
}
