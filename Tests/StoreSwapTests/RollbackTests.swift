import CoreDataStore
import DurableFiles
import FaultSupport
import Foundation
import SafeSQLite
import StoreLocks
import TestSupport
import Testing

@testable import StoreSwap

/// What a rollback refuses, and what pruning removes.
@Suite struct RollbackTests {
    private func withSwapped(
        _ shape: StoreShape, _ body: (SwapLab, SwapPlan, String) throws -> Void
    ) throws {
        try withSwapLab(shape) { lab, _ in
            let old = try lab.clientView()
            try body(lab, lab.swap(), old)
        }
    }

    private func prepare(
        _ lab: SwapLab, _ plan: SwapPlan, discards: Bool = false
    ) throws -> RollbackPlan {
        let lock = try StoreLock(lab.store)
        defer { lock.release() }
        return try Rollback(files: lab.files()).prepare(
            plan, discardsChanges: discards, under: lock)
    }

    @Test(arguments: [StoreShape.none, .fullLog, .hotJournal])
    func aStoreThatChangedIsNotOverwritten(shape: StoreShape) throws {
        try withSwapped(shape) { lab, plan, old in
            try lab.changeAsClient()
            let seen = try lab.clientView()
            let error = #expect(throws: SwapError.self) { try prepare(lab, plan) }
            guard case .storeChangedSinceSwap = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(error?.description.contains("may discard them") == true)
            #expect(try lab.clientView() == seen)
            let back = try prepare(lab, plan, discards: true)
            let lock = try StoreLock(lab.store)
            try Rollback(files: lab.files()).run(back, under: lock)
            #expect(try lab.clientView() == old)
        }
    }

    /// A client that only reads leaves nothing, or an empty log: no change.
    @Test func readersDoNotCount() throws {
        try withSwapped(.none) { lab, plan, old in
            let client = try Connection(path: lab.store, mode: .readWrite)
            #expect(try client.integer("SELECT count(*) FROM t") == 300)
            try client.close()
            try SwapLab.write("", to: lab.store.adding(suffix: "-wal"))
            let back = try prepare(lab, plan)
            let lock = try StoreLock(lab.store)
            try Rollback(files: lab.files()).run(back, under: lock)
            #expect(try lab.clientView() == old)
        }
    }

    @Test func aStoreThatChangesAfterThePlanIsNotOverwritten() throws {
        try withSwapped(.fullLog) { lab, plan, _ in
            let back = try prepare(lab, plan)
            try lab.changeAsClient()
            let seen = try lab.clientView()
            let lock = try StoreLock(lab.store)
            let error = #expect(throws: SwapError.self) {
                try Rollback(files: lab.files()).run(back, under: lock)
            }
            guard case .storeChangedSinceSwap = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(try lab.clientView() == seen)
        }
    }

    @Test func aBackupThatIsGoneOrWrittenIsRefused() throws {
        try withSwapped(.fullLog) { lab, plan, _ in
            let log = plan.backups.first { $0.kind == .writeAheadLog }
            let file = try lab.files.openForWriting(try #require(log?.backup))
            try [9].withUnsafeBytes { try file.write($0, at: 40) }
            try file.close()
            let written = #expect(throws: SwapError.self) { try prepare(lab, plan) }
            guard case .swapOutcomeUnknown = written else {
                Issue.record("\(String(describing: written))")
                return
            }
            try lab.files.removeTree(plan.backupFolder)
            let gone = #expect(throws: SwapError.self) { try prepare(lab, plan) }
            guard case .swapRefused = gone else {
                Issue.record("\(String(describing: gone))")
                return
            }
            #expect(try lab.clientView().contains("generation new"))
        }
    }

    @Test func openStoresAreNotRolledBack() throws {
        try withSwapped(.none) { lab, plan, _ in
            let back = try prepare(lab, plan)
            let lock = try StoreLock(lab.store)
            let client = try Connection(path: lab.store, mode: .readWrite)
            try client.execute("BEGIN; SELECT count(*) FROM t")
            let error = #expect(throws: SwapError.self) {
                try Rollback(files: lab.files()).run(back, under: lock)
            }
            guard case .storeBusy = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            try client.close()
        }
    }

    /// Files that the app removed after the swap come back with their store.
    @Test func removedExternalDataComeBack() throws {
        try withSwapped(.externalData) { lab, plan, old in
            let kept = StoreLocation(lab.store).externalData.appending(SwapLab.kept)
            try lab.files.remove(kept)
            let back = try prepare(lab, plan)
            let lock = try StoreLock(lab.store)
            try Rollback(files: lab.files()).run(back, under: lock)
            #expect(try lab.clientView() == old)
            #expect(try SwapLab.contents(of: lab.store.parent) == lab.original)
        }
    }

    @Test(arguments: [StoreShape.externalData, .fullLog, .withoutLinks])
    func pruningFreesWhatItSaid(shape: StoreShape) throws {
        try withSwapped(shape) { lab, plan, _ in
            let seen = try lab.clientView()
            // The result refers to nothing that only the original did, but for what it says here.
            let names: Set<String> = shape.hasExternalData ? [SwapLab.kept.description] : []
            let prune = try PrunePlan(
                plan, backupNames: names, storeNames: [], existing: names, files: lab.files)
            let before = try bytes(below: lab.folder)
            let lock = try StoreLock(lab.store)
            try prune.run(files: lab.files(), under: lock)
            #expect(try before - bytes(below: lab.folder) == prune.bytes)
            #expect(prune.bytes > 0)
            try prune.run(files: lab.files(), under: lock)
            lock.release()
            let kept = try PrunePlan(
                plan, backupNames: [], storeNames: [], files: lab.files)
            #expect(kept.bytes == 0)
            #expect(try FileStatus.ifPresent(plan.backupFolder) == nil)
            if !shape.hasExternalData { #expect(try lab.clientView() == seen) }
            let error = #expect(throws: SwapError.self) { try prepare(lab, plan) }
            guard case .swapRefused = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test func filesThatTheStoreStillRefersToAreNotPruned() throws {
        try withSwapped(.externalData) { lab, plan, _ in
            let seen = try lab.clientView()
            let names: Set<String> = [SwapLab.kept.description]
            let prune = try PrunePlan(
                plan, backupNames: names, storeNames: names, files: lab.files)
            let lock = try StoreLock(lab.store)
            try prune.run(files: lab.files(), under: lock)
            #expect(try lab.clientView() == seen)
        }
    }

    @Test func theBackupOfAStoppedSwapIsNotPruned() throws {
        try withFolder { folder in
            struct Stop: Error {}
            let template = try SwapTemplate(.fullLog, in: folder)
            let place = folder.appending("lab")
            try DurableFileSystem().makeFolder(place)
            let lab = try SwapLab(template, in: place)
            let plan = try lab.plan()
            let lock = try StoreLock(lab.store)
            #expect(throws: Stop.self) {
                try Swapper(files: lab.files()).run(plan, under: lock) { index, moment in
                    if index == plan.steps.count - 1, moment == .begun { throw Stop() }
                }
            }
            let error = #expect(throws: SwapError.self) {
                try PrunePlan(plan, backupNames: [], storeNames: [], files: lab.files)
            }
            guard case .swapRefused = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    /// Two stores of one folder share the run's backup folder; each takes away its own.
    @Test func storesOfOneFolderDoNotMeet() throws {
        try withFolder { folder in
            let template = try SwapTemplate(.fullLog, in: folder)
            let place = folder.appending("lab")
            try DurableFileSystem().makeFolder(place)
            let first = try SwapLab(template, in: place)
            let second = first.store.parent.appending("second.sqlite")
            for suffix in ["", "-wal"] {
                try SwapLab.copy(
                    template.store.adding(suffix: suffix), to: second.adding(suffix: suffix))
            }
            let (newFile, snapshot) = (folder.appending("new"), folder.appending("settled"))
            try SwapLab.copy(template.result, to: newFile)
            try SettledCopy.make(
                of: second, with: .writeAheadLog, at: snapshot, named: second, files: first.files)
            let request = SwapRequest(
                store: StoreLocation(second), run: "r1", expected: try StoreFingerprint(of: second),
                newFile: newFile, snapshot: snapshot)
            let plan = try SwapPlan(SwapFacts(reading: request, files: first.files))
            let lock = try StoreLock(second)
            _ = try Swapper(files: first.files).run(plan, under: lock)
            let old = try first.clientView()
            let firstPlan = try first.swap()
            let prune = try PrunePlan(plan, backupNames: [], storeNames: [], files: first.files)
            try prune.run(files: first.files, under: lock)
            let back = try prepare(first, firstPlan)
            let firstLock = try StoreLock(first.store)
            try Rollback(files: first.files).run(back, under: firstLock)
            #expect(try first.clientView() == old)
            #expect(try FileStatus.ifPresent(plan.backupFolder) == nil)
        }
    }

    private func bytes(below folder: FilePath) throws -> Int64 {
        var sizes: [FileIdentity: Int64] = [:]
        for found in try DurableFileSystem().tree(at: folder)
        where found.status.isRegularFile
            && !found.path.bytes.starts(with: folder.appending("client").bytes)
        {
            sizes[found.status.identity] = found.status.size
        }
        return sizes.values.reduce(0, +)
    }
}
