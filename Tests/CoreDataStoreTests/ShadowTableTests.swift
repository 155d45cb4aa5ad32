import DurableFiles
import Foundation
import GRDB
import SafeSQLite
import TestSupport
import Testing

@testable import CoreDataStore

/// Which tables belong to a virtual table: SQLite itself says what its modules make.
@Suite struct ShadowTableTests {
    private static let declarations = [
        "X USING fts5(a)", "X USING fts5(a, b UNINDEXED, prefix='2 3')", "X USING FTS5 (c0)",
        "X USING fts5(a, columnsize=0)", "X USING fts5(a, colum = 0)",
        "X USING fts5(a, columnsize=1)", "X USING fts5(a, content='')",
        "X USING fts5(a, content='other', content_rowid='id')", "X USING fts5(a, c='other')",
        "X USING fts5(a, conten='other')", "X USING fts5(c, content_rowid='id')",
        "X USING fts5(a, tokenize='unicode61 tokenchars '',content=''')",
        "X USING \"fts5\"(a, CONTENT = other)", "X USING fts5(content, columnsize)",
        "X USING fts3(a)", "X USING fts3", "X USING fts3(a, content=other)", "X USING fts4(a)",
        "X USING fts4()", "X USING fts4(a, b TEXT, matchinfo=fts3)",
        "X USING fts4(a, tokenize=unicode61 \"tokenchars=,content=\")",
        "X USING fts4(a, content='other')", "X USING fts4(a, content='')",
        "X USING fts4(a, languageid='lid')", "X USING rtree(id, a, b)",
        "X USING rtree(id, a, b, +note, +more)", "X USING rtree_i32(id, a, b, c, d)",
        "\u{1F600}using USING rtree(id, a, b)", "\u{1F600}using USING fts5(a)",
        "\"X USING fts5(\" USING fts4(a)", "'fts5' /* USING rtree( */ USING fts3(a)",
        "[a \" b] USING -- fts5\n rtree (id, a, b)",
    ]
    /// The shapes of the tables of all modules, each with the end of its name.
    private static let shapes = [
        ("content", "id INTEGER PRIMARY KEY, c0"), ("content", "docid INTEGER PRIMARY KEY, c0de"),
        ("content", "id INTEGER PRIMARY KEY, c0de TEXT"),
        ("docsize", "id INTEGER PRIMARY KEY, sz BLOB"),
        ("docsize", "docid INTEGER PRIMARY KEY, size BLOB"),
        ("stat", "id INTEGER PRIMARY KEY, value BLOB"), ("config", "k PRIMARY KEY, v"),
        ("data", "id INTEGER PRIMARY KEY, block BLOB"),
        ("segments", "blockid INTEGER PRIMARY KEY, block BLOB"),
        ("node", "nodeno INTEGER PRIMARY KEY, data"),
    ]

    private func shadows(_ statements: [String]) throws -> (tables: Set<String>, found: Set<String>)
    {
        try withTemporaryFolder { folder in
            let url = folder.appendingPathComponent("shadows.sqlite")
            let queue = try DatabaseQueue(path: url.path)
            try queue.writeWithoutTransaction { database in
                try database.execute(
                    sql: "CREATE TABLE other (id INTEGER PRIMARY KEY, a, b, c0)")
                for statement in statements { try database.execute(sql: statement) }
            }
            try queue.close()
            let connection = try Connection(path: FilePath(url.path), mode: .immutable)
            defer { withExtendedLifetime(connection) {} }
            let schema = try StoreSchema.read(connection)
            let tables = schema.objects.filter { $0.kind == .table && !$0.isVirtual }.map(\.name)
            return (Set(tables).subtracting(["other"]), SchemaExtras.shadowTables(of: schema))
        }
    }

    @Test(arguments: declarations)
    func whatAModuleMakesIsItsOwn(declaration: String) throws {
        let (tables, found) = try shadows(["CREATE VIRTUAL TABLE \(declaration)"])
        #expect(!tables.isEmpty)
        #expect(found == tables)
    }

    /// FTS4 takes over a table that is there already; its rows are the app's.
    @Test(arguments: ["T_stat", "t_stat", "[T_stat]", "\"T_stat\" "])
    func aTableThatTheModuleTookOverIsTheApps(name: String) throws {
        let columns = "(id INTEGER PRIMARY KEY, value BLOB)"
        let (tables, found) = try shadows([
            "CREATE TABLE \(name)\(columns)", "CREATE VIRTUAL TABLE T USING fts4(a)",
        ])
        #expect(tables.contains { $0.lowercased() == "t_stat" })
        #expect(!found.contains { $0.lowercased() == "t_stat" })
        let (_, renamed) = try shadows([
            "CREATE VIRTUAL TABLE S USING fts4(a)", "ALTER TABLE S RENAME TO \"T 'x\"",
        ])
        #expect(renamed.contains("T 'x_stat"))
    }

    /// A table of the app's own has a name and columns that the module would have given to one.
    @Test(arguments: declarations + ["V USING fts5vocab(T, row)", "V USING fts4aux(T)"])
    func otherTablesAreTheApps(declaration: String) throws {
        let declared = [
            "CREATE VIRTUAL TABLE T USING fts5(a)", "CREATE VIRTUAL TABLE \(declaration)",
        ]
        let (made, _) = try shadows(declared)
        let name = try #require(
            ["X", "V", "\u{1F600}using"].first { declaration.hasPrefix("\($0) ") }
                ?? (declaration.hasPrefix("\"X") ? "X USING fts5(" : nil)
                ?? (declaration.hasPrefix("'") ? "fts5" : "a \" b"))
        for (suffix, columns) in Self.shapes where !made.contains("\(name)_\(suffix)") {
            let quoted = "\"\(name.replacing("\"", with: "\"\""))_\(suffix)\""
            let (tables, found) = try shadows(declared + ["CREATE TABLE \(quoted) (\(columns))"])
            #expect(tables == made.union(["\(name)_\(suffix)"]))
            #expect(found == made)
        }
    }
}
