import CoreDataStore
import Foundation
import ManagedObjectModel
import MigrationPlans
import MigrationValidation
import RunService
import StoreForge
import StoreRuns
import Testing

/// Tables whose shards are merged by key are not cut into more parts than can be open at one time.
@Suite struct ChunkCountTests {
    private static let identifier = PartitionMode.uuid([PropertyKey("Note", "identifier")])

    @Test(arguments: [identifier, .entity])
    func partsWithInterleavedKeysAreBounded(partition: PartitionMode) throws {
        try StoreLab.run { lab in
            try lab.forge(try ForgeRecipe.notes(notes: 4_000))
            let options = PlanOptions(
                strategy: .partitioned, partition: partition, chunkBytes: 4_096)
            let request = try lab.request(
                to: .model(DestinationModel(model: ForgeModels.notes(version: 2))),
                options: options)
            let plan = try EngineMigration(request, clock: { 0 }).plan().plan
            for (place, feed) in plan.feeds.enumerated() {
                let parts = plan.chunks.filter { $0.subject == .feed(place) }
                guard parts.contains(where: { $0.selection.interleaves }) else { continue }
                #expect(parts.count <= 320, "\(feed.sourceTable)")
                if feed.sourceTable == "ZNOTE" { #expect(parts.count > 64) }
            }
            let outcome = try lab.migrate(options: options)
            #expect(outcome.validation.isEqual, "\(outcome.validation.lines)")
        }
    }

    /// Old stores have the constraints of a model in their tables.
    @Test(arguments: [PartitionMode.entity, .uuid([PropertyKey("Tag", "name")])])
    func constraintsOfTablesHoldWherePiecesAreMerged(partition: PartitionMode) throws {
        try StoreLab.run { lab in
            try lab.forge(try ForgeRecipe.notes(notes: 3_000))
            var options = PlanOptions(
                strategy: .partitioned, partition: partition, chunkBytes: 4_096)
            options.framework = FrameworkVersion(637)
            let outcome = try lab.migrate(options: options)
            #expect(outcome.validation.isEqual, "\(outcome.validation.lines)")
            let chunks = outcome.plan.chunks.filter { chunk in
                guard case .feed(let place) = chunk.subject else { return false }
                return outcome.plan.feeds[place].sourceTable == "ZTAG"
            }
            #expect(chunks.count > 1 && chunks.allSatisfy { $0.selection.interleaves })
        }
    }

    @Test func tablesWithoutRowsHaveNoLists() throws {
        try StoreLab.run { lab in
            var recipe = try ForgeRecipe.notes(notes: 200)
            recipe.rows["Note"] = 0
            try lab.forge(recipe)
            let options = PlanOptions(
                strategy: .partitioned, partition: Self.identifier, chunkBytes: 4_096)
            let outcome = try lab.migrate(options: options)
            #expect(outcome.validation.isEqual, "\(outcome.validation.lines)")
        }
    }

    @Test(arguments: [PartitionMode.auto, .entity, identifier])
    func resultsDoNotDependOnTheNumberOfChunks(partition: PartitionMode) throws {
        var results: Set<[UInt8]> = []
        var counts: Set<Int> = []
        for bytes: Int64 in [4_096, 20_000, 1 << 30] {
            try StoreLab.run { lab in
                try lab.forge(try ForgeRecipe.notes(notes: 1_000))
                let options = PlanOptions(
                    strategy: .partitioned, partition: partition, chunkBytes: bytes)
                let request = try lab.request(
                    to: .model(DestinationModel(model: ForgeModels.notes(version: 2))),
                    options: options)
                counts.insert(
                    try EngineMigration(request, clock: { 0 }).plan().plan.chunks.count)
                _ = try lab.migrate(options: options)
                results.insert(Array(try Data(contentsOf: lab.output)))
            }
        }
        #expect(counts.count > 1)
        #expect(results.count == 1)
    }
}

extension Selection {
    fileprivate var interleaves: Bool {
        switch self {
        case .listed, .entities: true
        case .keys: false
        }
    }
}
