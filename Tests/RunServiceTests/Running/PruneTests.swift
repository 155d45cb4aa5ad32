import CoreDataStore
import DurableFiles
import FaultSupport
import Foundation
import Jobs
import ManagedObjectModel
import MigrationPlans
import RunLedger
import RunSupport
import SafeSQLite
import StateFolders
import StoreForge
import TestSupport
import Testing

@testable import RunMoves
@testable import StoreRuns

/// Backups and leftovers are removed for good, and what that frees is said before.
@Suite("Pruning and cancelling") struct PruneTests {
    /// Looks first, then removes, and compares both with what the disk says.
    private func expectHonest(
        _ lab: RunLab, _ location: SourceLocation = #_sourceLocation
    ) throws {
        let disk = try lab.bytesOnDisk()
        let live = try lab.bytes()
        let promised = try lab.prune(removes: false)
        #expect(try lab.bytesOnDisk() == disk, sourceLocation: location)
        #expect(try lab.bytes() == live, sourceLocation: location)
        let kept = try lab.prune(removes: true)
        #expect(kept.refused.isEmpty, "\(kept.refused)", sourceLocation: location)
        #expect(promised.bytes == kept.bytes, sourceLocation: location)
        #expect(promised.backups == kept.backups, sourceLocation: location)
        let freed = disk - (try lab.bytesOnDisk())
        #expect(freed == promised.bytes, sourceLocation: location)
        #expect(promised.bytes > 0, sourceLocation: location)
        #expect(try lab.ours().isEmpty, sourceLocation: location)
    }

    private func externalNames(_ store: FilePath) throws -> [(key: String, name: String)] {
        let connection = try Connection(path: store, mode: .readWrite)
        let rows = try connection.texts(
            "SELECT Z_PK || ' ' || CAST(substr(ZCONTENT, 2, 36) AS TEXT) FROM ZATTACHMENT "
                + "WHERE hex(substr(ZCONTENT, 1, 1)) = '02' ORDER BY Z_PK")
        try connection.close()
        return rows.map { row in
            let parts = row.split(separator: " ").map(String.init)
            return (parts[0], parts[1])
        }
    }

    @Test func pruningFreesWhatItSaid() throws {
        try RunLab.run { lab in
            let stores = try lab.forgeGood()
            try lab.migrate(stores)
            let live = try lab.bytes()
            try expectHonest(lab)
            #expect(try lab.bytes() == live)
            #expect(try lab.standings().values.allSatisfy { $0.state == .pruned })
            #expect(throws: RunError.self) { try lab.rollBack() }
        }
    }

    /// A store of an era without a cached model, with external data, migrated with `--from`.
    private func migrateWithoutCache(_ lab: RunLab) throws -> FilePath {
        let store = lab.path("old.sqlite")
        try ForgedStore.notes(at: store, notes: 200) { $0.framework = FrameworkVersion(519) }
        let model = try ForgeModels.notes(version: 1)
        let ending = try lab.migrate([store], change: { $0.sourceModel = model })
        #expect(ending.counts == [.done: 1])
        return store
    }

    @Test("a store that was migrated with --from is pruned with the model that it gave")
    func modelOfTheRequest() throws {
        for changesStore in [false, true] {
            try RunLab.run { lab in
                let store = try migrateWithoutCache(lab)
                if changesStore {
                    // A client of the old era took the cache out, as it may.
                    try lab.write(store, "DELETE FROM Z_MODELCACHE")
                }
                try expectHonest(lab)
                #expect(try lab.standings().values.allSatisfy { $0.state == .pruned })
            }
        }
    }

    @Test("reports stay where a store could not be pruned")
    func reportsStay() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", notes: 200)
            try lab.migrate([store])
            let run = RunFolders(state: lab.state, run: "r1")
            try lab.files.makeFolders(run.folder)
            try lab.files.publish(Array("{}".utf8), to: run.report)
            try lab.write(store, "UPDATE Z_METADATA SET Z_PLIST = x'00'")
            let found = try lab.prune(removes: true)
            #expect(found.refused.map(\.path) == [store])
            #expect(try FileStatus.ifPresent(run.report) != nil)
            #expect(found.leftovers.isEmpty)
        }
    }

    @Test func externalDataOfTheBackupAloneGoes() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", notes: 200)
            try lab.migrate([store])
            let names = try externalNames(store)
            #expect(names.count > 4)
            // One object is deleted with its file, as Core Data does, another without.
            let folder = StoreLocation(store).externalData
            try lab.write(
                store, "DELETE FROM ZATTACHMENT WHERE Z_PK IN (\(names[0].key), \(names[1].key))")
            try lab.files.remove(folder.appending(names[0].name))
            // What no row refers to and what was there before stays: it is not ours to judge.
            try lab.files.publish([1, 2, 3], to: folder.appending("of another user"))
            try expectHonest(lab)
            let left = try lab.files.names(in: folder).map(\.description)
            #expect(
                Set(left) == Set(names.dropFirst(2).map(\.name) + ["of another user"]))
        }
    }

    /// Results that wait beside stores in use, and stores that are bad.
    @Test(arguments: [Strategy.whole, .partitioned])
    func leftoversOfFailedStoresCountOnce(strategy: Strategy) throws {
        try RunLab.run { lab in
            let stores = try lab.forgeGood(3)
            let bad = lab.path("bad.sqlite")
            try lab.files.publish(Array("no store".utf8), to: bad)
            let clients = OpenDescriptors()
            let ending = try lab.migrate(
                stores + [bad], strategy: strategy,
                files: DurableFileSystem(
                    faults: .beforeSwap(of: [2]) { _ in clients.open(stores[1].description) }))
            #expect(ending.counts == [.done: 2, .failed: 2])
            clients.close()
            #expect(try !lab.leftovers().isEmpty)
            try expectHonest(lab)
        }
    }

    @Test func unfinishedRunsAreNotPruned() throws {
        try RunLab.run { lab in
            let stores = try lab.forgeGood(2)
            try lab.migrate(stores, change: { $0.defersSwap = true })
            let before = try lab.bytesOnDisk()
            for removes in [false, true] {
                #expect(throws: RunError.self) { try lab.prune(removes: removes) }
            }
            #expect(try lab.bytesOnDisk() == before)
            #expect(try lab.swap().counts[.validated] ?? 0 == 0)
            try expectHonest(lab)
        }
    }

    @Test(arguments: [Strategy.whole, .partitioned])
    func cancelledRunsLeaveTheOriginals(strategy: Strategy) throws {
        var points = 0
        try RunLab.run { lab in
            let disk = FailingDisk(at: .max, .dies)
            try lab.migrate(lab.forgeGood(2), strategy: strategy, files: disk.files)
            points = disk.points
        }
        var cancelled = 0
        for share in stride(from: 0.1, to: 1, by: RunLab.isLong ? 0.01 : 0.15) {
            try RunLab.run { lab in
                let stores = try lab.forgeGood(2)
                let before = try lab.bytes()
                let disk = FailingDisk(at: Int(Double(points) * share), .dies)
                #expect(throws: RunError.self) {
                    try lab.migrate(stores, strategy: strategy, files: disk.files)
                }
                guard try cancel(lab) else { return }
                cancelled += 1
                let standings = try lab.standings()
                let after = try lab.bytes()
                for store in stores where standings[store]?.state == .cancelled {
                    for suffix in ["", "-wal"] {
                        let file = store.adding(suffix: suffix)
                        #expect(after[file] == before[file], "\(file) at \(share)")
                    }
                }
                #expect(try lab.leftovers().isEmpty, "at \(share)")
                _ = try lab.prune(removes: true)
                #expect(try lab.ours().isEmpty, "at \(share)")
                // The same command begins again.
                let ending = try lab.migrate(stores, strategy: strategy)
                #expect(ending.counts == [.done: 2] && !ending.isResumed, "at \(share)")
            }
        }
        #expect(cancelled > 1)
    }

    /// Whether the run could be given up; otherwise a swap had begun, or nothing had.
    private func cancel(_ lab: RunLab) throws -> Bool {
        do throws(RunError) {
            _ = try CancelRun(lab.selection(), environment: lab.environment()).run()
            return true
        } catch {
            switch error {
            // It died before the run was recorded, or after its end.
            case .noRun, .nothingToDo: return false
            default: throw error
            }
        }
    }
}
