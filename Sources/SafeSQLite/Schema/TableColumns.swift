/// What SQLite says of the columns of ordinary tables.
///
/// Virtual tables are not touched.
package struct TableColumns: Sendable {
    private(set) var columns: [String: [StoreSchema.Column]] = [:]
    private(set) var rowidColumns: [String: String] = [:]
    private(set) var withoutRowids: Set<String> = []

    /// The text with ASCII letters in upper case, which is all that SQLite looks at.
    private static func uppercased(_ type: String) -> String {
        let bytes = type.utf8.map { (0x61...0x7A).contains($0) ? $0 - 0x20 : $0 }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func read(
        _ objects: [SchemaObject], _ connection: Connection
    ) throws(StoreError) -> TableColumns {
        var result = TableColumns()
        // A key of one INTEGER column is the rowid itself, and has no index of its own; that of
        // a table without rowids, or declared in descending order, has one.
        let indexed = Set(
            try connection.texts(
                "SELECT m.name FROM sqlite_master m, pragma_index_list(m.name) l "
                    + "WHERE m.type = 'table' AND m.rootpage > 0 AND l.origin = 'pk'"))
        var keys: [String: [StoreSchema.Column]] = [:]
        for object in objects where object.kind == .table && !object.isVirtual {
            result.columns[object.name] = []
            let sql = uppercased(object.sql ?? "")
            if sql.hasBytes(of: "WITHOUT") { result.withoutRowids.insert(object.name) }
        }
        // One statement for all tables: compiling one for each would cost more than running it.
        let info = try connection.prepare(
            "SELECT m.name, x.name, x.type, x.pk, x.hidden, x.dflt_value IS NOT NULL "
                + "FROM sqlite_master m CROSS JOIN pragma_table_xinfo(m.name) x "
                + "WHERE m.type = 'table' AND m.rootpage > 0")
        while try info.step() {
            guard let table = info.text(0) else { continue }
            let column = StoreSchema.Column(
                name: try info.name(1), type: Self.uppercased(try info.name(2)),
                isGenerated: info.integer(4) > 1, hasDefault: info.integer(5) != 0)
            result.columns[table]?.append(column)
            if info.integer(3) > 0 { keys[table, default: []].append(column) }
        }
        for (table, key) in keys where key.count == 1 && key[0].type == "INTEGER" {
            if !indexed.contains(table) { result.rowidColumns[table] = key[0].name }
        }
        return result
    }
}
