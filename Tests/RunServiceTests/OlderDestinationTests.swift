import CoreDataStore
import ManagedObjectModel
import MigrationPlanning
import MigrationValidation
import RunReports
import StoreForge
import StoreRuns
import Testing

/// A destination that is an older version than the store's.
@Suite("Older destinations") struct OlderDestinationTests {
    @Test(arguments: [MigrationPlanning.Strategy.whole, .partitioned])
    func isRefused(strategy: MigrationPlanning.Strategy) throws {
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
