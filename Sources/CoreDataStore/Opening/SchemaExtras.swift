/// Tells what belongs to Core Data from what an app or an earlier migration left in a file.
package enum SchemaExtras {
    static let systemTables: Set<String> = ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]
    /// Those of persistent history (format page §10).
    package static let historyTables: Set<String> = [
        "ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING",
    ]

    /// Objects that neither the layout nor Core Data itself explains.
    ///
    /// Shadow tables go with their virtual table, `sqlite_stat` tables are listed as extras.
    package static func find(in schema: StoreSchema, layout: StoreLayout) -> [SchemaObject] {
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

    /// Ends of the names of tables that the modules of SQLite keep for themselves, by the
    /// beginning of the module's name: R-trees, FTS3 to FTS5, Geopoly.
    private static let shadowSuffixes: [(module: String, suffixes: [String])] = [
        ("RTREE", ["node", "parent", "rowid"]), ("GEOPOLY", ["node", "parent", "rowid"]),
        ("FTS3", ["content", "segments", "segdir", "docsize", "stat"]),
        ("FTS4", ["content", "segments", "segdir", "docsize", "stat"]),
        ("FTS5", ["data", "idx", "content", "docsize", "config"]),
    ]

    /// Tables that virtual tables keep for themselves; they share their fate.
    package static func shadowTables(of schema: StoreSchema) -> Set<String> {
        shadowTables(of: schema.objects)
    }

    /// The same for some objects of a schema, of which virtual tables alone have any.
    package static func shadowTables(of objects: [SchemaObject]) -> Set<String> {
        var names: Set<String> = []
        for object in objects where object.isVirtual {
            guard let module = object.module else { continue }
            for (name, suffixes) in shadowSuffixes where module.hasPrefix(name) {
                for suffix in suffixes { names.insert("\(object.name)_\(suffix)") }
            }
        }
        return names
    }
}

extension SchemaObject {
    /// Whether it is a virtual table of SQLite's R-tree module.
    package var isRTree: Bool { module == "RTREE" || module == "RTREE_I32" }

    /// Whether it is a full-text index: a virtual table of a module from FTS3 to FTS5.
    package var isFullTextIndex: Bool { module?.hasPrefix("FTS") == true }

    /// What a virtual table is and what becomes of its content, in words; nil for a table of any
    /// other kind and for an R-tree, which a migration can carry over.
    package var lostContent: String? {
        guard let module, !isRTree else { return nil }
        return isFullTextIndex
            ? "a full-text index (\(module)), whose content a migration does not carry over"
            : "a virtual table of the module \(module), whose content a migration does not "
                + "carry over"
    }

    /// The module of a virtual table, in upper case; nil for anything else.
    package var module: String? {
        guard isVirtual, let sql else { return nil }
        let text = sql.uppercased()
        // The name before it may hold anything, but only in quotes.
        guard
            let using = text.ranges(of: "USING").first(where: { range in
                text[..<range.lowerBound].filter { $0 == "\"" }.count.isMultiple(of: 2)
            })
        else { return nil }
        let name = text[using.upperBound...].drop { $0.isWhitespace }
            .prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        return String(name)
    }
}
