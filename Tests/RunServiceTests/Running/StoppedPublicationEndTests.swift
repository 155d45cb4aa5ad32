import CoreDataStore
import DurableFiles
import Foundation
import Jobs
import MigrationEngine
import MigrationPlans
import RunLedger
import StateFolders
import StoreForge
import TestSupport
import Testing

@testable import RunMoves
@testable import StoreRuns

/// Publications that were stopped at any point, and what commands and people do then.
@Suite("Ends of stopped publications")
struct StoppedPublicationEndTests: PublicationStops {
    /// Cancelling leaves a whole result whose store is done, or nothing.
    @Test func aCancelledRunLeavesNoHalfOfAResult() throws {
        let whole = try content(edited: false)
        var (done, cancelled) = (0, 0)
        try stopEverywhere { lab, place in
            do throws(RunError) {
                _ = try CancelRun(lab.selection(), environment: lab.environment()).run()
            } catch {
                // The migration came to its end.
                guard case .nothingToDo = error else { throw error }
            }
            if try FileStatus.ifPresent(result(lab)) != nil {
                #expect(try state(lab) == [.done: 1], "at \(place)")
                done += 1
            } else {
                #expect(try state(lab) == [.cancelled: 1], "at \(place)")
                #expect(try FileStatus.ifPresent(externalData(lab)) == nil, "at \(place)")
                cancelled += 1
            }
            #expect(try migrate(lab).counts == [.done: 1], "at \(place)")
            #expect(try lab.content(result(lab)) == whole, "at \(place)")
        }
        #expect(done > 0 && cancelled > 0)
    }

    /// A store that was written since has a result with what was written, or none that counts.
    @Test func aWrittenStoreHasNoResultOfBefore() throws {
        let edited = try content(edited: true)
        var refused = 0
        try stopEverywhere { lab, place in
            // What the store had come to before counts, as for any other store of a run.
            if try state(lab) == [.done: 1] { return }
            try lab.write(lab.path("a.sqlite"), Self.edit)
            if try migrate(lab).counts == [.failed: 1] {
                refused += 1
                try lab.files.removeTree(result(lab))
                try lab.files.removeTree(externalData(lab))
                #expect(try lab.replay().ending.counts == [.done: 1], "at \(place)")
            }
            #expect(try lab.content(result(lab)) == edited, "at \(place)")
        }
        #expect(refused > 0)
    }

    /// Cancelling ends what failed, or was to be replayed, because its result was outdated.
    @Test(arguments: [false, true]) func anOutdatedResultIsCancelled(isReplayed: Bool) throws {
        var refused = 0
        try stopEverywhere { lab, place in
            if try state(lab) == [.done: 1] { return }
            try lab.write(lab.path("a.sqlite"), Self.edit)
            guard try migrate(lab).counts == [.failed: 1] else { return }
            refused += 1
            if isReplayed {
                do throws(RunError) {
                    _ = try lab.replay(files: FailingDisk(at: 3, .dies).files)
                } catch {
                    #expect(!error.description.isEmpty)
                }
            }
            let isOver = try runState(lab) == .ended
            let store = isOver ? lab.path("a.sqlite") : nil
            _ = try CancelRun(lab.selection(store), environment: lab.environment()).run()
            #expect(try state(lab) == [.cancelled: 1], "at \(place)")
            #expect(try FileStatus.ifPresent(result(lab)) != nil)
        }
        #expect(refused > 0)
    }

    /// Where the source cannot be looked at, nothing says that its result is outdated.
    @Test func aSourceThatCannotBeReadDoesNotMakeItsResultOutdated() throws {
        var named = 0
        try stopEverywhere { lab, place in
            guard try FileStatus.ifPresent(result(lab)) != nil, try state(lab) != [.done: 1]
            else { return }
            named += 1
            let source = lab.path("a.sqlite")
            try lab.files.remove(source)
            try FileManager.default.createSymbolicLink(
                atPath: source.description, withDestinationPath: source.description)
            _ = try CancelRun(lab.selection(), environment: lab.environment()).run()
            #expect(try state(lab) == [.done: 1], "at \(place)")
        }
        #expect(named > 0)
    }

    /// A log of another database would be applied to the result.
    @Test func noResultIsPublishedBesideALog() throws {
        let whole = try content(edited: false)
        try stopHalfPublished { lab, place in
            let log = result(lab).adding(suffix: "-wal")
            try lab.files.publish([1, 2, 3], to: log)
            #expect(try migrate(lab).counts == [.failed: 1], "at \(place)")
            #expect(try FileStatus.ifPresent(result(lab)) == nil)
            try lab.files.remove(log)
            #expect(try lab.replay().ending.counts == [.done: 1], "at \(place)")
            #expect(try lab.content(result(lab)) == whole, "at \(place)")
        }
    }

    /// A clean-up job empties the folder that has its name already.
    @Test func noResultIsPublishedWithoutItsExternalData() throws {
        let whole = try content(edited: false)
        try stopHalfPublished { lab, place in
            try lab.files.removeTree(StoreLocation(result(lab)).externalData)
            if try migrate(lab).counts != [.done: 1] {
                #expect(try lab.replay().ending.counts == [.done: 1], "at \(place)")
            }
            #expect(try lab.content(result(lab)) == whole, "at \(place)")
        }
    }

    /// A clean-up job removes the folder beside a result whose name the ledger does not know yet.
    @Test func aResultThatLostItsExternalDataIsNotDone() throws {
        let whole = try content(edited: false)
        var lost = 0
        try stopEverywhere { lab, place in
            guard try FileStatus.ifPresent(result(lab)) != nil, try state(lab) != [.done: 1]
            else { return }
            lost += 1
            try lab.files.removeTree(externalData(lab))
            #expect(try migrate(lab).counts == [.failed: 1], "at \(place)")
            try lab.files.remove(result(lab))
            #expect(try lab.replay().ending.counts == [.done: 1], "at \(place)")
            #expect(try lab.content(result(lab)) == whole, "at \(place)")
        }
        #expect(lost > 0)
    }

    /// Another file got the result's name; the external data go back once it is gone.
    @Test(arguments: [false, true]) func anotherFileInTheWayIsNoEnd(isWritten: Bool) throws {
        let expected = try content(edited: isWritten)
        try stopHalfPublished { lab, place in
            if isWritten {
                try lab.files.publish([1], to: result(lab))
                try lab.write(lab.path("a.sqlite"), Self.edit)
            } else {
                try FileManager.default.createSymbolicLink(
                    atPath: result(lab).description, withDestinationPath: "nowhere")
            }
            #expect(try migrate(lab).counts == [.failed: 1], "at \(place)")
            #expect(try FileStatus.ifPresentLink(result(lab)) != nil)
            try lab.files.remove(result(lab))
            #expect(try lab.replay().ending.counts == [.done: 1], "at \(place)")
            #expect(try lab.content(result(lab)) == expected, "at \(place)")
        }
    }

    /// The same command finds its own results, and makes what is not there or not current.
    @Test func theSameCommandFindsItsResults() throws {
        let (whole, edited) = (try content(edited: false), try content(edited: true))
        try RunLab.run { lab in
            try forge(lab)
            #expect(try migrate(lab).counts == [.done: 1])
            let made = try FileStatus(of: result(lab)).identity
            for run in ["r2", "r3"] {
                let again = try migrate(lab)
                #expect(again.id == run && again.counts == [.done: 1])
                #expect(try FileStatus(of: result(lab)).identity == made)
            }
            // Another file of that name is not its result, although the store is the same.
            let bytes = try lab.files.contents(of: result(lab), limit: 1 << 26)
            try lab.files.remove(result(lab))
            try lab.files.publish(bytes, to: result(lab))
            #expect(try migrate(lab).counts == [.failed: 1])
            try lab.files.remove(result(lab))
            try lab.files.removeTree(externalData(lab))
            #expect(try lab.replay().ending.counts == [.done: 1])
            #expect(try lab.content(result(lab)) == whole)
            // Nor is one that an app has written to, whose external data were changed, or whose
            // store was.
            let log = result(lab).adding(suffix: "-wal")
            try lab.files.publish([1], to: log)
            #expect(try migrate(lab).counts == [.failed: 1])
            try lab.files.remove(log)
            let added = StoreLocation(lab.path("a.sqlite")).externalData
                .appending("added")
            try lab.files.publish([1], to: added)
            #expect(try migrate(lab).counts == [.failed: 1])
            try lab.files.remove(added)
            try lab.files.removeTree(StoreLocation(result(lab)).externalData)
            #expect(try migrate(lab).counts == [.failed: 1])
            try lab.files.remove(result(lab))
            try lab.files.removeTree(externalData(lab))
            #expect(try lab.replay().ending.counts == [.done: 1])
            try lab.write(lab.path("a.sqlite"), Self.edit)
            #expect(try migrate(lab).counts == [.failed: 1])
            try lab.files.remove(result(lab))
            try lab.files.removeTree(externalData(lab))
            #expect(try lab.replay().ending.counts == [.done: 1])
            #expect(try lab.content(result(lab)) == edited)
        }
    }
}
