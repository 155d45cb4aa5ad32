import Jobs
import MigrationEngine
import MigrationPlans
package import StateFolders
import StoreRuns

/// What a look at the files of one store tells about the room that its migration takes.
package struct StoreSize: Hashable, Sendable {
    /// Bytes of the database, free pages left out where they are known.
    package var database: Int64
    /// Bytes of the `-wal` or of the rollback journal; 0 for a store at rest.
    package var log: Int64
    /// External files that are carried to an output folder; nothing in place.
    package var external: SpaceNeed
    /// What an earlier process made for this store and left.
    package var made: SpaceNeed
    /// Whether it is cut into chunks.
    package var isLarge: Bool
    /// The file system that the result lies on, as `FileSystemSpace.device` names it.
    package var device: UInt64

    package init(
        database: Int64, log: Int64 = 0, external: SpaceNeed = SpaceNeed(),
        made: SpaceNeed = SpaceNeed(), isLarge: Bool, device: UInt64
    ) {
        self.database = database
        self.log = log
        self.external = external
        self.made = made
        self.isLarge = isLarge
        self.device = device
    }
}

/// The room that a run takes on each file system: an estimate from sizes alone.
///
/// A result takes about as much as its source and stays beside the original until that is
/// pruned, so all results count. Snapshots and shards are freed with their store: those of the
/// largest store count, and those of as many small ones as run at the same time. What an estimate
/// misses (a column with a default for every row, the links of a large table that are rewritten)
/// pauses the run when it comes to that; one that is too high would keep a run from beginning, so
/// the factors are small.
package struct SpacePlan: Sendable {
    /// What the estimate depends on beside the stores.
    package struct Setting: Hashable, Sendable {
        /// Jobs at a time.
        package var slots: Int
        /// Bytes of a chunk.
        package var chunkBytes: Int64
        /// Whether the keys of a table's shards interleave, so that all of them are there at once.
        package var interleaves: Bool
        /// The file system of the state folder, where ledger and shards lie.
        package var stateDevice: UInt64

        package init(
            slots: Int, chunkBytes: Int64, interleaves: Bool, stateDevice: UInt64
        ) {
            self.slots = slots
            self.chunkBytes = chunkBytes
            self.interleaves = interleaves
            self.stateDevice = stateDevice
        }
    }

    /// What the ledger takes, and what of it every store adds.
    static let ledger = SpaceNeed(bytes: 256 << 10, inodes: 8)
    static let ledgerOfStore = SpaceNeed(bytes: 8 << 10, inodes: 0)
    /// What the ledger's log grows to before it is emptied, and what of it a chunk adds: two
    /// commits of some pages each.
    static let ledgerLog: Int64 = 16 << 20
    static let ledgerLogOfChunk: Int64 = 48 << 10
    /// Names of a finished store: result, and the folder of its backup or its own.
    static let namesOfStore: Int64 = 2
    /// Names beside a result that is being built: journal, snapshot, its `-wal` and `-shm`.
    static let namesOfWork: Int64 = 4

    private let setting: Setting
    private var lasting: [UInt64: SpaceNeed] = [:]
    private var largest: [UInt64: SpaceNeed] = [:]
    private var small: [UInt64: SpaceNeed] = [:]
    private var made: [UInt64: SpaceNeed] = [:]

    package init(_ setting: Setting) {
        self.setting = setting
        lasting[setting.stateDevice] = Self.ledger
    }

    /// What a store's result takes for good, by file system.
    package func result(of store: StoreSize) -> [UInt64: SpaceNeed] {
        let content = Self.content(of: store)
        var needs = [
            store.device: SpaceNeed(bytes: content + content / 10, inodes: Self.namesOfStore)
                + store.external
        ]
        needs[setting.stateDevice, default: SpaceNeed()] += Self.ledgerOfStore
        return needs
    }

    /// What is there beside a store's result until it is done, by file system.
    package func work(on store: StoreSize) -> [UInt64: SpaceNeed] {
        let content = Self.content(of: store)
        // The log is copied, too, and is there until it has been applied to the copy.
        let snapshot = store.log > 0 ? content + Self.bounded(store.log) : 0
        var needs = [
            store.device: SpaceNeed(bytes: snapshot, inodes: Self.namesOfWork)
        ]
        if store.isLarge {
            // Where shards fill much room, the snapshot is given up for them; else the result is
            // far from complete as long as there are any.
            let shards = shards(of: content)
            needs[setting.stateDevice] = shards.joined(
                with: needs[setting.stateDevice] ?? SpaceNeed())
        }
        return needs
    }

    /// Shards that wait for the merge; an index is sorted in their room later.
    private func shards(of content: Int64) -> SpaceNeed {
        let chunk = max(
            1,
            min(
                setting.chunkBytes,
                StorePreparation.chunkBytes(of: content, slots: setting.slots)))
        let jobs = Int64(SharingConstants.unmergedShards(slots: setting.slots))
        let count = content / chunk + 1
        let logged = min(count, Self.ledgerLog / Self.ledgerLogOfChunk)
        let log = SpaceNeed(bytes: logged * Self.ledgerLogOfChunk)
        guard setting.interleaves else {
            let (window, overflow) = chunk.multipliedReportingOverflow(by: jobs)
            let bytes = min(content, overflow ? content : max(window, content / 16))
            return SpaceNeed(bytes: bytes, inodes: 2 * min(count, jobs) + 4) + log
        }
        // A merged piece lies beside all shards.
        return SpaceNeed(bytes: content + content / 16, inodes: 2 * count + 5) + log
    }

    private static func content(of store: StoreSize) -> Int64 {
        bounded(store.database) + bounded(store.log)
    }

    /// SQLite's files hold at most 2⁴⁸ bytes; a sparse file may claim to be larger.
    private static func bounded(_ bytes: Int64) -> Int64 { max(0, min(bytes, 1 << 48)) }

    /// Takes a store in.
    package mutating func add(_ store: StoreSize) {
        for (device, need) in result(of: store) { lasting[device, default: SpaceNeed()] += need }
        for (device, need) in work(on: store) {
            if store.isLarge {
                largest[device] = need.joined(with: largest[device] ?? SpaceNeed())
            } else {
                small[device, default: SpaceNeed()] += need
            }
        }
        made[store.device, default: SpaceNeed()] += store.made
    }

    /// The most that is needed at one time, by file system.
    package var needs: [UInt64: SpaceNeed] {
        var sum: [UInt64: SpaceNeed] = [:]
        let slots = Int64(max(1, min(setting.slots, 1 << 16)))
        let batches = SpaceNeed(
            bytes: slots * (SharingConstants.batchBytes + PlanOptions.wholeLimit),
            inodes: slots * Int64(SharingConstants.batchStores) * Self.namesOfWork)
        for device in Set(lasting.keys).union(largest.keys).union(small.keys) {
            let waiting = small[device] ?? SpaceNeed()
            let batch = SpaceNeed(
                bytes: min(waiting.bytes, batches.bytes),
                inodes: min(waiting.inodes, batches.inodes))
            let all = (lasting[device] ?? SpaceNeed()) + (largest[device] ?? SpaceNeed()) + batch
            sum[device] = all.without(made[device] ?? SpaceNeed())
        }
        return sum
    }
}
