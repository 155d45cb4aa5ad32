import ClusterProtocol
import CoreDataStore
import DurableFiles
import FaultSupport
import Foundation
import ManagedObjectModel
import MigrationEngine
import MigrationPlans
import RunLedger
import RunSupport
import SafeSQLite
import StateFolders
import StoreForge
import Synchronization
import TestSupport

@testable import RunMoves
@testable import StoreRuns

/// A process that dies, or a disk that fails, at a chosen fault point.
final class FailingDisk: Sendable {
    enum Way: Sendable {
        /// Nothing works from the point on: what a killed process leaves.
        case dies
        /// The one action fails.
        case fails(InjectedFault)
    }

    private let count = Atomic(0)
    private let place: Int
    private let way: Way
    private let seen = Mutex<[FileOperation: Int]>([:])

    /// - Parameters:
    ///   - place: the fault point that is hit, from 0.
    ///   - way: how.
    init(at place: Int, _ way: Way) {
        self.place = place
        self.way = way
    }

    /// Fault points that were passed or hit.
    var points: Int { count.load(ordering: .relaxed) }
    var isHit: Bool { points > place }
    /// Fault points by what was announced there, commits of the ledger left out: slots that write
    /// at one time share a commit, so their number differs from run to run.
    var operations: [FileOperation: Int] {
        seen.withLock { $0.filter { $0.key != .commitLedger } }
    }

    var files: DurableFileSystem {
        DurableFileSystem(
            faults: FaultPoints { point in
                let number = self.count.add(1, ordering: .relaxed).oldValue
                self.seen.withLock { $0[point.operation, default: 0] += 1 }
                switch self.way {
                case .dies: return number >= self.place ? .error(EIO) : nil
                case .fails(let fault): return number == self.place ? fault : nil
                }
            })
    }
}

/// A folder with stores, an own state folder, and runs over it in place.
struct RunLab {
    let folder: FilePath
    let data: FilePath
    let state: FilePath
    let files = DurableFileSystem()

    static func run(_ body: (RunLab) throws -> Void) throws {
        try withTemporaryFolder { folder in
            let root = try DurableFileSystem().resolve(FilePath(folder.path))
            let lab = RunLab(
                folder: root, data: root.appending("data"), state: root.appending("state"))
            try lab.files.makeFolder(lab.data)
            try body(lab)
        }
    }

    func path(_ name: String) -> FilePath { data.appending(FilePath(name)) }

    @discardableResult
    func forge(
        _ name: String, notes: Int = 60, version: Int = 1, seed: UInt64 = 1,
        journal: ForgeRecipe.Journal = .writeAheadLog
    ) throws -> FilePath {
        try ForgedStore.notes(at: path(name), version: version, notes: notes, seed: seed) {
            $0.journal = journal
        }
    }

    /// A request for these stores; small chunks where it is partitioned.
    func request(
        _ stores: [FilePath], strategy: Strategy? = nil, output: FilePath? = nil, slots: Int = 2
    ) throws -> RunRequest {
        RunRequest(
            destination: .model(try DestinationModel(model: ForgeModels.notes(version: 2))),
            options: PlanOptions(strategy: strategy, chunkBytes: 16_384), output: output,
            state: state, inputs: stores, slots: slots, waitsForRoom: false)
    }

    func found(_ stores: [FilePath], output: FilePath? = nil) throws -> [FoundStore] {
        try stores.enumerated().map { place, store in
            FoundStore(
                number: place + 1, location: StoreLocation(store),
                output: output.map { StoreLocation($0.appending(store.lastComponent)) },
                bytes: try FileStatus(of: store).size)
        }
    }

    func environment(_ files: DurableFileSystem = DurableFileSystem()) -> RunEnvironment {
        RunEnvironment(files: files, clock: { 0 }, bootIdentifier: "boot")
    }

    @discardableResult
    func migrate(
        _ stores: [FilePath], strategy: Strategy? = nil,
        files: DurableFileSystem = DurableFileSystem(), policies: PolicyLibrary = PolicyLibrary(),
        change: (inout RunRequest) -> Void = { _ in },
        watch: @escaping @Sendable (WatchEvent) -> Void = { _ in }
    ) throws(RunError) -> RunEnding {
        var request: RunRequest
        let found: [FoundStore]
        do {
            request = try self.request(stores, strategy: strategy)
            change(&request)
            found = try self.found(stores, output: request.output)
        } catch {
            throw .engine(.internalError("\(error)"))
        }
        var runs = TestRuns(environment(files))
        runs.watch = watch
        runs.policies = policies
        return try runs.run(request, over: found)
    }

    func selection(_ store: FilePath? = nil) -> RunSelection {
        RunSelection(state: state, store: store)
    }

    /// What the ledger says of work done twice in the newest run.
    func redone() throws -> Int {
        let records = try RunRecords(state: state)
        let run = try records.run(nil)
        let count = try records.attempts(of: run.id).afterAcceptance
        try records.close()
        return count
    }
}

extension RunLab {
    /// Everything that a client would read of a store, its files copied first so that reading
    /// changes nothing.
    func content(_ store: FilePath) throws -> [String] {
        try withTemporaryFolder { scratch in
            let copy = FilePath(scratch.path).appending("copy.sqlite")
            for suffix in ["", "-wal", "-journal"]
            where try FileStatus.ifPresent(store.adding(suffix: suffix)) != nil {
                _ = try files.clone(
                    from: store.adding(suffix: suffix), to: copy.adding(suffix: suffix))
            }
            let connection = try Connection(path: copy, mode: .readWrite)
            var lines = try connection.texts("PRAGMA integrity_check")
            let tables = try connection.texts(
                "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
            for table in tables {
                let columns = try connection.texts(
                    "SELECT name FROM pragma_table_info('\(table)') ORDER BY cid")
                let cells = columns.map { "quote(\"\($0)\")" }.joined(separator: " || ',' || ")
                lines += try connection.texts(
                    "SELECT '\(table): ' || \(cells) FROM \"\(table)\" ORDER BY 1")
            }
            try connection.close()
            let external = StoreLocation(store).externalData
            if try FileStatus.ifPresent(external) != nil {
                // In place the folder stays as it is until the backup is pruned.
                lines += try files.names(in: external).map(\.description)
            }
            return lines
        }
    }

    /// Every file of the stores' folder with its bytes, what godwit keeps there left out.
    func bytes() throws -> [FilePath: [UInt8]] {
        var all: [FilePath: [UInt8]] = [:]
        for found in try files.tree(at: data) where found.status.isRegularFile {
            guard !found.path.description.contains("/.godwit"),
                !found.path.description.hasSuffix("-shm")
            else { continue }
            all[found.path] = try files.contents(of: found.path, limit: 1 << 30)
        }
        return all
    }

    /// Names in the stores' folder that a run must not leave.
    func strays() throws -> [String] {
        try files.names(in: data).map(\.description).filter {
            $0.hasPrefix(DurableFileSystem.temporaryPrefix)
        }
    }
}
