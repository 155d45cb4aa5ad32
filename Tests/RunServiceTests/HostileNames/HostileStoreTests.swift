import CoreDataStore
import DurableFiles
import Foundation
import GRDB
import GodwitCommands
import ManagedObjectModel
import MigrationPlans
import SafeSQLite
import StateFolders
import StoreForge
import TestSupport
import Testing

@testable import RunService
@testable import StoreRuns

/// The ways by which a hostile model reaches godwit: a store's own model, a model file, a template.
@Suite struct HostileStoreTests {
    /// A model with an attribute whose name ends its statement and empties another database.
    private func model(_ canary: URL) throws -> Model {
        let path = canary.path.utf8.map { "\($0)" }.joined(separator: ",")
        let name =
            "x integer); commit; attach char(\(path)) as o; delete from o.znote; "
            + "create table dummy(x"
        return try Model(entities: [
            Entity(name: "Thing", attributes: [Attribute(name: name, type: .integer32)])
        ])
    }

    private func withCanary(_ body: (StoreLab, Model) throws -> Void) throws {
        try StoreLab.run { lab in
            let canary = lab.folder.appendingPathComponent("canary.sqlite")
            try lab.raw(canary) { database in
                try database.execute(sql: "CREATE TABLE ZNOTE (a); INSERT INTO ZNOTE VALUES (1)")
            }
            let before = try Data(contentsOf: canary)
            try body(lab, try model(canary))
            #expect(try Data(contentsOf: canary) == before, "the canary changed")
        }
    }

    private func forge(_ lab: StoreLab, _ model: Model, addsView: Bool) throws {
        var recipe = ForgeRecipe(model: model)
        recipe.defaultRows = 3
        try lab.forge(recipe)
        if addsView { try lab.damage("CREATE VIEW own AS SELECT 1 AS one") }
    }

    private static let words = [
        "Thing.x integer", "Core Data does not allow the name", "Rename it",
    ]

    @Test(arguments: [false, true]) func aStoresOwnModel(addsView: Bool) throws {
        try withCanary { lab, model in
            try forge(lab, model, addsView: addsView)
            try lab.expectRefusal(to: .itself, namesStore: false, saying: Self.words)
            let request = try lab.request(to: .itself)
            do throws(RunError) {
                _ = try EngineMigration(request, clock: { 0 }).plan()
                Issue.record("it was planned")
            } catch {
                for word in Self.words { #expect(error.description.contains(word)) }
            }
        }
    }

    /// Commands that only read a store, and a template store as the destination.
    @Test func whereverAStoreIsOpened() throws {
        try withCanary { lab, model in
            try forge(lab, model, addsView: true)
            let path = try lab.path(lab.store)
            do {
                _ = try StoreOpener().open(StoreLocation(path), scratch: lab.path(lab.results))
                Issue.record("it was opened")
            } catch let error as StoreError {
                for word in Self.words { #expect(error.description.contains(word)) }
            }
            do throws(RunError) {
                let scratch = try RunError.translating { try lab.path(lab.results) }
                _ = try LocalVerification(source: path, destination: path).run(scratch: scratch)
                Issue.record("it was compared")
            } catch {
                for word in Self.words { #expect(error.description.contains(word)) }
            }
        }
    }

    /// Texts of a store's own schema that are not what they are listed as.
    @Test func textsBehindObjectsOfTheApp() throws {
        try withCanary { lab, _ in
            try lab.forge(try StoreLab.recipe())
            try lab.damage(
                "CREATE TABLE APP_LOG (word TEXT); CREATE VIEW APP_VIEW AS SELECT 1 AS one; "
                    + "CREATE TRIGGER APP_TOUCHED AFTER INSERT ON APP_LOG BEGIN SELECT 1; END")
            for (name, text) in [
                ("APP_VIEW", "CREATE VIEW APP_VIEW AS SELECT load_extension(''x'') AS one"),
                (
                    "APP_TOUCHED",
                    "CREATE TRIGGER APP_TOUCHED AFTER INSERT ON APP_LOG BEGIN SELECT "
                        + "fts3_tokenizer(''simple'', x''00''); END"
                ),
            ] {
                try lab.damage(
                    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = '\(text)' "
                        + "WHERE name = '\(name)'")
            }
            let outcome = try lab.migrate()
            let kept = outcome.plan.extras.filter(\.isKept).map(\.object.name)
            #expect(kept.filter { $0.hasPrefix("APP_") } == ["APP_LOG"])
        }
    }

    /// What the readers' refusal hides: the same store with the model as a value.
    @Test(arguments: [false, true]) func theSameModelAsAValue(addsView: Bool) throws {
        try withCanary { lab, model in
            try forge(lab, model, addsView: addsView)
            try lab.damage("DELETE FROM Z_MODELCACHE")
            let choice = DestinationChoice.model(try DestinationModel(model: model))
            let request = try lab.request(to: choice, from: model)
            do throws(RunError) {
                _ = try EngineMigration(request, clock: { 0 }).plan()
            } catch {
                #expect(!error.description.contains("bug in Godwit"), "\(error)")
            }
        }
    }
}
