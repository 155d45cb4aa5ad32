import CoreDataStore
import DurableFiles
import FaultSupport
import Foundation
import SafeSQLite
import StoreForge
import StorePages
import TestSupport
import Testing

@testable import StoreFileChecks

/// Files of the same schema share how their records are read, and no others do.
@Suite struct SharedShapesTests {
    /// A file that some statements made.
    private func file(
        _ statements: [String], in url: URL, _ schemas: SchemaCache
    ) throws -> FileReading {
        let folder = try #require(FilePath(url))
        let path = folder.appending("\(UUID().uuidString).sqlite")
        let maker = try Connection(path: path, mode: .create)
        for statement in statements { try maker.execute(statement) }
        try maker.close()
        let layout = try StoreLayout(
            model: try ForgeModels.fleet(version: 1), framework: .newestVerified)
        return FileReading(
            path, layout: layout, stores: StoreCache(), schemas: schemas, cacheKibibytes: 64,
            isShared: true)
    }

    /// What a cursor over pages gives for two columns of `t`; nil where SQLite must read them.
    private func rows(
        of file: FileReading, _ columns: [String] = ["a", "b"]
    ) throws -> [[Int64]]? {
        guard let cursor = try file.cursor(table: "t", values: columns) else { return nil }
        var rows: [[Int64]] = []
        while try cursor.step() {
            rows.append([cursor.cells[0].integer, cursor.cells[1].integer])
        }
        return rows
    }

    private func read(
        _ statements: [String], _ columns: [String] = ["a", "b"], in url: URL,
        _ schemas: SchemaCache
    ) throws -> [[Int64]]? {
        try rows(of: file(statements, in: url, schemas), columns)
    }

    private static let table = "CREATE TABLE t (k INTEGER PRIMARY KEY, a INTEGER, b INTEGER)"
    private static let row = "INSERT INTO t (k, a, b) VALUES (1, 10, 20)"

    @Test func filesOfOneSchemaShareShapesAndNoRootPages() throws {
        try withTemporaryFolder { url in
            let schemas = SchemaCache()
            let gone = ["CREATE TABLE x (k INTEGER)", "CREATE TABLE y (k INTEGER)"]
            let first = try file([Self.table, Self.row], in: url, schemas)
            let moved = try file(
                gone + [Self.table, Self.row, "DROP TABLE x", "DROP TABLE y"], in: url, schemas)
            let roots = try [first, moved].map { try $0.schema().object(.table, "t")?.rootPage }
            #expect(roots[0] != roots[1])
            let (one, other) = (try first.shapes(), try moved.shapes())
            #expect(one === other)
            for file in [first, moved] {
                let found = try rows(of: file)
                #expect(found == [[10, 20]])
            }
        }
    }

    @Test func columnsInAnotherOrderAreAnotherSchema() throws {
        try withTemporaryFolder { url in
            let schemas = SchemaCache()
            let turned = "CREATE TABLE t (b INTEGER, k INTEGER PRIMARY KEY, a INTEGER)"
            for table in [Self.table, turned, Self.table] {
                let rows = try read([table, Self.row], in: url, schemas)
                #expect(rows == [[10, 20]])
            }
        }
    }

    /// A default is not in the records of older rows.
    @Test func aColumnWithADefaultIsAnotherSchema() throws {
        try withTemporaryFolder { url in
            let schemas = SchemaCache()
            let whole = try read([Self.table, Self.row], in: url, schemas)
            #expect(whole == [[10, 20]])
            let added = try read(
                [
                    "CREATE TABLE t (k INTEGER PRIMARY KEY, a INTEGER)",
                    "INSERT INTO t VALUES (1, 10)", "ALTER TABLE t ADD COLUMN b INTEGER DEFAULT 7",
                ], in: url, schemas)
            #expect(added == nil)
            let plain = try read(
                [
                    "CREATE TABLE t (k INTEGER PRIMARY KEY, a INTEGER)",
                    "INSERT INTO t VALUES (1, 10)", "ALTER TABLE t ADD COLUMN b INTEGER",
                ], in: url, schemas)
            #expect(plain == [[10, 0]])
        }
    }

    /// Unicode calls both names equivalent; to SQLite they are two.
    @Test func namesAreComparedByteByByte() throws {
        try withTemporaryFolder { url in
            let schemas = SchemaCache()
            let (composed, split) = ("\u{e9}", "e\u{301}")
            func rows(of columns: [String], as wanted: [String]) throws -> [[Int64]]? {
                let list = columns.map { "\($0) INTEGER" }.joined(separator: ", ")
                return try read(
                    [
                        "CREATE TABLE t (k INTEGER PRIMARY KEY, \(list))",
                        "INSERT INTO t VALUES (1, 10, 20)",
                    ], wanted, in: url, schemas)
            }
            let plain = try rows(of: [composed, "b"], as: [composed, "b"])
            #expect(plain == [[10, 20]])
            // Swift's `==` of texts would call it the same schema.
            let other = try rows(of: [split, "b"], as: [composed, "b"])
            #expect(other == nil)
            let own = try rows(of: [split, "b"], as: [split, "b"])
            #expect(own == [[10, 20]])
            let turned = try rows(of: ["b", composed], as: [composed, "b"])
            #expect(turned == [[20, 10]])
        }
    }
}
