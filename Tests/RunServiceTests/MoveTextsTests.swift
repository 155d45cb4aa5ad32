import DurableFiles
import Foundation
import MigrationPlans
import StateFolders
import TestSupport
import Testing

@testable import RunMoves
@testable import StoreRuns

/// The texts of moves against what the encoder writes.
@Suite struct MoveTextsTests {
    @Test func textsAreThoseOfTheEncoder() throws {
        var seed: UInt64 = 4
        var outcome: MigrationOutcome?
        try withTemporaryFolder { url in
            while outcome == nil {
                let folder = FilePath(url.path).appending("\(seed)")
                try DurableFileSystem().makeFolders(folder)
                let prepared = try RandomCase(seed: seed, attempt: 0).prepare(in: folder)
                do {
                    outcome = try EngineMigration(prepared.request).run()
                } catch is RunError {
                    seed += 4
                }
            }
            var result = try #require(outcome).result
            let files = DurableFileSystem(links: .refused)
            let places = StorePaths(attempt: FilePath(url.path).appending("attempt"))
            try files.makeFolders(places.building.parent)
            try files.publish([1, 2, 3], to: places.building)
            let way = CutOverRecord.Way.publish(
                try PublishPlan(
                    places, output: StoreLocation(FilePath(url.path).appending("result.sqlite")),
                    validated: try FileStatus(of: places.building).identity,
                    source: try StoreFingerprint(of: places.building), of: places.building,
                    files))
            result.leftovers = ["a text with \"seconds\":{} in it"]
            let texts = try MoveTexts(way, result)
            let planned = CutOverRecord.text(
                way: texts.way, result: try texts.result(result), isTrusted: true)
            #expect(try RecordedText.text(of: CutOverRecord(reading: planned)) == planned)
            result.seconds[.publish] = 0.25
            #expect(try texts.result(result) == RecordedText.text(of: result))
            result.leftovers.append("one more")
            #expect(try texts.result(result) == RecordedText.text(of: result))
            let record = StoreRecord.record(
                result: try texts.result(result), run: "r1", store: 3)
            #expect(try StoreRecord.result(result).record(run: "r1", store: 3) == record)
        }
    }
}
