import ClusterProtocol
import CommandSupport
import DurableFiles
import Jobs
import MigrationEngine
import RunLedger
import RunMoves
import RunSupport
import StateFolders
import StoreForge
import TestSupport
import Testing

@testable import StoreRuns

/// Results that wait for their swap.
@Suite("Deferred swaps") struct DeferredSwapTests {
    /// Migrates a fleet up to the swap and changes one of its stores.
    private func prepare(
        _ lab: RunLab
    ) throws -> (stores: [FilePath], before: [FilePath: [UInt8]]) {
        let stores = try lab.forgeGood()
        var before = try lab.bytes()
        let ending = try lab.migrate(stores, change: { $0.defersSwap = true })
        #expect(ending.counts == [.validated: stores.count])
        #expect(try lab.bytes().filter { before[$0.key] != nil } == before)
        #expect(try lab.leftovers().count >= stores.count)
        // The same command again has nothing left to do.
        let waiting = try lab.identities(lab.files.tree(at: lab.data).map(\.path))
        let again = try lab.migrate(stores, change: { $0.defersSwap = true })
        #expect(again.isResumed && again.counts == [.validated: stores.count])
        #expect(try lab.identities(waiting.keys) == waiting)
        try lab.touch(stores[1])
        for suffix in ["", "-wal"] {
            let file = stores[1].adding(suffix: suffix)
            before[file] = try FileStatus.ifPresent(file).map { _ in
                try lab.files.contents(of: file, limit: 1 << 30)
            }
        }
        return (stores, before)
    }

    @Test func waitingResultsAreSwapped() throws {
        try RunLab.run { lab in
            let (stores, before) = try prepare(lab)
            let waiting = try lab.identities(lab.files.tree(at: lab.data).map(\.path))
            // The one that changed is migrated again, and swapped like the others.
            #expect(try lab.swap().counts == [.done: stores.count])
            #expect(try lab.content(stores[1]).contains { $0.contains("written since") })
            let inodes = Set(waiting.values.map(\.inode))
            for store in stores where store != stores[1] {
                #expect(inodes.contains(try FileStatus(of: store).identity.inode), "\(store)")
            }
            try lab.expect(good: stores, bad: [:], before: before)
            #expect(throws: RunError.self) { try lab.swap() }
        }
    }

    /// A store that a client has open keeps its waiting result.
    @Test func aBusyStoreWaitsOn() throws {
        try RunLab.run { lab in
            let stores = try lab.forgeGood(3)
            try lab.migrate(stores, change: { $0.defersSwap = true })
            let clients = OpenDescriptors()
            clients.open(stores[1].description)
            let log = NoticeLog(stores)
            let ending = try lab.swap(watch: log.watch)
            #expect(ending.counts == [.done: 2, .validated: 1])
            let waits = try #require(log.all.first { $0.kind == "store-validated" })
            #expect(waits.store == 2 && waits.text.contains("open in"), "\(waits.text)")
            clients.close()
            #expect(try lab.swap().counts == [.done: 3])
        }
    }

    /// The same command without --defer-swap swaps what waits, and makes again what changed.
    @Test func theSameCommandSwapsToo() throws {
        try RunLab.run { lab in
            let (stores, before) = try prepare(lab)
            let waiting = try lab.identities(lab.files.tree(at: lab.data).map(\.path))
            let ending = try lab.migrate(stores)
            let reasons = try lab.standings().values.map(\.reason)
            #expect(ending.isResumed)
            #expect(ending.counts == [.done: stores.count], "\(reasons)")
            #expect(try lab.content(stores[1]).contains { $0.contains("written since") })
            try lab.expect(good: stores, bad: [:], before: before)
            // The others are the very files that waited.
            let inodes = Set(waiting.values.map(\.inode))
            for store in stores where store != stores[1] {
                #expect(inodes.contains(try FileStatus(of: store).identity.inode), "\(store)")
            }
        }
    }

    @Test func waitingResultsAreThrownAwayByARollback() throws {
        try RunLab.run { lab in
            let (stores, before) = try prepare(lab)
            let changes = try lab.rollBack()
            #expect(changes.count == stores.count && changes.allSatisfy { $0.failure == nil })
            #expect(try lab.bytes() == before)
            #expect(try lab.ours().isEmpty)
            #expect(throws: RunError.self) { try lab.swap() }
        }
    }
}
