package import SafeSQLite

// What the records of a file's tables and indexes hold.

extension PageWalk {
    /// The columns of a table or index that its records hold.
    package struct StoredColumns: Hashable, Sendable {
        package let count: Int
        /// The place of the column that is another name of the rowid.
        package let keyField: Int?
    }

    /// What a file's statements say of its tables and indexes.
    package struct SchemaFacts: Hashable, Sendable {
        /// The columns that the records of each table and index hold, by name.
        package let columns: [String: StoredColumns]
        /// Whether an index that a table demands is not in `sqlite_master`.
        package let lacksIndex: Bool

        /// Reads them.
        ///
        /// - Parameter connection: to the file.
        /// - Throws: `StoreError` with SQLite's message.
        package init(_ connection: Connection) throws(StoreError) {
            columns = try PageWalk.columns(connection)
            let lost: SQLText =
                "SELECT count(*) FROM sqlite_master m, pragma_index_list(m.name) i "
                + "WHERE m.type = 'table' AND i.name NOT IN "
                + "(SELECT name FROM sqlite_master WHERE type = 'index')"
            lacksIndex = try connection.integer(lost) != 0
        }
    }

    private static func columns(
        _ connection: Connection
    ) throws(StoreError) -> [String: StoredColumns] {
        // 2 are generated columns that are not stored. A table without rowids is an index, which
        // has a column twice where its key does, by different collations. A primary key without
        // an index is another name of the rowid.
        let list = try connection.prepare(
            "SELECT name, max((SELECT count(*) FROM pragma_index_xinfo(m.name)), CASE type "
                + "WHEN 'table' THEN (SELECT count(*) FROM pragma_table_xinfo(m.name) "
                + "WHERE hidden <> 2) ELSE 0 END), CASE WHEN type = 'table' AND NOT EXISTS "
                + "(SELECT 1 FROM pragma_index_list(m.name) WHERE origin = 'pk') THEN "
                + "(SELECT (SELECT count(*) FROM pragma_table_xinfo(m.name) b "
                + "WHERE b.hidden <> 2 AND b.cid < k.cid) FROM pragma_table_xinfo(m.name) k "
                + "WHERE k.pk = 1) END "
                + "FROM sqlite_master m WHERE type IN ('table', 'index') AND rootpage > 0")
        var columns: [String: StoredColumns] = [:]
        while try list.step() {
            guard let name = list.text(0) else { continue }
            columns[name] = StoredColumns(
                count: Int(list.integer(1)), keyField: list.isNull(2) ? nil : Int(list.integer(2)))
        }
        return columns
    }

    /// The trees of a file.
    ///
    /// - Parameters:
    ///   - schema: of the file.
    ///   - facts: of its tables and indexes.
    /// - Returns: those of `sqlite_master`, all tables and all indexes.
    package static func trees(
        _ schema: StoreSchema, _ facts: SchemaFacts
    ) -> [Tree] {
        var trees = [Tree(name: "sqlite_master", rootPage: 1, fields: 5, isIndex: false)]
        for object in schema.objects where object.rootPage > 0 {
            switch object.kind {
            case .table, .index:
                let stored = facts.columns[object.name]
                trees.append(
                    Tree(
                        name: object.name, rootPage: object.rootPage,
                        fields: stored?.count ?? 0, keyField: stored?.keyField,
                        isIndex: object.kind == .index))
            case .view, .trigger: break
            }
        }
        return trees
    }

    /// Whether SQLite's check of a file looks at more than pages (values of columns that may not
    /// be NULL, strict tables, what a module keeps), or a row of its schema names no page where
    /// it should, or one where it should not.
    ///
    /// True also where a definition only looks so.
    static func needsSQLite(_ schema: StoreSchema) -> Bool {
        schema.objects.contains { object in
            switch object.kind {
            case .view, .trigger: return object.rootPage != 0
            case .index: return object.rootPage <= 0
            case .table:
                return object.rootPage <= 0
                    || Self.wordsOfChecks.contains { object.sql?.holds(word: $0) == true }
            }
        }
    }

    private static var wordsOfChecks: [StaticString] { ["null", "strict", "without"] }
}

extension String {
    /// Whether a word of lower-case ASCII letters occurs in any case, byte by byte.
    fileprivate func holds(word: StaticString) -> Bool {
        var text = self
        return text.withUTF8 { text in
            let count = word.utf8CodeUnitCount
            guard count > 0, text.count >= count else { return false }
            return (0...text.count - count).contains { start in
                (0..<count).allSatisfy { text[start + $0] | 0x20 == word.utf8Start[$0] }
            }
        }
    }
}
