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

    /// Tables that the modules of SQLite keep for themselves, by the beginning of the module's
    /// name: the ends of their names, and how the statements begin that make them.
    ///
    /// A table of the app's own may have such a name, for example where a full-text index has its
    /// content in a table of the app (`content=`), so the columns must be the module's, too.
    /// The columns are those of SQLite's `rtree.c`, `fts3.c` and `fts5_storage.c`, without spaces
    /// and quotes, in lower case.
    private static let shadows: [(module: String, columns: [String: [String]])] = [
        ("RTREE", rTreeColumns), ("GEOPOLY", rTreeColumns),
        ("FTS3", fullTextColumns), ("FTS4", fullTextColumns),
        (
            "FTS5",
            [
                "data": ["idintegerprimarykey,blockblob)"],
                "idx": ["segid,term,pgno,primarykey(segid,term))"],
                "content": ["idintegerprimarykey,c0", "idintegerprimarykey)"],
                "docsize": ["idintegerprimarykey,szblob"],
                "config": ["kprimarykey,v)"],
            ]
        ),
    ]
    private static let rTreeColumns = [
        "node": ["nodenointegerprimarykey,data"], "parent": ["nodenointegerprimarykey,parentnode"],
        "rowid": ["rowidintegerprimarykey,nodeno"],
    ]
    private static let fullTextColumns = [
        "content": ["docidintegerprimarykey,c0", "docidintegerprimarykey)"],
        "segments": ["blockidintegerprimarykey,blockblob)"],
        "segdir": ["levelinteger,idxinteger,start_blockinteger,"],
        "docsize": ["docidintegerprimarykey,sizeblob)"],
        "stat": ["idintegerprimarykey,valueblob)"],
    ]

    /// Tables that virtual tables keep for themselves; they share their fate.
    package static func shadowTables(of schema: StoreSchema) -> Set<String> {
        shadowTables(of: schema.objects, in: schema)
    }

    /// The same for some objects of a schema, of which virtual tables alone have any.
    package static func shadowTables(
        of objects: [SchemaObject], in schema: StoreSchema
    ) -> Set<String> {
        var owners: [String: (module: [String: [String]], suffix: String)] = [:]
        for object in objects where object.isVirtual {
            guard let module = object.module else { continue }
            // The content of a full-text index may be a table of the app's own.
            let options = object.columnText ?? ""
            let isElsewhere = options.contains(",content=") || options.hasPrefix("content=")
            for (name, columns) in shadows where module.hasPrefix(name) {
                for suffix in columns.keys where !(isElsewhere && suffix == "content") {
                    owners["\(object.name)_\(suffix)"] = (columns, suffix)
                }
            }
        }
        if owners.isEmpty { return [] }
        return Set(
            schema.objects.lazy.filter { table in
                guard table.kind == .table, !table.isVirtual, let owner = owners[table.name],
                    let columns = table.columnText
                else { return false }
                return owner.module[owner.suffix]?.contains { columns.hasPrefix($0) } == true
            }.map(\.name))
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

    /// What follows the first parenthesis of a table's statement, in lower case, without spaces,
    /// comments and quotes; nil where there is none.
    fileprivate var columnText: String? {
        guard let sql else { return nil }
        var tokens = SQLTokens(sql)
        while let token = tokens.next() {
            guard token.isWord, token.text == "(" else { continue }
            var text = ""
            while let token = tokens.next() { text += token.text }
            return text.lowercased()
        }
        return nil
    }

    /// The module of a virtual table, in upper case; nil for anything else.
    package var module: String? {
        guard isVirtual, let sql else { return nil }
        var tokens = SQLTokens(sql)
        // CREATE VIRTUAL TABLE name USING module: the name may be any word in quotes.
        for _ in 0..<4 { _ = tokens.next() }
        while let token = tokens.next() {
            guard token.isWord, token.text.uppercased() == "USING" else { continue }
            return tokens.next()?.text.uppercased()
        }
        return nil
    }
}

/// The words and names at the beginning of a statement.
private struct SQLTokens {
    struct Token {
        let text: String
        /// Whether it has no quotes.
        let isWord: Bool
    }

    // Scalars, because a combining mark behind a quote would make another character of it.
    private var rest: Substring.UnicodeScalarView

    init(_ sql: String) { rest = sql[...].unicodeScalars }

    /// SQLite takes no other white space for one.
    private static let spaces: Set<Unicode.Scalar> = [" ", "\t", "\n", "\u{0C}", "\r"]
    private static let closing: [Unicode.Scalar: Unicode.Scalar] = [
        "\"": "\"", "'": "'", "`": "`", "[": "]",
    ]

    /// The next word, quoted name or sign; nil at the end.
    mutating func next() -> Token? {
        skipSpace()
        guard let first = rest.first else { return nil }
        if let last = Self.closing[first] { return quoted(until: last) }
        let word = rest.prefix {
            $0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == "_" || $0 == "$"
        }
        let text = word.isEmpty ? rest.prefix(1) : word
        rest = rest.dropFirst(text.count)
        return Token(text: String(text), isWord: true)
    }

    private mutating func quoted(until last: Unicode.Scalar) -> Token {
        rest.removeFirst()
        var text = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            if scalar == last {
                // A quote in a name is written twice, but not a bracket.
                guard last != "]", rest.first == last else { break }
                rest.removeFirst()
            }
            text.append(scalar)
        }
        return Token(text: String(text), isWord: false)
    }

    /// Skips white space and comments.
    private mutating func skipSpace() {
        while let first = rest.first {
            let second = rest.dropFirst().first
            if Self.spaces.contains(first) {
                rest.removeFirst()
            } else if first == "-", second == "-" {
                rest = rest.drop { $0 != "\n" }
            } else if first == "/", second == "*" {
                rest.removeFirst(2)
                while let scalar = rest.popFirst() {
                    if scalar == "*", rest.first == "/" { break }
                }
                if !rest.isEmpty { rest.removeFirst() }
            } else {
                return
            }
        }
    }
}
