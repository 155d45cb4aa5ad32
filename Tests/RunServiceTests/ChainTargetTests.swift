import CoreDataStore
import DurableFiles
import Foundation
import ManagedObjectModel
import MigrationPlans
import MigrationValidation
import StateFolders
import StoreForge
import StoreRuns
import TestSupport
import Testing

/// Links whose destination becomes wider on the way of a chain, and narrow again.
@Suite("Chains: links to other entities") struct ChainTargetTests {
    /// Notes that belong to a folder; in the version in between both inherit, and a note could
    /// belong to any of them.
    private func version(isWide: Bool) throws -> Model {
        let parent = isWide ? "Item" : nil
        let owner = Relationship(
            name: "owner", destination: isWide ? "Item" : "Folder", inverse: "notes")
        let notes = Relationship(
            name: "notes", destination: "Note", inverse: "owner", maximumCount: 0)
        var folder = Entity(name: "Folder", parent: parent)
        folder.attributes = [Attribute(name: "title", type: .string)]
        if !isWide { folder.relationships = [notes] }
        let note = Entity(
            name: "Note", parent: parent,
            attributes: [Attribute(name: "text", type: .string)], relationships: [owner])
        guard isWide else { return try Model(entities: [folder, note]) }
        return try Model(entities: [
            Entity(name: "Item", isAbstract: true, relationships: [notes]), folder, note,
        ])
    }

    @Test func noObjectIsLookedForAmongThoseThatLinksCannotLeadTo() throws {
        try withTemporaryFolder { folder in
            let folder = FilePath(folder.path)
            let (narrow, wide) = (try version(isWide: false), try version(isWide: true))
            var recipe = ForgeRecipe(model: narrow, seed: 3)
            recipe.rows = ["Folder": 5, "Note": 20]
            let store = folder.appending("Original.sqlite")
            _ = try Forge(recipe).write(to: store)
            var options = PlanOptions(strategy: .whole)
            options.ways = VersionWays(
                [
                    VersionWays.Version(
                        name: "2", model: wide, hashes: VersionHashes(wide).entities)
                ], otherwise: [0])
            // Another version than the store's, so that there is something to migrate.
            var entities = narrow.numberedEntities
            entities[0].attributes.append(Attribute(name: "more", type: .string))
            let request = MigrationRequest(
                store: store, output: folder.appending("Result.sqlite"),
                state: folder.appending("state"),
                destination: .model(try DestinationModel(model: try Model(entities: entities))),
                options: options, slots: 1)
            let outcome = try EngineMigration(request).run()
            #expect(outcome.validation.isEqual, "\(outcome.validation.lines)")
            #expect(outcome.validation.links > 0)
        }
    }
}
