import CoreDataStore
import DurableFiles
import FaultSupport
import Foundation
import SafeSQLite
import StoreLocks
import Synchronization
import TestSupport
import Testing

@testable import StoreSwap

/// A swap and its rollback, stopped after every single system call.
@Suite struct SwapCallByCallTests {
    /// More than any swap has; the loops end by themselves.
    private let limit = 1000

    @Test(arguments: StoreShape.allCases)
    func everyStopOfASwapLeavesOldOrNew(shape: StoreShape) throws {
        try withFolder { folder in
            let template = try SwapTemplate(shape, in: folder)
            var stops = 0
            for actions in 0..<limit {
                let place = folder.appending("lab")
                try DurableFileSystem().makeFolder(place)
                let lab = try SwapLab(template, in: place)
                let old = try lab.clientView()
                let isDone = try stopSwap(lab, after: actions, old)
                try DurableFileSystem().removeTree(place)
                if isDone { break }
                stops += 1
            }
            // Before and after at least: two syncs, two renames or links, one folder.
            #expect((10..<limit - 1).contains(stops))
        }
    }

    /// Returns whether the swap came to its end before the process died.
    private func stopSwap(
        _ lab: SwapLab, after actions: Int, _ old: String
    ) throws -> Bool {
        let plan = try lab.plan()
        var done = 0
        let process = DyingProcess(after: actions)
        do {
            let lock = try StoreLock(lab.store)
            defer { lock.release() }
            _ = try Swapper(files: lab.files(dying: process)).run(plan, under: lock) {
                index, moment in
                if moment == .done { done = index + 1 }
            }
        } catch {
            #expect(process.isDead, "\(error)")
        }
        let seen = try lab.clientView()
        let isNew = seen.contains("generation new")
        #expect(isNew || seen == old, "after \(actions) announcements: neither old nor new")
        if isNew { #expect(seen.contains("missing") == false) }
        if !process.isDead { #expect(isNew) }
        // What was recorded may be behind what was done, by as much as a ledger can lose.
        let first = actions % 2 == 0 ? done : 0
        let lock = try StoreLock(lab.store)
        _ = try Swapper(files: lab.files()).run(plan, from: first, under: lock)
        lock.release()
        try expectSwapped(lab, old)
        return !process.isDead
    }

    private func expectSwapped(_ lab: SwapLab, _ old: String) throws {
        let seen = try lab.clientView()
        #expect(seen.contains("generation new") && seen != old)
        #expect(!seen.contains("missing"))
        for kind in StoreCompanion.allCases {
            #expect(try FileStatus.ifPresent(StoreLocation(lab.store).companion(kind)) == nil)
        }
        #expect(try FileStatus.ifPresent(lab.newFile) == nil)
        let backup = lab.folder.appending("data/.godwit-backup-r1")
        for (path, bytes) in lab.original where path.parent == lab.store.parent {
            #expect(
                try lab.files.contents(of: backup.appending(path.lastComponent), limit: 64 << 20)
                    == bytes)
        }
    }

    @Test(arguments: StoreShape.allCases)
    func everyStopOfARollbackLeavesOldOrNew(shape: StoreShape) throws {
        try withFolder { folder in
            let template = try SwapTemplate(shape, in: folder)
            var stops = 0
            for actions in 0..<limit {
                let place = folder.appending("lab")
                try DurableFileSystem().makeFolder(place)
                let lab = try SwapLab(template, in: place)
                let old = try lab.clientView()
                let swap = try lab.swap()
                let isDone = try stopRollback(lab, swap, after: actions, old: old)
                try DurableFileSystem().removeTree(place)
                if isDone { break }
                stops += 1
            }
            #expect((10..<limit - 1).contains(stops))
        }
    }

    /// One call fails, and what runs then goes on as an error's way out does.
    @Test(arguments: [StoreShape.fullLog, .hotJournal, .externalData], [ENOSPC, EDQUOT, EIO])
    func everyFailedCallLeavesOldOrNew(shape: StoreShape, number: Int32) throws {
        try withFolder { folder in
            let template = try SwapTemplate(shape, in: folder)
            for actions in 0..<limit {
                let place = folder.appending("lab")
                try DurableFileSystem().makeFolder(place)
                let lab = try SwapLab(template, in: place)
                let old = try lab.clientView()
                let plan = try lab.plan()
                let process = DyingProcess(after: actions, of: number, isTransient: true)
                let lock = try StoreLock(lab.store)
                do {
                    _ = try Swapper(files: lab.files(dying: process)).run(plan, under: lock)
                    #expect(!process.isDead)
                } catch let error as SwapError {
                    guard case .file(let error) = error else { throw error }
                    #expect(process.isDead && error.number == number)
                }
                let seen = try lab.clientView()
                #expect(seen.contains("generation new") || seen == old, "after \(actions)")
                _ = try Swapper(files: lab.files()).run(plan, under: lock)
                lock.release()
                try expectSwapped(lab, old)
                try DurableFileSystem().removeTree(place)
                if !process.isDead { break }
            }
        }
    }

    /// Signals at every call, several times each.
    @Test(arguments: StoreShape.allCases)
    func interruptionsDoNotShow(shape: StoreShape) throws {
        try withFolder { folder in
            let template = try SwapTemplate(shape, in: folder)
            let lab = try SwapLab(template, in: folder)
            let old = try lab.clientView()
            let calls = Mutex(0)
            let files = DurableFileSystem(
                faults: FaultPoints { _ in
                    calls.withLock { calls in
                        calls += 1
                        return calls % 3 == 0 ? nil : .error(EINTR)
                    }
                })
            let plan = try lab.plan()
            let lock = try StoreLock(lab.store)
            _ = try Swapper(files: files).run(plan, under: lock)
            try expectSwapped(lab, old)
            let back = try Rollback(files: files).prepare(
                plan, discardsChanges: false, under: lock)
            try Rollback(files: files).run(back, under: lock)
            #expect(try lab.clientView() == old)
        }
    }

    /// The same with a client's changes in the live `-wal`, which are to be thrown away.
    @Test(arguments: [StoreShape.fullLog, .none, .hotJournal, .withoutLinks])
    func everyStopOfADiscardingRollbackLeavesOldOrNew(shape: StoreShape) throws {
        try withFolder { folder in
            let template = try SwapTemplate(shape, in: folder)
            var stops = 0
            for actions in 0..<limit {
                let place = folder.appending("lab")
                try DurableFileSystem().makeFolder(place)
                let lab = try SwapLab(template, in: place)
                let old = try lab.clientView()
                let swap = try lab.swap()
                try lab.changeAsClient()
                let isDone = try stopRollback(
                    lab, swap, after: actions, old: old, discardsChanges: true)
                try DurableFileSystem().removeTree(place)
                if isDone { break }
                stops += 1
            }
            #expect((10..<limit - 1).contains(stops))
        }
    }

    /// Returns whether the rollback came to its end before the process died.
    private func stopRollback(
        _ lab: SwapLab, _ swap: SwapPlan, after actions: Int, old: String,
        discardsChanges: Bool = false
    ) throws -> Bool {
        let before = try lab.clientView()
        #expect(before != old)
        var plan: RollbackPlan?
        var done = 0
        let process = DyingProcess(after: actions)
        do {
            let lock = try StoreLock(lab.store)
            defer { lock.release() }
            let rollback = Rollback(files: lab.files(dying: process))
            let made = try rollback.prepare(
                swap, discardsChanges: discardsChanges, under: lock)
            plan = made
            try rollback.run(made, under: lock) { index, moment in
                if moment == .done { done = index + 1 }
            }
        } catch {
            #expect(process.isDead, "\(error)")
        }
        let seen = try lab.clientView()
        #expect(seen == old || seen == before, "after \(actions): neither old nor new")
        let lock = try StoreLock(lab.store)
        let rollback = Rollback(files: lab.files())
        let made =
            try plan
            ?? rollback.prepare(swap, discardsChanges: discardsChanges, under: lock)
        // Unless backups are copies, the store itself tells how far it came.
        let first = actions % 2 == 0 || lab.shape == .withoutLinks ? done : 0
        try rollback.run(made, from: first, under: lock)
        lock.release()
        #expect(try lab.clientView() == old)
        try expectRolledBack(lab)
        return !process.isDead
    }

    private func expectRolledBack(_ lab: SwapLab) throws {
        // An index of a log holds nothing; where no swap began, it is still there.
        let present = try SwapLab.contents(of: lab.folder.appending("data")).filter {
            $0.key != StoreLocation(lab.store).companion(.sharedMemory)
        }
        #expect(Set(present.keys) == Set(lab.original.keys))
        for (path, bytes) in lab.original { #expect(present[path] == bytes, "\(path)") }
        let status = try FileStatus(of: lab.store)
        #expect(status.links == 1)
        if lab.shape != .withoutLinks { #expect(status.identity.inode == lab.identity.inode) }
        let names = try lab.files.names(in: lab.folder.appending("data"))
        #expect(!names.contains { $0.bytes.starts(with: SwapPlan.backupPrefix.utf8) })
    }

    /// A swap that was stopped and is rolled back instead of gone on with.
    @Test(arguments: StoreShape.allCases)
    func everyStoppedSwapIsRolledBack(shape: StoreShape) throws {
        try withFolder { folder in
            let template = try SwapTemplate(shape, in: folder)
            for actions in 0..<limit {
                let place = folder.appending("lab")
                try DurableFileSystem().makeFolder(place)
                let lab = try SwapLab(template, in: place)
                let old = try lab.clientView()
                var plan = try lab.plan()
                let process = DyingProcess(after: actions)
                let lock = try StoreLock(lab.store)
                do {
                    var copies: [BackupRecord.Entry] = []
                    defer { plan = plan.recording(copies) }
                    _ = try Swapper(files: lab.files(dying: process)).run(
                        plan, under: lock, recording: { copies += $0 })
                } catch {
                    #expect(process.isDead, "\(error)")
                }
                let rollback = Rollback(files: lab.files())
                let back = try rollback.prepare(plan, discardsChanges: false, under: lock)
                try rollback.run(back, under: lock)
                lock.release()
                #expect(try lab.clientView() == old, "after \(actions)")
                for path in [lab.newFile, lab.snapshot] { try lab.files.remove(path) }
                try lab.files.remove(lab.folder.appending("data").appending(SwapLab.addition))
                try expectRolledBack(lab)
                try DurableFileSystem().removeTree(place)
                if !process.isDead { break }
            }
        }
    }
}

extension SwapLab {
    /// Writes to the live store as an app would that then crashed: the change is in the `-wal`.
    func changeAsClient() throws {
        let path = try files.with(.followed).resolve(named)
        let work = folder.appending("app")
        for kind in StoreCompanion.allCases {
            try files.remove(StoreLocation(path).companion(kind))
        }
        try files.makeFolder(work)
        let database = work.appending("store.sqlite")
        try SwapLab.copy(path, to: database)
        let writer = try Connection(path: database, mode: .readWrite)
        try writer.execute("PRAGMA journal_mode = WAL")
        try writer.execute("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA wal_autocheckpoint = 0")
        try writer.execute("UPDATE t SET v = 'app' || v WHERE k % 2 = 0")
        try writer.execute("INSERT INTO generation VALUES ('app')")
        try files.unlink(path)
        for suffix in ["", "-wal"] {
            try SwapLab.copy(database.adding(suffix: suffix), to: path.adding(suffix: suffix))
        }
        // Connections of ours make no `-shm`; an app leaves one, and SQLite makes it again.
        let memory = try files.create(path.adding(suffix: "-shm"))
        try memory.write([UInt8](repeating: 0, count: 32 << 10))
        try memory.close()
        try writer.close()
        try files.removeTree(work)
    }
}
