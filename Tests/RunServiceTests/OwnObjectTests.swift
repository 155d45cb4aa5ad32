import CoreDataStore
import DurableFiles
import Foundation
import GRDB
import ManagedObjectModel
import MigrationPlans
import MigrationValidation
import RunService
import SafeSQLite
import StoreForge
import StoreRuns
import Testing

@testable import GodwitCommands
@testable import RunCommands

/// Objects of an app's own in a store: kept where they fit, dropped otherwise, never run.
@Suite struct OwnObjectTests {
    private static let setup = """
        CREATE TABLE APP_QUEUE (id INTEGER PRIMARY KEY AUTOINCREMENT, word TEXT);
        INSERT INTO APP_QUEUE (word) VALUES ('a'), ('b'), ('c'); DELETE FROM APP_QUEUE WHERE id > 1;
        CREATE TABLE APP_KEYS (k TEXT PRIMARY KEY, v) WITHOUT ROWID;
        INSERT INTO APP_KEYS VALUES ('x', 1), ('y', 'text'), ('z', x'00ff'), ('n', NULL);
        CREATE TABLE APP_SIZES (a, b INTEGER, area INTEGER AS (a * b) STORED, half AS (b / 2));
        INSERT INTO APP_SIZES (a, b) VALUES (2, 3), (4.5, 2), ('5', 6);
        CREATE INDEX APP_SIZES_AREA ON APP_SIZES (area);
        CREATE TABLE "odd ""name"" 'of' [a] ; table" ("from", "a b", "ü", "rowid" TEXT);
        INSERT INTO "odd ""name"" 'of' [a] ; table" VALUES (1, 2, 3, 'row'), (NULL, '', x'', 'r');
        CREATE TABLE APP_PLAIN (v); INSERT INTO APP_PLAIN (rowid, v) VALUES (70, 'x'), (5, 'y');
        CREATE TABLE APP_STRICT (v INTEGER NOT NULL CHECK (v > 0)) STRICT;
        INSERT INTO APP_STRICT VALUES (1), (2);
        CREATE VIEW APP_WORDS AS SELECT word FROM APP_QUEUE;
        CREATE VIEW APP_TITLES AS SELECT ZTITLE FROM ZNOTE;
        CREATE VIEW APP_BODIES AS SELECT ZBODY FROM ZNOTE;
        CREATE VIEW APP_KINDS AS SELECT ZTITLE FROM ZNOTE WHERE Z_ENT = 3;
        CREATE INDEX APP_TITLE ON ZNOTE (ZTITLE COLLATE NOCASE DESC);
        CREATE INDEX APP_BODY ON ZNOTE (ZBODY);
        CREATE INDEX APP_LONG ON ZNOTE (length(ZTITLE), ZISPINNED) WHERE ZTITLE IS NOT NULL;
        CREATE INDEX APP_LONG_BODY ON ZNOTE (length(ZBODY));
        CREATE INDEX APP_BODY_PART ON ZNOTE (ZTITLE) WHERE ZBODY IS NOT NULL;
        CREATE INDEX APP_FOREIGN ON ZTAG (ZNAME COLLATE APPCOLLATION);
        CREATE TRIGGER APP_TOUCH AFTER INSERT ON ZNOTE BEGIN
          UPDATE ZNOTE SET ZTITLE = 'touched'; INSERT INTO APP_QUEUE (word) VALUES ('ran'); END;
        CREATE TRIGGER APP_QUEUED BEFORE INSERT ON APP_QUEUE BEGIN
          INSERT INTO APP_KEYS VALUES (hex(randomblob(8)), 'ran'); END;
        CREATE TRIGGER APP_RETITLED AFTER UPDATE OF ZTITLE ON ZNOTE BEGIN
          DELETE FROM APP_QUEUE; END;
        CREATE TRIGGER APP_REBODIED AFTER UPDATE OF ZBODY ON ZNOTE BEGIN
          DELETE FROM APP_QUEUE; END;
        CREATE TRIGGER APP_BODY_GONE AFTER DELETE ON ZNOTE BEGIN
          INSERT INTO APP_QUEUE (word) VALUES (OLD.ZBODY); END;
        CREATE TRIGGER APP_THROUGH INSTEAD OF INSERT ON APP_WORDS BEGIN
          INSERT INTO APP_QUEUE (word) VALUES (NEW.word); END;
        CREATE TRIGGER APP_COUNT AFTER INSERT ON ZTAG BEGIN
          UPDATE ZTAG SET ZNAME = NSCoreDataOfTheFuture(1, 2, 3); END;
        CREATE TRIGGER APP_OWN_FUNCTION AFTER INSERT ON ZTAG BEGIN
          UPDATE ZTAG SET ZNAME = app_function(ZNAME); END;
        CREATE VIRTUAL TABLE APP_PLACES USING rtree (id, x0, x1, y0, y1, +label);
        CREATE VIRTUAL TABLE APP_HOUSING USING /* using fts5 */ "rtree" (id, x0, x1);
        INSERT INTO APP_HOUSING VALUES (4, 1, 2);
        CREATE VIRTUAL TABLE APP_SEARCH USING fts5 (title, body);
        INSERT INTO APP_SEARCH VALUES ('a title', 'a body');
        CREATE TABLE APP_TEXT_content (id INTEGER PRIMARY KEY, c0);
        INSERT INTO APP_TEXT_content VALUES (1, 'not the index''s own');
        CREATE VIRTUAL TABLE APP_TEXT /* (here) */ USING fts5 (
          c0, -- the text
          /* ours */ content = 'APP_TEXT_content', content_rowid = 'id');
        CREATE VIRTUAL TABLE APP_OLD USING fts3 (body);
        CREATE TABLE APP_OLD_stat (day, number);
        INSERT INTO APP_OLD_stat VALUES ('Monday', 5);
        INSERT INTO APP_PLACES VALUES (1, 0, 1, 2, 3, 'here'), (9, -4, 1, 2.5, 3, 'there');
        """

    private static let kept: Set<String> = [
        "APP_QUEUE", "APP_KEYS", "APP_SIZES", "APP_SIZES_AREA", "APP_PLAIN", "APP_STRICT",
        "APP_WORDS", "APP_TITLES", "APP_TITLE", "APP_LONG", "APP_TOUCH", "APP_QUEUED",
        "APP_RETITLED", "APP_THROUGH", "APP_COUNT", "APP_PLACES",
        "odd \"name\" 'of' [a] ; table", "APP_KINDS", "APP_TEXT_content", "APP_OLD_stat",
        "APP_HOUSING",
    ]
    private static let dropped: Set<String> = [
        "APP_BODIES", "APP_BODY", "APP_LONG_BODY", "APP_BODY_PART", "APP_FOREIGN",
        "APP_REBODIED", "APP_BODY_GONE", "APP_OWN_FUNCTION", "APP_SEARCH", "APP_TEXT",
        "APP_OLD",
    ]

    private func prepare(_ lab: StoreLab) throws {
        try lab.forge(try StoreLab.recipe())
        try lab.raw { database in
            database.add(
                collation: DatabaseCollation("APPCOLLATION") { $0.compare($1) })
            database.add(function: DatabaseFunction("app_function", argumentCount: 1) { $0[0] })
            try database.execute(sql: Self.setup)
        }
    }

    @Test func fitsAndMisfits() throws {
        try StoreLab.run { lab in
            try prepare(lab)
            let before = try lab.snapshot()
            let planned = try EngineMigration(
                lab.request(to: .model(DestinationModel(model: ForgeModels.notes(version: 2)))),
                clock: { 0 }
            ).plan().plan
            let outcome = try lab.migrate()
            #expect(outcome.plan.extras == planned.extras)
            #expect(outcome.validation.isEqual, "\(outcome.validation.lines)")
            #expect(try lab.snapshot() == before)
            let fates = Dictionary(grouping: outcome.plan.extras, by: \.isKept)
                .mapValues { Set($0.map(\.object.name)) }
            #expect(fates[true] == Self.kept)
            #expect(fates[false] == Self.dropped)
            try expectSaid(lab, outcome)
            try expectContents(lab)
        }
    }

    /// Both fates are said wherever a person looks.
    private func expectSaid(_ lab: StoreLab, _ outcome: MigrationOutcome) throws {
        let plan = PlanReport(outcome.plan, store: lab.name, oddities: outcome.oddities)
        let report = ResultText.text(of: outcome.result)
        let opened = try StoreOpener().open(
            StoreLocation(lab.path(lab.store)), scratch: lab.path(lab.folder), checksPages: false)
        let inspection = try StoreInspector.inspect(opened, isChecked: false)
        for extra in outcome.plan.extras {
            let name = extra.object.name
            #expect(plan.text.contains(name))
            #expect(report.contains(name))
            #expect(inspection.text.contains(name))
            #expect(!extra.reason.isEmpty)
        }
    }

    private func expectContents(_ lab: StoreLab) throws {
        let queries = [
            "SELECT * FROM APP_QUEUE", "SELECT * FROM sqlite_sequence ORDER BY 1",
            "SELECT * FROM APP_KEYS", "SELECT *, typeof(a) FROM APP_SIZES",
            "SELECT rowid, * FROM APP_PLAIN",
            "SELECT _rowid_, * FROM \"odd \"\"name\"\" 'of' [a] ; table\"",
            "SELECT * FROM APP_STRICT", "SELECT * FROM APP_PLACES ORDER BY id",
            "SELECT id FROM APP_PLACES WHERE x0 < -1", "SELECT count(*) FROM APP_PLACES_node",
            "SELECT ZTITLE FROM ZNOTE ORDER BY Z_PK", "SELECT * FROM APP_WORDS",
            "SELECT * FROM APP_HOUSING WHERE x1 > 1", "SELECT * FROM APP_TEXT_content",
            "SELECT * FROM APP_OLD_stat",
        ]
        let all = { (url: URL) in
            try lab.raw(url) { database in
                try queries.map { try Row.fetchAll(database, sql: $0).map { $0.debugDescription } }
            }
        }
        // A copy: a connection of the ordinary kind may write.
        let copy = lab.folder.appendingPathComponent("copy.sqlite")
        try FileManager.default.copyItem(at: lab.store, to: copy)
        let (old, new) = (try all(copy), try all(lab.output))
        for (query, rows) in zip(queries, zip(old, new)) { #expect(rows.0 == rows.1, "\(query)") }
        let found = try lab.raw(lab.output) { database in
            try String.fetchAll(database, sql: "SELECT name FROM sqlite_master")
        }
        #expect(Self.kept.isSubset(of: found))
        #expect(Self.dropped.isDisjoint(with: found))
        #expect(!found.contains { $0.hasPrefix("APP_SEARCH") })
        let check = try lab.raw(lab.output) {
            try String.fetchAll($0, sql: "PRAGMA integrity_check")
        }
        #expect(check == ["ok"])
    }

    /// Where entities get other numbers, what names numbers would mean other entities.
    @Test func numbersInTexts() throws {
        try StoreLab.run { lab in
            try prepare(lab)
            let outcome = try lab.migrate(
                to: .model(try DestinationModel(model: Numbered.notes())))
            #expect(outcome.validation.isEqual, "\(outcome.validation.lines)")
            let fates = Dictionary(
                outcome.plan.extras.map { ($0.object.name, $0.isKept) },
                uniquingKeysWith: { first, _ in first })
            #expect(fates["APP_KINDS"] == false)
            #expect(fates["APP_TITLES"] == true)
        }
    }

    /// A table of the app has the name of one that the model adds, which takes its place.
    @Test(arguments: ["ZELEMENT", "zelement"])
    func aNameThatTheModelTakes(name: String) throws {
        let model = try ForgeModels.notes(version: 3)
        try StoreLab.run { lab in
            try lab.forge(try StoreLab.recipe())
            try lab.damage("CREATE TABLE \(name) (A); INSERT INTO \(name) VALUES (1)")
            let outcome = try lab.migrate(to: .model(try DestinationModel(model: model)))
            #expect(outcome.validation.isEqual, "\(outcome.validation.lines)")
            #expect(outcome.plan.extras.map(\.object.name) == [name])
            #expect(outcome.plan.extras.allSatisfy { !$0.isKept })
        }
    }

    @Test func statistics() throws {
        try StoreLab.run { lab in
            try lab.forge(try StoreLab.recipe())
            try lab.damage(
                "CREATE INDEX APP_BODY ON ZNOTE (ZBODY); CREATE INDEX APP_TITLE ON ZNOTE (ZTITLE); "
                    + "ANALYZE; INSERT INTO sqlite_stat1 VALUES ('NOWHERE', NULL, '7')")
            let outcome = try lab.migrate()
            #expect(outcome.validation.isEqual)
            let statistics = { (url: URL) in
                try lab.raw(url) { database in
                    Set(
                        try Row.fetchAll(database, sql: "SELECT tbl, idx, stat FROM sqlite_stat1")
                            .map(\.debugDescription))
                }
            }
            let new = try statistics(lab.output)
            let old = try statistics(lab.store)
            #expect(new.isSubset(of: old))
            #expect(new.contains { $0.contains("APP_TITLE") })
            #expect(new.contains { $0.contains("Z_Note_byDate") })
            #expect(!new.contains { $0.contains("APP_BODY") || $0.contains("NOWHERE") })
            let fate = outcome.plan.extras.first { $0.object.name == "sqlite_stat1" }
            #expect(fate?.isKept == true)
        }
    }
}

/// Models in which the entities of the notes have other numbers.
enum Numbered {
    /// Version 1 of the notes with an entity before all others.
    static func notes() throws -> Model {
        let original = try ForgeModels.notes(version: 1)
        let first = Entity(name: "Aardvark", attributes: [Attribute(name: "name", type: .string)])
        return try Model(
            entities: original.numberedEntities + [first], versionIdentifiers: ["numbered"])
    }
}
