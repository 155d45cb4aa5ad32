import CoreDataStore
import DurableFiles
import Foundation
import Jobs
import MigrationPlans
import RunLedger
import StateFolders
import StoreForge
import Testing

@testable import StoreRuns

/// Migrations in place that are stopped at a fault point: the store is whole throughout, and the
/// same command ends as if nothing had happened.
@Suite("Runs that are stopped and go on") struct CrashTests {
    /// How a store is migrated, and what lies beside it.
    struct Case: CustomTestStringConvertible, Sendable {
        let strategy: Strategy
        let journal: ForgeRecipe.Journal
        var partition = PartitionMode.auto

        var testDescription: String { "\(strategy), \(partition), \(journal)" }

        /// Sets how stores are cut; shards that are merged by keys are merged in several pieces.
        func change(_ request: inout RunRequest) {
            request.options.partition = partition
            if partition != .auto { request.options.chunkBytes = 4_096 }
        }
    }

    static let cases = [
        Case(strategy: .whole, journal: .writeAheadLog),
        Case(strategy: .whole, journal: .writeAheadLogWithContent),
        Case(strategy: .partitioned, journal: .writeAheadLog),
        Case(strategy: .partitioned, journal: .writeAheadLogWithContent),
        Case(strategy: .partitioned, journal: .writeAheadLog, partition: .entity),
        Case(
            strategy: .partitioned, journal: .writeAheadLogWithContent,
            partition: .uuid([PropertyKey("Note", "identifier")])),
    ]

    private static let isLong = ProcessInfo.processInfo.environment["GODWIT_LONG_TESTS"] != nil
    /// Every so many fault points are tried; all of them in long tests.
    private static let step = isLong ? 1 : 7

    /// A run that nothing stops.
    private struct Reference {
        let old: [String]
        let new: [String]
        let points: Int
        let operations: [FileOperation: Int]
    }

    /// What the store is before and after, and how many fault points lie between.
    private func reference(_ one: Case) throws -> Reference {
        var result: Reference?
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", journal: one.journal)
            let old = try lab.content(store)
            let disk = FailingDisk(at: .max, .dies)
            let ending = try lab.migrate(
                [store], strategy: one.strategy, files: disk.files, change: one.change)
            #expect(ending.counts == [.done: 1])
            let new = try lab.content(store)
            #expect(old != new && old.first == "ok" && new.first == "ok")
            #expect(try lab.strays().isEmpty)
            result = Reference(
                old: old, new: new, points: disk.points, operations: disk.operations)
        }
        return try #require(result)
    }

    @Test(arguments: cases)
    func deathAtAnyFaultPoint(_ one: Case) throws {
        let whole = try reference(one)
        let (old, new, points) = (whole.old, whole.new, whole.points)
        #expect(points > 60)
        for place in stride(from: points % Self.step, to: points, by: Self.step) {
            try RunLab.run { lab in
                let store = try lab.forge("a.sqlite", journal: one.journal)
                let disk = FailingDisk(at: place, .dies)
                do throws(RunError) {
                    _ = try lab.migrate(
                        [store], strategy: one.strategy, files: disk.files, change: one.change)
                    #expect(disk.points <= place, "death at \(place) went unnoticed")
                    // Only commits that slots shared may be missing.
                    #expect(disk.operations == whole.operations, "at \(place)")
                } catch {
                    #expect(disk.points > place, "at \(place): \(error)")
                }
                let between = try lab.content(store)
                #expect(between == old || between == new, "mixed at \(place)")
                let ending = try lab.migrate(
                    [store], strategy: one.strategy, change: one.change)
                // A run whose last record was lost has nothing left to do.
                #expect(ending.counts == [.done: 1], "at \(place): \(ending.counts)")
                #expect(try lab.content(store) == new, "at \(place)")
                #expect(try lab.redone() == 0, "at \(place)")
                #expect(try lab.strays().isEmpty, "at \(place)")
            }
        }
    }

    @Test(arguments: [
        InjectedFault.error(EIO), .error(ENOSPC), .error(EDQUOT), .error(EINTR), .shortWrite(7),
    ])
    func everyErrorOnce(_ fault: InjectedFault) throws {
        let one = Case(strategy: .partitioned, journal: .writeAheadLogWithContent)
        let whole = try reference(one)
        let (old, new, points) = (whole.old, whole.new, whole.points)
        let step = Self.isLong ? 1 : 23
        for place in stride(from: points % step, to: points, by: step) {
            try RunLab.run { lab in
                let store = try lab.forge("a.sqlite", journal: one.journal)
                let disk = FailingDisk(at: place, .fails(fault))
                var failure: RunError?
                do throws(RunError) {
                    let ending = try lab.migrate(
                        [store], strategy: one.strategy, files: disk.files, change: one.change)
                    if ending.counts != [.done: 1] { failure = .stopped }
                } catch {
                    failure = error
                    let text = "\(error)"
                    #expect(text.count > 20 && !text.contains("bug in Godwit"), "\(text)")
                }
                if case .error(EINTR) = fault { #expect(failure == nil, "at \(place)") }
                if case .shortWrite = fault { #expect(failure == nil, "at \(place)") }
                let between = try lab.content(store)
                #expect(between == old || between == new, "mixed at \(place)")
                guard failure != nil else { return #expect(between == new, "at \(place)") }
                if between == old {
                    _ = try lab.migrate([store], strategy: one.strategy, change: one.change)
                    #expect(try lab.content(store) == new, "at \(place)")
                }
                #expect(try lab.redone() == 0, "at \(place)")
            }
        }
    }
}
