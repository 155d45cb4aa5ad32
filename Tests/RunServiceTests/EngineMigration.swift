import CoreDataStore
import DurableFiles
import Jobs
import MigrationEngine
import MigrationPlans
import MigrationValidation
import RunSupport
import SafeSQLite

@testable import RunMoves
@testable import RunService
@testable import StoreRuns
import StateFolders

/// What the engine made of one store.
struct MigrationOutcome {
    let plan: MigrationPlan
    let result: StoreResult
    /// Over what policies gave, by labels.
    let recordedSums: [String: ContentSum]
    var validation: ValidationReport { result.validation }
    var outputBytes: Int64 { result.outputBytes }
    var oddities: [String] { result.oddities }
}

/// One store through the stages of the engine, job by job on the calling thread, without a run:
/// what tests judge the engine by.
struct EngineMigration {
    private let request: MigrationRequest
    private let files: DurableFileSystem
    private let steps: StoreSteps
    private let policies: PolicyLibrary
    private let observe: (RunStep) -> Void

    /// - Parameters:
    ///   - request: with an output.
    ///   - files: through which durable actions go.
    ///   - clock: seconds that never go back.
    ///   - policies: that the process carries.
    ///   - observe: called for each step before it begins.
    init(
        _ request: MigrationRequest, files: DurableFileSystem = DurableFileSystem(),
        clock: @escaping @Sendable () -> Double = { 0 },
        policies: PolicyLibrary = PolicyLibrary(),
        observe: @escaping (RunStep) -> Void = { _ in }
    ) {
        self.policies = policies
        self.request = request
        self.files = files
        steps = StoreSteps(clock: clock)
        self.observe = observe
    }

    func plan() throws(RunError) -> PlannedStore {
        try StorePlanning(request, files: files).plan()
    }

    /// Migrates the store: prepare, copy, merge, link, index, validate, publish.
    ///
    /// - Throws: `RunError`; the original is as it was and there is no result.
    func run() throws(RunError) -> MigrationOutcome {
        let store = try RunError.translating { try files.resolveStore(request.store) }
        let runRequest = RunRequest(
            destination: request.destination, sourceModel: request.sourceModel,
            options: request.options, output: request.output?.parent, state: request.state,
            inputs: [request.store], slots: request.slots)
        let lock = try StoreAdmission(
            store: StoreLocation(store), output: request.output.map(StoreLocation.init),
            files: files,
            clients: runRequest.clients
        ).admit()
        defer { withExtendedLifetime(lock) {} }
        let folder = request.state.appending("runs").appending("r1").appending("1")
        let places = StorePaths(
            folder: folder, mark: "test", number: 1, result: StoreLocation(request.result))
        do throws(RunError) {
            try RunError.translating { try files.makeFolders(folder) }
            observe(.prepare)
            let (planned, connection) = try StorePreparation(
                store: store, request: runRequest, places: places, files: files,
                cache: request.cache, slots: request.slots, steps: .written(policies)
            ).prepareConnected()
            return try migrate(planned, connection, places)
        } catch {
            try RunError.translating { try places.removeAll(files) }
            throw error
        }
    }

    private func migrate(
        _ planned: PlannedStore, _ connection: Connection?, _ places: StorePaths
    ) throws(RunError) -> MigrationOutcome {
        guard let output = request.output else {
            throw .engine(.internalError("the engine alone swaps nothing"))
        }
        let builder = ResultBuilder(
            places: places, files: files, cache: request.cache, slots: request.slots,
            isInPlace: false, steps: steps, policies: policies)
        let validation: ValidationReport?
        var recorded: [String: ContentSum] = [:]
        do throws(RunError) {
            observe(.copy)
            switch planned.plan.strategy {
            case .whole:
                observe(.validate)
                let made = try builder.buildWhole(planned, connection, validates: true)
                (validation, recorded) = (made.report, made.recordedSums)
            case .partitioned:
                let (assembler, sums) = try assemble(planned, places)
                recorded = sums
                observe(.validate)
                validation = try RunError.engine { () throws(EngineError) in
                    let begun = try builder.beginValidation(planned, nil, recordedSums: sums)
                    defer { begun.end() }
                    try builder.finish(planned, assembler)
                    return try builder.finish(begun)
                }
            }
        } catch {
            throw ResultBuilder.named(error, planned.source.path).unlessChanged(planned.source)
        }
        guard let validation else {
            throw .engine(.internalError("the result was not validated"))
        }
        guard validation.isEqual else {
            throw RunError.validationFailed(validation).unlessChanged(planned.source)
        }
        observe(.publish)
        return try RunError.translating {
            let building = try FileStatus(of: places.building).identity
            let result = StoreResult(
                planned, validation: validation, output: output,
                outputBytes: building.size, seconds: steps.seconds)
            let now = try StoreFingerprint(of: planned.source.path)
            guard now == planned.source.fingerprint
            else { throw EngineError.changed(planned.source.path) }
            try PublishPlan(
                places, output: StoreLocation(output), validated: building, source: now,
                of: planned.source.path, files
            ).run(files)
            try places.removeAll(files)
            return MigrationOutcome(
                plan: planned.plan, result: result, recordedSums: recorded)
        }
    }

    /// Runs every job and takes its shard at once.
    private func assemble(
        _ planned: PlannedStore, _ places: StorePaths
    ) throws(RunError) -> (StoreAssembler, recordedSums: [String: ContentSum]) {
        try RunError.engine { () throws(EngineError) in
            let jobs = try EngineJobs(
                planned, plan: places.plan, attempts: places.attempts, files: files,
                policies: policies)
            try EngineError.translating { try files.create(places.building).close() }
            let assembler = try StoreAssembler(
                plan: jobs.file, source: planned.source, at: places.building,
                recovery: .transactions, files: files)
            var copied = CopiedRows(plan: planned.plan)
            var sums: [String: ContentSum] = [:]
            for step in assembler.steps {
                var shards: [FilePath] = []
                for work in step.works {
                    let receipt = try jobs.run(work)
                    if case .copy(let chunk) = work {
                        copied.add(planned.plan.chunks[chunk], rows: receipt.rows)
                    }
                    for (label, sum) in receipt.sums {
                        sums[label, default: ContentSum()].add(sum)
                    }
                    shards.append(try jobs.shard(of: receipt))
                }
                try take(step, shards, assembler, planned.plan, places)
            }
            try copied.check(store: planned.source.path.description)
            try assembler.mergeFoundObjects { removed in
                for (label, sum) in removed { sums[label, default: ContentSum()].subtract(sum) }
            }
            return (assembler, sums)
        }
    }

    private func take(
        _ step: AssemblyStep, _ shards: [FilePath], _ assembler: StoreAssembler,
        _ plan: MigrationPlan, _ places: StorePaths
    ) throws(EngineError) {
        switch step {
        case .append(let chunk):
            _ = try assembler.append(plan.chunks[chunk], shard: shards[0])
        case .merge(let chunks):
            let scratch = places.folder.appending("merge")
            try EngineError.translating { try files.makeFolders(scratch) }
            _ = try assembler.merge(
                plan.chunks[chunks.lowerBound], shards: shards, scratch: scratch)
            try EngineError.translating { try files.removeTree(scratch) }
        case .link(let chunk): try assembler.apply(plan.linkChunks[chunk], shard: shards[0])
        case .tables, .foundObjects, .rowsComplete, .pageIndexes, .index, .finish: return
        }
        try EngineError.translating {
            for shard in shards { try files.removeTree(shard.parent) }
        }
    }
}
