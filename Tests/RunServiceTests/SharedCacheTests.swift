import CoreDataStore
import DurableFiles
import Foundation
import ManagedObjectModel
import MigrationPlans
import MigrationValidation
import RunService
import StoreForge
import StoreRuns
import TestSupport
import Testing

/// Stores of a fleet share what is known of their app; that must never show in a result.
@Suite struct SharedCacheTests {
    private static let newest = ForgeModels.newestFleetVersion

    /// The bytes of a result of a fleet's store.
    private func migrate(
        _ recipe: ForgeRecipe, to model: Model, slots: Int, cache: MigrationCache
    ) throws -> (bytes: Data, outcome: MigrationOutcome) {
        try withTemporaryFolder { folder in
            let root = try #require(FilePath(folder))
            let store = root.appending("in.sqlite")
            _ = try Forge(recipe).write(to: store)
            let request = MigrationRequest(
                store: store, output: root.appending("out.sqlite"),
                state: root.appending("state"),
                destination: .model(try DestinationModel(model: model)), slots: slots,
                cache: cache)
            let outcome = try EngineMigration(request, clock: { 0 }).run()
            let data = try Data(contentsOf: folder.appendingPathComponent("out.sqlite"))
            for suffix in ["-wal", "-shm", "-journal"] {
                let path = folder.appendingPathComponent("out.sqlite" + suffix).path
                #expect(!FileManager.default.fileExists(atPath: path))
            }
            return (data, outcome)
        }
    }

    @Test("results with a shared cache and one slot equal those of lone runs byte for byte")
    func sameBytes() throws {
        let cache = MigrationCache()
        let newest = try ForgeModels.fleet(version: Self.newest)
        // Each version twice, so that the second finds what the first left in the cache.
        for seed in UInt64(0)..<8 {
            let version = Int(seed) % (Self.newest - 1) + 1
            let recipe = try ForgeRecipe.fleet(version: version, seed: seed)
            let shared = try migrate(recipe, to: newest, slots: 1, cache: cache)
            let alone = try migrate(recipe, to: newest, slots: 2, cache: MigrationCache())
            #expect(shared.bytes == alone.bytes)
            #expect(shared.outcome.plan == alone.outcome.plan)
            #expect(shared.outcome.validation == alone.outcome.validation)
            #expect(shared.outcome.validation.isEqual)
        }
    }

    @Test("one cache serves several apps and several destinations")
    func severalApps() throws {
        let cache = MigrationCache()
        for _ in 0..<2 {
            for version in 2...3 {
                let notes = try migrate(
                    .notes(notes: 40), to: ForgeModels.notes(version: version), slots: 1,
                    cache: cache)
                let shop = try migrate(
                    .shop(orders: 30), to: ForgeModels.shop(version: version), slots: 1,
                    cache: cache)
                for outcome in [notes.outcome, shop.outcome] {
                    #expect(outcome.validation.isEqual)
                }
                #expect(
                    notes.bytes
                        == (try migrate(
                            .notes(notes: 40), to: ForgeModels.notes(version: version), slots: 2,
                            cache: MigrationCache())).bytes)
            }
        }
    }

    @Test("keys that move by another offset in the next store are not taken from the cache")
    func offsets() throws {
        // Photos leave the table of items; both go into one table on the way back, photos above
        // the highest key that items ever had.
        let cache = MigrationCache()
        let together = try ForgeModels.largeBinaries(version: 1)
        for items in [10, 40, 25] {
            var recipe = ForgeRecipe(model: try ForgeModels.largeBinaries(version: 2))
            recipe.rows = ["Item": items, "Photo": 15]
            let shared = try migrate(recipe, to: together, slots: 1, cache: cache)
            let alone = try migrate(recipe, to: together, slots: 1, cache: MigrationCache())
            #expect(shared.bytes == alone.bytes)
            #expect(shared.outcome.plan == alone.outcome.plan)
            #expect(shared.outcome.plan.feeds.contains { $0.offset >= Int64(items) })
        }
    }
}
