import CoreDataStore
import DurableFiles
import Foundation
import Glibc
import StoreLocks
import TestSupport
import Testing

@testable import StoreSwap

/// Links, files and folders that others put into a store's folder, into its backup and in the place
/// of its result.
@Suite struct ForeignFolderTests {
    private func withLab(
        _ shape: StoreShape, _ body: (SwapLab, Canary) throws -> Void
    ) throws {
        try withSwapLab(shape) { lab, folder in
            let canary = try Canary(folder.appending("canary"), for: lab)
            try body(lab, canary)
            try canary.expectUntouched()
        }
    }

    /// What a folder is refused for; nil where it is not.
    private func fault(_ body: () throws -> Void) throws -> FolderFault? {
        do {
            try body()
            return nil
        } catch let error as SwapError {
            guard case .file(.refusedFolder(_, let fault)) = error else { throw error }
            return fault
        }
    }

    private func plan(_ lab: SwapLab) throws { _ = try lab.plan() }

    private func swap(_ lab: SwapLab, _ plan: SwapPlan) throws {
        let lock = try StoreLock(lab.store)
        defer { lock.release() }
        _ = try Swapper(files: lab.files()).run(plan, under: lock)
    }

    private func prune(_ lab: SwapLab, _ plan: SwapPlan) throws {
        let prune = try PrunePlan(plan, backupNames: [], storeNames: [], files: lab.files)
        let lock = try StoreLock(lab.store)
        defer { lock.release() }
        try prune.run(files: lab.files(), under: lock)
    }

    private func rollBack(_ lab: SwapLab, _ plan: SwapPlan) throws {
        let lock = try StoreLock(lab.store)
        defer { lock.release() }
        let rollback = Rollback(files: lab.files())
        let back = try rollback.prepare(plan, discardsChanges: false, under: lock)
        try rollback.run(back, under: lock)
    }

    private func end(_ lab: SwapLab, _ plan: SwapPlan, prunes: Bool) throws {
        if prunes { try prune(lab, plan) } else { try rollBack(lab, plan) }
    }

    @Test(arguments: [0, 1])
    func aSupportFolderThatIsALinkIsRefused(depth: Int) throws {
        try withLab(.externalData) { lab, canary in
            let external = StoreLocation(lab.store).externalData
            let folder = depth == 0 ? external.parent : external
            try lab.files.removeTree(folder)
            try canary.link(folder, to: depth == 0 ? canary.support : canary.external)
            let fault = try fault { try self.plan(lab) }
            #expect(fault == .symbolicLink)
        }
    }

    @Test func aBackupFolderThatIsALinkIsRefused() throws {
        try withLab(.none) { lab, canary in
            let folder = lab.store.parent.appending(".godwit-backup-r1")
            try canary.link(folder, to: canary.backup)
            let planned = try fault { try self.plan(lab) }
            #expect(planned == .symbolicLink)
            // Put there after the plan was made.
            try lab.files.unlink(folder)
            let plan = try lab.plan()
            try canary.link(folder, to: canary.backup)
            let swapped = try fault { try swap(lab, plan) }
            #expect(swapped == .symbolicLink)
            let seen = try lab.clientView()
            #expect(seen.contains("generation old"))
        }
    }

    /// After the swap the backup's folder is replaced by a link, or by a folder with other files.
    @Test(arguments: [true, false], [true, false])
    func aReplacedBackupFolderIsRefused(isLink: Bool, prunes: Bool) throws {
        try withLab(.none) { lab, canary in
            let plan = try lab.swap()
            let seen = try lab.clientView()
            try lab.files.rename(
                plan.backupFolder, to: lab.folder.appending("aside"), existing: .refuse)
            if isLink {
                try canary.link(plan.backupFolder, to: canary.backup)
                let fault = try fault { try end(lab, plan, prunes: prunes) }
                #expect(fault == .symbolicLink)
            } else {
                try lab.files.makeFolder(plan.backupFolder)
                let other = plan.backupFolder.appending(lab.store.lastComponent)
                _ = try lab.files.clone(from: canary.store, to: other)
                #expect(throws: SwapError.self) { try end(lab, plan, prunes: prunes) }
                #expect(try FileStatus.ifPresent(other) != nil)
            }
            #expect(try lab.clientView() == seen)
        }
    }

    /// A backup of equal size in another file: zeros, or with the header of the original.
    @Test(arguments: [true, false], [StoreShape.none, .fullLog, .withoutLinks])
    func anotherFileIsNoBackup(hasHeader: Bool, shape: StoreShape) throws {
        try withLab(shape) { lab, _ in
            let plan = try lab.swap()
            let seen = try lab.clientView()
            let backup = plan.mainBackup
            var bytes = try lab.files.contents(of: backup, limit: 1 << 30)
            for place in (hasHeader ? 100 : 0)..<bytes.count { bytes[place] = 0 }
            try lab.files.publish(bytes, to: backup)
            let error = #expect(throws: SwapError.self) { try rollBack(lab, plan) }
            guard case .swapOutcomeUnknown = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(throws: SwapError.self) { try prune(lab, plan) }
            #expect(try lab.clientView() == seen)
            #expect(try lab.files.contents(of: backup, limit: 1 << 30) == bytes)
        }
    }

    /// Plans of versions that recorded no backup: what can be compared is.
    @Test(arguments: [StoreShape.none, .fullLog, .externalData, .withoutLinks])
    func plansWithoutARecordAreRolledBackAndPruned(shape: StoreShape) throws {
        for prunes in [true, false] {
            try withLab(shape) { lab, _ in
                let old = try lab.clientView()
                let plan = try lab.swap().asOlderVersion()
                #expect(plan.record == nil)
                if prunes {
                    try prune(lab, plan)
                    #expect(try FileStatus.ifPresent(plan.backupFolder) == nil)
                } else {
                    let backup = try lab.files.contents(of: plan.mainBackup, limit: 1 << 30)
                    let zeros = [UInt8](repeating: 0, count: backup.count)
                    let aside = lab.folder.appending("aside")
                    try lab.files.rename(plan.mainBackup, to: aside, existing: .refuse)
                    try lab.files.publish(zeros, to: plan.mainBackup)
                    #expect(throws: SwapError.self) { try rollBack(lab, plan) }
                    #expect(try lab.clientView().contains("generation new"))
                    try lab.files.rename(aside, to: plan.mainBackup, existing: .replace)
                    try rollBack(lab, plan)
                    #expect(try lab.clientView() == old)
                }
            }
        }
    }

    /// Copies are known only once they are made.
    @Test func copiesAreRecordedBeforeTheStoreMoves() throws {
        try withLab(.withoutLinks) { lab, _ in
            let plan = try lab.plan()
            let lock = try StoreLock(lab.store)
            var copies: [BackupRecord.Entry] = []
            var live: [UInt64] = []
            _ = try Swapper(files: lab.files()).run(
                plan, under: lock,
                recording: { entries in
                    copies += entries
                    live.append(try FileStatus(of: lab.store).identity.inode)
                })
            lock.release()
            #expect(live == [lab.identity.inode])
            #expect(copies.count == 3 && copies.allSatisfy(\.isCopy))
            for entry in try #require(plan.recording(copies).record).entries {
                #expect(entry.isSame(try FileStatus(of: entry.path).identity))
            }
            // Without the later record the copies are files of another user.
            #expect(throws: SwapError.self) { try rollBack(lab, plan) }
            try rollBack(lab, plan.recording(copies))
            #expect(try lab.clientView().contains("generation old"))
        }
    }

    /// The result is replaced by a file with the same bytes, between its validation and the plan.
    @Test func onlyTheValidatedFileIsSwappedIn() throws {
        try withSwapLab(.none) { lab, _ in
            let known = try lab.request()
            let request = SwapRequest(
                store: known.store, run: known.run, expected: known.expected,
                newFile: known.newFile, validated: try FileStatus(of: lab.newFile).identity)
            _ = try SwapPlan(SwapFacts(reading: request, files: lab.files))
            let bytes = try lab.files.contents(of: lab.newFile, limit: 1 << 26)
            try lab.files.publish(bytes, to: lab.newFile)
            let error = #expect(throws: SwapError.self) {
                try SwapPlan(SwapFacts(reading: request, files: lab.files))
            }
            guard case .swapRefused(_, let reason) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(reason.contains("not the file that was validated"))
        }
    }

    /// The result is replaced by a link or a file of another user, before the swap or in the
    /// middle of the call that gives it the store's name.
    @Test(arguments: [StoreShape.none, .fullLog, .hotJournal], [nil, 0, 1] as [Int?])
    func aReplacedResultIsNotSwappedIn(shape: StoreShape, rename: Int?) throws {
        try withLab(shape) { lab, canary in
            let old = try lab.clientView()
            let plan = try lab.plan()
            let victim = rename == 0 ? plan.snapshot?.path ?? lab.newFile : lab.newFile
            let swaps = shape == .none ? 1 : 2
            let count = SwapCount()
            @Sendable func replace() {
                do {
                    try lab.files.rename(
                        victim, to: lab.folder.appending("aside"), existing: .refuse)
                    try canary.link(victim, to: canary.store)
                } catch {
                    Issue.record(error)
                }
            }
            if rename == nil { replace() }
            let files = DurableFileSystem(
                faults: FaultPoints { point in
                    guard point.operation == .rename, point.moment == .before,
                        point.path == lab.store
                    else { return nil }
                    if count.next() == rename.map({ min($0, swaps - 1) }) { replace() }
                    return nil
                })
            let lock = try StoreLock(lab.store)
            let error = #expect(throws: SwapError.self) {
                try Swapper(files: files).run(plan, under: lock)
            }
            lock.release()
            guard case .swapRefused = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(try FileStatus(ofLink: lab.store).isRegularFile)
            #expect(try lab.clientView() == old)
        }
    }

    /// Two stores whose names differ in the extension alone: their backup of external data goes
    /// with the second of them.
    @Test(arguments: [true, false])
    func sharedExternalDataGoWithTheLastStore(prunes: Bool) throws {
        try withLab(.externalData) { lab, _ in
            let second = lab.store.parent.appending("store.other")
            _ = try lab.files.clone(from: lab.store, to: second)
            let result = lab.store.parent.appending(".godwit-unpublished-other")
            _ = try lab.files.clone(from: lab.newFile, to: result)
            let other = try SwapPlan(
                SwapFacts(
                    reading: SwapRequest(
                        store: StoreLocation(second), run: "r1",
                        expected: StoreFingerprint(of: second),
                        newFile: result), files: lab.files))
            let lock = try StoreLock(second)
            _ = try Swapper(files: lab.files).run(other, under: lock)
            lock.release()
            let old = try lab.clientView()
            let plan = try lab.swap()
            let kept = StoreLocation(lab.store).externalData.appending(SwapLab.kept)
            let backup = try #require(plan.externalData).backup.appending(SwapLab.kept)
            if prunes {
                let prune = try PrunePlan(other, backupNames: [], storeNames: [], files: lab.files)
                try prune.run(files: lab.files, under: lock)
            } else {
                let again = try StoreLock(second)
                let rollback = Rollback(files: lab.files)
                let back = try rollback.prepare(other, discardsChanges: false, under: again)
                try rollback.run(back, under: again)
                again.release()
            }
            #expect(try FileStatus.ifPresent(backup) != nil)
            try lab.files.remove(kept)
            try rollBack(lab, plan)
            #expect(try lab.clientView() == old)
            #expect(try FileStatus.ifPresent(plan.backupFolder) == nil)
        }
    }
}

extension SwapPlan {
    /// The plan as a version wrote it that did not record backups.
    func asOlderVersion() throws -> SwapPlan {
        let text = try JSONEncoder().encode(self)
        var object = try #require(
            JSONSerialization.jsonObject(with: text) as? [String: Any])
        #expect(object.removeValue(forKey: "record") != nil)
        return try JSONDecoder().decode(
            SwapPlan.self, from: JSONSerialization.data(withJSONObject: object))
    }
}
