import CoreDataStore
import DurableFiles
import Foundation
import GRDB
import Jobs
import MigrationEngine
import RunLedger
import RunMoves
import RunService
import SafeSQLite
import StateFolders
import StoreForge
import StoreRuns
import StoreSwap
import Synchronization
import TestSupport
import Testing

/// Stores that are gone when their run is pruned, with users whose accounts were closed.
@Suite struct LostStoreTests {
    enum Loss: String, CaseIterable {
        case removed, emptied, overwritten, linked, madeFolder, otherDatabase, otherWithLog, half
    }

    @Test(arguments: Loss.allCases, [60, 0])
    func theOriginalGoesOnlyWhereThatIsAskedFor(_ loss: Loss, notes: Int) throws {
        try RunLab.run { lab in
            let stores = [
                try lab.forge("a.sqlite", notes: notes), try lab.forge("b.sqlite", notes: notes),
            ]
            // A store without external data needs no look at what it refers to.
            let support = try FileStatus.ifPresent(lab.path(".a_SUPPORT"))
            #expect((support != nil) == (notes > 0))
            #expect(try lab.migrate(stores).counts == [.done: 2])
            try lose(stores[0], loss, lab)
            let backups = try keptFiles(lab, stores[0])
            #expect(backups.count == 1)

            let refused = try lab.prune(removes: true)
            #expect(refused.backups == 1)
            #expect(refused.refused.map(\.path) == [stores[0]])
            let cause = try #require(refused.refused.first?.failure).description
            #expect(cause.contains("prune lost stores"))
            #expect(try keptFiles(lab, stores[0]) == backups)

            let shown = try prune(lab, removes: false)
            #expect(shown.backups == 1 && shown.bytes > 0 && shown.refused.isEmpty)
            #expect(try keptFiles(lab, stores[0]) == backups)
            let removed = try prune(lab, removes: true)
            #expect(removed.backups == 1 && removed.bytes == shown.bytes)
            #expect(removed.refused.isEmpty)
            #expect(try keptFiles(lab, stores[0]).isEmpty)
            #expect(try FileStatus.ifPresent(stores[1]) != nil)
        }
    }

    /// A folder of a user that was removed as a whole looks like one that is not mounted.
    @Test func aFolderThatIsGoneIsTakenForRemovedOnDemand() throws {
        try RunLab.run { lab in
            let folder = lab.path("user")
            try lab.files.makeFolder(folder)
            let store = try lab.forge("user/a.sqlite")
            #expect(try lab.migrate([store]).counts == [.done: 1])
            try lab.files.removeTree(folder)
            #expect(try lab.prune(removes: true).refused.count == 1)
            let pruned = try prune(lab, removes: true)
            #expect(pruned.refused.isEmpty && pruned.backups == 0)
        }
    }

    /// A reader holds up a checkpoint: the main file says that it is longer than it is.
    @Test func aStoreThatNeedsItsLogIsNotLost() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", notes: 0)
            #expect(try lab.migrate([store]).counts == [.done: 1])
            let app = try DatabaseQueue(path: store.description)
            try app.writeWithoutTransaction { database in
                try database.execute(
                    sql: """
                        CREATE TABLE x (y); INSERT INTO x WITH RECURSIVE n (i) AS
                        (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 90)
                        SELECT zeroblob(4000) FROM n
                        """)
            }
            let reader = try DatabaseQueue(path: store.description)
            try reader.inDatabase { database in
                try database.execute(sql: "BEGIN")
                _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM x")
                try app.writeWithoutTransaction { other in
                    try other.execute(sql: "UPDATE x SET y = zeroblob(3999) WHERE rowid > 40")
                    _ = try Row.fetchAll(other, sql: "PRAGMA wal_checkpoint(PASSIVE)")
                }
                #expect(try lab.prune(removes: false).refused.isEmpty)
                try database.execute(sql: "COMMIT")
            }
        }
    }

    /// The process of a prune ends when the main file of the backup is gone.
    @Test(arguments: [false, true]) func aPruneThatWasStoppedIsFinished(isGone: Bool) throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite")
            #expect(try lab.migrate([store]).counts == [.done: 1])
            let backup = try #require(try keptFiles(lab, store).first)
            if isGone { try lab.files.remove(store) }
            let files = DurableFileSystem(
                faults: FaultPoints { _ in
                    (try? FileStatus.ifPresent(backup)) == nil ? .error(EIO) : nil
                })
            _ = try? PruneRun(
                lab.selection(), environment: lab.environment(files), takesLost: true
            ).run(removes: true)
            #expect(try FileStatus.ifPresent(backup) == nil)
            #expect(try FileStatus.ifPresent(backup.parent) != nil)
            #expect(try prune(lab, removes: true).refused.isEmpty)
            #expect(try FileStatus.ifPresent(backup.parent) == nil)
        }
    }

    /// The volume is not mounted, and the app has made a store of its own below the mount point.
    @Test(.enabled(if: SmallDisk.isAvailable, SmallDisk.absence))
    func anOriginalThatIsNotMountedIsNotForgotten() throws {
        try RunLab.run { lab in
            let folder = lab.path("user")
            try lab.files.makeFolder(folder)
            let store = try lab.forge("user/a.sqlite", notes: 0)
            #expect(try lab.migrate([store]).counts == [.done: 1])
            let options = ["-t", "tmpfs", "-o", "size=16m", "godwit-tests", folder.description]
            try #require(try SmallDisk.command("mount", options) == 0)
            do {
                defer { _ = try? SmallDisk.command("umount", ["-l", folder.description]) }
                _ = try lab.forge("user/a.sqlite", notes: 3)
                let refused = try lab.prune(removes: true).refused
                let cause = try #require(refused.first?.failure).description
                #expect(cause.contains("mounted"))
            }
            #expect(try lab.rollBack().map { $0.failure == nil } == [true])
        }
    }

    /// What lies in a backup's place and was not put there stays, also of a store that is gone.
    @Test func aForeignFileStays() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite")
            #expect(try lab.migrate([store]).counts == [.done: 1])
            try lab.files.remove(store)
            let backup = try #require(try keptFiles(lab, store).first)
            try lab.files.remove(backup)
            let file = try lab.files.create(backup)
            try file.write([1, 2, 3])
            try file.close()
            #expect(try prune(lab, removes: true).refused.count == 1)
            #expect(try lab.files.contents(of: backup, limit: 16) == [1, 2, 3])
        }
    }

    /// An app that moves its store moves the main file first: what has the name next would have
    /// SQLite delete the log.
    @Test func aRollbackPutsNothingBesideALog() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite")
            #expect(try lab.migrate([store]).counts == [.done: 1])
            let log = StoreLocation(store).companion(.writeAheadLog)
            let written = try moveWithoutLog(store, lab)
            let refused = try #require(try lab.rollBack().first?.failure)
            #expect(refused.description.contains("changed after its swap"))
            #expect(try FileStatus.ifPresentLink(store) == nil)
            #expect(try lab.files.contents(of: log, limit: 1 << 30) == written)
            #expect(rename(lab.path("moved.sqlite").description, store.description) == 0)
            let titles = try Connection(path: store, mode: .readWrite)
            #expect(
                try titles.texts("SELECT DISTINCT ZTITLE FROM ZNOTE") == ["acknowledged"])
            try titles.close()
        }
    }

    /// What the log of a main file that is gone holds can be given up for the original.
    @Test(arguments: [ForgeRecipe.Journal.writeAheadLog, .writeAheadLogWithContent])
    func aRollbackDiscardsTheLogOfAStoreThatIsGone(_ journal: ForgeRecipe.Journal) throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", journal: journal)
            let names = ["", "-wal"].map { store.adding(suffix: $0) }
            let before = try names.map { try contents(of: $0, lab) }
            #expect(try lab.migrate([store]).counts == [.done: 1])
            _ = try moveWithoutLog(store, lab)
            let changes = try lab.rollBack(discardsChanges: true)
            #expect(changes.map(\.failure?.description) == [nil])
            #expect(try names.map { try contents(of: $0, lab) } == before)
        }
    }

    /// The process of a swap ends after the exchange, and the result is removed.
    @Test func anOriginalOfAStoppedSwapComesBack() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite")
            let before = try contents(of: store, lab)
            _ = try? lab.migrate([store], files: stoppingAfterExchange(store))
            #expect(try contents(of: store, lab) != before)
            try lab.files.remove(store)
            #expect(throws: RunError.self) {
                try CancelRun(lab.selection(), environment: lab.environment()).run()
            }
            #expect(try lab.rollBack().map { $0.failure == nil } == [true])
            #expect(try contents(of: store, lab) == before)
        }
    }

    private func stoppingAfterExchange(_ store: FilePath) -> DurableFileSystem {
        let ends = Mutex(0)
        return DurableFileSystem(
            faults: FaultPoints { point in
                ends.withLock { ends in
                    if point.operation == .rename, point.path == store { ends += 1 }
                    return ends > 1 ? .error(EIO) : nil
                }
            })
    }

    /// Moves the main file of a store away whose app was killed before it emptied the log.
    ///
    /// - Returns: the log.
    private func moveWithoutLog(_ store: FilePath, _ lab: RunLab) throws -> [UInt8] {
        let log = StoreLocation(store).companion(.writeAheadLog)
        let app = try Connection(path: store, mode: .readWrite)
        try app.execute("UPDATE ZNOTE SET ZTITLE = 'acknowledged'")
        let (main, written) = try (
            lab.files.contents(of: store, limit: 1 << 30),
            lab.files.contents(of: log, limit: 1 << 30)
        )
        try app.close()
        try write(main, to: lab.path("moved.sqlite"), lab)
        try lab.files.remove(store)
        try write(written, to: log, lab)
        return written
    }

    private func contents(of path: FilePath, _ lab: RunLab) throws -> [UInt8]? {
        guard try FileStatus.ifPresent(path) != nil else { return nil }
        return try lab.files.contents(of: path, limit: 1 << 30)
    }

    /// The process of a swap ends after the exchange, and an app puts another store there: the
    /// original is kept beside it, and the files that it alone refers to stay.
    @Test func whatAKeptOriginalNeedsIsNotPruned() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite")
            _ = try? lab.migrate([store], files: stoppingAfterExchange(store))
            let needed = try external(lab)
            try #require(!needed.isEmpty)
            let other = try lab.forge("other.sqlite", notes: 5, seed: 9)
            #expect(rename(other.description, store.description) == 0)
            for _ in 0..<2 { _ = try lab.migrate([store]) }
            #expect(try lab.files.names(in: lab.data).contains { $0.description.contains("kept") })
            _ = try PruneRun(
                RunSelection(state: lab.state, run: "r1"), environment: lab.environment()
            ).run(removes: true)
            #expect(try external(lab).isSuperset(of: needed))
        }
    }

    /// The files of external data in backups.
    private func external(_ lab: RunLab) throws -> Set<FilePath> {
        let paths = try lab.files.tree(at: lab.data).map(\.path)
        return Set(
            paths.filter {
                $0.parent.lastComponent.description == "_EXTERNAL_DATA"
                    && $0.description.contains(SwapPlan.backupPrefix)
            })
    }

    private func write(_ bytes: [UInt8], to path: FilePath, _ lab: RunLab) throws {
        let file = try lab.files.create(path)
        try file.write(bytes)
        try file.close()
    }

    private func prune(_ lab: RunLab, removes: Bool) throws -> PruneEstimate {
        try PruneRun(lab.selection(), environment: lab.environment(), takesLost: true)
            .run(removes: removes)
    }

    /// The main files in the backups of a store.
    private func keptFiles(_ lab: RunLab, _ store: FilePath) throws -> [FilePath] {
        let folder = store.parent
        return try lab.files.names(in: folder)
            .filter { $0.description.hasPrefix(SwapPlan.backupPrefix) }
            .map { folder.appending($0).appending(store.lastComponent) }
            .filter { try FileStatus.ifPresent($0) != nil }
    }

    private func lose(_ store: FilePath, _ loss: Loss, _ lab: RunLab) throws {
        try lab.files.remove(store)
        switch loss {
        case .removed: break
        case .emptied: try lab.files.create(store).close()
        case .overwritten:
            let file = try lab.files.create(store)
            try file.write([UInt8](repeating: 0x78, count: 200))
            try file.close()
        case .linked: #expect(symlink("/etc/hostname", store.description) == 0)
        case .madeFolder: try lab.files.makeFolder(store)
        case .half:
            let backup = try #require(try keptFiles(lab, store).first)
            let bytes = try lab.files.contents(of: backup, limit: 1 << 30)
            try write(Array(bytes.prefix(bytes.count / 2)), to: store, lab)
        case .otherDatabase, .otherWithLog:
            if loss == .otherWithLog {
                try write([1, 2, 3], to: StoreLocation(store).companion(.writeAheadLog), lab)
            }
            let queue = try DatabaseQueue(path: store.description)
            try queue.write {
                try $0.execute(sql: "CREATE TABLE x (y); INSERT INTO x VALUES ('Z_METADATA')")
            }
            try queue.close()
        }
    }
}
