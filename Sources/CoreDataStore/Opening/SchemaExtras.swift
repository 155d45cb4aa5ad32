/// Tells what belongs to Core Data from what an app or an earlier migration left in a file.
enum SchemaExtras {
    static let systemTables: Set<String> = ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]
    static let historyTables: Set<String> = ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]

    /// Objects that neither the layout nor Core Data itself explains. Shadow tables of an
    /// R-tree go with their virtual table, `sqlite_stat` tables are listed as extras.
    static func find(in schema: StoreSchema, layout: StoreLayout) -> [SchemaObject] {
        let explained = systemTables.union(historyTables)
            .union(layout.tables.map(\.name)).union(layout.joinTables.map(\.name))
            .union(layout.rTrees.map(\.name))
        let shadows = shadowTables(of: schema)
        let indexes = Set(layout.indexes.map(\.name))
        let triggers = Set(layout.triggers.map(\.name))
        return schema.objects.filter { object in
            guard !shadows.contains(object.table) else { return false }
            switch object.kind {
            case .table:
                return !explained.contains(object.name) && object.name != "sqlite_sequence"
            case .index:
                guard object.sql != nil, !historyTables.contains(object.table) else {
                    return false
                }
                return !indexes.contains(object.name)
            case .trigger:
                return !triggers.contains(object.name) && !historyTables.contains(object.table)
            case .view: return true
            }
        }
    }

    /// Tables that R-trees keep for themselves.
    static func shadowTables(of schema: StoreSchema) -> Set<String> {
        var names: Set<String> = []
        for object in schema.objects where object.isVirtual && object.isRTree {
            for suffix in ["_node", "_parent", "_rowid"] { names.insert(object.name + suffix) }
        }
        return names
    }
}

extension SchemaObject {
    /// Whether it is a virtual table of SQLite's R-tree module.
    package var isRTree: Bool {
        guard isVirtual, let sql else { return false }
        return sql.uppercased().contains("USING RTREE")
    }
}
