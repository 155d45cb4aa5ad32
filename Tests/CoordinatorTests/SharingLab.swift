import ClusterVocabulary
@testable import Coordinator
import CoreDataStore
import DurableFiles
import FaultSupport
import Foundation
import Jobs
import ManagedObjectModel
import MappingExpressions
import MappingModel
import MigrationEngine
import MigrationPlans
import RunLedger
@testable import RunService
import RunSupport
import SafeSQLite
import StateFolders
import StoreForge
@testable import StoreRuns
import Synchronization
import TestSupport
import Testing

/// What a test waits for did not happen.
struct Missing: Error, CustomStringConvertible {
    let description: String
}

/// A state folder with its ledger, stores that were forged, and shared runs over them.
final class SharingLab {
    let folder: FilePath
    let data: FilePath
    let state: FilePath
    private let root: String?
    let disk = ChangingDisk()
    private(set) var ledger: Ledger
    var dependencies: ClusterRun.Dependencies
    private let whole = WholeStoreJobs(clock: { 0 })
    var files: DurableFileSystem { DurableFileSystem() }

    static func run(
        trustsWorkers: Bool = false, root: String? = nil, _ body: (SharingLab) throws -> Void
    ) throws {
        try withTemporaryFolder { url in
            let lab = try SharingLab(DurableFileSystem().resolve(FilePath(url.path)), root: root)
            lab.dependencies.validation = trustsWorkers ? .workers : .coordinator
            try body(lab)
            try lab.ledger.close()
        }
    }

    /// - Parameters:
    ///   - folder: of everything.
    ///   - root: the folder in it that workers and clients see, by its own name; nil for all of
    ///     it, by the name `all`.
    /// - Throws: where the folders or the ledger cannot be made.
    init(_ folder: FilePath, root: String? = nil) throws {
        self.folder = folder
        self.root = root
        data = folder.appending("data")
        state = folder.appending("state")
        for made in [data, state] { try DurableFileSystem().makeFolders(made) }
        ledger = try Self.open(state, disk)
        dependencies = try Self.dependencies(ledger, folder, state, disk, root)
    }

    private static func open(_ state: FilePath, _ disk: ChangingDisk) throws -> Ledger {
        try Ledger(folder: state, holder: LockHolder(text: "the tests"), faults: disk.faults)
    }

    private static func dependencies(
        _ ledger: Ledger, _ folder: FilePath, _ state: FilePath, _ disk: ChangingDisk,
        _ root: String?
    ) throws -> ClusterRun.Dependencies {
        let files = DurableFileSystem(faults: disk.faults)
        return ClusterRun.Dependencies(
            ledger: ledger, state: state,
            roots: try SharedRoots(
                [root ?? "all": root.map { folder.appending(FilePath($0)) } ?? folder],
                files: files),
            environment: RunEnvironment(
                files: files, clock: { 0 }, wallTime: { 7 }, bootIdentifier: "boot"),
            limits: .local, slots: 2)
    }

    /// Lets go of the ledger as a process that ends, and opens it again.
    func reopen() throws {
        try ledger.close()
        ledger = try Self.open(state, disk)
        dependencies = try Self.dependencies(ledger, folder, state, disk, root)
    }

    func path(_ name: String) -> FilePath { data.appending(FilePath(name)) }

    @discardableResult
    func forge(_ name: String, notes: Int = 60, seed: UInt64 = 1) throws -> FilePath {
        try ForgedStore.notes(at: path(name), notes: notes, seed: seed)
    }

    func request(
        _ stores: [FilePath], strategy: Strategy? = nil, output: FilePath? = nil,
        defersSwap: Bool = false, writesStep: Bool = false
    ) throws -> RunRequest {
        var options = PlanOptions(strategy: strategy, chunkBytes: 16_384)
        if writesStep { try Self.addStep(to: &options) }
        return RunRequest(
            destination: .model(try DestinationModel(model: ForgeModels.notes(version: 2))),
            options: options, output: output,
            state: state, inputs: stores, slots: 2, defersSwap: defersSwap, waitsForRoom: false)
    }

    /// A version in between that requires a title, which a mapping file computes: it has to be
    /// written.
    private static func addStep(to options: inout PlanOptions) throws {
        let model = try Model(
            entities: ForgeModels.notes(version: 1).numberedEntities.map { entity in
                guard entity.name == "Note" else { return entity }
                var entity = entity
                for place in entity.attributes.indices
                where entity.attributes[place].name == "title" {
                    entity.attributes[place].isOptional = false
                }
                return entity
            })
        let hashes = VersionHashes(model).entities
        var mapping = EntityMappingDefinition(
            source: "Note", destination: "Note",
            attributes: [
                PropertyMappingDefinition(
                    destination: "title",
                    value: .expression(
                        try ExpressionParser.expression(
                            "TERNARY($source.title == nil, 'none', uppercase($source.title))")))
            ])
        mapping.destinationHash = hashes["Note"]
        options.mappings = [
            MappingChoice(
                name: "titles.yaml",
                definition: MappingDefinition(entityMappings: [mapping], infersRest: true))
        ]
        options.ways = VersionWays(
            [VersionWays.Version(name: "titled", model: model, hashes: hashes)], otherwise: [0])
    }

    func found(_ stores: [FilePath], output: FilePath? = nil) throws -> [FoundStore] {
        try stores.enumerated().map { place, store in
            FoundStore(
                number: place + 1, location: StoreLocation(store),
                output: output.map { StoreLocation($0.appending(store.lastComponent)) },
                bytes: try FileStatus(of: store).size)
        }
    }

    /// Begins a run over stores.
    func begin(
        _ stores: [FilePath], strategy: Strategy? = nil, output: FilePath? = nil,
        defersSwap: Bool = false, writesStep: Bool = false
    ) throws -> ClusterRun {
        let overview = try ClusterRuns(dependencies).begin(
            try request(
                stores, strategy: strategy, output: output, defersSwap: defersSwap,
                writesStep: writesStep),
            over: try found(stores, output: output))
        return try ClusterRun(overview, dependencies)
    }

    /// Lets stores of a run fail, and the run end.
    func fail(_ stores: [Int], of run: String) throws {
        var records: [LedgerRecord] = []
        for store in stores {
            for state in [StoreState.running, .failed] {
                let reason = state == .failed ? FailureReason(.damaged, "t") : nil
                records.append(
                    .storeChanged(run: run, store: store, state, reason: reason, at: 1))
            }
        }
        try ledger.append(records + [.runChanged(run: run, .ended, .finished, at: 1)])
    }

    /// The folder of a small store's attempts.
    func attempts(of store: Int, in run: ClusterRun) throws -> FilePath {
        guard let found = try ledger.store(run: run.id, store)?.found else {
            throw Missing(description: "store \(store)")
        }
        return run.context.places(of: found, result: found.location).building
    }

    /// The same run as another process would find it.
    func find(_ id: String) throws -> ClusterRun {
        try ClusterRun(try ClusterRuns(dependencies).find(id), dependencies)
    }

    func reader(_ run: ClusterRun) -> OfferReader { OfferReader(ledger: ledger, run: run) }

    /// Does a job on the calling thread, as a slot would.
    func run(_ job: Job, _ attempt: Attempt) throws -> Receipt {
        if case .whole = job.work {
            return try whole.run(job, attempt: attempt, in: dependencies.roots.environment)
        }
        return try JobRunner(environment: dependencies.roots.environment)
            .run(job, attempt: attempt)
    }

    /// An attempt of a plan's job.
    func attempt(_ plan: StorePlan, _ work: Work, _ number: Int = 1, epoch: Int = 0) -> Attempt {
        let folder = plan.attempts
        return Attempt(
            id: "\(work.name)-\(number)", epoch: epoch,
            folder: FileReference(
                root: folder.root, path: "\(folder.path)/\(work.name)-\(number)"))
    }

    /// Begins the one job of a run's first store, which is a small one, as a coordinator does.
    func beginWhole(
        _ run: ClusterRun
    ) throws -> (plan: StorePlan, job: Job, attempt: Attempt) {
        let offer = try #require(try reader(run).one(1).offer).offer
        guard case .whole(let plan) = offer.entry else { throw Missing(description: "a plan") }
        let attempt = attempt(plan, .whole)
        let job = plan.template.job(offer.key, .whole, engine: MigrationPlan.engineVersion)
        try ledger.append([
            .storeChanged(run: run.id, store: 1, .running, reason: nil, at: 1),
            .attemptBegan(
                run: run.id, store: 1, work: .whole, attempt: attempt.id, epoch: attempt.epoch,
                at: 1, worker: "w1"),
        ])
        return (plan, job, attempt)
    }

    /// Everything that a client would read of a store.
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
            return lines
        }
    }

    /// A result's bytes.
    static func bytes(of store: FilePath) throws -> [UInt8] {
        try DurableFileSystem().contents(of: store, limit: 1 << 30)
    }

    /// The result that a run in one process makes of a copy of the store.
    func ownResult(
        of store: FilePath, strategy: Strategy? = nil
    ) throws -> [UInt8] {
        let own = folder.appending("own")
        try files.makeFolders(own)
        let output = own.appending(store.lastComponent)
        try MigrationRequest(
            store: store, output: output, state: own.appending("state"),
            destination: .model(try DestinationModel(model: ForgeModels.notes(version: 2))),
            options: PlanOptions(strategy: strategy, chunkBytes: 16_384), slots: 1
        ).runAlone()
        return try Self.bytes(of: output)
    }

    /// Names beside the stores that a finished run must not leave.
    func strays() throws -> [String] {
        try files.names(in: data).map(\.description).filter {
            $0.hasPrefix(DurableFileSystem.temporaryPrefix)
        }
    }
}

/// A disk that tests let fail, and repair.
final class ChangingDisk: Sendable {
    typealias Rule = @Sendable (FaultPoint) -> InjectedFault?

    private let rule = Mutex<Rule?>(nil)

    var faults: FaultPoints {
        FaultPoints { point in
            let rule = self.rule.withLock { $0 }
            return rule?(point)
        }
    }

    /// From now on actions fail as the rule says; nil repairs the disk.
    func fail(_ rule: Rule?) { self.rule.withLock { $0 = rule } }

    /// An action fails at this moment, again and again.
    func fail(_ operation: FileOperation, _ moment: FaultPoint.Moment, _ number: Int32) {
        fail { point in
            point.operation == operation && point.moment == moment ? .error(number) : nil
        }
    }
}
