import CoreDataStore
import DurableFiles
import Foundation
import Godwit
import Jobs
import MigrationEngine
import MigrationPlans
import SafeSQLite
import StateFolders
import StoreForge
import StoreRuns
import TestSupport
import Testing

/// Migrations with a policy that makes objects, finds others, and links both, stopped at fault
/// points.
@Suite("Policies in runs that are stopped") struct PolicyCrashTests {
    private static let isLong = ProcessInfo.processInfo.environment["GODWIT_LONG_TESTS"] != nil

    private struct Lab {
        let runs: RunLab
        let store: FilePath

        init(_ runs: RunLab) throws {
            self.runs = runs
            store = runs.path("a.sqlite")
            var recipe = ForgeRecipe(model: try PolicyLab.source(), seed: 3)
            recipe.rows = ["Note": 200, "Person": 9]
            _ = try Forge(recipe).write(to: store)
            let connection = try Connection(path: store, mode: .readWrite)
            try connection.execute("UPDATE ZNOTE SET ZSCORE = (Z_PK * 37) % 101")
            // Each chunk finds all tags.
            try connection.execute("UPDATE ZNOTE SET ZTAG = 'tag ' || (Z_PK * 7 % 23)")
            try connection.close()
        }

        func migrate(
            _ strategy: MigrationPlans.Strategy, _ files: DurableFileSystem = DurableFileSystem()
        ) throws -> RunEnding {
            let destination = DestinationChoice.model(
                try DestinationModel(model: PolicyLab.destination()))
            var options = try PolicyLab.options(strategy)
            options.policies = [NotePolicy.entry.declaration]
            return try runs.migrate(
                [store], strategy: strategy, files: files,
                policies: PolicyLibrary([NotePolicy.entry])
            ) {
                $0.destination = destination
                $0.options = options
            }
        }
    }

    @Test(
        "the result is that of a run that nothing stopped",
        arguments: [Strategy.whole, .partitioned])
    func deathAtFaultPoints(strategy: Strategy) throws {
        var whole: (old: [String], new: [String], points: Int)?
        try RunLab.run { runs in
            let lab = try Lab(runs)
            let old = try runs.content(lab.store)
            let disk = FailingDisk(at: .max, .dies)
            #expect(try lab.migrate(strategy, disk.files).counts == [.done: 1])
            whole = (old, try runs.content(lab.store), disk.points)
        }
        let (old, new, points) = try #require(whole)
        #expect(new.count { $0.hasPrefix("ZTAG:") } == 23 && points > 60)
        for place in stride(from: 5, to: points, by: Self.isLong ? 1 : 19) {
            try RunLab.run { runs in
                let lab = try Lab(runs)
                let disk = FailingDisk(at: place, .dies)
                do { _ = try lab.migrate(strategy, disk.files) } catch {
                    #expect(disk.points > place, "at \(place): \(error)")
                }
                let between = try runs.content(lab.store)
                #expect(between == old || between == new, "mixed at \(place)")
                #expect(try lab.migrate(strategy).counts == [.done: 1], "at \(place)")
                #expect(try runs.content(lab.store) == new, "at \(place)")
                #expect(try runs.redone() == 0 && runs.strays().isEmpty, "at \(place)")
            }
        }
    }
}
