import CoreDataStore
import Jobs
import ManagedObjectModel
import MigrationPlans
import MigrationValidation
import RunReports
import StateFolders
import StoreForge
import StoreRuns
import Testing

/// Destinations that a store must not get: older versions, and models of other apps.
@Suite("Unfit destinations") struct UnfitDestinationTests {
    @Test func aModelOfAnotherAppHasNoMapping() throws {
        try StoreLab.run { lab in
            try lab.forge(try StoreLab.recipe())
            let other = try Model(entities: [Entity(name: "Other")])
            let before = try lab.snapshot()
            let error = #expect(throws: RunError.self) {
                try lab.migrate(to: .model(try DestinationModel(model: other)))
            }
            #expect(error?.cause == .noMapping)
            #expect(try lab.snapshot() == before)
        }
    }

    @Test(arguments: [MigrationPlans.Strategy.whole, .partitioned])
    func anOlderVersionIsRefused(strategy: MigrationPlans.Strategy) throws {
        try StoreLab.run { lab in
            try lab.forge(try StoreLab.recipe())
            let own = VersionHashes(try ForgeModels.notes(version: 1)).digest
            var options = PlanOptions(strategy: strategy, chunkBytes: 8192)
            options.newerVersions = NewerVersions([own: "Notes 1"])
            let said = try lab.expectRefusal(options: options, saying: ["Notes 1", "newer"])
            #expect(said?.status == .badData)
            // Others are taken.
            options.newerVersions = NewerVersions(["other": "Notes 3"])
            #expect(try lab.migrate(options: options).validation.isEqual)
        }
    }
}
