import CoreDataStore
import DurableFiles
import FaultSupport
import MigrationEngine
import MigrationPlans
import RunLedger
import SafeSQLite
import StateFolders
import Testing

@testable import RunService
@testable import StoreRuns

/// Estimates of the room that runs take.
@Suite struct SpacePlanTests {
    private func plan(
        slots: Int = 2, chunkBytes: Int64 = 64 << 20, interleaves: Bool = false,
        _ stores: [StoreSize]
    ) -> SpaceNeed {
        var plan = SpacePlan(
            SpacePlan.Setting(
                slots: slots, chunkBytes: chunkBytes, interleaves: interleaves, stateDevice: 1))
        for store in stores { plan.add(store) }
        #expect(Set(plan.needs.keys).isSubset(of: [1, 2]))
        return plan.needs[2] ?? plan.needs[1] ?? SpaceNeed()
    }

    private let megabyte: Int64 = 1 << 20

    @Test func smallStoresAtRestNeedTheirResults() {
        let stores = (0..<1000).map { _ in
            StoreSize(database: megabyte, isLarge: false, device: 2)
        }
        let need = plan(stores)
        #expect(need.bytes == 1000 * (megabyte + megabyte / 10))
        // Names of all results, and of what 2 batches of 16 stores make beside them.
        #expect(need.inodes == 2 * 1000 + 2 * 16 * 4)
    }

    /// Snapshots of small stores: of those alone that run at the same time.
    @Test func snapshotsOfABatchCountOnce() {
        let one = StoreSize(database: megabyte, log: megabyte, isLarge: false, device: 2)
        #expect(plan([one]).bytes == 2 * megabyte + 2 * megabyte / 10 + 3 * megabyte)
        let results = 1000 * (2 * megabyte + 2 * megabyte / 10)
        #expect(plan(Array(repeating: one, count: 1000)).bytes == results + 2 * 48 * megabyte)
    }

    /// Of many large stores the work on one counts: they take turns.
    @Test func largeStoresTakeTurns() {
        let one = StoreSize(database: 4096 * megabyte, isLarge: true, device: 1)
        let result = 4096 * megabyte + 4096 * megabyte / 10 + SpacePlan.ledgerOfStore.bytes
        // Five chunks run ahead of the merge, of 64 MiB each.
        let log = 65 * SpacePlan.ledgerLogOfChunk + SpacePlan.ledger.bytes
        #expect(plan([one, one, one]).bytes == 3 * result + 320 * megabyte + log)
        let all = plan(interleaves: true, [one])
        // A merged piece lies beside all shards.
        #expect(all.bytes == result + (4096 + 256) * megabyte + log)
        // Chunks are a sixteenth of the store at most.
        let large = plan(chunkBytes: .max, [one])
        let shortLog = 17 * SpacePlan.ledgerLogOfChunk + SpacePlan.ledger.bytes
        #expect(large.bytes == result + 5 * 256 * megabyte + shortLog)
    }

    /// A snapshot and many shards are not there at one time.
    @Test func snapshotAndShardsShareTheirRoom() {
        let one = StoreSize(
            database: 4096 * megabyte, log: megabyte, isLarge: true, device: 1)
        let content = 4097 * megabyte
        let result = content + content / 10 + SpacePlan.ledgerOfStore.bytes
        let need = plan(interleaves: true, [one]).bytes
        let log = 65 * SpacePlan.ledgerLogOfChunk
        let work = max(content + megabyte, content + content / 16 + log)
        #expect(need == result + work + SpacePlan.ledger.bytes)
        #expect(need < 22 * content / 10)
    }

    @Test func whatIsThereAlreadyIsNotNeededAgain() {
        var one = StoreSize(database: 10 * megabyte, isLarge: false, device: 2)
        one.made = SpaceNeed(bytes: 4 * megabyte)
        #expect(plan([one]).bytes == 7 * megabyte)
        one.made = SpaceNeed(bytes: 40 * megabyte)
        #expect(plan([one]).bytes == 0)
    }

    @Test func sumsThatNoDiskHoldsDoNotTrap() {
        let one = StoreSize(database: .max, log: .max, isLarge: true, device: 1)
        #expect(plan(slots: .max / 4, chunkBytes: 1, [one, one]).bytes > 1 << 50)
        var huge = SpaceNeed(bytes: .max, inodes: 1)
        huge += huge
        #expect(huge == SpaceNeed(bytes: .max, inodes: 2))
    }

    /// A shortage names the place, both numbers, and what others hold.
    @Test func aShortageSaysWhatIsMissing() {
        let shortage = SpaceShortage(
            folder: "/data", needed: SpaceNeed(bytes: 300, inodes: 4), freeBytes: 200,
            freeInodes: 3, reserved: SpaceNeed(bytes: 50))
        let text = "\(RunError.noRoom(shortage))"
        for word in [
            "/data", "300 bytes are needed and 200 are free",
            "other unfinished runs reserve 50 bytes",
            "4 inodes are needed and 3 are free", "Godwit started no store",
        ] {
            #expect(text.contains(word), "\(text)")
        }
    }

    /// The ledger knows what every store of an unfinished run will take, and forgets it when
    /// the store is done.
    @Test func theLedgerKeepsReservations() throws {
        try RunLab.run { lab in
            let stores = try (1...3).map { try lab.forge("\($0).sqlite", seed: UInt64($0)) }
            let disk = StoppableDisk {
                $0.path.lastComponent.bytes.starts(with: DurableFileSystem.temporaryPrefix.utf8)
            }
            #expect(throws: RunError.self) { try lab.migrate(stores, files: disk.files) }
            func reservations() throws -> [Reservation] {
                let ledger = try Ledger(reading: lab.state)
                let found = try ledger.reservations()
                try ledger.close()
                return found
            }
            let waiting = try reservations()
            #expect(Set(waiting.map(\.store)) == [1, 2, 3])
            let bytes = try FileStatus(of: stores[0]).size
            #expect(
                waiting.first?.bytes == bytes + bytes / 10 + SpacePlan.ledgerOfStore.bytes)
            try lab.migrate(stores, strategy: .whole) { $0.options.strategy = nil }
            #expect(try reservations().isEmpty)
        }
    }

    /// Free pages are no reason to refuse a store.
    @Test func freePagesAreCountedOut() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", notes: 2_000)
            let connection = try Connection(path: store, mode: .readWrite)
            try connection.execute("DELETE FROM ZNOTE; PRAGMA wal_checkpoint(TRUNCATE)")
            let free = try connection.integer("PRAGMA freelist_count") ?? 0
            try connection.close()
            #expect(free > 10)
            var measure = try StoreMeasure(
                options: PlanOptions(), slots: 2, state: lab.state, files: lab.files)
            let found = try #require(try lab.found([store]).first)
            let whole = measure.size(of: found)?.database
            measure.countsFreePages = true
            let used = measure.size(of: found)?.database
            #expect(whole == used.map { $0 + free * 4096 })
        }
    }
}
