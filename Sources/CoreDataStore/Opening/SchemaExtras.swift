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
    /// Whether it is a virtual table of SQLite's R-tree module.
    package var isRTree: Bool { module == "RTREE" || module == "RTREE_I32" }

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

    /// Whether the full-text module wrote the statement: it quotes the name, and a table that was
    /// renamed with its index has double quotes.
    fileprivate var isMadeByFullText: Bool {
        let columns = "(id INTEGER PRIMARY KEY, value BLOB)"
        return ["'", "\""].contains { quote in
            let quoted = name.replacing(quote, with: quote + quote)
            return sql?.isExactly("CREATE TABLE \(quote)\(quoted)\(quote)\(columns)") == true
        }
    }

    /// The module of a virtual table, in upper case; nil for anything else.
    package var module: String? { moduleTokens?.name }

    /// The options of a virtual table's module by their names in lower case, each an argument of
    /// the form `name = value`.
    fileprivate var moduleOptions: [String: String] {
        guard var tokens = moduleTokens?.rest, tokens.next()?.isSign("(") == true else {
            return [:]
        }
        var arguments: [[SQLTokens.Token]] = [[]]
        var depth = 0
        while let token = tokens.next() {
            if token.isSign("(") { depth += 1 }
            if token.isSign(")") { depth -= 1 }
            if depth < 0 { break }
            if depth == 0, token.isSign(",") {
                arguments.append([])
            } else {
                arguments[arguments.count - 1].append(token)
            }
        }
        var options: [String: String] = [:]
        for argument in arguments where argument.count >= 2 && argument[1].isSign("=") {
            let name = argument[0].text.lowercased()
            if !name.isEmpty { options[name] = argument.dropFirst(2).map(\.text).joined() }
        }
        return options
    }

    /// The module of a virtual table, in upper case, and what follows its name.
    private var moduleTokens: (name: String, rest: SQLTokens)? {
        guard isVirtual, let sql else { return nil }
        var tokens = SQLTokens(sql)
        // CREATE VIRTUAL TABLE name USING module: the name may be any word in quotes.
        for _ in 0..<4 { _ = tokens.next() }
        while let token = tokens.next() {
            guard token.isWord, token.upperText == "USING" else { continue }
            guard let name = tokens.next()?.upperText else { return nil }
            return (name, tokens)
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

        /// In upper case, as SQLite compares words: letters of ASCII alone have two cases.
        var upperText: String {
            String(
                decoding: text.utf8.map { byte in
                    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte - 32 : byte
                }, as: UTF8.self)
        }

        func isSign(_ sign: String) -> Bool { isWord && text == sign }
    }

    // Scalars, because a combining mark behind a quote would make another character of it.
    private var rest: Substring.UnicodeScalarView

    init(_ sql: String) { rest = sql[...].unicodeScalars }

    /// SQLite takes no other white space for one.
    private static let spaces: Set<Unicode.Scalar> = [" ", "\t", "\n", "\u{0C}", "\r"]
    private static let closing: [Unicode.Scalar: Unicode.Scalar] = [
        "\"": "\"", "'": "'", "`": "`", "[": "]",
    ]

    /// Whether SQLite takes a scalar for a part of a word: so it does with every one but those of
    /// ASCII that are neither letters nor digits.
    private static func isInWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "$": true
        default: scalar.value >= 0x80
        }
    }

    /// The next word, quoted name or sign; nil at the end.
    mutating func next() -> Token? {
        skipSpace()
        guard let first = rest.first else { return nil }
        if let last = Self.closing[first] { return quoted(until: last) }
        let word = rest.prefix(while: Self.isInWord)
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
