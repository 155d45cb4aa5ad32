import DurableFiles
import Foundation
import TestSupport
import Testing

@testable import SafeSQLite

/// What a connection does not compile, whatever text it is given.
@Suite struct ConnectionGuardTests {
    private func withConnection(
        _ mode: Connection.Mode = .create, _ body: (Connection, FilePath) throws -> Void
    ) throws {
        try withTemporaryFolder { folder in
            let path = try #require(FilePath(folder)).appending("store.sqlite")
            let maker = try Connection(path: path, mode: .create)
            try maker.create(.init(.table, "t", sql: "CREATE TABLE t (a INTEGER PRIMARY KEY, b)"))
            try maker.execute("INSERT INTO t VALUES (1, 'x')")
            try maker.close()
            let connection = try Connection(path: path, mode: mode)
            try body(connection, path)
            try connection.close()
        }
    }

    private func expectRefused(
        _ sql: SQLText, _ connection: Connection, _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(throws: StoreError.self, "\(sql)", sourceLocation: location) {
            try connection.execute(sql)
        }
    }

    private static let forbidden: [SQLText] = [
        "ATTACH 'other.sqlite' AS o", "DETACH main", "PRAGMA user_version = 3",
        "PRAGMA writable_schema = ON", "PRAGMA journal_mode = DELETE", "VACUUM",
        "VACUUM INTO 'copy.sqlite'", "CREATE TABLE u (a)", "CREATE TABLE u AS SELECT * FROM t",
        "CREATE TEMP TABLE u (a)", "CREATE INDEX i ON t (b)", "CREATE VIEW v AS SELECT 1",
        "CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END",
        "CREATE TEMP TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END",
        "CREATE VIRTUAL TABLE f USING fts5(a)", "CREATE VIRTUAL TABLE f USING rtree(a, b, c)",
        "DROP TABLE t", "ALTER TABLE t ADD COLUMN c", "ALTER TABLE t RENAME TO u", "ANALYZE",
        "UPDATE sqlite_master SET sql = NULL", "DELETE FROM sqlite_master",
        "INSERT INTO sqlite_master VALUES ('table', 'u', 'u', 2, 'x')",
        "SELECT load_extension('x')", "SELECT fts3_tokenizer('simple')", "SELECT readfile('/x')",
        "SELECT writefile('/x', 'y')", "SELECT * FROM pragma_database_list",
    ]

    @Test(arguments: [Connection.Mode.create, .readWrite, .immutable])
    func nothingButReadingAndRows(mode: Connection.Mode) throws {
        try withConnection(mode) { connection, path in
            let before = try DurableFileSystem().contents(of: path, limit: 1 << 20)
            for sql in Self.forbidden { expectRefused(sql, connection) }
            #expect(try connection.integer("SELECT count(*) FROM t") == 1)
            #expect(try DurableFileSystem().contents(of: path, limit: 1 << 20) == before)
            let names = try FileManager.default.contentsOfDirectory(
                atPath: path.parent.description)
            #expect(names == ["store.sqlite"])
        }
    }

    @Test func rowsOfAFileThatIsReadAreNotWritten() throws {
        try withConnection(.immutable) { connection, _ in
            for sql: SQLText in [
                "INSERT INTO t VALUES (2, 2)", "DELETE FROM t", "UPDATE t SET b = 1",
            ] {
                expectRefused(sql, connection)
            }
        }
    }

    @Test func oneStatementAtATime() throws {
        try withConnection { connection, _ in
            for sql: SQLText in [
                "SELECT 1; DELETE FROM t", "SELECT 1; -- more", "SELECT 1;;", "SELECT 1 /* */;/**/",
                "", "  ", "-- nothing", "SELECT 1;\u{0}DELETE FROM t", "SELECT 1\u{0}",
            ] { expectRefused(sql, connection) }
            try connection.execute("SELECT 1; \n\t ")
            #expect(try connection.integer("SELECT count(*) FROM t") == 1)
        }
    }

    /// A step makes the object that it was opened for, and nothing else.
    @Test func aStepMakesOneObject() throws {
        try withConnection { connection, _ in
            let others: [SchemaDefinition] = [
                .init(.table, "u", sql: "CREATE TABLE w (a)"),
                .init(.table, "u", sql: "CREATE TABLE u AS SELECT * FROM t"),
                .init(.table, "u", sql: "CREATE TEMP TABLE u (a)"),
                .init(.table, "u", sql: "CREATE VIEW u AS SELECT 1"),
                .init(.table, "u", sql: "CREATE VIRTUAL TABLE u USING fts5(a)"),
                .init(.table, "u", sql: "CREATE TABLE u (a CHECK (load_extension(a)))"),
                .init(.table, "u", sql: "CREATE TABLE u (a); DELETE FROM t"),
                .init(.table, "u", sql: "DELETE FROM t"),
                .init(.table, "u", sql: "ATTACH 'x' AS y"),
                .init(.table, "u", sql: "PRAGMA user_version = 1"),
                .init(.index, "i", table: "u", sql: "CREATE INDEX i ON t (b)"),
                .init(.index, "i", table: "t", sql: "CREATE INDEX j ON t (b)"),
                .init(.view, "v", sql: "CREATE TEMP VIEW v AS SELECT 1"),
                .init(.rTree, "r", sql: "CREATE VIRTUAL TABLE r USING fts5(a)"),
                .init(
                    .trigger, "g", table: "t",
                    sql: "CREATE TEMP TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END"),
            ]
            for definition in others {
                #expect(throws: StoreError.self, "\(definition.sql)") {
                    try connection.create(definition)
                }
            }
            #expect(try connection.texts("SELECT name FROM sqlite_master") == ["t"])
            #expect(try connection.integer("SELECT count(*) FROM t") == 1)
            try connection.create(.init(.index, "i", table: "t", sql: "CREATE INDEX i ON t (b)"))
            #expect(try connection.texts("SELECT name FROM sqlite_master") == ["t", "i"])
            // The step has ended.
            for sql in Self.forbidden { expectRefused(sql, connection) }
        }
    }

    @Test func onlyWhatWasAskedForIsAttached() throws {
        try withConnection { connection, path in
            try connection.attachImmutable(path, as: "src")
            #expect(try connection.integer("SELECT count(*) FROM src.t") == 1)
            expectRefused("DELETE FROM src.t", connection)
            expectRefused("ATTACH 'other.sqlite' AS o", connection)
            expectRefused("DETACH src", connection)
            try connection.detach("src")
            expectRefused("SELECT count(*) FROM src.t", connection)
        }
    }

    private func makes(_ object: SchemaObject, _ connection: Connection) -> Bool {
        do throws(StoreError) {
            try connection.create(object)
            return true
        } catch {
            return false
        }
    }

    /// Texts of a store's own schema make what they are listed as, or nothing.
    @Test func textsOfStrangersMakeTheirObject() throws {
        try withConnection { connection, _ in
            let texts: [(SchemaObject.Kind, String, String)] = [
                (.table, "u", "CREATE TABLE u (a) ; DROP TABLE t"),
                (.table, "u", "CREATE TABLE u(a);"),
                (.table, "u", "CREATE TABLE u /* AS */ AS\nSELECT * FROM t"),
                (.view, "v", "CREATE VIEW w AS SELECT 1"),
                (.index, "i", "CREATE INDEX i ON t (load_extension(b))"),
                (.trigger, "g", "CREATE TRIGGER h AFTER INSERT ON t BEGIN SELECT 1; END"),
            ]
            var made = 0
            for (kind, name, sql) in texts {
                let object = SchemaObject(
                    kind: kind, name: name, table: kind == .table || kind == .view ? name : "t",
                    sql: sql, rootPage: kind == .table || kind == .index ? 5 : 0)
                if makes(object, connection) { made += 1 }
            }
            #expect(made == 1)
            let names = try connection.texts("SELECT name FROM sqlite_master")
            #expect(names == ["t", "u"])
        }
    }
}
