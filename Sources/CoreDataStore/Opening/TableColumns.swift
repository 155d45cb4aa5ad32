/// What SQLite says of the columns of ordinary tables.
///
/// Virtual tables are not touched.
struct TableColumns {
    private(set) var columns: [String: [StoreSchema.Column]] = [:]
    private(set) var rowidColumns: [String: String] = [:]

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
        for object in objects where object.kind == .table && !object.isVirtual {
            let info = try connection.prepare("PRAGMA table_xinfo(\(SQLText.quoted(object.name)))")
            var found: [StoreSchema.Column] = []
            var key: [StoreSchema.Column] = []
            while try info.step() {
                let column = StoreSchema.Column(
                    name: info.text(1) ?? "", type: (info.text(2) ?? "").uppercased(),
                    isGenerated: info.integer(6) > 1)
                found.append(column)
                if info.integer(5) > 0 { key.append(column) }
            }
            result.columns[object.name] = found
            if key.count == 1, key[0].type == "INTEGER", !indexed.contains(object.name) {
                result.rowidColumns[object.name] = key[0].name
            }
        }
        return result
    }
}
