import CoreDataStore
import DurableFiles
import Foundation
import GRDB
import ManagedObjectModel
import MigrationEngine
import MigrationPlans
import MigrationValidation
import ModelFiles
import RunService
import SafeSQLite
import StoreFileChecks
import StoreForge
import StoreRuns
import Testing

/// What a store has of its app beyond tables: numbers in the header, identifiers of versions,
/// rows that break the app's own rules.
@Suite("What stays as it is") struct KeptNumbersTests {
    private func numbers(_ lab: StoreLab, _ url: URL) throws -> [Int] {
        try lab.raw(url) { database in
            try ["user_version", "application_id"].map { name in
                try Int.fetchOne(database, sql: "PRAGMA \(name)") ?? 0
            }
        }
    }

    @Test(
        "user_version and application_id are the source's", arguments: [3, -7, 2_147_483_647],
        [Strategy.whole, .partitioned])
    func applicationNumbers(_ number: Int, _ strategy: Strategy) throws {
        for journal in [ForgeRecipe.Journal.rollback, .writeAheadLog] {
            try StoreLab.run { lab in
                var recipe = try StoreLab.recipe()
                recipe.journal = journal
                try lab.forge(recipe)
                try lab.damage(
                    "PRAGMA user_version = \(number); PRAGMA application_id = \(-number)")
                let outcome = try lab.migrate(options: PlanOptions(strategy: strategy))
                #expect(outcome.validation.isEqual, "\(outcome.validation.lines)")
                #expect(try numbers(lab, lab.output) == [number, -number])
                for text in ["user_version is \(number)", "application_id is \(-number)"] {
                    #expect(outcome.oddities.contains { $0.hasPrefix(text) })
                }
            }
        }
    }

    @Test("they stay where a result takes the place of its original")
    func inPlace() throws {
        try RunLab.run { lab in
            for strategy in [Strategy.whole, .partitioned] {
                let store = try lab.forge("\(strategy).sqlite")
                try lab.write(store, "PRAGMA user_version = 4")
                try lab.write(store, "PRAGMA application_id = 77")
                try lab.migrate([store], strategy: strategy)
                let connection = try Connection(path: store, mode: .readWrite)
                #expect(try connection.userVersion() == 4)
                #expect(try connection.applicationID() == 77)
                try connection.close()
            }
        }
    }

    @Test(
        "rows that break a CHECK of the app's own are kept and counted",
        arguments: [Strategy.whole, .partitioned])
    func brokenChecks(_ strategy: Strategy) throws {
        try StoreLab.run { lab in
            try lab.forge(StoreLab.recipe())
            try lab.damage(
                "CREATE TABLE APP_LOG (a INTEGER PRIMARY KEY, b CHECK (b < 10)); "
                    + "CREATE TABLE APP_KEYED (rowid, oid, _rowid_, b CHECK (b IS NOT NULL)); "
                    + "CREATE TABLE APP_TEXT (a TEXT PRIMARY KEY, b CHECK (b <> 'x'), "
                    + "c AS (a || b)) WITHOUT ROWID; "
                    + "CREATE TABLE APP_SOUND (a CHECK (a IS NOT NULL)); "
                    + "PRAGMA ignore_check_constraints = ON; "
                    + "INSERT INTO APP_LOG VALUES (1, 5), (2, 50), (3, 500); "
                    + "INSERT INTO APP_KEYED VALUES (1, 2, 3, NULL); "
                    + "INSERT INTO APP_TEXT VALUES ('a', 'x'), ('b', 'y'); "
                    + "WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n "
                    + "WHERE v < 2500) INSERT INTO APP_SOUND SELECT v FROM n")
            for choice in [nil, DestinationChoice.itself] {
                let outcome = try lab.migrate(
                    to: choice, options: PlanOptions(strategy: strategy))
                let report = outcome.validation
                #expect(report.isEqual, "\(report.lines)")
                let faults = report.inherited.filter { $0.fault.kind == .brokenCheck }
                #expect(faults.map(\.fault.entity) == ["APP_KEYED", "APP_LOG", "APP_TEXT"])
                #expect(faults.map(\.count) == [1, 2, 1])
                let values = try lab.raw(lab.output) {
                    try Int.fetchAll($0, sql: "SELECT b FROM APP_LOG ORDER BY a")
                }
                #expect(values == [5, 50, 500])
                try FileManager.default.removeItem(at: lab.results)
                try FileManager.default.createDirectory(
                    at: lab.results, withIntermediateDirectories: true)
            }
        }
    }

    @Test("a page that is damaged is refused beside rows that break a CHECK")
    func damageBehindChecks() throws {
        try StoreLab.run { lab in
            try lab.forge(StoreLab.recipe())
            try lab.damage(
                "CREATE TABLE APP_LOG (b CHECK (b < 0)); PRAGMA ignore_check_constraints = ON; "
                    + "WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n "
                    + "WHERE v < 500) INSERT INTO APP_LOG SELECT v FROM n; "
                    + "PRAGMA wal_checkpoint(TRUNCATE)")
            let root = try lab.raw {
                try Int.fetchOne(
                    $0, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'ZTAG'") ?? 0
            }
            try lab.patch(at: (root - 1) * 4096, Array(repeating: 0xA5, count: 64))
            try lab.expectRefusal(saying: ["malformed"])
        }
    }

    @Test("with --to self --from the store's own identifiers stay as they are")
    func identifiers() throws {
        for framework in [519, 1522] {
            try StoreLab.run { lab in
                var recipe = try StoreLab.recipe(notes: 10)
                recipe.framework = FrameworkVersion(framework)
                try lab.forge(recipe)
                var entries = try list(lab, lab.store)
                entries = entries.setting(
                    "NSStoreModelVersionIdentifiers",
                    to: .array([.string("z"), .string("b"), .string("")]))
                let bytes = Data(BinaryPropertyList.write(entries))
                try lab.raw {
                    try $0.execute(sql: "UPDATE Z_METADATA SET Z_PLIST = ?", arguments: [bytes])
                }
                let outcome = try lab.migrate(to: .itself, from: ForgeModels.notes(version: 1))
                #expect(outcome.validation.isEqual, "\(outcome.validation.lines)")
                let after = try list(lab, lab.output)
                for entry in entries.entries ?? [] where !Self.ofFramework.contains(entry.key) {
                    #expect(after[entry.key] == entry.value, "\(entry.key)")
                }
                if framework == 1522 { #expect(after == entries) }
            }
        }
    }

    /// Keys that follow from the framework that a store is written as.
    private static let ofFramework: Set<String> = [
        "NSPersistenceFrameworkVersion", "NSStoreModelVersionHashesDigest",
        "NSStoreModelVersionChecksumKey",
    ]

    private func list(_ lab: StoreLab, _ url: URL) throws -> PropertyList {
        try lab.raw(url) { database in
            let bytes = try #require(
                try Data.fetchOne(database, sql: "SELECT Z_PLIST FROM Z_METADATA"))
            return try BinaryPropertyList.read(Array(bytes))
        }
    }
}
