import SafeSQLite

/// Compares a file with the layout that its model implies: a migration trusts names only where
/// both agree.
struct LayoutCheck {
    let schema: StoreSchema
    let primaryKeys: PrimaryKeys
    let layout: StoreLayout

    /// - Returns: what differs without harm, in words.
    /// - Throws: `StoreError.layoutDiffers` naming the first thing that does harm.
    func verify(path: String) throws(StoreError) -> [String] {
        var harmless: [String] = []
        for (number, name) in zip(Int64(1)..., layout.entityOrder) {
            guard let row = primaryKeys.row(number: number) else {
                throw .layoutDiffers(
                    path: path, reason: "Z_PRIMARYKEY has no entity number \(number) (\(name))")
            }
            if row.name == name { continue }
            // A rename in place may leave the old name; the number still tells.
            guard layout.number(of: row.name) == nil else {
                throw .layoutDiffers(
                    path: path,
                    reason: "entity number \(number) is \(row.name), by the model \(name)")
            }
            harmless.append("Z_PRIMARYKEY still calls entity \(name) \(row.name)")
        }
        if let surplus = primaryKeys.entities.first(where: {
            $0.number > Int64(layout.entityOrder.count)
        }) {
            throw .layoutDiffers(
                path: path,
                reason: "entity number \(surplus.number) (\(surplus.name)) is not in the model")
        }
        for table in layout.tables {
            try compare(table.name, columns: table.columnNames, path: path)
            guard schema.rowidColumns[table.name] == "Z_PK" else {
                throw .layoutDiffers(
                    path: path, reason: "Z_PK is not the INTEGER PRIMARY KEY of \(table.name)")
            }
        }
        for join in layout.joinTables {
            try compare(join.name, columns: join.columnNames, path: path)
        }
        return harmless
    }

    private func compare(
        _ table: String, columns: [String], path: String
    ) throws(StoreError) {
        guard let declared = schema.columns[table] else {
            throw .layoutDiffers(path: path, reason: "table \(table) is missing")
        }
        if let computed = declared.first(where: \.isGenerated) {
            throw .layoutDiffers(
                path: path, reason: "\(table).\(computed.name) is a generated column")
        }
        let found = declared.map(\.name)
        let wanted = Set(columns)
        if let missing = columns.first(where: { !found.contains($0) }) {
            throw .layoutDiffers(path: path, reason: "column \(table).\(missing) is missing")
        }
        if let surplus = found.first(where: { !wanted.contains($0) }) {
            throw .layoutDiffers(
                path: path, reason: "column \(table).\(surplus) is not in the model")
        }
    }
}
