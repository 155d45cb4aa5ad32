import CoreDataStore
import DurableFiles
import Foundation
import GRDB
import ManagedObjectModel
import MigrationEngine
import MigrationValidation
import RunService
import StateFolders
import StoreForge
import StoreRuns
import Testing

/// Results that a program changed beyond their rows: `verify` finds it.
@Suite("Results with more than their model") struct SpoiledResultTests {
    /// A change of a result and the check that finds it.
    struct Change: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let check: String
        let words: String
        let sql: String

        init(_ name: String, _ check: String, _ words: String, _ sql: String) {
            testDescription = name
            self.check = check
            self.words = words
            self.sql = sql
        }

        /// A text in a table's declaration instead of another one.
        static func declaration(_ name: String, _ words: String, _ from: String, _ to: String)
            -> Change
        {
            Change(
                name, "schema", words,
                "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = "
                    + "replace(sql, '\(from)', '\(to)') WHERE name = 'ZTAG'; "
                    + "PRAGMA writable_schema = RESET")
        }
    }

    static let changes: [Change] = [
        Change(
            "a trigger that deletes rows", "surplus objects", "surplus trigger EVIL",
            "CREATE TRIGGER EVIL AFTER INSERT ON ZTAG BEGIN DELETE FROM ZNOTE; END"),
        Change(
            "a table", "surplus objects", "surplus table OTHER", "CREATE TABLE OTHER (a)"),
        Change(
            "a view", "surplus objects", "surplus view OTHER",
            "CREATE VIEW OTHER AS SELECT 1"),
        Change(
            "a unique index", "surplus objects", "surplus index OTHER",
            "CREATE UNIQUE INDEX OTHER ON ZTAG (Z_PK)"),
        Change(
            "another trigger of the app", "surplus objects",
            "trigger APP_TRIGGER differs from the expected one",
            "DROP TRIGGER APP_TRIGGER; CREATE TRIGGER APP_TRIGGER AFTER DELETE ON ZTAG "
                + "BEGIN DELETE FROM APP_TABLE; END"),
        Change(
            "no table of the app", "kept tables", "table APP_TABLE is missing",
            "DROP TRIGGER APP_TRIGGER; DROP TABLE APP_TABLE"),
        Change(
            "no trigger of the app", "kept tables", "trigger APP_TRIGGER is missing",
            "DROP TRIGGER APP_TRIGGER"),
        .declaration(
            "NOT NULL", "extra constraint (NOT)", "ZNAME VARCHAR", "ZNAME VARCHAR NOT NULL"),
        .declaration(
            "CHECK", "extra constraint (CHECK)", "ZNAME VARCHAR",
            "ZNAME VARCHAR CHECK (length(ZNAME) < 10000)"),
        .declaration(
            "DEFAULT", "extra constraint (DEFAULT)", "ZNAME VARCHAR", "ZNAME VARCHAR DEFAULT 1"),
        .declaration(
            "COLLATE", "extra constraint (COLLATE)", "ZNAME VARCHAR",
            "ZNAME VARCHAR COLLATE NOCASE"),
        Change(
            "a second cached model", "metadata rows", "Z_MODELCACHE has 2 rows",
            "INSERT INTO Z_MODELCACHE SELECT Z_CONTENT FROM Z_MODELCACHE"),
        Change(
            "another version of metadata", "metadata rows", "Z_VERSION",
            "UPDATE Z_METADATA SET Z_VERSION = 2"),
        Change(
            "a number that history reserves", "primary keys", "surplus number 16001",
            "INSERT INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 5)"),
        Change(
            "user_version", "application numbers", "user_version is 5", "PRAGMA user_version = 5"),
        Change(
            "application_id", "application numbers", "application_id is 6",
            "PRAGMA application_id = 6"),
    ]

    @Test(arguments: changes) func isFound(_ change: Change) throws {
        try StoreLab.run { lab in
            try lab.forge(StoreLab.recipe(notes: 10))
            try lab.damage(
                "CREATE TABLE APP_TABLE (a); CREATE TRIGGER APP_TRIGGER AFTER DELETE ON ZTAG "
                    + "BEGIN INSERT INTO APP_TABLE VALUES (1); END")
            _ = try lab.migrate()
            #expect(try verify(lab).isEqual)
            try lab.raw(lab.output) { try $0.execute(sql: change.sql) }
            let report = try verify(lab)
            #expect(!report.isEqual)
            let found = report.checks[change.check] ?? []
            #expect(found.contains { $0.contains(change.words) }, "\(report.lines)")
        }
    }

    @Test("rows that a store of Core Data's has once are refused where they are several")
    func severalMetadata() throws {
        try StoreLab.run { lab in
            try lab.forge(StoreLab.recipe(notes: 10))
            _ = try lab.migrate()
            try lab.raw(lab.output) {
                try $0.execute(
                    sql: "INSERT INTO Z_METADATA SELECT 2, Z_UUID, Z_PLIST FROM Z_METADATA")
            }
            let error = try #require(throws: RunError.self) { try verify(lab) }
            #expect("\(error)".contains("several rows"))
        }
    }

    private func verify(_ lab: StoreLab) throws -> ValidationReport {
        let scratch = lab.folder.appendingPathComponent("verify")
        try? FileManager.default.removeItem(at: scratch)
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        return try LocalVerification(
            source: lab.path(lab.store), destination: lab.path(lab.output)
        ).run(scratch: lab.path(scratch))
    }
}
