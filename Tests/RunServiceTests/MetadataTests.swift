import CoreDataStore
import DurableFiles
import Foundation
import GRDB
import ManagedObjectModel
import MigrationEngine
import MigrationValidation
import ModelFiles
import RunService
import StoreForge
import Testing

/// Keys of an app's own in a store's metadata.
@Suite struct MetadataTests {
    private func plist(_ lab: StoreLab, _ url: URL) throws -> (uuid: String, list: PropertyList) {
        try lab.raw(url) { database in
            let row = try #require(
                try Row.fetchOne(database, sql: "SELECT Z_UUID, Z_PLIST FROM Z_METADATA"))
            let bytes: Data = row[1]
            return (row[0], try BinaryPropertyList.read(Array(bytes)))
        }
    }

    @Test func everyTypeSurvives() throws {
        var entries = ForgeRecipe.sampleMetadata
        entries += [
            .init("app null", .null), .init("", .string("an empty key")),
            .init("app set", .set([.integer(1), .string("a")])), .init("app uid", .uid(7)),
            .init("app huge", .integer(Int128(UInt64.max))),
            .init("app smallest", .integer(Int128(Int64.min))),
            .init("app nan", .real(.infinity)), .init("app tiny", .real(.leastNonzeroMagnitude)),
            .init("app minus zero", .shortReal(-0.0)),
            .init("app date before", .date(-63_114_076_800)),
            .init("app broken", .brokenString([0x41, 0xD800, 0x42])),
            .init("app astral", .string("𐐷👩‍👩‍👧")), .init("app empty", .data([])),
            .init("NSPersistentStoreRebuildIndicies", .integer(1)),
            .init("app deep", .dictionary([.init("a", .array([.dictionary([])]))])),
        ]
        for framework in [519, 754, 977, 1522] {
            try StoreLab.run { lab in
                var recipe = try StoreLab.recipe(notes: 10)
                recipe.metadata = entries
                recipe.framework = FrameworkVersion(framework)
                try lab.forge(recipe)
                let before = try plist(lab, lab.store)
                for entry in entries { #expect(before.list[entry.key] == entry.value) }
                let outcome = try lab.migrate(from: ForgeModels.notes(version: 1))
                #expect(outcome.validation.isEqual, "\(outcome.validation.lines)")
                let after = try plist(lab, lab.output)
                #expect(after.uuid == before.uuid)
                for entry in entries {
                    #expect(after.list[entry.key] == entry.value, "\(entry.key)")
                }
            }
        }
    }
}
