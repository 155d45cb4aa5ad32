import CoreDataStore
import DurableFiles
import Foundation
import Jobs
import MigrationPlans
import RunLedger
import SafeSQLite
import StoreForge
import TestSupport
import Testing

@testable import RunMoves
@testable import StoreRuns

/// Originals and results of runs in place that may be all that is left of a store.
@Suite("Last copies in place") struct LastOriginalTests {
    /// What other programs do to a store after a command was stopped.
    enum Harm: CaseIterable {
        case isReplacedByNothing, isReplacedByAnother, isTruncated, isDamaged, losesLog, cutsLog
    }

    private func harm(_ store: FilePath, _ harm: Harm, _ lab: RunLab) throws {
        switch harm {
        case .isReplacedByNothing:
            try lab.files.remove(store)
            try lab.files.publish([], to: store)
        case .isReplacedByAnother:
            let other = try lab.forge("other.sqlite", notes: 5, seed: 9, journal: .rollback)
            try lab.files.rename(other, to: store, existing: .replace)
        case .isTruncated:
            try #require(FileHandle(forWritingAtPath: store.description)).truncate(atOffset: 0)
        case .isDamaged:
            let handle = try #require(FileHandle(forUpdatingAtPath: store.description))
            let size = try handle.seekToEnd()
            try handle.seek(toOffset: size / 8192 * 4096)
            try handle.write(contentsOf: Data(repeating: 7, count: Int(size / 2)))
            try handle.close()
        case .cutsLog:
            let log = StoreLocation(store).companion(.writeAheadLog)
            let size = try FileStatus(of: log).size
            try #require(FileHandle(forWritingAtPath: log.description)).truncate(
                atOffset: UInt64(size / 2))
        case .losesLog:
            try lab.files.remove(StoreLocation(store).companion(.writeAheadLog))
        }
    }

    /// The titles of all notes in a database, with its log; nil where it cannot be read.
    private func titles(_ path: FilePath, _ lab: RunLab) -> [String]? {
        try? withTemporaryFolder { scratch in
            let copy = FilePath(scratch.path).appending("copy.sqlite")
            for suffix in ["", "-wal"]
            where try FileStatus.ifPresent(path.adding(suffix: suffix)) != nil {
                _ = try lab.files.clone(
                    from: path.adding(suffix: suffix), to: copy.adding(suffix: suffix))
            }
            let connection = try Connection(path: copy, mode: .readWrite)
            guard try connection.checkPages() == ["ok"] else { return nil }
            return try connection.texts("SELECT ZTITLE FROM ZNOTE ORDER BY ZTITLE")
        }
    }

    /// Whether the store, an original that was kept, or an accepted result has all titles.
    private func isAnywhere(_ titles: [String], _ store: FilePath, _ lab: RunLab) throws -> Bool {
        try lab.files.tree(at: lab.data).contains { found in
            let isKept = ["accepted-", ".godwit-backup", ".godwit-kept"].contains {
                found.path.description.contains($0)
            }
            guard found.status.isRegularFile, isKept || found.path == store else { return false }
            return self.titles(found.path, lab) == titles
        }
    }

    /// Stops a migration in its second half, harms the store, and lets commands do what they can.
    @Test(arguments: Harm.allCases, [false, true])
    func nothingRemovesTheLastCopy(harm: Harm, isCancelled: Bool) throws {
        let needsLog = [.losesLog, .cutsLog].contains(harm)
        let journal: ForgeRecipe.Journal = needsLog ? .writeAheadLogWithContent : .rollback
        var points = 0
        var titles: [String] = []
        try RunLab.run { lab in
            let disk = FailingDisk(at: .max, .dies)
            let store = try lab.forge("a.sqlite", journal: journal)
            titles = try #require(self.titles(store, lab))
            try lab.migrate([store], strategy: .whole, files: disk.files)
            points = disk.points
        }
        try #require(!titles.isEmpty)
        var stops = 0
        // Every third stop, others for each harm.
        let first = points / 2 + (Harm.allCases.firstIndex(of: harm) ?? 0) % 3
        for place in stride(from: first, to: points, by: 3) {
            try RunLab.run { lab in
                let store = try lab.forge("a.sqlite", journal: journal)
                _ = try? lab.migrate(
                    [store], strategy: .whole, files: FailingDisk(at: place, .dies).files)
                let log = StoreLocation(store).companion(.writeAheadLog)
                if needsLog, try FileStatus.ifPresent(log) == nil { return }
                // Before the move is recorded, nothing says how long the log was.
                if harm == .cutsLog, try lab.steps() == 0 { return }
                try self.harm(store, harm, lab)
                guard try isAnywhere(titles, store, lab) else { return }
                stops += 1
                if isCancelled {
                    _ = try? CancelRun(lab.selection(), environment: lab.environment()).run()
                    _ = try? lab.prune(removes: true)
                } else {
                    _ = try? lab.migrate([store], strategy: .whole)
                    _ = try? lab.replay()
                }
                #expect(try isAnywhere(titles, store, lab), "at \(place)")
            }
        }
        #expect(stops > 0)
    }

    /// A prune looks at the store whose original it removes.
    @Test(arguments: [Harm.isReplacedByAnother, .isDamaged])
    func aPruneKeepsTheOriginalOfAHarmedStore(harm: Harm) throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", journal: .rollback)
            let titles = try #require(self.titles(store, lab))
            try lab.migrate([store])
            try self.harm(store, harm, lab)
            for removes in [false, true] {
                #expect(try lab.prune(removes: removes).refused.map(\.path) == [store])
            }
            #expect(try isAnywhere(titles, store, lab))
            let lost = PruneRun(lab.selection(), environment: lab.environment(), takesLost: true)
            #expect(try lost.run(removes: true).refused.isEmpty)
            #expect(try !isAnywhere(titles, store, lab))
        }
    }

    /// The same for a file of external data that another program replaced.
    @Test func aPruneKeepsReplacedExternalData() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", journal: .rollback)
            let folder = StoreLocation(store).externalData
            try lab.migrate([store])
            let name = try #require(try lab.files.names(in: folder).first)
            let former = try lab.files.contents(of: folder.appending(name), limit: 1 << 20)
            try lab.files.remove(folder.appending(name))
            try lab.files.publish([1], to: folder.appending(name))
            #expect(try lab.prune(removes: true).refused.map(\.path) == [store])
            try lab.files.remove(folder.appending(name))
            try lab.files.publish(former, to: folder.appending(name))
            #expect(try lab.prune(removes: true).refused.isEmpty)
            #expect(try lab.files.contents(of: folder.appending(name), limit: 1 << 20) == former)
        }
    }

    /// Stops a rollback at each point of its second half; the body says which stops count.
    private func stopRollbacks(
        _ body: (RunLab, FilePath, _ titles: [String], _ place: String) throws -> Bool
    ) throws {
        var points = 0
        try RunLab.run { lab in
            try lab.migrate([try lab.forge("a.sqlite", journal: .writeAheadLogWithContent)])
            let disk = FailingDisk(at: .max, .dies)
            #expect(try lab.rollBack(files: disk.files).allSatisfy { $0.failure == nil })
            points = disk.points
        }
        var stops = 0
        // Before its second half, a rollback only looks and makes copies.
        for place in points / 2..<points {
            try RunLab.run { lab in
                let store = try lab.forge("a.sqlite", journal: .writeAheadLogWithContent)
                let titles = try #require(self.titles(store, lab))
                try lab.migrate([store])
                _ = try? lab.rollBack(files: FailingDisk(at: place, .dies).files)
                if try body(lab, store, titles, "at \(place)") { stops += 1 }
            }
        }
        #expect(stops > 0)
    }

    /// The log of a store, where it and its second name in a backup are there.
    private func restoredLog(of store: FilePath, _ lab: RunLab) throws -> FilePath? {
        let log = StoreLocation(store).companion(.writeAheadLog)
        let isBackedUp = try lab.files.tree(at: lab.data).map(\.path).contains {
            $0.lastComponent == log.lastComponent && $0 != log
        }
        return try isBackedUp && FileStatus.ifPresent(log) != nil ? log : nil
    }

    /// A rollback was stopped after the original had its name again, and the log was removed.
    @Test func aStoppedRollbackPutsALostLogBack() throws {
        try stopRollbacks { lab, store, titles, place in
            guard let log = try restoredLog(of: store, lab) else { return false }
            try lab.files.remove(log)
            #expect(try lab.rollBack().allSatisfy { $0.failure == nil }, "\(place)")
            #expect(self.titles(store, lab) == titles, "\(place)")
            return true
        }
    }

    /// A rollback was stopped, and another program damaged what has the store's name: that is no
    /// change of an app, and the backup stays.
    @Test func aStoppedRollbackKeepsTheBackupOfADamagedStore() throws {
        try stopRollbacks { lab, store, titles, place in
            try harm(store, .isDamaged, lab)
            guard try isAnywhere(titles, store, lab) else { return false }
            _ = try? lab.rollBack()
            #expect(try isAnywhere(titles, store, lab), "\(place)")
            return true
        }
    }

    /// A rollback was stopped after the original had its name again, and another program replaced
    /// the log: the backup with the first log stays.
    @Test func aStoppedRollbackKeepsALogThatAnotherReplaced() throws {
        try stopRollbacks { lab, store, titles, place in
            guard let log = try restoredLog(of: store, lab) else { return false }
            let first = try lab.files.contents(of: log, limit: 1 << 20)
            var other = first
            other[16] ^= 0xFF
            try lab.files.remove(log)
            try lab.files.publish(other, to: log)
            let isDone = (try? lab.rollBack())?.allSatisfy { $0.failure == nil } == true
            if isDone {
                // A copy with all of the original has the store's name.
                #expect(self.titles(store, lab) == titles, "\(place)")
                return true
            }
            // The main file may have the store's name alone by then.
            let isKept = try lab.files.tree(at: lab.data).contains {
                try $0.path.lastComponent == log.lastComponent
                    && lab.files.contents(of: $0.path, limit: 1 << 20) == first
            }
            #expect(isKept, "\(place)")
            try lab.files.remove(log)
            #expect(try lab.rollBack().allSatisfy { $0.failure == nil }, "\(place)")
            #expect(self.titles(store, lab) == titles, "\(place)")
            return true
        }
    }
}
