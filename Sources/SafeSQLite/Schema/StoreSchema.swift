/// One row of `sqlite_master`.
package struct SchemaObject: Hashable, Sendable, Codable {
    /// What `sqlite_master` calls its type.
    package enum Kind: String, Hashable, Sendable, Codable {
        case table, index, trigger, view
    }

    package let kind: Kind
    package let name: String
    /// The table that an index or a trigger belongs to; the name itself otherwise.
    package let table: String
    /// The statement that made it; nil for what SQLite made by itself.
    package let sql: String?
    /// The root page of its b-tree; 0 for views, triggers and virtual tables.
    package let rootPage: Int64

    /// Whether the text is what SQLite writes for an object of this kind, and nothing that
    /// would do more than make it.
    package var isCreateStatement: Bool {
        guard let sql else { return false }
        let words = sql.uppercased().split(
            maxSplits: 4, whereSeparator: { " \t\r\n".contains($0) }
        ).map(String.init)
        guard words.count > 2, words[0] == "CREATE" else { return false }
        switch kind {
        case .table:
            let isQuery = sql.uppercased().contains(" AS SELECT")
            return (words[1] == "TABLE" || words[1] == "VIRTUAL") && !isQuery
        case .index: return words[1] == "INDEX" || (words[1] == "UNIQUE" && words[2] == "INDEX")
        case .trigger: return words[1] == "TRIGGER"
        case .view: return words[1] == "VIEW"
        }
    }

    /// The same object wherever it lies in its file; a virtual table stays one.
    package var unplaced: SchemaObject {
        SchemaObject(
            kind: kind, name: name, table: table, sql: sql, rootPage: rootPage == 0 ? 0 : 1)
    }

    /// Whether it is a virtual table.
    package var isVirtual: Bool { kind == .table && rootPage == 0 }

    // Names and texts by their bytes, as SQLite has them.
    package static func == (left: SchemaObject, right: SchemaObject) -> Bool {
        left.kind == right.kind && left.rootPage == right.rootPage
            && left.name.isExactly(right.name) && left.table.isExactly(right.table)
            && left.sql.isExactly(right.sql)
    }
}

/// What a database file holds: its objects and the columns of its tables.
package struct StoreSchema: Hashable, Sendable {
    /// A column as it is declared.
    package struct Column: Hashable, Sendable, Codable {
        package let name: String
        /// The declared type, its ASCII letters in upper case; empty where there is none.
        package let type: String
        /// Whether SQLite computes it from other columns, so that it cannot be written.
        package let isGenerated: Bool
        /// Whether rows that were there before the column may have another value than NULL.
        package let hasDefault: Bool

        /// Whether values have REAL affinity (SQLite: data types §3.1).
        package let isReal: Bool

        package init(name: String, type: String, isGenerated: Bool, hasDefault: Bool) {
            self.name = name
            self.type = type
            self.isGenerated = isGenerated
            self.hasDefault = hasDefault
            isReal =
                !["INT", "CHAR", "CLOB", "TEXT", "BLOB"].contains { type.hasBytes(of: $0) }
                && ["REAL", "FLOA", "DOUB"].contains { type.hasBytes(of: $0) }
        }
    }

    package let objects: [SchemaObject]
    /// Columns of ordinary tables, in order.
    package let columns: [String: [Column]]
    /// The column of each ordinary table that stands for its rowid, where there is one.
    package let rowidColumns: [String: String]
    /// Ordinary tables whose records are not those of rows with rowids, and maybe others.
    package let tablesWithoutRowids: Set<String>

    /// The most schema objects that a store may have; the largest real one has about 900.
    package static let objectLimit = 50_000

    /// Gives the columns of objects, remembered or read by the second parameter.
    package typealias ColumnSource = (
        _ objects: [SchemaObject], _ read: () throws(StoreError) -> TableColumns
    ) throws(StoreError) -> TableColumns

    /// Reads the schema of an open file.
    ///
    /// Virtual tables are listed, but not touched: their modules are not run.
    ///
    /// - Parameters:
    ///   - connection: to the file.
    ///   - columns: where the columns come from; from the file unless told otherwise.
    /// - Returns: the schema.
    /// - Throws: `StoreError.notAStore` for a schema that cannot be read or whose texts are not
    ///   UTF-8.
    package static func read(
        _ connection: Connection,
        columns: ColumnSource = { _, read throws(StoreError) in try read() }
    ) throws(StoreError) -> StoreSchema {
        var objects: [SchemaObject] = []
        let list = try connection.prepare(
            "SELECT type, name, tbl_name, sql, rootpage FROM sqlite_master ORDER BY rowid")
        while try list.step() {
            guard objects.count < objectLimit else {
                throw .notAStore(
                    path: connection.path, reason: "its schema has too many objects")
            }
            // Readers that compare names find none that is a blob.
            let classes = (0..<5).map { list.storageClass($0) }
            guard classes[0...2].allSatisfy({ $0 == 3 }), classes[3] == 3 || classes[3] == 5,
                classes[4] == 1 || classes[4] == 5
            else {
                throw .notAStore(
                    path: connection.path,
                    reason: "its schema has a value of a type that SQLite does not write")
            }
            guard let kind = SchemaObject.Kind(rawValue: list.text(0) ?? "") else {
                throw .notAStore(
                    path: connection.path, reason: "its schema has an object of unknown type")
            }
            objects.append(
                SchemaObject(
                    kind: kind, name: try list.name(1), table: try list.name(2),
                    sql: try list.exactText(3, "statement"), rootPage: list.integer(4)))
        }
        let tables = try columns(objects) { () throws(StoreError) in
            try TableColumns.read(objects, connection)
        }
        return StoreSchema(
            objects: objects, columns: tables.columns, rowidColumns: tables.rowidColumns,
            tablesWithoutRowids: tables.withoutRowids)
    }

    /// Whether there is an ordinary table of that name.
    package func hasTable(_ name: String) -> Bool { columns[name] != nil }

    /// The object of that kind and name, byte by byte; nil where there is none.
    package func object(_ kind: SchemaObject.Kind, _ name: String) -> SchemaObject? {
        objects.first { $0.kind == kind && $0.name.isExactly(name) }
    }
}
