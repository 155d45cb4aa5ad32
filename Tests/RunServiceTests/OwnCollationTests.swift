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
import Testing

@testable import GodwitCommands
@testable import RunCommands

/// Objects that need what only the app has are dropped, and the reason says what they need.
@Suite struct OwnCollationTests {
    private static let setup = """
        CREATE TABLE APP_SORTED (w TEXT COLLATE APPORDER, n INTEGER);
        INSERT INTO APP_SORTED VALUES ('b', 1), ('a', 2), ('B', 3), (NULL, 4);
        CREATE TABLE APP_KEYED (w TEXT COLLATE APPORDER PRIMARY KEY, n);
        INSERT INTO APP_KEYED VALUES ('x', 1), ('y', 2);
        CREATE TABLE APP_CHECKED (w TEXT CHECK (w COLLATE APPORDER < 'a'));
        INSERT INTO APP_CHECKED VALUES ('b');
        CREATE INDEX APP_ORDER ON ZTAG (ZNAME COLLATE APPORDER);
        CREATE INDEX APP_COLUMN ON APP_SORTED (w);
        CREATE VIEW APP_RANKED AS SELECT ZNAME FROM ZTAG ORDER BY ZNAME COLLATE APPORDER;
        CREATE TRIGGER APP_GUARD AFTER INSERT ON ZTAG BEGIN
          DELETE FROM ZTAG WHERE ZNAME > 'a' COLLATE APPORDER; END;
        CREATE VIEW APP_CALLED AS SELECT app_function(ZNAME) FROM ZTAG;
        CREATE VIRTUAL TABLE APP_SEARCH USING fts5 (title);
        INSERT INTO APP_SEARCH VALUES ('a title');
        CREATE TRIGGER APP_SEARCHED AFTER INSERT ON ZTAG BEGIN
          INSERT INTO APP_SEARCH VALUES (NEW.ZNAME); END;
        CREATE VIEW APP_BODIES AS SELECT ZBODY FROM ZNOTE;
        """

    private static let collation = "its collation APPORDER is the app's own"
    private static let reasons = [
        "APP_SORTED": collation, "APP_KEYED": collation, "APP_CHECKED": collation,
        "APP_ORDER": collation,
        "APP_COLUMN": "the table APP_SORTED, which it needs, is not in the result",
        "APP_RANKED": collation,
        "APP_GUARD": collation,
        "APP_CALLED": "it calls app_function, a function that SQLite does not have: the app's "
            + "own, or of a newer version",
        "APP_SEARCH": "it is a full-text index (FTS5), whose content a migration does not carry "
            + "over",
        "APP_SEARCHED": "the table APP_SEARCH, which it needs, is not in the result",
        "APP_BODIES": "it does not fit the new schema",
    ]

    @Test func reasonsSayWhatIsMissing() throws {
        try StoreLab.run { lab in
            try lab.forge(try StoreLab.recipe())
            try lab.raw { database in
                database.add(collation: DatabaseCollation("APPORDER") { $1.compare($0) })
                database.add(
                    function: DatabaseFunction("app_function", argumentCount: 1) { $0[0] })
                try database.execute(sql: Self.setup)
            }
            let outcome = try lab.migrate()
            #expect(outcome.validation.isEqual, "\(outcome.validation.lines)")
            let reasons = Dictionary(
                outcome.plan.extras.map { ($0.object.name, $0.reason) },
                uniquingKeysWith: { first, _ in first })
            #expect(reasons == Self.reasons)
            try expectSaid(lab, outcome)
        }
    }

    /// That the content of a full-text index is lost is said wherever a person looks.
    private func expectSaid(_ lab: StoreLab, _ outcome: MigrationOutcome) throws {
        let words = "a full-text index (FTS5), whose content a migration does not carry over"
        let plan = PlanReport(outcome.plan, store: lab.name, oddities: outcome.oddities)
        #expect(plan.text.contains("- table APP_SEARCH: dropped, it is \(words)"))
        // Its lines are broken.
        let report = ResultText.text(of: outcome.result).split(whereSeparator: \.isWhitespace)
            .joined(separator: " ")
        #expect(report.contains("- table APP_SEARCH: it is \(words)"))
        let opened = try StoreOpener().open(
            StoreLocation(lab.path(lab.store)), scratch: lab.path(lab.folder), checksPages: false)
        let inspection = try StoreInspector.inspect(opened, isChecked: false)
        #expect(inspection.text.contains("- table APP_SEARCH: \(words)"))
        #expect(inspection.extras.count { $0.remark != nil } == 1)
    }
}
