import DurableFiles
import Jobs
import MigrationPlans
import StateFolders
import StoreForge
import TestSupport
import Testing

@testable import StoreRuns

/// Results that had not got their names in the output folder when their process died.
@Suite("Publications that were stopped") struct StoppedPublicationTests {
    private static let edit = "UPDATE ZNOTE SET ZTITLE = 'written after the kill' WHERE Z_PK = 1"

    private func migrate(
        _ lab: RunLab, _ store: FilePath, _ strategy: Strategy,
        _ files: DurableFileSystem = DurableFileSystem()
    ) throws(RunError) -> RunEnding {
        let output = lab.folder.appending("out")
        return try lab.migrate([store], strategy: strategy, files: files) { $0.output = output }
    }

    private func result(_ lab: RunLab) -> FilePath { lab.folder.appending("out/a.sqlite") }

    /// An app writes its store between the kill and the resume: the result has what it wrote.
    @Test(arguments: [Strategy.whole, .partitioned])
    func aStoreThatWasWrittenSinceIsMigratedAgain(strategy: Strategy) throws {
        var (points, expected) = (0, [String]())
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", journal: .rollback)
            let disk = FailingDisk(at: .max, .dies)
            _ = try migrate(lab, store, strategy, disk.files)
            points = disk.points
        }
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", journal: .rollback)
            try lab.write(store, Self.edit)
            _ = try migrate(lab, store, strategy)
            expected = try lab.content(result(lab))
        }
        var stopped = 0
        for place in stride(from: points / 3, to: points, by: RunLab.isLong ? 1 : 3) {
            try RunLab.run { lab in
                let store = try lab.forge("a.sqlite", journal: .rollback)
                let disk = FailingDisk(at: place, .dies)
                // Slots that share commits pass fewer points: the run may come to its end.
                do throws(RunError) {
                    _ = try migrate(lab, store, strategy, disk.files)
                } catch {
                    #expect(!error.description.isEmpty)
                }
                guard try FileStatus.ifPresent(result(lab)) == nil else { return }
                stopped += 1
                try lab.write(store, Self.edit)
                #expect(try migrate(lab, store, strategy).counts == [.done: 1], "at \(place)")
                #expect(try lab.content(result(lab)) == expected, "at \(place)")
            }
        }
        #expect(stopped > 5)
    }
}
