import CoreDataStore
import DurableFiles
import FaultSupport
import MigrationEngine
import MigrationPlans
import RunService
import StateFolders
import StoreRuns
import Synchronization

/// Spoils one shard of a run at the moment at which it has got its name, as a broken copy or
/// link job would have written it.
final class ShardSpoiler: Sendable {
    private struct State {
        /// The job whose shard was spoiled.
        var job: String?
        /// Why the shard could not be spoiled.
        var failure: String?
    }

    private let fault: SeededFault
    private let layout: StoreLayout
    private let seed: UInt64
    /// The kind of job: `copy` or `link`.
    private let kind: String
    /// Shards of lower numbers are left alone.
    private let first: Int
    private let state = Mutex(State())

    init(_ fault: SeededFault, layout: StoreLayout, seed: UInt64, kind: String, from first: Int) {
        self.fault = fault
        self.layout = layout
        self.seed = seed
        self.kind = kind
        self.first = first
    }

    /// The job whose shard was spoiled; nil where none could be.
    var job: String? { state.withLock { $0.job } }
    /// Why spoiling failed; nil where it did not.
    var failure: String? { state.withLock { $0.failure } }

    /// Files through which a run goes that is to be spoiled.
    var files: DurableFileSystem {
        DurableFileSystem(
            faults: FaultPoints { point in
                if point.moment == .after, point.operation == .rename,
                    point.path.lastComponent == "shard.sqlite"
                {
                    self.visit(point.path)
                }
                return nil
            })
    }

    private func visit(_ path: FilePath) {
        let parts = path.parent.lastComponent.description.split(separator: "-")
        guard parts.count == 3, parts[0] == kind, let number = Int(parts[1]), number >= first else {
            return
        }
        state.withLock { state in
            guard state.job == nil, state.failure == nil else { return }
            do {
                if try fault.apply(to: path, layout: layout, seed: seed) {
                    state.job = "\(kind)-\(number)"
                }
            } catch {
                state.failure = "\(fault.name) in \(kind)-\(number): \(error)"
            }
        }
    }
}

extension MutationCase {
    /// Runs the migration with one spoiled shard, in a folder of its own.
    func verdict(_ spoiler: ShardSpoiler, in folder: FilePath) throws -> FaultVerdict {
        let files = DurableFileSystem()
        try files.makeFolders(folder)
        defer {
            // What is left over does no harm: the next run gets another folder.
            try? files.removeTree(folder)
        }
        var spoilt = request
        spoilt.output = folder.appending("Spoilt.sqlite")
        spoilt.state = folder.appending("state")
        do throws(RunError) {
            _ = try EngineMigration(spoilt, files: spoiler.files, clock: { 0 }).run()
        } catch {
            guard spoiler.job != nil, spoiler.failure == nil else { throw error }
            guard try Self.isFree(spoilt.result) else { return .missed }
            if case .validationFailed = error { return .differs }
            if case .engine(.internalError) = error { throw error }
            return .refused("\(error)")
        }
        if spoiler.job == nil { return .harmless }
        let found = try ResultContent(spoilt.result, layout: layout, freeOrders: freeOrders)
        return found == content ? .harmless : .missed
    }
}
