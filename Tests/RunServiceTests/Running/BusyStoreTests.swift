import ClusterProtocol
import CommandSupport
import CoreDataStore
import DurableFiles
import Foundation
import Glibc
import Jobs
import MigrationPlans
import RunLedger
import RunMoves
import RunSupport
import StateFolders
import StoreForge
import StoreLocks
import StoreRuns
import Synchronization
import TestSupport
import Testing

@testable import RunService

/// Stores that another program uses, or writes, while a fleet is migrated.
@Suite("Stores in use") struct BusyStoreTests {
    private static let journals: [ForgeRecipe.Journal] = [
        .writeAheadLog, .writeAheadLogWithContent, .rollback,
    ]

    /// A client in the middle of writing: its store stays, and is replayed once it is done.
    @Test(.enabled(if: SQLiteClient.isThere), arguments: journals, [true, false])
    func storesThatAreBeingWritten(journal: ForgeRecipe.Journal, commits: Bool) throws {
        try RunLab.run { lab in
            let good = try lab.forgeGood()
            let busy = try lab.forge("busy.sqlite", journal: journal)
            let before = try lab.bytes()
            let old = try lab.content(busy)
            let client = try SQLiteClient(busy)
            try client.run("BEGIN IMMEDIATE; UPDATE ZNOTE SET ZTITLE = 'being written'")
            let ending = try lab.migrate(good + [busy])
            #expect(ending.counts == [.done: good.count, .failed: 1])
            let standing = try #require(try lab.standings()[busy])
            #expect(standing.cause == .locked, "\(standing.reason)")
            #expect(standing.reason.contains("pid"))
            try client.run(commits ? "COMMIT" : "ROLLBACK")
            if !commits { #expect(try lab.content(busy) == old) }
            try client.end()
            let written = try lab.content(busy)
            #expect((written == old) != commits)
            let (replayed, count) = try lab.replay()
            #expect(count == 1 && replayed.counts == [.done: good.count + 1])
            let new = try lab.content(busy)
            #expect(new.first == "ok")
            #expect(new.contains { $0.contains("being written") } == commits)
            #expect(try lab.leftovers().isEmpty)
            #expect(try lab.rollBack().allSatisfy { $0.failure == nil })
            #expect(try lab.content(busy) == written)
            let after = try lab.bytes()
            for (path, bytes) in before
            where !path.lastComponent.bytes.starts(with: "busy".utf8) {
                #expect(after[path] == bytes)
            }
        }
    }

    /// In place it would lose its store under its feet; beside it, it loses nothing.
    @Test(.enabled(if: SQLiteClient.isThere))
    func storesThatAreOpen() throws {
        try RunLab.run { lab in
            let good = try lab.forgeGood()
            let open = try lab.forge("open.sqlite")
            let before = try lab.bytes()
            let client = try SQLiteClient(open)
            try client.run("SELECT count(*) FROM ZNOTE")
            let ending = try lab.migrate(good + [open])
            #expect(ending.counts == [.done: good.count, .failed: 1])
            let standing = try #require(try lab.standings()[open])
            #expect(standing.cause == .locked, "\(standing.reason)")
            let results = lab.folder.appending("results")
            let beside = try lab.migrate([open], change: { $0.output = results })
            #expect(beside.counts == [.done: 1])
            #expect(try lab.content(results.appending("open.sqlite")).first == "ok")
            try client.end()
            #expect(try lab.bytes()[open] == before[open])
        }
    }

    /// A hole behind the log's end is not read, however long it is.
    @Test(.timeLimit(.minutes(30))) func aLogWithAHole() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", journal: .writeAheadLogWithContent)
            let content = try lab.content(store)
            #expect(truncate(store.adding(suffix: "-wal").description, 1 << 42) == 0)
            #expect(try lab.migrate([store]).counts == [.done: 1])
            #expect(try lab.content(store) != content)
            #expect(try lab.content(store).first == "ok")
        }
    }

    @Test func twoRunsOnOneStore() throws {
        try RunLab.run { lab in
            let stores = try lab.forgeGood(3)
            let before = try lab.bytes()
            let place = lab.folder.appending("second")
            let second = RunLab(
                folder: place, data: place.appending("data"), state: place.appending("state"))
            try lab.files.makeFolders(second.data)
            let other = try second.forge("other.sqlite")
            // While one run swaps the store, another one is told to do the same.
            let lock = try StoreLock(stores[0])
            let ending = try second.migrate([other, stores[0]])
            #expect(ending.counts == [.done: 1, .failed: 1])
            let standing = try #require(try second.standings()[stores[0]])
            #expect(standing.cause == .locked, "\(standing.reason)")
            lock.release()
            #expect(try lab.migrate(stores).counts == [.done: 3])
            try lab.expect(good: stores, bad: [:], before: before)
            // It finds nothing to do once the first one is done.
            #expect(try second.replay().ending.counts == [.done: 2])
            #expect(try second.standings()[other]?.state == .done)
            #expect(try lab.leftovers().isEmpty && second.leftovers().isEmpty)
        }
    }

    /// What was copied before differs from the store then, and the store is not at fault: it is
    /// planned again, up to twice.
    @Test(arguments: [1, 3]) func storesThatChangeAfterTheyWereCopied(times: Int) throws {
        try RunLab.run { lab in
            let good = try lab.forgeGood(2)
            let changed = try lab.forge("changed.sqlite", journal: .rollback)
            let left = Mutex(times)
            let touch: @Sendable (WatchEvent) -> Void = { event in
                guard case .note(let note) = event, note.store == 3,
                    note.kind == "store-stage", note.text == Stage.validate.rawValue
                else { return }
                let isDue = left.withLock { left in
                    defer { left -= 1 }
                    return left > 0
                }
                do { if isDue { try lab.touch(changed) } } catch { Issue.record(error) }
            }
            let counts = try lab.migrate(good + [changed], strategy: .partitioned, watch: touch)
                .counts
            let standing = try lab.standings()[changed]
            guard times > 1 else {
                let content = try lab.content(changed)
                #expect(counts == [.done: 3])
                #expect(content.contains { $0.contains("written since") })
                return
            }
            #expect(counts == [.done: 2, .failed: 1])
            #expect(standing?.cause == .sourceChanged)
            let replayed = try lab.replay().ending.counts
            #expect(replayed == [.done: 3])
            #expect(try lab.leftovers().isEmpty)
        }
    }

    @Test(arguments: journals, [Strategy.whole, .partitioned])
    func storesThatChangeBeforeTheirSwap(
        journal: ForgeRecipe.Journal, strategy: Strategy
    ) throws {
        try RunLab.run { lab in
            let good = try lab.forgeGood(2)
            let changed = try lab.forge("changed.sqlite", journal: journal)
            var before = try lab.bytes()
            let ending = try lab.migrate(
                good + [changed], strategy: strategy,
                files: DurableFileSystem(
                    faults: .beforeSwap(of: [3]) { _ in try lab.touch(changed) }))
            let reason = try lab.standings()[changed]?.reason ?? ""
            #expect(ending.counts == [.done: 3], "\(reason)")
            // What is kept is the store as it was written last.
            before[changed] = try lab.keptOriginal(changed)
            #expect(try lab.content(changed).contains { $0.contains("written since") })
            try lab.expect(good: good + [changed], bad: [:], before: before)
        }
    }

    /// The result waits beside a busy store; what is written meanwhile makes it worthless.
    @Test(arguments: [Strategy.whole, .partitioned])
    func storesThatChangeWhileTheirResultWaits(strategy: Strategy) throws {
        try RunLab.run { lab in
            let stores = try lab.forgeGood(3)
            let clients = OpenDescriptors()
            let ending = try lab.migrate(
                stores, strategy: strategy,
                files: DurableFileSystem(
                    faults: .beforeSwap(of: [2, 3]) { clients.open(stores[$0 - 1].description) }))
            #expect(ending.counts == [.done: 1, .failed: 2])
            clients.close()
            #expect(try lab.standings().values.filter { $0.cause == .locked }.count == 2)
            let copied = try lab.attempts()
            try lab.touch(stores[2])
            let log = NoticeLog(stores)
            let (replayed, count) = try lab.replay(watch: log.watch)
            #expect(count == 2 && log.touched == Set(stores[1...]))
            let standings = try lab.standings()
            #expect(
                replayed.counts == [.done: 3], "\(standings.values.map(\.reason))")
            #expect(try lab.content(stores[2]).contains { $0.contains("written since") })
            #expect(try lab.leftovers().isEmpty)
            // Exactly the store that changed was copied again.
            #expect(standings[stores[0]]?.resets == 0 && standings[stores[1]]?.resets == 0)
            guard strategy == .partitioned else { return }
            #expect(standings[stores[2]]?.resets == 1)
            let again = try lab.attempts()
            #expect(again.afterAcceptance == 0 && copied.jobs > 3)
            #expect(again.attempts > copied.attempts)
            #expect(again.attempts < copied.attempts * 5 / 3)
        }
    }
}
