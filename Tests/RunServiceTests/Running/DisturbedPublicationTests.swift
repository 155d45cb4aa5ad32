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

/// What other programs do to a store, or to half of its result, after a publication was stopped.
@Suite("Other programs and stopped publications")
struct DisturbedPublicationTests: PublicationStops {
    private func foreign(_ lab: RunLab) -> FilePath { externalData(lab).appending("foreign") }

    /// A file that another program put beside external data stays where it is.
    @Test func aForeignFileInAHalfPublishedFolderStays() throws {
        let whole = try content(edited: false)
        try stopHalfPublished { lab, place in
            try lab.files.publish([1, 2, 3], to: foreign(lab))
            #expect(try migrate(lab).counts == [.failed: 1], "at \(place)")
            #expect(try lab.files.contents(of: foreign(lab), limit: 9) == [1, 2, 3])
            #expect(try FileStatus.ifPresent(result(lab)) == nil)
            try lab.files.remove(foreign(lab))
            #expect(try lab.replay().ending.counts == [.done: 1], "at \(place)")
            #expect(try lab.content(result(lab)) == whole, "at \(place)")
        }
    }

    /// The result may be all that is left of a store that is gone with its external data.
    @Test(arguments: [false, true]) func theResultOfALostStoreIsCompleted(isCancelled: Bool) throws
    {
        let whole = try content(edited: false)
        var completed = 0
        try stopEverywhere { lab, place in
            let isNamed = try FileStatus.ifPresent(result(lab)) != nil
            let isHalf = try !isNamed && FileStatus.ifPresent(externalData(lab)) != nil
            guard try state(lab) != [.done: 1], isNamed || isHalf else { return }
            let source = lab.path("a.sqlite")
            try lab.files.remove(source)
            try lab.files.removeTree(StoreLocation(source).support)
            if isCancelled {
                _ = try CancelRun(lab.selection(), environment: lab.environment()).run()
            } else {
                try ForgedStore.notes(at: lab.path("b.sqlite"), version: 1, notes: 3, seed: 2)
                let output = lab.folder.appending("out")
                _ = try lab.migrate([lab.path("b.sqlite")], strategy: .whole) {
                    $0.output = output
                    $0.inputs = [source]
                }
            }
            completed += 1
            #expect(try state(lab)[.done] ?? 0 > 0, "at \(place)")
            #expect(try lab.content(result(lab)) == whole, "at \(place)")
        }
        #expect(completed > 0)
    }

    /// Cancelling a run takes back what a failed store has of its publication.
    @Test func cancellingTakesAFailedPublicationBack() throws {
        let whole = try content(edited: false)
        try stopHalfPublished { lab, place in
            try lab.files.publish([1], to: result(lab))
            let (source, other) = (lab.path("a.sqlite"), lab.path("b.sqlite"))
            let output = lab.folder.appending("out")
            let inTheWay = output.appending("b.sqlite")
            try ForgedStore.notes(at: other, version: 1, notes: 3, seed: 2)
            try lab.files.publish([1], to: inTheWay)
            let failed = try lab.migrate([source, other], strategy: .whole) {
                $0.output = output
                $0.inputs = [source]
            }
            #expect(failed.counts == [.failed: 2])
            for file in [result(lab), inTheWay] { try lab.files.remove(file) }
            // The replay of one store opens the run again; the other one stays as it is.
            for point in 1..<40 where try state(lab) == [.failed: 2] {
                do throws(RunError) {
                    _ = try lab.replay(other, files: FailingDisk(at: point, .dies).files)
                } catch {
                    #expect(!error.description.isEmpty)
                }
            }
            #expect(try state(lab)[.failed] == 1)
            #expect(try runState(lab) == .open)
            _ = try CancelRun(lab.selection(), environment: lab.environment()).run()
            #expect(try state(lab) == [.cancelled: 2])
            #expect(try FileStatus.ifPresent(externalData(lab)) == nil, "at \(place)")
            #expect(try migrate(lab).counts == [.done: 1], "at \(place)")
            #expect(try lab.content(result(lab)) == whole, "at \(place)")
        }
    }

    /// Pruning takes back what a failed store has of its publication, or refuses and names it.
    @Test(arguments: [false, true]) func pruningLeavesNoHalfOfAResult(isForeign: Bool) throws {
        let whole = try content(edited: false)
        try stopHalfPublished { lab, place in
            try lab.files.publish([1], to: result(lab))
            #expect(try migrate(lab).counts == [.failed: 1], "at \(place)")
            try lab.files.remove(result(lab))
            if isForeign { try lab.files.publish([1], to: foreign(lab)) }
            let prune = PruneRun(lab.selection(), environment: lab.environment())
            let pruned = try prune.run(removes: true)
            if isForeign {
                #expect(pruned.refused.count == 1)
                #expect(try FileStatus.ifPresent(foreign(lab)) != nil)
                try lab.files.remove(foreign(lab))
                #expect(try prune.run(removes: true).refused.isEmpty)
            }
            #expect(try FileStatus.ifPresent(externalData(lab)) == nil, "at \(place)")
            #expect(try migrate(lab).counts == [.done: 1], "at \(place)")
            #expect(try lab.content(result(lab)) == whole, "at \(place)")
        }
    }

    /// Hard links, rights and empty folders are no writing.
    @Test(arguments: ["links", "rights", "rights again", "folder"]) func nothingWasWritten(
        change: String
    ) throws {
        let whole = try content(edited: false)
        var changed = 0
        try stopEverywhere { lab, place in
            let isNamed = try FileStatus.ifPresent(result(lab)) != nil
            guard try isNamed || state(lab) == [.done: 1] else { return }
            changed += 1
            let source = StoreLocation(lab.path("a.sqlite")).externalData
            if change == "folder" { try lab.files.makeFolders(source.appending("empty")) }
            for folder in [source, StoreLocation(result(lab)).externalData] {
                try self.change(change, filesOf: folder, in: lab)
            }
            #expect(try migrate(lab).counts == [.done: 1], "at \(place)")
            #expect(try migrate(lab).counts == [.done: 1], "at \(place)")
            #expect(try lab.content(result(lab)) == whole, "at \(place)")
        }
        #expect(changed > 0)
    }

    /// A program wrote to an external file and set the time of writing back.
    @Test(arguments: [false, true]) func aWriteBehindItsTimeIsFound(changesRights: Bool) throws {
        let whole = try content(edited: false)
        try stopHalfPublished { lab, place in
            let folder = StoreLocation(result(lab)).externalData
            let name = try #require(
                try FileManager.default.contentsOfDirectory(atPath: folder.description).first)
            let file = folder.appending(name).description
            var status = stat()
            #expect(stat(file, &status) == 0)
            let handle = try #require(FileHandle(forUpdatingAtPath: file))
            try handle.write(contentsOf: [0x58, 0x59])
            try handle.close()
            let times = [status.st_atim, status.st_mtim]
            #expect(utimensat(AT_FDCWD, file, times, 0) == 0)
            if changesRights { #expect(chmod(file, 0o640) == 0) }
            #expect(try migrate(lab).counts == [.failed: 1], "at \(place)")
            try lab.files.removeTree(externalData(lab))
            #expect(try lab.replay().ending.counts == [.done: 1], "at \(place)")
            #expect(try lab.content(result(lab)) == whole, "at \(place)")
        }
    }

    /// The last copy of a store that is gone stays until it is asked for, or lost stores go.
    @Test func theLastCopyIsNotPruned() throws {
        let whole = try content(edited: false)
        try stopHalfPublished { lab, place in
            try lab.files.publish([1], to: foreign(lab))
            #expect(try migrate(lab).counts == [.failed: 1], "at \(place)")
            let source = lab.path("a.sqlite")
            try lab.files.remove(source)
            try lab.files.removeTree(StoreLocation(source).support)
            try lab.files.remove(foreign(lab))
            let pruned = try PruneRun(lab.selection(), environment: lab.environment())
                .run(removes: true)
            #expect(pruned.refused.count == 1, "at \(place)")
            do throws(RunError) {
                _ = try CancelRun(lab.selection(source), environment: lab.environment()).run()
            } catch {
                guard case .nothingToDo = error else { throw error }
            }
            #expect(try state(lab) == [.done: 1], "at \(place)")
            #expect(try lab.content(result(lab)) == whole, "at \(place)")
        }
    }

    private func change(_ change: String, filesOf folder: FilePath, in lab: RunLab) throws {
        let manager = FileManager.default
        for name in try manager.contentsOfDirectory(atPath: folder.description)
        where name != "empty" {
            let path = folder.appending(name).description
            if change == "rights" { #expect(chmod(path, 0o644) == 0) }
            if change == "rights again" {
                #expect(chmod(path, 0o640) == 0 && chmod(path, 0o600) == 0)
            }
            if change == "links" {
                let link = lab.folder.appending("link-\(UUID())").description
                try manager.linkItem(atPath: path, toPath: link)
            }
        }
    }
}
