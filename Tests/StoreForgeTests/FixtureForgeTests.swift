import CoreDataStore
import DurableFiles
import Foundation
import ManagedObjectModel
import StoreForge
import TestSupport
import Testing

/// Stores of the models that real stores hold.
@Suite("Forge: models of real stores", .enabled(if: Fixtures.available, Fixtures.absence))
struct FixtureForgeTests {
    @Test("every model gives a store that is whole")
    func whole() throws {
        let stores = try Fixtures.files {
            ["sqlite", "wiredatabase", "store", "moody", "db"].contains($0.pathExtension)
        }
        var seen: Set<Model> = []
        for file in stores {
            try withTemporaryFolder { folder in
                let path = try #require(FilePath(file))
                let scratch = try #require(FilePath(folder))
                guard let store = try openable(path, scratch: scratch),
                    seen.insert(store.model).inserted
                else { return }
                try forge(store.model, as: store.metadata.framework, seed: UInt64(seen.count))
            }
        }
        #expect(seen.count > 30)
    }

    /// A store; nil for files that are none or hold no model.
    private func openable(_ path: FilePath, scratch: FilePath) throws -> SourceStore? {
        do {
            return try StoreOpener().open(StoreLocation(path), scratch: scratch)
        } catch {
            return nil
        }
    }

    private func forge(_ model: Model, as framework: FrameworkVersion, seed: UInt64) throws {
        var recipe = ForgeRecipe(model: model, framework: framework, seed: seed)
        let concrete = model.entities.values.count { !$0.isAbstract }
        recipe.defaultRows = max(1, 120 / max(1, concrete))
        recipe.historyRows = framework.hasHashesDigest ? 9 : 0
        try withForgedStore(recipe) { store, _ in try StoreAudit(store).run() }
    }
}
