import CoreDataStore
import DurableFiles
import Foundation
import Glibc
import Jobs
import MigrationEngine
import RunLedger
import RunSupport
import SafeSQLite
import StateFolders
import StoreForge
import StoreSwap
import TestSupport
import Testing

@testable import RunMoves
@testable import StoreRuns

/// Folders of stores that lead elsewhere, and backups that are not what the run put there.
@Suite("Other people's folders") struct ForeignFolderRunTests {
    /// Everything of a folder that shows whether it was touched.
    private func state(_ folder: FilePath) throws -> [String] {
        let files = DurableFileSystem()
        return try files.tree(at: folder).map { found in
            let status = found.status
            let digest =
                status.isRegularFile
                ? try ContentDigest.hexadecimal(of: found.path, files: files).digest : ""
            return "\(found.path) \(status.mode) \(status.owner) \(status.group) "
                + "\(status.links) \(status.size) \(digest)"
        }
    }

    private func link(_ path: FilePath, to target: FilePath) throws {
        try #require(symlink(target.description, path.description) == 0)
    }

    private func fault(of error: RunError?) -> FolderFault? {
        switch error {
        case .file(.refusedFolder(_, let fault)), .swap(.file(.refusedFolder(_, let fault))):
            fault
        case .file(.refusedPath), .swap(.file(.refusedPath)): .symbolicLink
        default: nil
        }
    }

    /// A neighbour with a store of the same app and with external data.
    private func neighbour(_ lab: RunLab) throws -> FilePath {
        let folder = lab.folder.appending("alice")
        try lab.files.makeFolder(folder)
        let home = RunLab(folder: lab.folder, data: folder, state: lab.state)
        return try home.forge("Notes.sqlite", notes: 200, seed: 7)
    }

    @Test(arguments: [true, false])
    func aLinkedSupportFolderIsRefusedBeforeAnyWork(inPlace: Bool) throws {
        try RunLab.run { lab in
            let alice = try neighbour(lab)
            let store = try lab.forge("m.sqlite")
            let good = try lab.forge("good.sqlite", seed: 3)
            let support = StoreLocation(store).support
            try lab.files.removeTree(support)
            try link(support, to: StoreLocation(alice).support)
            let before = try state(alice.parent)
            let bytes = try lab.bytes()
            let output = inPlace ? nil : lab.folder.appending("out")
            let ending = try lab.migrate([store, good], change: { $0.output = output })
            #expect(ending.counts == [.done: 1, .failed: 1])
            let standing = try #require(try lab.standings()[store])
            #expect(standing.cause == .swapRefused)
            #expect(standing.reason.contains("\(support)") && standing.reason.contains("link"))
            #expect(try lab.bytes()[store] == bytes[store])
            let request = MigrationRequest(
                store: store, output: output, state: lab.folder.appending("plan"),
                destination: .model(try DestinationModel(model: ForgeModels.notes(version: 2))))
            let error = #expect(throws: RunError.self) {
                try EngineMigration(request, clock: { 0 }).plan()
            }
            #expect(fault(of: error) == .symbolicLink)
            #expect(try lab.prune(removes: true).refused.isEmpty)
            #expect(try state(alice.parent) == before)
        }
    }

    /// The name of a store, or of its folder, becomes a link to a neighbour's after it was found.
    @Test(arguments: [true, false], [true, false])
    func aStoreThatBecameALinkIsNotFollowed(inPlace: Bool, isFolder: Bool) throws {
        try RunLab.run { lab in
            let alice = try neighbour(lab)
            let folder = lab.data.appending("mallory")
            try lab.files.makeFolder(folder)
            let store = folder.appending("Notes.sqlite")
            _ = try lab.files.clone(from: alice, to: store)
            let before = try state(alice.parent)
            let output = inPlace ? nil : lab.folder.appending("out")
            let found = try lab.found([store], output: output)
            if isFolder {
                try lab.files.removeTree(folder)
                try link(folder, to: alice.parent)
            } else {
                try lab.files.unlink(store)
                try link(store, to: alice)
            }
            let request = try lab.request([store], output: output)
            let ending = try TestRuns(lab.environment()).run(request, over: found)
            #expect(ending.counts == [.failed: 1])
            #expect(try lab.standings()[store]?.reason.contains("symbolic link") == true)
            #expect(try state(alice.parent) == before)
            if let output, try FileStatus.ifPresent(output) != nil {
                #expect(try lab.files.tree(at: output).allSatisfy { !$0.status.isRegularFile })
            }
        }
    }

    /// A log that is a link to a neighbour's: its rows would come into the result.
    @Test(arguments: ["-wal", "-journal"], [true, false])
    func aLogThatIsALinkIsNotRead(suffix: String, inPlace: Bool) throws {
        try RunLab.run { lab in
            let alice = try neighbour(lab)
            let log = alice.adding(suffix: suffix)
            try lab.files.publish([UInt8](repeating: 7, count: 8192), to: log)
            let before = try state(alice.parent)
            let store = try lab.forge("m.sqlite")
            try link(store.adding(suffix: suffix), to: log)
            let output = inPlace ? nil : lab.folder.appending("out")
            let ending = try lab.migrate([store], change: { $0.output = output })
            #expect(ending.counts == [.failed: 1])
            #expect(try lab.standings()[store]?.reason.contains("symbolic link") == true)
            #expect(try state(alice.parent) == before)
        }
    }

    @Test func aLinkInTheOutputFolderIsRefused() throws {
        try RunLab.run { lab in
            let alice = try neighbour(lab)
            let before = try state(alice.parent)
            let output = lab.folder.appending("out")
            try lab.files.makeFolder(output)
            try link(output.appending("sub"), to: alice.parent)
            let store = try lab.forge("m.sqlite")
            let found = FoundStore(
                number: 1, location: StoreLocation(store),
                output: StoreLocation(output.appending("sub/m.sqlite")), bytes: 1)
            let request = try lab.request([store], output: output)
            let ending = try TestRuns(lab.environment()).run(request, over: [found])
            #expect(ending.counts == [.failed: 1])
            #expect(try lab.standings()[store]?.reason.contains("symbolic link") == true)
            #expect(try state(alice.parent) == before)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root gives folders to others"))
    func aSupportFolderOfSomebodyElseIsRefused() throws {
        try RunLab.run { lab in
            let store = try lab.forge("m.sqlite")
            let support = StoreLocation(store).support
            _ = chown(store.description, 4001, 4001)
            _ = chown(support.description, 4002, 4002)
            #expect(try lab.migrate([store]).counts == [.failed: 1])
            let standing = try #require(try lab.standings()[store])
            #expect(standing.reason.contains("user 4002") && standing.reason.contains("chown"))
            #expect(try lab.ours().isEmpty)
            // A result beside it only reads.
            var request = try lab.request([store], output: lab.folder.appending("out"))
            request.state = lab.folder.appending("other")
            let ending = try TestRuns(lab.environment()).run(
                request, over: lab.found([store], output: lab.folder.appending("out")))
            #expect(ending.counts == [.done: 1])
        }
    }

    @Test(.enabled(if: SmallDisk.isAvailable, SmallDisk.absence))
    func aSupportFolderOnAnotherFileSystemIsRefused() throws {
        try RunLab.run { lab in
            let store = try lab.forge("m.sqlite")
            let support = StoreLocation(store).support
            let aside = lab.folder.appending("aside")
            try lab.files.rename(support, to: aside, existing: .refuse)
            try lab.files.makeFolder(support)
            let options = ["-t", "tmpfs", "-o", "size=16m", "godwit-tests", support.description]
            try #require(try SmallDisk.command("mount", options) == 0)
            defer { _ = try? SmallDisk.command("umount", ["-l", support.description]) }
            let external = StoreLocation(store).externalData
            try lab.files.makeFolder(external)
            for name in try lab.files.names(in: aside.appending("_EXTERNAL_DATA")) {
                _ = try lab.files.clone(
                    from: aside.appending("_EXTERNAL_DATA").appending(name),
                    to: external.appending(name))
            }
            #expect(try lab.migrate([store]).counts == [.failed: 1])
            let standing = try #require(try lab.standings()[store])
            #expect(standing.cause == .swapRefused)
            #expect(standing.reason.contains("\(support)"))
            #expect(standing.reason.contains("file system"))
            #expect(try lab.ours().isEmpty)
        }
    }

    /// The backup's folder is replaced by a link to a neighbour's, whose store has the same name.
    @Test(arguments: [true, false])
    func aReplacedBackupTouchesNobody(prunes: Bool) throws {
        try RunLab.run { lab in
            let alice = try neighbour(lab)
            let store = try lab.forge("Notes.sqlite")
            try lab.migrate([store])
            let backup = try #require(try lab.ours().first)
            let folder = lab.data.appending(FilePath(backup))
            try lab.files.rename(
                folder, to: lab.folder.appending("aside"), existing: .refuse)
            try link(folder, to: alice.parent)
            let (before, live) = (try state(alice.parent), try lab.content(store))
            if prunes {
                let refused = try lab.prune(removes: true).refused
                #expect(refused.count == 1)
                #expect(fault(of: refused.first?.failure) == .symbolicLink)
            } else {
                let changes = try lab.rollBack()
                #expect(fault(of: changes.first?.failure) == .symbolicLink)
            }
            #expect(try state(alice.parent) == before)
            #expect(try lab.content(store) == live)
            // With the folder back in its place everything works.
            try lab.files.unlink(folder)
            try lab.files.rename(
                lab.folder.appending("aside"), to: folder, existing: .refuse)
            #expect(try lab.rollBack().allSatisfy { $0.failure == nil })
        }
    }

    /// Zeros of equal size take the backup's name.
    @Test func aBackupOfZerosIsNotPutBack() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", notes: 30, journal: .rollback)
            try lab.migrate([store])
            let live = try lab.content(store)
            let folder = lab.data.appending(FilePath(try #require(try lab.ours().first)))
            let backup = folder.appending("a.sqlite")
            let size = Int(try FileStatus(of: backup).size)
            try lab.files.publish([UInt8](repeating: 0, count: size), to: backup)
            let change = try #require(try lab.rollBack().first)
            guard case .swap(.swapOutcomeUnknown) = change.failure else {
                Issue.record("\(String(describing: change.failure))")
                return
            }
            #expect(try lab.content(store) == live)
            #expect(try lab.prune(removes: true).refused.count == 1)
            #expect(try FileStatus.ifPresent(backup) != nil)
        }
    }

    /// A ledger of a version that did not record backups.
    @Test(arguments: [true, false])
    func olderLedgersWorkAndSaySo(prunes: Bool) throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", journal: .writeAheadLogWithContent)
            let bytes = try lab.bytes()
            let old = try lab.content(store)
            try lab.migrate([store])
            let ledger = try Connection(
                path: lab.state.appending("ledger.sqlite"), mode: .readWrite)
            try ledger.execute(
                "UPDATE swap_step SET detail = json_remove(detail, '$.way.swap._0.record')")
            #expect(
                try ledger.texts("SELECT count(*) FROM swap_step WHERE detail LIKE '%\"record\"%'")
                    == ["0"])
            try ledger.close()
            if prunes {
                #expect(try lab.prune(removes: true).refused.isEmpty)
                #expect(try lab.ours().isEmpty)
            } else {
                let change = try #require(try lab.rollBack().first)
                #expect(change.failure == nil, "\(change)")
                #expect(change.text.contains("an older Godwit"))
                #expect(try lab.content(store) == old)
                #expect(try lab.bytes() == bytes)
            }
        }
    }

    /// Two stores of one name share their external data: the backup of these goes with the second.
    @Test func sharedBackupsAreKeptForTheOtherStore() throws {
        try RunLab.run { lab in
            let first = try lab.forge("a.sqlite", notes: 200)
            let second = lab.path("a.store")
            _ = try lab.files.clone(from: first, to: second)
            let (bytes, old) = (try lab.bytes(), try lab.content(second))
            #expect(try lab.migrate([first, second]).counts == [.done: 2])
            _ = try PruneRun(lab.selection(first), environment: lab.environment()).run(
                removes: true)
            // The app deletes an object of the other store with its file.
            let folder = StoreLocation(second).externalData
            let name = try #require(try lab.files.names(in: folder).first)
            try lab.write(second, "DELETE FROM ZATTACHMENT")
            try lab.files.remove(folder.appending(name))
            let changes = try lab.rollBack(second, discardsChanges: true)
            #expect(changes.allSatisfy { $0.failure == nil }, "\(changes)")
            #expect(try lab.content(second) == old)
            #expect(try lab.bytes()[folder.appending(name)] == bytes[folder.appending(name)])
            #expect(try lab.ours().isEmpty)
        }
    }

    /// A swap that failed after its backup was made leaves names that prune removes.
    @Test func backupsOfFailedSwapsArePruned() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite")
            let bytes = try lab.bytes()
            let files = DurableFileSystem(
                faults: FaultPoints { point in
                    point.operation == .rename && point.path == store ? .error(EXDEV) : nil
                })
            #expect(try lab.migrate([store], files: files).counts == [.failed: 1])
            #expect(try !lab.ours().isEmpty)
            #expect(try lab.prune(removes: true).refused.isEmpty)
            #expect(try lab.ours().isEmpty)
            #expect(try lab.bytes() == bytes)
        }
    }

    /// Waiting results in folders of users who turn them into links and back without pause.
    @Test func waitingResultsAreNoWayOut() throws {
        let text = ProcessInfo.processInfo.environment["GODWIT_FLIPPED_SWAPS"] ?? ""
        let count = Int(text) ?? 8
        var flips = 0
        for number in 0..<count {
            try RunLab.run { lab in
                let alice = try neighbour(lab)
                _ = chmod(alice.description, 0o600)
                let store = try lab.forge("m.sqlite", notes: 20, seed: UInt64(number))
                try lab.migrate([store], change: { $0.defersSwap = true })
                let result = try #require(try lab.leftovers().first)
                if geteuid() == 0 {
                    for path in [lab.data, store, StoreLocation(store).support] {
                        _ = chown(path.description, 65_534, 65_534)
                    }
                    _ = chmod(store.description, 0o666)
                }
                let before = try state(alice.parent)
                let flipper = Flipper(result, to: alice.description)
                _ = try lab.swap()
                flipper.stop()
                flips += flipper.flips
                #expect(try state(alice.parent) == before)
                let back = Flipper(store.description, to: alice.description)
                do { _ = try lab.rollBack() } catch is RunError {}
                back.stop()
                flips += back.flips
                #expect(try state(alice.parent) == before)
            }
        }
        #expect(flips > count)
    }
}
