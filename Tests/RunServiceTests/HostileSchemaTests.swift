import Foundation
import GRDB
import MigrationEngine
import MigrationPlans
import MigrationValidation
import RunService
import StateFolders
import StoreForge
import StoreRuns
import Testing

/// Databases whose tables are not those of a Core Data store.
@Suite struct HostileSchemaTests {
    @Test(arguments: Self.systemTables) func badSystemTables(_ damage: Damage) throws {
        try damage.check()
    }

    @Test(arguments: Self.entityTables) func badEntityTables(_ damage: Damage) throws {
        try damage.check()
    }

    @Test(arguments: Self.texts) func badSchemaTexts(_ damage: Damage) throws {
        try damage.check()
    }

    /// What would keep SQLite busy without an end, or take all memory.
    @Test(arguments: Self.endless) func endlessExpressions(_ damage: Damage) throws {
        try damage.check()
    }

    private static let slow = "instr(zeroblob(60000000), zeroblob(30000000) || x''01'')"

    /// An R-tree of so many levels of 51 equal children each.
    private static func chain(levels: Int) -> String {
        func number(_ value: Int, _ bytes: Int) -> String {
            let text = String(value, radix: 16)
            return String(repeating: "0", count: 2 * bytes - text.count) + text
        }
        let rows = (1...levels).map { node in
            let cell = number(node + 1, 8) + "000000003F800000"
            let depth = number(node == 1 ? levels - 1 : 0, 2)
            let children =
                node == levels
                ? number(0, 2) + String(repeating: "00", count: 51 * 16)
                : number(51, 2) + String(repeating: cell, count: 51)
            return "(\(node), x'\(depth)\(children)')"
        }
        return "CREATE VIRTUAL TABLE APP USING rtree (id, x0, x1); DELETE FROM APP_node; "
            + "INSERT INTO APP_node VALUES \(rows.joined(separator: ", "))"
    }

    static let endless: [Damage] = [
        Damage(
            "a generated column", "too big",
            schema: "CREATE TABLE APP (x); INSERT INTO APP VALUES (1); UPDATE sqlite_master SET "
                + "sql = 'CREATE TABLE APP (x, y AS (\(slow)))' WHERE name = 'APP'"),
        Damage(
            "a stored column", "too big",
            schema: "CREATE TABLE APP (x, y); INSERT INTO APP VALUES (1, 2); UPDATE sqlite_master "
                + "SET sql = 'CREATE TABLE APP (x, y AS (\(slow)) STORED)' WHERE name = 'APP'"),
        Damage(
            "an index", "too big",
            schema: "CREATE TABLE APP (x); INSERT INTO APP VALUES (1); CREATE INDEX I ON APP "
                + "(x + 1); UPDATE sqlite_master SET sql = 'CREATE INDEX I ON APP (x + \(slow))' "
                + "WHERE name = 'I'"),
        Damage(
            "an R-tree without columns",
            schema: "CREATE VIRTUAL TABLE APP USING rtree (id, x0, x1); UPDATE sqlite_master SET "
                + "name = ')(', tbl_name = ')(', sql = 'CREATE VIRTUAL TABLE \")(\" USING rtree' "
                + "WHERE name = 'APP'"),
        Damage("an R-tree", "refers to one of its nodes twice", sql: chain(levels: 12)),
        // A hundred bytes of memory for each of the text's, in pieces of less than 100 bytes.
        Damage(
            "views of many columns", "far more space than the store",
            schema: "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3000) INSERT INTO "
                + "sqlite_master SELECT 'view', 'W' || i, 'W' || i, 0, 'CREATE VIEW W' || i || "
                + "' AS SELECT 1' || replace(hex(zeroblob(990)), '00', ',1,1') FROM n"),
    ]

    static let systemTables: [Damage] = [
        Damage("no store at all", "without Z_METADATA") { lab in
            try Data().write(to: lab.store)
            try lab.damage("CREATE TABLE person (name TEXT); INSERT INTO person VALUES ('A')")
        },
        Damage("a name twice", "twice", sql: "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Note'"),
        Damage(
            "a number twice", "twice",
            sql: "CREATE TABLE k AS SELECT * FROM Z_PRIMARYKEY; DROP TABLE Z_PRIMARYKEY; "
                + "ALTER TABLE k RENAME TO Z_PRIMARYKEY; "
                + "INSERT INTO Z_PRIMARYKEY SELECT Z_ENT, 'Other', 0, 0 FROM Z_PRIMARYKEY"),
        Damage(
            "a number that is text", "is not a number",
            sql: "CREATE TABLE k AS SELECT * FROM Z_PRIMARYKEY; DROP TABLE Z_PRIMARYKEY; "
                + "ALTER TABLE k RENAME TO Z_PRIMARYKEY; "
                + "UPDATE Z_PRIMARYKEY SET Z_ENT = '1x' WHERE Z_ENT = 1"),
        Damage(
            "cyclic parents", "cycle",
            sql: "UPDATE Z_PRIMARYKEY SET Z_SUPER = 3 - Z_ENT WHERE Z_ENT < 3"),
        Damage(
            "a name of a megabyte", "a name of 1000000 bytes",
            sql: "UPDATE Z_PRIMARYKEY SET Z_NAME = hex(zeroblob(500000)) WHERE Z_ENT = 1"),
        Damage("own parent", "cycle", sql: "UPDATE Z_PRIMARYKEY SET Z_SUPER = Z_ENT"),
        Damage("a parent that is not there", "parent", sql: "UPDATE Z_PRIMARYKEY SET Z_SUPER = 99"),
        Damage(
            "huge maximum", "Z_MAX", sql: "UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775806"),
        Damage("number 0", "below 1", sql: "UPDATE Z_PRIMARYKEY SET Z_ENT = 0 WHERE Z_ENT = 1"),
        Damage("no numbers", "entity number 1", sql: "DELETE FROM Z_PRIMARYKEY"),
        Damage(
            "numbers exchanged", "entity number",
            sql: "UPDATE Z_PRIMARYKEY SET Z_NAME = CASE Z_ENT WHEN 1 THEN 'Folder' WHEN 2 THEN "
                + "'Attachment' ELSE Z_NAME END"),
        Damage(
            "an entity too many", "not in the model",
            sql: "INSERT INTO Z_PRIMARYKEY VALUES (77, 'Ghost', 0, 0)"),
        Damage("no metadata", "Z_METADATA is empty", sql: "DELETE FROM Z_METADATA"),
        Damage(
            "two rows of metadata", "several rows",
            sql: "INSERT INTO Z_METADATA SELECT 2, Z_UUID, Z_PLIST FROM Z_METADATA"),
        Damage("garbage", "Z_PLIST", sql: "UPDATE Z_METADATA SET Z_PLIST = randomblob(500)"),
        Damage("no list", "Z_PLIST", sql: "UPDATE Z_METADATA SET Z_PLIST = NULL"),
        Damage("text for a list", "Z_PLIST", sql: "UPDATE Z_METADATA SET Z_PLIST = 'bplist00'"),
        Damage("an array", "not a dictionary") { lab in
            // bplist00 with one empty array.
            let bytes =
                "62706c6973743030A0080000000000000101000000000000000100000000000000000000"
                + "000000000009"
            try lab.damage("UPDATE Z_METADATA SET Z_PLIST = x'\(bytes)'")
        },
        Damage(
            "metadata is a view", "without Z_METADATA",
            sql: "ALTER TABLE Z_METADATA RENAME TO m; CREATE VIEW Z_METADATA AS SELECT * FROM m"),
        Damage(
            "numbers are a view", "without Z_PRIMARYKEY",
            sql: "ALTER TABLE Z_PRIMARYKEY RENAME TO k; "
                + "CREATE VIEW Z_PRIMARYKEY AS SELECT * FROM k"),
        Damage(
            "metadata without a column", "without Z_METADATA",
            sql: "ALTER TABLE Z_METADATA DROP COLUMN Z_UUID"),
        Damage(
            "mirrored with CloudKit", "CloudKit", "ANSCKEVENT",
            sql: "CREATE TABLE ANSCKEVENT (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER)"),
    ]

    static let entityTables: [Damage] = [
        Damage("a table is missing", "table ZNOTE is missing", sql: "DROP TABLE ZNOTE"),
        Damage("a join table is missing", "is missing", sql: "DROP TABLE Z_3TAGS"),
        Damage(
            "a column too many", "ZNOTE.ZEXTRA is not in the model",
            sql: "ALTER TABLE ZNOTE ADD COLUMN ZEXTRA VARCHAR"),
        Damage(
            "a computed column", "generated",
            sql: "ALTER TABLE ZNOTE DROP COLUMN ZBODY; "
                + "ALTER TABLE ZNOTE ADD COLUMN ZBODY VARCHAR AS (ZTITLE) VIRTUAL"),
        Damage(
            "a column is missing", "ZNOTE.ZBODY is missing",
            sql: "ALTER TABLE ZNOTE DROP COLUMN ZBODY"),
        Damage(
            "a table is a view", "table ZTAG is missing",
            sql: "ALTER TABLE ZTAG RENAME TO t; CREATE VIEW ZTAG AS SELECT * FROM t"),
        Damage(
            "a table is virtual", "table ZTAG is missing",
            sql: "DROP TABLE ZTAG; CREATE VIRTUAL TABLE ZTAG USING rtree (Z_PK, a, b)"),
        Damage(
            "a table without rowids", "INTEGER PRIMARY KEY",
            sql: "ALTER TABLE ZTAG RENAME TO t; CREATE TABLE ZTAG (Z_PK INTEGER PRIMARY KEY, "
                + "Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR) WITHOUT ROWID; "
                + "INSERT INTO ZTAG SELECT * FROM t; DROP TABLE t"),
        Damage(
            "a table without key", "INTEGER PRIMARY KEY",
            sql: "CREATE TABLE t AS SELECT * FROM ZTAG; DROP TABLE ZTAG; "
                + "ALTER TABLE t RENAME TO ZTAG"),
        Damage(
            "a descending key", "INTEGER PRIMARY KEY",
            sql: "ALTER TABLE ZTAG RENAME TO t; CREATE TABLE ZTAG (Z_PK INTEGER PRIMARY KEY DESC, "
                + "Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR); DROP TABLE t"),
        Damage(
            "key near 2^63", "2⁶³",
            sql: "UPDATE ZTAG SET Z_PK = 9223372036854775807 "
                + "WHERE Z_PK = (SELECT max(Z_PK) FROM ZTAG)"),
        Damage(
            "negative key", "negative",
            sql: "UPDATE ZNOTE SET Z_PK = -5 "
                + "WHERE Z_PK = (SELECT min(Z_PK) FROM ZNOTE)"),
        Damage(
            "join rows twice",
            sql: "CREATE TABLE j AS SELECT * FROM Z_3TAGS; INSERT INTO j SELECT * FROM Z_3TAGS; "
                + "DROP TABLE Z_3TAGS; ALTER TABLE j RENAME TO Z_3TAGS"),
        Damage(
            "values twice that must differ",
            sql: "DROP INDEX Z_Tag_UNIQUE_name; UPDATE ZTAG SET ZNAME = 'same'"),
    ]

    private static let huge =
        "(SELECT group_concat(v, ' ') FROM (WITH RECURSIVE n(v) AS "
        + "(SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 200000) SELECT v FROM n))"

    static let texts: [Damage] = [
        Damage(
            "a text of another kind", "SQLite",
            schema: "UPDATE sqlite_master SET sql = 'ATTACH ''/etc/passwd'' AS x' "
                + "WHERE name = 'ZNOTE'"),
        Damage(
            "a query for a table", "SQLite",
            schema: "UPDATE sqlite_master SET sql = 'CREATE TABLE ZNOTE AS SELECT 1' "
                + "WHERE name = 'ZNOTE'"),
        Damage(
            "a text of megabytes", "SQLite",
            schema: "UPDATE sqlite_master SET sql = 'CREATE TABLE ZNOTE (' || \(huge) || ')' "
                + "WHERE name = 'ZNOTE'"),
        Damage(
            "an object of unknown type",
            schema: "UPDATE sqlite_master SET type = 'oracle' WHERE name = 'Z_Note_byDate'"),
        Damage(
            "two tables on one page",
            schema: "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master "
                + "WHERE name = 'ZTAG') WHERE name = 'ZNOTE'"),
        Damage(
            "a page outside the file",
            schema: "UPDATE sqlite_master SET rootpage = 999999 WHERE name = 'ZNOTE'"),
        Damage(
            "a table on an index's page",
            schema: "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master "
                + "WHERE name = 'Z_Note_byDate') WHERE name = 'ZNOTE'"),
        Damage(
            "a name of another object",
            schema: "UPDATE sqlite_master SET name = 'OTHER' WHERE name = 'ZNOTE'"),
        Damage(
            "too many objects", "too many objects"
        ) { lab in
            try lab.damage(
                "PRAGMA writable_schema = ON; WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL "
                    + "SELECT v + 1 FROM n WHERE v < 60000) INSERT INTO sqlite_master "
                    + "SELECT 'view', 'v' || v, 'v' || v, 0, 'CREATE VIEW v' || v || "
                    + "' AS SELECT 1' FROM n")
        },
    ]

    /// What stands between the brackets of the statement that made it does not say how many
    /// columns an R-tree has.
    @Test(arguments: [
        ("\")(\"", "id, x0, x1", 3), ("\"my(t,ab)\"", "id, x0, x1, y0, y1", 5),
        ("APP", "id, x0, x1, +name TEXT, +\"b,c\" BLOB", 5),
        ("APP", "id /* key, of (it) */, x0, x1", 3), ("APP", "id, x0, x1", 3),
    ])
    func rTreesOfAnAppAreKept(name: String, columns: String, count: Int) throws {
        try StoreLab.run { lab in
            try lab.forge(try StoreLab.recipe())
            let values = ["v", "v % 7", "v % 7 + 1", "3", "4"].prefix(count)
            try lab.damage(
                "CREATE VIRTUAL TABLE \(name) USING rtree (\(columns)); "
                    + "WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE "
                    + "v < 5000) INSERT INTO \(name) SELECT "
                    + "\(values.joined(separator: ", ")) FROM n")
            let outcome = try lab.migrate()
            #expect(outcome.validation.isEqual)
            let rows = try lab.raw(lab.output) {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM \(name)")
            }
            #expect(rows == 5000)
        }
    }

    /// SQLite trusts no schema with these functions, so that it checks nothing by them.
    @Test func aTableWhoseCheckReadsJSONIsKept() throws {
        try StoreLab.run { lab in
            try lab.forge(try StoreLab.recipe())
            try lab.damage(
                "CREATE TABLE APP (x TEXT CHECK (json_valid(x))); INSERT INTO APP VALUES ('[1]')")
            let outcome = try lab.migrate()
            #expect(outcome.validation.isEqual)
            let rows = try lab.raw(lab.output) {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM APP")
            }
            #expect(rows == 1)
        }
    }

    /// What SQLite computes for an app's own table or index may not take far more space than the
    /// store.
    @Test(arguments: [false, true])
    func objectsOfAnAppDoNotGrowWithoutAnEnd(isIndex: Bool) throws {
        let value = "hex(zeroblob(500000)) || x"
        let (name, declaration) =
            isIndex
            ? ("I", "CREATE INDEX I ON APP (\(value))")
            : ("APP", "CREATE TABLE APP (x INTEGER PRIMARY KEY, y AS (\(value)) STORED)")
        try StoreLab.run { lab in
            try lab.forge(try StoreLab.recipe())
            try lab.damage(
                "CREATE TABLE APP (x INTEGER PRIMARY KEY, y); CREATE INDEX I ON APP (x + 1); "
                    + "WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE "
                    + "v < 400) INSERT INTO APP (x) SELECT v FROM n; "
                    + "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = "
                    + "'\(declaration)' WHERE name = '\(name)'")
            let error = #expect(throws: RunError.self) { try lab.migrate() }
            let text = "\(try #require(error))"
            #expect(text.contains("far more space"), "\(text)")
        }
    }

    /// Statements behind the first are never run, wherever the text is used.
    @Test func statementsBehindAnObjectsTextNeverRun() throws {
        try StoreLab.run { lab in
            try lab.forge(try StoreLab.recipe())
            let planted = lab.folder.appendingPathComponent("planted.sqlite")
            try lab.damage(
                "CREATE TABLE APP_LOG (word TEXT); CREATE INDEX APP_WORDS ON APP_LOG (word)")
            let tail = "; ATTACH ''\(planted.path)'' AS p; CREATE TABLE p.x (y); DELETE FROM ZNOTE"
            try lab.damage(
                "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = sql || '\(tail)' "
                    + "WHERE name LIKE 'APP_%'")
            let outcome = try lab.migrate()
            #expect(outcome.validation.isEqual)
            #expect(!FileManager.default.fileExists(atPath: planted.path))
            #expect(outcome.plan.extras.count == 2)
        }
    }
}
