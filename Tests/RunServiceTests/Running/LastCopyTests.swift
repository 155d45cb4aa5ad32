import CoreDataStore
import DurableFiles
import Foundation
import Jobs
import MigrationEngine
import RunLedger
import StateFolders
import StoreForge
import Testing

@testable import RunMoves
@testable import StoreRuns

/// A result that was to be published may be all that is left of its store.
@Suite("Last copies of lost stores") struct LastCopyTests: PublicationStops {
    /// What happens to a store after its publication was stopped.
    enum Loss: CaseIterable {
        case externalData, oneExternalFile, contents, isGarbage, isDamaged
    }

    private func lose(_ loss: Loss, _ lab: RunLab) throws {
        let source = lab.path("a.sqlite")
        switch loss {
        case .externalData: try lab.files.removeTree(StoreLocation(source).support)
        case .oneExternalFile:
            let folder = StoreLocation(source).externalData
            let first = try #require(try lab.files.names(in: folder).first)
            try lab.files.remove(folder.appending(first))
        case .contents: try lab.files.publish([], to: source)
        case .isGarbage: try lab.files.publish([UInt8](repeating: 7, count: 8192), to: source)
        case .isDamaged:
            var bytes = try lab.files.contents(of: source, limit: 1 << 26)
            let half = bytes.count / 8192 * 4096
            bytes.replaceSubrange(
                half..., with: [UInt8](repeating: 7, count: bytes.count - half))
            try lab.files.publish(bytes, to: source)
        }
    }

    /// Stops a migration in its last third, where its move stands in the ledger.
    private func stopPublications(_ body: (RunLab, Int) throws -> Void) throws {
        var stops = 0
        try stopEverywhere { lab, place in
            guard try state(lab) != [.done: 1], try lab.steps() > 0 else { return }
            stops += 1
            try body(lab, place)
        }
        #expect(stops > 0)
    }

    @Test(arguments: Loss.allCases, [false, true])
    func theResultIsPublished(loss: Loss, isCancelled: Bool) throws {
        let whole = try content(edited: false)
        try stopPublications { lab, place in
            try lose(loss, lab)
            if isCancelled {
                _ = try CancelRun(lab.selection(), environment: lab.environment()).run()
            } else {
                _ = try migrate(lab)
            }
            #expect(try state(lab) == [.done: 1], "at \(place)")
            #expect(try lab.content(result(lab)) == whole, "at \(place)")
        }
    }

    /// A link has the store's name: it may lead to another store, so nothing is published, and
    /// nothing is removed before lost stores are pruned.
    @Test func theResultOfALinkedStoreStays() throws {
        let whole = try content(edited: false)
        var kept = 0
        try stopPublications { lab, place in
            guard try FileStatus.ifPresent(result(lab)) == nil else { return }
            let source = lab.path("a.sqlite")
            let elsewhere = lab.folder.appending("moved.sqlite")
            try lab.files.rename(source, to: elsewhere, existing: .refuse)
            try FileManager.default.createSymbolicLink(
                atPath: source.description, withDestinationPath: elsewhere.description)
            _ = try CancelRun(lab.selection(), environment: lab.environment()).run()
            #expect(try state(lab) == [.cancelled: 1], "at \(place)")
            #expect(try FileStatus.ifPresent(result(lab)) == nil, "at \(place)")
            for removes in [false, true] {
                #expect(try lab.prune(removes: removes).refused.count == 1, "at \(place)")
            }
            kept += 1
            let lost = PruneRun(
                lab.selection(), environment: lab.environment(), takesLost: true)
            #expect(try lost.run(removes: true).refused.isEmpty)
            #expect(try FileStatus.ifPresent(externalData(lab)) == nil, "at \(place)")
            try lab.files.remove(source)
            try lab.files.rename(elsewhere, to: source, existing: .refuse)
            #expect(try migrate(lab).counts == [.done: 1], "at \(place)")
            #expect(try lab.content(result(lab)) == whole, "at \(place)")
        }
        #expect(kept > 0)
    }

    /// Core Data gives new contents a new name: another file of the name is damage.
    @Test func theResultStaysWhereExternalDataWereTruncated() throws {
        let whole = try content(edited: false)
        try stopHalfPublished { lab, place in
            let source = StoreLocation(lab.path("a.sqlite")).externalData
            var former: [FilePath: [UInt8]] = [:]
            for name in try lab.files.names(in: source) {
                let file = source.appending(name)
                former[file] = try lab.files.contents(of: file, limit: 1 << 20)
                try lab.files.publish([], to: file)
            }
            #expect(try migrate(lab).counts == [.failed: 1], "at \(place)")
            for removes in [false, true] {
                #expect(try lab.prune(removes: removes).refused.count == 1, "at \(place)")
            }
            for (file, bytes) in former { try lab.files.publish(bytes, to: file) }
            #expect(try lab.replay().ending.counts == [.done: 1], "at \(place)")
            #expect(try lab.content(result(lab)) == whole, "at \(place)")
        }
    }

    /// An app used the result before the ledger knew of its name.
    @Test func aChangedResultIsNotCalledValidated() throws {
        var changed = 0
        try stopPublications { lab, place in
            guard try FileStatus.ifPresent(result(lab)) != nil else { return }
            changed += 1
            try lab.write(result(lab), Self.edit)
            #expect(try migrate(lab).counts == [.done: 1], "at \(place)")
            let ledger = try Ledger(reading: lab.state)
            let report = try ledger.storeReport(run: "r1", store: 1)
            try ledger.close()
            #expect(report?.contains("did not validate it again") == true, "at \(place)")
        }
        #expect(changed > 0)
    }

    /// In place, too.
    @Test func aWaitingResultOfADamagedStoreStays() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", journal: .rollback)
            try lab.migrate([store]) { $0.defersSwap = true }
            try lab.files.publish([], to: store)
            let waiting = try lab.ours()
            #expect(waiting.count == 1)
            #expect(try lab.swap().counts == [.failed: 1])
            #expect(try lab.ours() == waiting)
            #expect(try lab.prune(removes: true).refused.count == 1)
            #expect(try lab.ours() == waiting)
        }
    }

    /// The file system of the output folder is not mounted: its half of a result is not forgotten.
    @Test func theHalfInAnotherFolderIsNotForgotten() throws {
        let whole = try content(edited: false)
        try stopHalfPublished { lab, place in
            let output = lab.folder.appending("out")
            let away = lab.folder.appending("away")
            try lab.files.rename(output, to: away, existing: .refuse)
            try lab.files.makeFolder(output)
            _ = try CancelRun(lab.selection(), environment: lab.environment()).run()
            #expect(try lab.prune(removes: true).refused.count == 1, "at \(place)")
            try FileManager.default.removeItem(atPath: output.description)
            try lab.files.rename(away, to: output, existing: .refuse)
            #expect(try lab.prune(removes: true).refused.isEmpty, "at \(place)")
            #expect(try FileStatus.ifPresent(externalData(lab)) == nil, "at \(place)")
            #expect(try migrate(lab).counts == [.done: 1], "at \(place)")
            #expect(try lab.content(result(lab)) == whole, "at \(place)")
        }
    }

    /// A run that was cancelled beside files of another program can be pruned, and leaves those.
    @Test func filesOfOthersDoNotBlockThePrune() throws {
        try stopHalfPublished { lab, place in
            let foreign = externalData(lab).appending("foreign")
            try lab.files.publish([1], to: foreign)
            _ = try CancelRun(lab.selection(), environment: lab.environment()).run()
            #expect(try lab.prune(removes: true).refused.isEmpty, "at \(place)")
            #expect(try lab.files.contents(of: foreign, limit: 9) == [1], "at \(place)")
        }
    }
}

extension RunLab {
    /// How many entries of moves the ledger has of the first store of the newest run.
    func steps() throws -> Int {
        let ledger = try Ledger(reading: state)
        let run = try ledger.newestRun()
        let count = try run.map { try ledger.swapSteps(run: $0.id, store: 1).count } ?? 0
        try ledger.close()
        return count
    }
}
