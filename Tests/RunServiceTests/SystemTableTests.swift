import CoreDataStore
import DurableFiles
import Foundation
import GRDB
import ManagedObjectModel
import MigrationValidation
import RunService
import StateFolders
import StoreFileChecks
import StoreForge
import StoreRuns
import TestSupport
import Testing

/// What stands in a store beside the model's own values is carried over, refused or reported.
@Suite("Data that no property shows") struct SystemTableTests {
    @Test(
        "what stands in Core Data's own tables beside its columns is refused",
        arguments: [
            ("ALTER TABLE Z_METADATA ADD COLUMN APPNOTES", "column Z_METADATA.APPNOTES"),
            ("ALTER TABLE Z_PRIMARYKEY ADD COLUMN SYNCED", "column Z_PRIMARYKEY.SYNCED"),
            ("ALTER TABLE Z_MODELCACHE ADD COLUMN X", "column Z_MODELCACHE.X"),
        ])
    func systemTables(sql: String, text: String) throws {
        try StoreLab.run { lab in
            try lab.forge(StoreLab.recipe())
            try lab.damage(sql)
            try lab.expectRefusal(saying: [text])
        }
    }

    @Test(
        "rows of them that stand for nothing are reported",
        arguments: [
            ("INSERT INTO Z_PRIMARYKEY VALUES (20000, 'X', 0, 5)", "row 20000 of Z_PRIMARYKEY"),
            ("INSERT INTO Z_MODELCACHE VALUES (x'00')", "Z_MODELCACHE has several rows"),
        ])
    func surplusRows(sql: String, text: String) throws {
        try StoreLab.run { lab in
            try lab.forge(StoreLab.recipe())
            try lab.damage(sql)
            let outcome = try lab.migrate()
            #expect(outcome.oddities.contains { $0.contains(text) })
        }
    }

    @Test("values in columns of another entity are counted, and verify counts them, too")
    func strays() throws {
        let base = Entity(
            name: "Item", attributes: [Attribute(name: "name", type: .string)])
        let special = Entity(
            name: "Special", parent: "Item", attributes: [Attribute(name: "rank", type: .integer32)]
        )
        let model = try Model(entities: [base, special])
        try StoreLab.run { lab in
            var recipe = ForgeRecipe(model: model, seed: 1)
            recipe.rows = ["Item": 20, "Special": 5]
            try lab.forge(recipe)
            try lab.damage("UPDATE ZITEM SET ZRANK = 7 WHERE Z_ENT = 1")
            let report = try lab.migrate(to: .itself).validation
            let counts = report.inherited.filter { $0.fault.kind == .stray }.map(\.count)
            #expect(counts == [20], "\(report.lines)")
            let scratch = try lab.path(lab.folder).appending("scratch")
            try DurableFileSystem().makeFolder(scratch)
            let verified = try LocalVerification(
                source: lab.path(lab.store), destination: lab.path(lab.output)
            ).run(scratch: scratch)
            #expect(verified.isEqual)
            #expect(verified.inherited == report.inherited)
        }
    }

    @Test(
        "verify finds rules, columns and types in Core Data's own tables",
        arguments: [
            ("Z_MAX INTEGER", "Z_MAX INTEGER CHECK (Z_MAX < 2000)", "extra constraint (CHECK)"),
            ("Z_MAX INTEGER", "Z_MAX HNTEGER", "type of column Z_PRIMARYKEY.Z_MAX"),
            ("Z_MAX INTEGER", "Z_MAX INTEGER, Q", "surplus column Z_PRIMARYKEY.Q"),
        ])
    func verified(old: String, new: String, text: String) throws {
        try StoreLab.run { lab in
            try lab.forge(StoreLab.recipe())
            _ = try lab.migrate()
            try lab.raw(lab.output) { database in
                try database.execute(
                    sql: """
                        PRAGMA writable_schema = ON;
                        UPDATE sqlite_schema SET sql = replace(sql, '\(old)', '\(new)')
                        WHERE name = 'Z_PRIMARYKEY'
                        """)
            }
            let scratch = try lab.path(lab.folder).appending("scratch")
            try DurableFileSystem().makeFolder(scratch)
            let found: String
            do {
                let report = try LocalVerification(
                    source: lab.path(lab.store), destination: lab.path(lab.output)
                ).run(scratch: scratch)
                #expect(!report.isEqual)
                found = report.lines.joined(separator: "\n")
            } catch let error as RunError {
                // A result that cannot be opened as a store is none either.
                found = "surplus \(error)"
            }
            #expect(found.contains(text.replacing("surplus ", with: "")), "\(found)")
        }
    }
}
