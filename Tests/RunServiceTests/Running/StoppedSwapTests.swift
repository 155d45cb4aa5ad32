import CoreDataStore
import DurableFiles
import Foundation
import Jobs
import MigrationEngine
import RunLedger
import StateFolders
import StoreForge
import Synchronization
import Testing

@testable import RunMoves
@testable import StoreRuns

/// Runs whose process died in the middle of a swap, and what people do next.
@Suite("Swaps that were stopped, and what is done next") struct StoppedSwapTests {
    /// A process that dies once a store's name has changed hands so many times.
    final class Death: Sendable {
        private let renames = Mutex(0)
        private let store: FilePath
        private let limit: Int
        /// Called once, when the process has died.
        private let then: @Sendable () -> Void

        init(
            after limit: Int, renamesOf store: FilePath,
            then: @escaping @Sendable () -> Void = {}
        ) {
            self.store = store
            self.limit = limit
            self.then = then
        }

        var isDead: Bool { renames.withLock { $0 >= limit } }

        var files: DurableFileSystem {
            DurableFileSystem(
                faults: FaultPoints { point in
                    if self.isDead { return .error(EIO) }
                    if point.operation == .rename, point.moment == .after, point.path == self.store
                    {
                        self.renames.withLock { $0 += 1 }
                        if self.isDead { self.then() }
                    }
                    return self.isDead ? .error(EIO) : nil
                })
        }
    }

    private func die(
        _ lab: RunLab, _ stores: [FilePath], after renames: Int, of store: FilePath
    ) throws {
        let death = Death(after: renames, renamesOf: store)
        #expect(throws: RunError.self) { try lab.migrate(stores, files: death.files) }
        #expect(death.isDead)
    }

    /// The result has its name, the ledger does not know; a client has it open meanwhile.
    @Test(.enabled(if: SQLiteClient.isThere))
    func resultsInUseAreNotFailures() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite")
            let (old, bytes) = (try lab.content(store), try lab.bytes())
            try die(lab, [store], after: 1, of: store)
            #expect(try lab.content(store) != old)
            let client = try SQLiteClient(store)
            try client.run("BEGIN; SELECT count(*) FROM ZNOTE")
            let ending = try lab.migrate([store])
            #expect(ending.counts == [.running: 1])
            try client.run("COMMIT")
            try client.end()
            let changes = try lab.rollBack()
            #expect(changes.map(\.text) == ["rolled back"], "\(changes)")
            #expect(try lab.content(store) == old)
            #expect(try lab.bytes() == bytes)
            #expect(try lab.standings()[store]?.state == .rolledBack)
        }
    }

    @Test func resultsWithoutRecordAreRecordedByTheSameCommand() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite")
            try die(lab, [store], after: 1, of: store)
            let new = try lab.content(store)
            #expect(try lab.migrate([store]).counts == [.done: 1])
            #expect(try lab.content(store) == new)
        }
    }

    /// Between its snapshot and its result a store is written by a client that knows of nothing.
    @Test func whatIsWrittenBetweenTwoStepsIsMigrated() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", journal: .writeAheadLogWithContent)
            try die(lab, [store], after: 1, of: store)
            try lab.write(store, "UPDATE ZNOTE SET ZTITLE = 'written between' WHERE Z_PK = 1")
            let written = try lab.content(store)
            #expect(try lab.migrate([store]).counts == [.done: 1])
            let new = try lab.content(store)
            #expect(new.first == "ok" && new != written)
            #expect(new.contains { $0.contains("written between") })
            #expect(try lab.rollBack().allSatisfy { $0.failure == nil })
            #expect(try lab.content(store) == written)
            #expect(try lab.prune(removes: true).refused.isEmpty)
            #expect(try lab.ours().isEmpty)
        }
    }

    @Test func aRunIsCancelledAsAWholeOrNotAtAll() throws {
        try RunLab.run { lab in
            let stores = try lab.forgeGood(4)
            try die(lab, stores, after: 1, of: stores[2])
            let before = try lab.standings().mapValues(\.state)
            #expect(throws: RunError.self) {
                try CancelRun(lab.selection(), environment: lab.environment()).run()
            }
            #expect(try lab.standings().mapValues(\.state) == before)
            #expect(try lab.migrate(stores).counts == [.done: 4])
        }
    }

    @Test func nothingIsPrunedThatAStoppedSwapNeeds() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite")
            let old = try lab.content(store)
            try die(lab, [store], after: 1, of: store)
            #expect(throws: RunError.self) { try lab.prune(removes: true) }
            #expect(try lab.rollBack().allSatisfy { $0.failure == nil })
            #expect(try lab.content(store) == old)
        }
    }

    /// A store that goes while others are swapped costs itself alone.
    @Test(arguments: [1, 3])
    func aStoreThatVanishesDuringTheSwapsOfItsBatch(gone: Int) throws {
        try RunLab.run { lab in
            let stores = try lab.forgeGood(4)
            let (first, victim) = (stores[0], stores[gone])
            let removed = Mutex(false)
            let files = DurableFileSystem(
                faults: FaultPoints { point in
                    if point.operation == .rename, point.moment == .before, point.path == first {
                        let isFirst = removed.withLock { removed in
                            defer { removed = true }
                            return !removed
                        }
                        if isFirst { _ = victim.withUnlinked() }
                    }
                    return nil
                })
            let ending = try lab.migrate(stores, files: files, change: { $0.slots = 1 })
            #expect(ending.counts == [.done: 3, .failed: 1])
            #expect(try lab.standings()[victim]?.state == .failed)
        }
    }

    /// The original of a result that a program removed is put back.
    @Test func aResultThatIsGoneIsRolledBack() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", journal: .writeAheadLogWithContent)
            let (old, bytes) = (try lab.content(store), try lab.bytes())
            try lab.migrate([store])
            try lab.files.remove(store)
            let changes = try lab.rollBack()
            #expect(changes.allSatisfy { $0.failure == nil }, "\(changes)")
            #expect(try lab.content(store) == old)
            #expect(try lab.bytes() == bytes)
        }
    }

    /// Files of external data that a store of another extension refers to, too.
    @Test func sharedExternalDataIsNotPruned() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", notes: 200)
            _ = try lab.files.clone(from: store, to: lab.path("a.store"))
            try lab.migrate([store])
            let folder = StoreLocation(store).externalData
            let names = try lab.files.names(in: folder)
            #expect(names.count > 4)
            try lab.write(store, "DELETE FROM ZATTACHMENT")
            #expect(try lab.prune(removes: true).refused.isEmpty)
            #expect(try lab.files.names(in: folder) == names)
        }
    }

    /// A replay whose process died is gone on with by the same command.
    @Test func aKilledReplayIsReplayed() throws {
        try RunLab.run { lab in
            let good = try lab.forgeGood(2)
            let store = try lab.forge("bad.sqlite")
            let whole = try lab.files.contents(of: store, limit: 1 << 30)
            try lab.files.publish(Array("no store".utf8), to: store)
            #expect(try lab.migrate(good + [store]).counts == [.done: 2, .failed: 1])
            try lab.files.publish(whole, to: store)
            let death = Death(after: 1, renamesOf: store)
            #expect(throws: RunError.self) {
                try lab.replay(files: death.files)
            }
            let (ending, count) = try lab.replay()
            #expect(count == 1 && ending.counts == [.done: 3])
            #expect(throws: RunError.self) { try lab.replay() }
        }
    }
}

extension FilePath {
    /// Removes the file, as another program would.
    fileprivate func withUnlinked() -> Bool {
        guard let text = string else { return false }
        return unlink(text) == 0
    }
}
