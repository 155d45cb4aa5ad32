import ClusterProtocol
import CoreDataStore
import DurableFiles
import FaultSupport
import Foundation
import Jobs
import MigrationEngine
import RunLedger
import RunSupport
import SafeSQLite
import StateFolders
import StoreForge
import StoreSwap
import Synchronization
import Testing

@testable import RunMoves
@testable import StoreRuns

/// Where a store stands in the ledger.
struct Standing {
    let state: StoreState
    let cause: FailureCause?
    let result: StoreResult?
    /// The message of the failure.
    let reason: String
    /// How often its progress was forgotten.
    let resets: Int
}

extension RunLab {
    static let isLong = ProcessInfo.processInfo.environment["GODWIT_LONG_TESTS"] != nil
    /// Good stores that a bad one is put among.
    static let company = isLong ? 20 : 6

    /// Forges good stores with all kinds of journals.
    func forgeGood(_ count: Int = RunLab.company) throws -> [FilePath] {
        let journals: [ForgeRecipe.Journal] = [
            .writeAheadLog, .writeAheadLogWithContent, .rollback,
        ]
        return try (1...count).map { number in
            try forge(
                "good-\(number).sqlite", notes: 30, seed: UInt64(number),
                journal: journals[number % journals.count])
        }
    }

    /// Makes a bad store in a workshop of its own and brings all of its files here.
    func addBad(_ damage: Damage, named name: String) throws -> FilePath {
        let place = try #require(folder.appending("shop").string)
        let shop = StoreLab(folder: URL(fileURLWithPath: place), name: name)
        let originals = try shop.path(shop.originals)
        try files.makeFolders(originals)
        var recipe = try StoreLab.recipe()
        recipe.journal = damage.journal
        try shop.forge(recipe)
        try damage.make(shop)
        for file in try files.names(in: originals) {
            try files.rename(
                originals.appending(file), to: data.appending(file), existing: .refuse)
        }
        return path(name)
    }

    /// Writes a store as its app does.
    func write(_ store: FilePath, _ sql: String) throws {
        let connection = try Connection(path: store, mode: .readWrite)
        try connection.execute(sql)
        try connection.close()
    }

    /// Changes a title and what no one else reads.
    func touch(_ store: FilePath) throws {
        try write(store, "UPDATE ZNOTE SET ZTITLE = 'written since', Z_OPT = Z_OPT + 1")
    }

    /// Leaves a store in the middle of a transaction that has spilled to the disk.
    func makeHot(_ store: FilePath) throws {
        let copies = folder.appending("hot")
        try files.makeFolder(copies)
        let connection = try Connection(path: store, mode: .readWrite)
        try connection.execute("PRAGMA cache_size = 2; PRAGMA cache_spill = 1")
        try connection.execute(
            "BEGIN; UPDATE ZNOTE SET ZTITLE = 'never committed'; INSERT INTO ZTAG "
                + "(Z_ENT, Z_OPT, ZNAME) SELECT 4, 1, hex(randomblob(300)) "
                + "FROM ZNOTE a, ZNOTE b LIMIT 500")
        let journal = store.adding(suffix: "-journal")
        for file in [store, journal] {
            _ = try files.clone(from: file, to: copies.appending(file.lastComponent))
        }
        try connection.execute("ROLLBACK")
        try connection.close()
        for file in [store, journal] {
            try files.rename(
                copies.appending(file.lastComponent), to: file, existing: .replace)
        }
        try files.removeTree(copies)
    }
}

// MARK: - Commands

extension RunLab {
    @discardableResult
    func run(
        _ found: [FoundStore], files: DurableFileSystem = DurableFileSystem(),
        watch: @escaping @Sendable (WatchEvent) -> Void = { _ in }
    ) throws -> RunEnding {
        var runs = TestRuns(environment(files))
        runs.watch = watch
        return try runs.run(try request(found.map(\.path)), over: found)
    }

    @discardableResult
    func replay(
        _ store: FilePath? = nil, files: DurableFileSystem = DurableFileSystem(),
        watch: @escaping @Sendable (WatchEvent) -> Void = { _ in }
    ) throws(RunError) -> (ending: RunEnding, replayed: Int) {
        var runs = TestRuns(environment(files))
        runs.watch = watch
        return try runs.replay(selection(store))
    }

    @discardableResult
    func rollBack(
        _ store: FilePath? = nil, discardsChanges: Bool = false,
        files: DurableFileSystem = DurableFileSystem()
    ) throws -> [StoreChange] {
        var changes: [StoreChange] = []
        try RollbackRun(
            selection(store), discardsChanges: discardsChanges, environment: environment(files)
        ).run { changes.append($0) }
        return changes
    }

    func swap(
        files: DurableFileSystem = DurableFileSystem(),
        watch: @escaping @Sendable (WatchEvent) -> Void = { _ in }
    ) throws(RunError) -> RunEnding {
        var runs = TestRuns(environment(files))
        runs.watch = watch
        return try runs.swap(selection())
    }

    func prune(removes: Bool) throws -> PruneEstimate {
        try PruneRun(selection(), environment: environment()).run(removes: removes)
    }
}

// MARK: - What there is afterwards

extension RunLab {
    /// What the ledger says of each store of the newest run.
    func standings() throws -> [FilePath: Standing] {
        let records = try RunRecords(state: state)
        var found: [FilePath: Standing] = [:]
        try records.forEachStore(of: records.run(nil).id) { store, record in
            var cause: FailureCause?
            var result: StoreResult?
            switch record {
            case .failure(let failure): cause = failure
            case .result(let done): result = done
            case .unchanged, nil: break
            }
            found[store.found.path] = Standing(
                state: store.state, cause: cause, result: result,
                reason: store.reason?.text ?? "", resets: store.resets)
        }
        try records.close()
        return found
    }

    /// Attempts of the newest run's jobs.
    func attempts() throws -> AttemptCounts {
        let records = try RunRecords(state: state)
        let counts = try records.attempts(of: records.run(nil).id)
        try records.close()
        return counts
    }

    /// Everything that a run must not leave anywhere below the stores' folder.
    func leftovers() throws -> [String] {
        try files.tree(at: data).map(\.path).filter { path in
            path.lastComponent.bytes.starts(with: DurableFileSystem.temporaryPrefix.utf8)
        }.map(\.description)
    }

    /// Names of ours in the stores' folder, backups included.
    func ours() throws -> [String] {
        try files.names(in: data).filter { $0.bytes.starts(with: ".godwit".utf8) }
            .map(\.description)
    }

    /// The main file that was kept for a store.
    func keptOriginal(_ store: FilePath) throws -> [UInt8]? {
        for name in try files.names(in: store.parent)
        where name.bytes.starts(with: SwapPlan.backupPrefix.utf8) {
            let kept = store.parent.appending(name).appending(store.lastComponent)
            guard try FileStatus.ifPresent(kept) != nil else { continue }
            return try files.contents(of: kept, limit: 1 << 30)
        }
        return nil
    }

    /// Which file has each store's name, and when it was written.
    func identities(_ stores: some Sequence<FilePath>) throws -> [FilePath: FileIdentity] {
        var found: [FilePath: FileIdentity] = [:]
        for store in stores { found[store] = try FileStatus(of: store).identity }
        return found
    }

    /// Bytes of files below the stores' folder and the runs' folders, each once however many
    /// names it has.
    func bytesOnDisk() throws -> Int64 {
        var sizes: [String: Int64] = [:]
        for root in [data, state.appending("runs")] where try FileStatus.ifPresent(root) != nil {
            for found in try files.tree(at: root) where found.status.isRegularFile {
                let identity = found.status.identity
                sizes["\(identity.device) \(identity.inode)"] = found.status.size
            }
        }
        return sizes.values.reduce(0, +)
    }

    /// Whether a path is one of the files that a swap replaces.
    private func isDatabaseFile(_ path: FilePath, of stores: some Sequence<FilePath>) -> Bool {
        stores.contains { store in
            ["", "-wal", "-journal"].contains { path == store.adding(suffix: $0) }
        }
    }

    /// Expects that good stores are migrated with their originals kept, that bad ones are as
    /// they were, and that nothing else lies there but so many results that may be last copies.
    func expect(
        good: [FilePath], bad: [FilePath: Set<FailureCause>], before: [FilePath: [UInt8]],
        lastCopies: Int = 0, _ location: SourceLocation = #_sourceLocation
    ) throws {
        let standings = try standings()
        #expect(standings.count == good.count + bad.count, sourceLocation: location)
        for store in good {
            let standing = try #require(standings[store], sourceLocation: location)
            #expect(
                standing.state == .done, "\(store): \(standing.reason)",
                sourceLocation: location)
            #expect(standing.result?.isInPlace == true, sourceLocation: location)
            #expect(try content(store).first == "ok", sourceLocation: location)
            #expect(try keptOriginal(store) == before[store], sourceLocation: location)
        }
        for (store, causes) in bad {
            let standing = try #require(standings[store], sourceLocation: location)
            #expect(standing.state == .failed, "\(store)", sourceLocation: location)
            let cause = try #require(standing.cause, sourceLocation: location)
            #expect(
                causes.contains(cause), "\(store): \(cause): \(standing.reason)",
                sourceLocation: location)
            #expect(
                standing.reason.count > 20 && !standing.reason.contains("bug in Godwit"),
                "\(standing.reason)", sourceLocation: location)
            #expect(
                try keptOriginal(store) == nil, "\(store) has a backup",
                sourceLocation: location)
        }
        let after = try bytes()
        for (path, content) in before where !isDatabaseFile(path, of: good) {
            #expect(after[path] == content, "\(path) changed", sourceLocation: location)
        }
        let new = Set(after.keys).subtracting(before.keys)
        #expect(new.isEmpty, "\(new)", sourceLocation: location)
        #expect(try leftovers().count == lastCopies, sourceLocation: location)
    }
}

/// A disk on which nothing works any more from a moment that a test chooses.
final class StoppableDisk: Sendable {
    private let isStopped = Atomic(false)
    private let refusals = Atomic(0)
    private let trigger: @Sendable (FaultPoint) -> Bool

    /// - Parameter trigger: what stops it, beside `stop`.
    init(at trigger: @escaping @Sendable (FaultPoint) -> Bool = { _ in false }) {
        self.trigger = trigger
    }

    func stop() { isStopped.store(true, ordering: .sequentiallyConsistent) }

    /// Whether anything was refused.
    var isHit: Bool { refusals.load(ordering: .sequentiallyConsistent) > 0 }

    var files: DurableFileSystem {
        DurableFileSystem(
            faults: FaultPoints { point in
                if self.trigger(point) { self.stop() }
                guard self.isStopped.load(ordering: .sequentiallyConsistent) else { return nil }
                self.refusals.add(1, ordering: .sequentiallyConsistent)
                return .error(EIO)
            })
    }
}
