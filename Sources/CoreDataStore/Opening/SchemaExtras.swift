package import SafeSQLite

/// Tells what belongs to Core Data from what an app or an earlier migration left in a file.
package enum SchemaExtras {
    static let systemTables: Set<String> = ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]
    /// Those of persistent history.
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

    /// The tables that a virtual table of one of SQLite's modules keeps for itself: the ends of
    /// their names, and how the statements begin that make them.
    ///
    /// A table of the app's own may have such a name, for example where a full-text index has its
    /// content in a table of the app (`content=`). So the columns must be the module's, and the
    /// options must be such that the module makes the table; in doubt it is the app's.
    /// The columns are those of SQLite's `rtree.c`, `fts3.c` and `fts5_storage.c`, without spaces
    /// and quotes, in lower case.
    private static func shadows(of object: SchemaObject) -> [String: [String]] {
        let options = object.moduleOptions
        switch object.module {
        case "RTREE", "RTREE_I32", "GEOPOLY": return rTreeColumns
        case "FTS3": return fullTextColumns
        case "FTS4":
            var columns = fullTextColumns
            columns["stat"] = ["idintegerprimarykey,valueblob)"]
            // Its one value leaves the table out.
            if options["matchinfo"] == nil {
                columns["docsize"] = ["docidintegerprimarykey,sizeblob)"]
            }
            if options["content"] != nil { columns["content"] = nil }
            return columns
        case "FTS5":
            var columns = fullText5Columns
            for (key, value) in options {
                // The module takes the beginning of an option's name for the whole.
                if "content".hasPrefix(key) {
                    columns["content"] = nil
                } else if "columnsize".hasPrefix(key), value != "1" {
                    columns["docsize"] = nil
                }
            }
            return columns
        default: return [:]
        }
    }

    /// Earlier versions of SQLite named the types of these columns.
    private static let rTreeColumns = [
        "node": ["nodenointegerprimarykey,data)", "nodenointegerprimarykey,datablob)"],
        "parent": [
            "nodenointegerprimarykey,parentnode)", "nodenointegerprimarykey,parentnodeinteger)",
        ],
        "rowid": [
            "rowidintegerprimarykey,nodeno)", "rowidintegerprimarykey,nodenointeger)",
            "rowidintegerprimarykey,nodeno,a0",
        ],
    ]
    private static let fullTextColumns = [
        "content": ["docidintegerprimarykey,c0", "docidintegerprimarykey)"],
        "segments": ["blockidintegerprimarykey,blockblob)"],
        "segdir": [
            "levelinteger,idxinteger,start_blockinteger,leaves_end_blockinteger,end_blockinteger,"
                + "rootblob,primarykey(level,idx))"
        ],
    ]
    private static let fullText5Columns = [
        "data": ["idintegerprimarykey,blockblob)"],
        "idx": ["segid,term,pgno,primarykey(segid,term))"],
        "content": ["idintegerprimarykey,c0,", "idintegerprimarykey,c0)", "idintegerprimarykey)"],
        "docsize": [
            "idintegerprimarykey,szblob)", "idintegerprimarykey,szblob,origininteger)",
        ],
        "config": ["kprimarykey,v)"],
    ]

    /// Tables that virtual tables keep for themselves; they share their fate.
    package static func shadowTables(of schema: StoreSchema) -> Set<String> {
        shadowTables(of: schema.objects, in: schema)
    }

    /// The same for some objects of a schema, of which virtual tables alone have any.
    package static func shadowTables(
        of objects: [SchemaObject], in schema: StoreSchema
    ) -> Set<String> {
        var owners: [String: [String]] = [:]
        for object in objects where object.isVirtual {
            for (suffix, columns) in shadows(of: object) {
                owners["\(object.name)_\(suffix)"] = columns
            }
        }
        if owners.isEmpty { return [] }
        return Set(
            schema.objects.lazy.filter { table in
                guard table.kind == .table, !table.isVirtual, let owned = owners[table.name],
                    let columns = table.columnText
                else { return false }
                return owned.contains { columns.hasPrefix($0) }
                    && (!table.name.hasSuffix(adoptedSuffix) || table.isMadeByFullText)
            }.map(\.name))
    }

    /// How the name of the one shadow table ends that a module takes over where it is there
    /// already (`CREATE TABLE IF NOT EXISTS` in SQLite's `fts3.c`).
    fileprivate static let adoptedSuffix = "_stat"
}

extension SchemaObject {
    /// Whether it is a full-text index: a virtual table of a module from FTS3 to FTS5.
    package var isFullTextIndex: Bool { ["FTS3", "FTS4", "FTS5"].contains(module) }

    /// What a virtual table is and what becomes of its content, in words; nil for a table of any
    /// other kind and for an R-tree, which a migration can carry over.
    package var lostContent: String? {
        guard let module, !isRTree else { return nil }
        return isFullTextIndex
            ? "a full-text index (\(module)), whose content a migration does not carry over"
            : "a virtual table of the module \(module), whose content a migration does not "
                + "carry over"
    }

    /// Whether the full-text module wrote the statement: it quotes the name, and a table that was
    /// renamed with its index has double quotes.
    fileprivate var isMadeByFullText: Bool {
        let columns = "(id INTEGER PRIMARY KEY, value BLOB)"
        return ["'", "\""].contains { quote in
            let quoted = name.replacing(quote, with: quote + quote)
            return sql?.isExactly("CREATE TABLE \(quote)\(quoted)\(quote)\(columns)") == true
        }
    }
}
