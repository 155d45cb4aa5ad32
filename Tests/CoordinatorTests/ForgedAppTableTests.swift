import DurableFiles
import Jobs
import RunService
import SafeSQLite
import StateFolders
import TestSupport
import Testing

@testable import Coordinator
@testable import StoreRuns

/// A worker changes what a store has beside its model: the app's own tables, their indexes and
/// numbers, and the schema itself.
@Suite struct ForgedAppTableTests {
    struct Forgery: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// What the store has of its app's own.
        let schema: String
        /// What the worker does to the result.
        let change: String
        /// What the result holds afterwards, and would not without the change.
        let effect: String
    }

    private static let rows =
        "WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 600) "

    private static func index(_ sql: String) -> String {
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = '\(sql)' "
            + "WHERE name = 'APPINDEX'; PRAGMA writable_schema = RESET; "
    }

    /// Other bytes for a part of a statement, which Swift's `==` takes for equal.
    private static func statement(
        _ testDescription: String, _ name: String, _ sql: String, _ part: String,
        _ other: String
    ) -> Forgery {
        let (text, place) = (SQLText.text(sql), SQLText.text(name))
        return Forgery(
            testDescription: testDescription,
            schema: "CREATE TABLE APPLOG (ID INTEGER PRIMARY KEY, STATE TEXT); \(sql)",
            change: "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = "
                + "replace(\(text), \(SQLText.text(part)), CAST(x'\(other)' AS TEXT)) "
                + "WHERE name = \(place); PRAGMA writable_schema = RESET",
            effect: "SELECT count(*) FROM sqlite_master "
                + "WHERE name = \(place) AND CAST(sql AS BLOB) <> CAST(\(text) AS BLOB)")
    }

    private static let statements = [
        statement(
            "K and the Kelvin sign in a trigger", "APPTRIGGER",
            "CREATE TRIGGER APPTRIGGER AFTER INSERT ON APPLOG WHEN new.STATE = 'OK' "
                + "BEGIN DELETE FROM APPLOG WHERE STATE = 'OK'; END",
            "OK", "4FE284AA"),
        statement(
            "é as one code point and as two in a view", "APPVIEW",
            "CREATE VIEW APPVIEW AS SELECT * FROM APPLOG WHERE STATE = 'caf\u{E9}'",
            "caf\u{E9}", "63616665CC81"),
        statement(
            "a byte that is none of UTF-8 in an index", "APPINDEX",
            "CREATE INDEX APPINDEX ON APPLOG(STATE) WHERE STATE = '\u{FFFD}'", "\u{FFFD}", "FF"),
    ]

    /// A change of a statement for as long as it takes to write records by it.
    private static func records(
        _ testDescription: String, _ name: String, _ from: String, _ to: String, _ write: String
    ) -> Forgery {
        func rewrite(_ from: String, _ to: String) -> String {
            "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, '\(from)', "
                + "'\(to)') WHERE name = '\(name)'; PRAGMA writable_schema = RESET; "
        }
        return Forgery(
            testDescription: testDescription,
            schema: "CREATE TABLE APPTABLE (A, B); CREATE INDEX APPINDEX ON APPTABLE (A); "
                + "INSERT INTO APPTABLE VALUES (1, 2), (3, 4)",
            change: rewrite(from, to) + write + "; " + rewrite(to, from),
            effect: "PRAGMA quick_check")
    }

    private static let hiddenFields = [
        records(
            "fields behind the columns of an app table", "APPTABLE", "A, B)", "A, B, C)",
            "UPDATE APPTABLE SET C = 7"),
        records(
            "fields behind the columns of an entity", "ZNOTE", " )", ", HIDDEN VARCHAR )",
            "UPDATE ZNOTE SET HIDDEN = 7 WHERE Z_PK = (SELECT min(Z_PK) FROM ZNOTE)"),
        records(
            "fields behind the columns of an app index", "APPINDEX", "(A)", "(A, B)",
            "REINDEX APPINDEX"),
        records(
            "fields behind the columns of an entity's index",
            "Z_Note_byDate", ")", ", Z_OPT)", "REINDEX Z_Note_byDate"),
    ]

    /// SQLite reads such records as if the fields were not there.
    @Test(arguments: hiddenFields)
    func recordsWithFieldsBehindTheirColumnsAreRefused(_ forgery: Forgery) throws {
        try SharingLab.run { lab in
            var forged = try ForgedDelivery(lab, isPublished: false, schema: forgery.schema)
            let honest = try forged.texts("SELECT sql FROM sqlite_master ORDER BY 1")
            try forged.edit(forgery.change)
            #expect(try forged.texts("SELECT sql FROM sqlite_master ORDER BY 1") == honest)
            #expect(try forged.texts(forgery.effect) == ["ok"])
            try forged.relabel()
            let error = #expect(throws: RunError.self) {
                _ = try forged.deliveries.admit(forged.receipt)
            }
            #expect(error?.cause == .badDelivery)
            #expect("\(error as Any)".contains("do not fit"), "\(error as Any)")
        }
    }

    private static let forgeries = [
        Forgery(
            testDescription: "other multiplicities",
            schema: "CREATE TABLE APPTABLE (A); INSERT INTO APPTABLE VALUES ('p'), ('p'), ('o')",
            change: "UPDATE APPTABLE SET A = 'o' WHERE rowid = 2",
            effect: "SELECT count(*) = 2 FROM APPTABLE WHERE A = 'o'"),
        Forgery(
            testDescription: "a text that its collation takes for equal",
            schema: "CREATE TABLE APPTABLE (A TEXT COLLATE NOCASE); "
                + "INSERT INTO APPTABLE VALUES ('Secret')",
            change: "UPDATE APPTABLE SET A = 'sECRET'",
            effect: "SELECT count(*) = 1 FROM APPTABLE WHERE A = 'sECRET' COLLATE BINARY"),
        Forgery(
            testDescription: "a real for an integer",
            schema: "CREATE TABLE APPTABLE (A); INSERT INTO APPTABLE VALUES (1)",
            change: "UPDATE APPTABLE SET A = 1.0",
            effect: "SELECT count(*) = 1 FROM APPTABLE WHERE typeof(A) = 'real'"),
        Forgery(
            testDescription: "other rowids",
            schema: "CREATE TABLE APPTABLE (A); INSERT INTO APPTABLE VALUES ('a'), ('b')",
            change: "UPDATE APPTABLE SET rowid = 9 WHERE rowid = 1",
            effect: "SELECT count(*) = 1 FROM APPTABLE WHERE rowid = 9"),
        Forgery(
            testDescription: "forgotten numbers of AUTOINCREMENT",
            schema: "CREATE TABLE APPTABLE (ID INTEGER PRIMARY KEY AUTOINCREMENT, A); "
                + "INSERT INTO APPTABLE (A) VALUES ('a'), ('b'); DELETE FROM APPTABLE WHERE ID = 2",
            change: "DELETE FROM sqlite_sequence",
            effect: "SELECT count(*) = 0 FROM sqlite_sequence"),
        Forgery(
            testDescription: "an index that does not fit its table",
            schema: "CREATE TABLE APPTABLE (A TEXT); INSERT INTO APPTABLE VALUES ('a'), ('b'); "
                + "CREATE INDEX APPINDEX ON APPTABLE(A)",
            change: index("CREATE INDEX APPINDEX ON APPTABLE(A || ''x'')") + "REINDEX APPINDEX; "
                + index("CREATE INDEX APPINDEX ON APPTABLE(A)"),
            effect: "SELECT count(*) = 0 FROM APPTABLE INDEXED BY APPINDEX WHERE A = 'a'"),
        Forgery(
            testDescription: "names that are blobs", schema: "CREATE TABLE APPTABLE (A)",
            change: "PRAGMA writable_schema = ON; UPDATE sqlite_master SET "
                + "name = CAST(name AS BLOB), tbl_name = CAST(tbl_name AS BLOB) "
                + "WHERE name = 'Z_METADATA'; PRAGMA writable_schema = RESET",
            effect: "SELECT count(*) = 0 FROM sqlite_master WHERE name = 'Z_METADATA'"),
        Forgery(
            testDescription: "an R-tree whose boxes hide its entries",
            schema: "CREATE VIRTUAL TABLE APPTREE USING rtree (id, a, b); " + rows
                + "INSERT INTO APPTREE SELECT v, v, v + 1 FROM n",
            change: "UPDATE APPTREE_node SET data = CAST(substr(data, 1, 12) || "
                + "x'C1100000C1000000' || substr(data, 21) AS BLOB) WHERE nodeno = 1",
            effect: "SELECT (SELECT count(*) FROM APPTREE WHERE a >= 0) < "
                + "(SELECT count(*) FROM APPTREE)"),
        Forgery(
            testDescription: "an R-tree with an empty inner node",
            schema: "CREATE VIRTUAL TABLE APPTREE USING rtree (id, a, b)",
            change: "UPDATE APPTREE_node SET data = "
                + "CAST(x'0001' || substr(data, 3) AS BLOB) WHERE nodeno = 1",
            effect: "SELECT count(*) FROM APPTREE_node WHERE hex(substr(data, 1, 2)) = '0001'"),
        Forgery(
            testDescription: "rows of a full-text index that is not carried over",
            schema: "CREATE VIRTUAL TABLE APPTREE USING rtree (id, a, b); "
                + "CREATE VIRTUAL TABLE APPTEXT USING fts5 (a)",
            change: "CREATE TABLE 'APPTEXT_content'(id INTEGER PRIMARY KEY, c0)",
            effect: "SELECT count(*) FROM sqlite_master WHERE name = 'APPTEXT_content'"),
        Forgery(
            testDescription: "free pages", schema: "CREATE TABLE APPTABLE (A)",
            change: "CREATE TABLE mine (a); INSERT INTO mine VALUES (zeroblob(4000000)); "
                + "DROP TABLE mine",
            effect: "SELECT freelist_count > 50 FROM pragma_freelist_count"),
    ]

    /// Links that get an order can leave free pages behind: some are no forgery.
    @Test func someFreePagesAreTaken() throws {
        try SharingLab.run { lab in
            var honest = try ForgedDelivery(lab, isPublished: false)
            try honest.edit(
                "CREATE TABLE mine (a); INSERT INTO mine VALUES (zeroblob(200000)); "
                    + "DROP TABLE mine")
            try honest.relabel()
            let free = try honest.texts("SELECT freelist_count > 40 FROM pragma_freelist_count")
            #expect(free == ["1"])
            _ = try honest.deliveries.admit(honest.receipt)
        }
    }

    @Test(arguments: forgeries + statements)
    func aForgeryIsRefused(_ forgery: Forgery) throws {
        try SharingLab.run { lab in
            let honest = try ForgedDelivery(lab, isPublished: false, schema: forgery.schema)
            #expect(try honest.texts(forgery.effect) == ["0"])
            _ = try honest.deliveries.admit(honest.receipt)
        }
        try SharingLab.run { lab in
            var forged = try ForgedDelivery(lab, isPublished: false, schema: forgery.schema)
            let before = try lab.files.contents(of: forged.store, limit: 1 << 30)
            try forged.edit(forgery.change)
            #expect(try forged.texts(forgery.effect) == ["1"])
            try forged.relabel()
            let error = #expect(throws: RunError.self) {
                _ = try forged.deliveries.admit(forged.receipt)
            }
            #expect(error?.cause == .badDelivery)
            #expect(try lab.files.contents(of: forged.store, limit: 1 << 30) == before)
        }
    }
}
