import CoreDataStore
import DurableFiles
import Foundation
import Jobs
import MappingModel
import MigrationValidation
import StoreSwap
import Testing

@testable import MigrationEngine
@testable import RunReports

@Suite struct RunSummaryTests {
    @Test func storesAddUp() throws {
        let stores = [
            ReportSamples.done("a"), ReportSamples.rich("b"), ReportSamples.failed("c"),
            ReportSamples.failed("d"), ReportSamples.failed("e", .noSpace),
            StoreReport(store: "f", outcome: .notStarted, bytes: .init(before: 1)),
        ]
        let report = try ReportSamples.report(stores)
        let summary = report.summary
        #expect(summary.stores == 6)
        #expect(summary.outcomes == [.done: 2, .failed: 3, .notStarted: 1])
        #expect(summary.migrated == 2)
        #expect(summary.causes.map(\.cause) == [.damaged, .noSpace])
        #expect(summary.causes.map(\.stores) == [2, 1])
        #expect(summary.causes.map(\.examples) == [["c", "d"], ["e"]])
        #expect(summary.slowest.map(\.store) == ["b", "a"])
        #expect(summary.slowest.map(\.stage) == ["copy", "copy"])
        #expect(summary.rows == .init(before: 2_501_000, after: 2_500_000))
        #expect(summary.validation.values == 2_501_000 * 7)
        #expect(summary.seconds == ["copy": 56.625, "validate": 18.875])
        #expect(summary.inherited == ["dangling": 3])
        #expect(summary.losses.map(\.subject.name) == ["Draft", "history", "Note.text"])
        #expect(summary.losses.map(\.count) == [1000, 12, 1])
        #expect(summary.losses.map(\.stores) == [1, 1, 1])
        #expect(summary.repeated == 1)
        #expect(summary.backups == 1)
        #expect(summary.versions.map(\.version) == ["1", "unknown"])
        #expect(summary.versions.map(\.stores) == [2, 3])
        #expect(summary.versions.map(\.failed) == [0, 3])
        #expect(report.headline == "2 of 6 stores migrated, 3 failed, 1 not started, with losses")
        #expect(report.storesPerSecond == 2.0 / 61.0)
    }

    @Test func headlinesSayWhatHappened() throws {
        #expect(try ReportSamples.report([]).headline == "No stores were found")
        let one = ReportSamples.done("a")
        #expect(try ReportSamples.report([one]).headline == "1 store migrated")
        #expect(try ReportSamples.report([one, one]).headline == "All 2 stores migrated")
        var deferred = one
        deferred.outcome = .deferred
        #expect(
            try ReportSamples.report([one, deferred]).headline
                == "1 of 2 stores migrated, 1 ready to swap")
    }

    /// Whatever the number of stores: a summary keeps no more than its limits.
    @Test func aSummaryDoesNotGrowWithTheFleet() throws {
        var summary = RunSummary()
        for number in 0..<5000 {
            var store =
                number % 3 == 0
                ? ReportSamples.failed("\(number)", FailureCause.allCases[number % 14])
                : ReportSamples.done("\(number)", seconds: Double((number * 7919) % 5000 + 1))
            store.source = ModelVersion(identifiers: ["\(number % 200)"], digest: "")
            summary.add(store)
        }
        #expect(summary.stores == 5000)
        #expect(summary.slowest.count == RunSummary.slowestLimit)
        #expect(summary.slowest.map(\.seconds) == summary.slowest.map(\.seconds).sorted(by: >))
        #expect(summary.slowest[0].seconds > 4990)
        #expect(summary.versions.count == RunSummary.versionLimit + 1)
        #expect(summary.versions.map(\.stores).reduce(0, +) == 5000)
        #expect(summary.causes.count <= FailureCause.allCases.count)
        #expect(summary.causes.allSatisfy { $0.examples.count <= RunSummary.exampleLimit })
        #expect(summary.causes.map(\.stores).reduce(0, +) == 1667)
    }

    @Test func countsOfStrangersDoNotOverflow() throws {
        var store = ReportSamples.done("a")
        store.rows = .init(before: .max, after: .max)
        store.bytes = .init(before: .max, after: .max)
        let report = try ReportSamples.report([store, store])
        #expect(report.summary.rows.before == .max)
        #expect(try !ReportSamples.text(report, [store, store]).isEmpty)
    }

    @Test func jsonIsWrittenStoreByStoreAndReadBack() throws {
        struct Whole: Codable {
            var run: RunFacts
            var stores: [StoreReport]
            var summary: RunSummary
        }
        let stores = [ReportSamples.rich("ü/\\xff\".sqlite"), ReportSamples.failed("b")]
        for stores in [stores, []] {
            let report = try ReportSamples.report(stores) { facts in
                facts.skipped = [.init(path: "x", reason: "y")]
                facts.output = "out"
            }
            var pieces: [String] = []
            try JSONReport.write(report, stores: StoreReports(stores)) { pieces.append($0) }
            let json = pieces.joined()
            let read = try JSONDecoder().decode(Whole.self, from: Data(json.utf8))
            #expect(read.run == report.facts)
            #expect(read.stores == stores)
            #expect(read.summary == report.summary)
            #expect(json.contains("\"outcomes\":{"))
            // Head, one piece a store, end.
            #expect(pieces.count == stores.count + 2)
        }
    }
}
