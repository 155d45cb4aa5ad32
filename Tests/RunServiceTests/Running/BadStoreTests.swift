import CoreDataStore
import DurableFiles
import Foundation
import Jobs
import MigrationEngine
import RunLedger
import RunSupport
import StateFolders
import StoreDiscovery
import StoreForge
import Testing

@testable import RunMoves
@testable import StoreRuns

/// Bad stores among good ones: they fail alone, each with its cause, and are left as they were.
@Suite("Bad stores in a fleet") struct BadStoreTests {
    /// Bad stores that share a fleet.
    struct Company: CustomTestStringConvertible, Sendable {
        let damages: [Damage]

        var testDescription: String { damages.map(\.name).joined(separator: ", ") }
    }

    static let damages =
        HostileFileTests.files + HostileFileTests.logs + FleetDamages.all
        + HostileSchemaTests.systemTables + HostileSchemaTests.entityTables
        + (RunLab.isLong ? HostileSchemaTests.texts : [])

    /// As many bad stores as good ones; alone among good ones in long tests.
    static let companies: [Company] = {
        let size = RunLab.isLong ? 1 : 6
        return stride(from: 0, to: damages.count, by: size).map { start in
            Company(damages: Array(damages[start..<min(start + size, damages.count)]))
        }
    }()

    private static let causes: Set<FailureCause> = [
        .damaged, .unsupported, .modelMissing, .dataRefused,
    ]

    @Test(arguments: companies)
    func badStoresFailAlone(_ company: Company) throws {
        try RunLab.run { lab in
            var bad: [FilePath: Set<FailureCause>] = [:]
            for (number, damage) in company.damages.enumerated() {
                let store = try lab.addBad(damage, named: "bad-\(number).sqlite")
                bad[store] = FleetDamages.causes[damage.name].map { [$0] } ?? Self.causes
            }
            let good = try lab.forgeGood()
            let before = try lab.bytes()
            // Bad and good ones by turns.
            var stores = good
            for (place, store) in bad.keys.sorted().enumerated() {
                stores.insert(store, at: min(2 * place, stores.count))
            }
            let log = NoticeLog(stores)
            let ending = try lab.migrate(stores, watch: log.watch)
            #expect(ending.counts == [.done: good.count, .failed: bad.count])
            #expect(!ending.isResumed && ending.stopReason == nil)
            #expect(log.ended.count == stores.count && log.touched == Set(stores))
            try lab.expect(good: good, bad: bad, before: before)
        }
    }

    /// Nothing tells that there was a log: the store is what its main file holds, as for SQLite.
    @Test func aStoreWithoutItsLogIsWhatItsFileHolds() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", journal: .writeAheadLogWithContent)
            try lab.files.remove(store.adding(suffix: "-wal"))
            let before = try lab.bytes()
            #expect(try lab.migrate([store]).counts == [.done: 1])
            try lab.expect(good: [store], bad: [:], before: before)
        }
    }

    @Test func aHardLinkedStoreIsNotSwapped() throws {
        try RunLab.run { lab in
            let good = try lab.forgeGood()
            let linked = try lab.forge("linked.sqlite")
            let elsewhere = lab.folder.appending("elsewhere.sqlite")
            try lab.files.linkWithoutSync(from: linked, to: elsewhere)
            let before = try lab.bytes()
            let ending = try lab.migrate(good + [linked])
            #expect(ending.counts == [.done: good.count, .failed: 1])
            try lab.expect(good: good, bad: [linked: [.swapRefused]], before: before)
            // Once the other name is gone, there is nothing against it.
            try lab.files.remove(elsewhere)
            #expect(try lab.replay().replayed == 1)
            try lab.expect(good: good + [linked], bad: [:], before: before)
        }
    }

    @Test func linksOutOfTheFolderAreNotFollowed() throws {
        try RunLab.run { lab in
            let good = try lab.forgeGood()
            let outside = lab.folder.appending("outside.sqlite")
            try lab.files.rename(lab.forge("x.sqlite"), to: outside, existing: .refuse)
            let content = try lab.files.contents(of: outside, limit: 1 << 30)
            let link = lab.path("link.sqlite")
            try FileManager.default.createSymbolicLink(
                atPath: #require(link.string), withDestinationPath: #require(outside.string))
            let inside = lab.path("inside.sqlite")
            try FileManager.default.createSymbolicLink(
                atPath: #require(inside.string), withDestinationPath: "good-1.sqlite")
            let before = try lab.bytes()
            let found = try StoreSearch.discover(StoreSelection(paths: [lab.data]))
            #expect(found.skipped.map(\.path) == [link])
            #expect(found.stores.map(\.path).sorted() == good.sorted())
            let ending = try lab.run(
                found.stores.enumerated().map { place, store in
                    FoundStore(
                        number: place + 1, location: StoreLocation(store.path), output: nil,
                        bytes: store.bytes)
                })
            #expect(ending.counts == [.done: good.count])
            try lab.expect(good: good, bad: [:], before: before)
            #expect(try lab.files.contents(of: outside, limit: 1 << 30) == content)
        }
    }

    /// Gone before its turn, and gone when its result is about to take its place.
    @Test(arguments: [false, true])
    func aStoreThatVanishes(isLate: Bool) throws {
        try RunLab.run { lab in
            let good = try lab.forgeGood()
            let lost = try lab.forge("lost.sqlite")
            let before = try lab.bytes()
            let found = try lab.found(good + [lost])
            let aside = lab.folder.appending("aside")
            if !isLate { try lab.files.rename(lost, to: aside, existing: .refuse) }
            let late: Set<Int> = isLate ? [good.count + 1] : []
            let ending = try lab.run(
                found,
                files: DurableFileSystem(
                    faults: .beforeSwap(of: late) { _ in
                        try lab.files.rename(lost, to: aside, existing: .refuse)
                    }))
            #expect(ending.counts == [.done: good.count, .failed: 1])
            try lab.files.rename(aside, to: lost, existing: .refuse)
            // The result was all that was left of the store.
            try lab.expect(
                good: good, bad: [lost: [.missing]], before: before, lastCopies: isLate ? 1 : 0)
            #expect(try lab.replay().replayed == 1)
            try lab.expect(good: good + [lost], bad: [:], before: before)
        }
    }

    @Test func aRunThatLostAStoreCanBeCancelledAndPruned() throws {
        try RunLab.run { lab in
            let stores = try lab.forgeGood(2)
            try lab.migrate(stores, change: { $0.defersSwap = true })
            try lab.files.remove(stores[0])
            let count = try CancelRun(
                lab.selection(), environment: lab.environment()
            ).run().stores
            #expect(count == 2)
            // The result of the lost store may be all that is left of it.
            #expect(try lab.ours().count == 1)
            for removes in [false, true] {
                #expect(try lab.prune(removes: removes).refused.map(\.path) == [stores[0]])
            }
            #expect(try lab.ours().count == 1)
            let lost = PruneRun(lab.selection(), environment: lab.environment(), takesLost: true)
            #expect(try lost.run(removes: true).refused.isEmpty)
            #expect(try lab.ours().isEmpty)
        }
    }

    @Test func unusualNames() throws {
        try RunLab.run { lab in
            var stores: [FilePath] = []
            for (number, name) in OddFileTests.names.enumerated() {
                let plain = try lab.forge(
                    "plain.sqlite", notes: 40, seed: UInt64(number),
                    journal: name.count > 200 ? .rollback : .writeAheadLogWithContent)
                let store = lab.data.appending(FilePath(bytes: name))
                let support = StoreLocation(plain).support
                if name.count > 200 {
                    // No room for the support folder's name.
                    try lab.write(plain, "UPDATE ZATTACHMENT SET ZCONTENT = NULL")
                }
                let log = plain.adding(suffix: "-wal")
                for (old, new) in [
                    (support, StoreLocation(store).support),
                    (log, store.adding(suffix: "-wal")),
                ] where try FileStatus.ifPresent(old) != nil {
                    if name.count > 200 {
                        try lab.files.removeTree(old)
                    } else {
                        try lab.files.rename(old, to: new, existing: .refuse)
                    }
                }
                try lab.files.rename(plain, to: store, existing: .refuse)
                stores.append(store)
            }
            let before = try lab.bytes()
            let ending = try lab.migrate(stores)
            #expect(ending.counts == [.done: stores.count])
            try lab.expect(good: stores, bad: [:], before: before)
            #expect(try lab.rollBack().allSatisfy { $0.failure == nil })
            #expect(try lab.bytes() == before)
            #expect(try lab.ours().isEmpty)
        }
    }
}
