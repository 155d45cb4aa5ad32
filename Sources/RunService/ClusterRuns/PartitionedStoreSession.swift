import CoreDataStore
import DurableFiles
import MappingModel
package import Jobs
package import MigrationEngine
import MigrationPlans
import MigrationValidation
package import RunLedger
import RunMoves
import SafeSQLite
package import StateFolders
import StoreLocks
import StoreRuns

/// One store of a shared run that is cut into chunks: everything that happens to it beside the
/// jobs of workers.
///
/// Used by one thread at a time, which keeps its connections, its lock and what is being built
/// between the calls. After an error the same call can be made again: what was being built is
/// opened again.
package final class PartitionedStoreSession {
    let shared: ClusterRun
    let run: StoreRun
    let mover: CutOver
    private(set) var lock: StoreLock? {
        didSet { run.lock = lock }
    }
    private var planned: PlannedStore?
    private var file: PlanFile?
    private var assembler: StoreAssembler?
    var validation: ValidationRun?
    private(set) var report: ValidationReport?
    /// Whether that was tried, and statements are needed after all.
    var needsStatements = false
    /// When the last step ended, so that the time in which workers copy is known.
    private var since: Double

    /// - Parameters:
    ///   - named: the store as its run knows it.
    ///   - shared: the run.
    /// - Throws: `RunError` where the store's folder is gone or lies in no root.
    package init(_ named: FoundStore, of shared: ClusterRun) throws(RunError) {
        self.shared = shared
        // From here on no link is followed: what it was named by is resolved once.
        let (path, result) = try shared.locations(of: named)
        let found = FoundStore(
            number: named.number, location: path, output: named.output.map { _ in result },
            bytes: named.bytes)
        // With one slot the validation would run on this thread, after everything else.
        run = try StoreRun(
            found, context: shared.context, slots: max(2, shared.context.request.slots))
        mover = CutOver(shared.context)
        since = shared.context.environment.clock()
    }

    var files: DurableFileSystem { shared.context.files }
    var places: StorePaths { run.places }

    /// Lets go of locks, connections and threads.
    package func close() {
        validation?.end()
        (validation, assembler, planned, file, report, lock) = (nil, nil, nil, nil, nil, nil)
    }

    /// Removes everything that was made of the store, but what belongs to half a publication.
    ///
    /// - Throws: `RunError.file` for what stays.
    package func removeAll() throws(RunError) {
        guard try !mover.keepsResult(run.found) else { return }
        try RunError.translating { try places.removeAll(files) }
    }
}

// MARK: - Preparation

extension PartitionedStoreSession {
    /// Opens and plans the store, or finds what an earlier process planned.
    ///
    /// - Throws: `RunError` naming what stands in the way.
    package func prepare() throws(RunError) -> Preparation {
        close()
        // Half of an earlier publication would be in the way of its own result.
        try mover.takeBackHalf(of: run.found)
        lock = try StoreAdmission(
            store: try shared.locations(of: run.found).store, output: run.found.output,
            files: files, clients: shared.context.request.clients, mark: shared.context.mark
        ).admit()
        try shared.context.record(try RunSpace(context: shared.context).began(run.found))
        var voided: String?
        switch try run.progress() {
        case .none: break
        case .void(let reason): voided = reason
        case .kept(let planned):
            if try receipts().isEmpty { try removeUnfinished() }
            if let reason = try lostShards(of: planned) {
                voided = reason
                // What it has open is about to be removed.
                (self.assembler, self.planned, file) = (nil, nil, nil)
            } else {
                return try .chunks(chunks(planned, isKept: true, voided: nil))
            }
        }
        let planned: PlannedStore
        do throws(RunError) {
            planned = try run.step(.prepare) { () throws(RunError) in
                let (planned, connection) = try run.prepared()
                try RunError.translating { try connection?.close() }
                return planned
            }
        } catch {
            guard case .alreadyThere = error else { throw error }
            return .unchanged
        }
        guard planned.stepsLeft.isEmpty, planned.plan.strategy == .partitioned else {
            lock = nil
            try removeAll()
            return try .whole(shared.whole(run.found))
        }
        return try .chunks(chunks(planned, isKept: false, voided: voided))
    }

    private func chunks(
        _ planned: PlannedStore, isKept: Bool, voided: String?
    ) throws(RunError) -> Chunks {
        let file = try RunError.engine { () throws(EngineError) in try PlanFile(planned.laidOut) }
        if !isKept { try run.write(file) }
        self.planned = planned
        self.file = file
        let isRebuilt = try rebuilds(planned)
        self.planned?.isRebuilt = isRebuilt
        let assembler = isRebuilt ? nil : try opened()
        let steps = assembler?.steps.filter(\.takesShards) ?? []
        let done = assembler.map { $0.steps.prefix($0.done).count(where: \.takesShards) } ?? 0
        let roots = shared.roots
        let plan = try roots.reference(to: places.plan)
        let source = try roots.reference(
            to: try RunError.translating { try files.resolve(planned.source.database) })
        let external = planned.source.externalData
        let support = try RunError.translating { try FileStatus.ifPresent(external) }
            .map { _ throws(RunError) in try roots.reference(to: external) }
        let attempts = try roots.reference(to: places.attempts)
        since = shared.context.environment.clock()
        return Chunks(
            plan: plan, planDigest: file.digest, source: source, support: support,
            fingerprint: try run.fingerprint(of: planned.source), engine: planned.plan.engine,
            attempts: attempts, hasSnapshot: planned.original.isSnapshot,
            roots: Set(
                [plan.root, source.root, attempts.root] + (support.map { [$0.root] } ?? [])),
            policies: shared.wanted(planned.plan.mapping.entityMappings.compactMap(\.policy)),
            steps: steps, done: isKept ? done : nil, voided: voided)
    }

    /// Why shards that were accepted and not yet taken cannot be used; nil if they can.
    private func lostShards(of planned: PlannedStore) throws(RunError) -> String? {
        for receipt in try receipts() {
            // A shard that was taken is gone, and so is its folder; which ones were taken is
            // known from the destination alone.
            guard try isDue(receipt.work, planned) else { continue }
            guard let delivered = receipt.files.first else { continue }
            guard shared.roots.names.contains(delivered.file.root) else {
                return "its shards were made by a coordinator that named their folders differently"
            }
            let path = try shared.roots.resolve(delivered.file)
            let status = try RunError.translating { try FileStatus.ifPresent(path) }
            guard status?.size == delivered.bytes else {
                return "the accepted shard of \(receipt.work.name) is missing or changed"
            }
        }
        return nil
    }

    private func isDue(_ work: Work, _ planned: PlannedStore) throws(RunError) -> Bool {
        if assembler == nil {
            self.planned = planned
            file = try RunError.engine { () throws(EngineError) in try PlanFile(planned.laidOut) }
        }
        let assembler = try opened()
        return assembler.steps.dropFirst(assembler.done).contains { $0.works.contains(work) }
    }

    func receipts() throws(RunError) -> [Receipt] {
        try shared.context.read { ledger throws(LedgerError) in
            try ledger.acceptedReceipts(run: shared.id, store: run.found.number)
        }
    }

    /// What is being built, opened where it is not.
    private func opened() throws(RunError) -> StoreAssembler {
        if let assembler { return assembler }
        let (planned, file) = try known()
        let made = try RunError.engine { () throws(EngineError) in
            try EngineError.translating {
                if try FileStatus.ifPresent(places.building) == nil {
                    try files.create(places.building).close()
                }
            }
            return try StoreAssembler(
                plan: file, source: planned.source, at: places.building,
                recovery: .transactions, files: files)
        }
        assembler = made
        return made
    }

    func known() throws(RunError) -> (PlannedStore, PlanFile) {
        guard let planned, let file else {
            throw .engine(.internalError("\(run.found.path) was not prepared"))
        }
        return (planned, file)
    }
}

// MARK: - Building

extension PartitionedStoreSession {
    /// Takes the shards of one step.
    ///
    /// - Parameters:
    ///   - step: one of those that the preparation named.
    ///   - shards: receipts in the order of the plan.
    /// - Throws: `RunError`; the destination holds the step or not, and the call can be repeated.
    package func take(_ step: AssemblyStep, shards: [Receipt]) throws(RunError) {
        let (planned, _) = try known()
        var paths: [FilePath] = []
        for receipt in shards {
            guard let delivered = receipt.files.first else {
                throw .engine(.wrongPlan("job \(receipt.work.name) delivered no file"))
            }
            paths.append(try shared.roots.resolve(delivered.file))
        }
        if case .merge = step {} else { try restoreSnapshot() }
        let assembler = try opened()
        if assembler.steps.prefix(assembler.done).contains(step) {
            // Its end was never told: the shards are gone, or may go.
            try RunError.translating { try files.removeScratchTree(mergeFolder) }
            return try remove(paths)
        }
        do throws(RunError) {
            try RunError.engine { () throws(EngineError) in
                try take(step, paths, assembler, planned)
            }
        } catch {
            self.assembler = nil
            throw ResultBuilder.named(error, planned.source.path)
        }
        try remove(paths)
        run.steps.add(elapsed(), to: step.isLink ? .link : .copy)
    }

    /// Makes the snapshot again that was given up while shards were merged.
    ///
    /// - Throws: `RunError.engine(.sourceChanged)` where the store has changed since.
    private func restoreSnapshot() throws(RunError) {
        guard let planned, planned.original.isSnapshot else { return }
        let isThere = try RunError.translating { try FileStatus.ifPresent(places.snapshot) != nil }
        if !isThere { try run.remakeSnapshot() }
    }

    private func take(
        _ step: AssemblyStep, _ shards: [FilePath], _ assembler: StoreAssembler,
        _ planned: PlannedStore
    ) throws(EngineError) {
        switch step {
        case .append(let chunk):
            guard let shard = shards.first else { return }
            _ = try assembler.append(planned.plan.chunks[chunk], shard: shard)
        case .merge(let chunks):
            // All copies are made: snapshot, shards and result together would take three times
            // the source. The original has not changed, so that the snapshot can be made again.
            if planned.original.isSnapshot {
                try EngineError.translating { try files.remove(places.snapshot) }
            }
            try EngineError.translating { try files.makeFolders(mergeFolder) }
            try assembler.merge(
                planned.plan.chunks[chunks.lowerBound], shards: shards, scratch: mergeFolder)
            try EngineError.translating { try files.removeTree(mergeFolder) }
        case .link(let chunk):
            guard let shard = shards.first else { return }
            try assembler.apply(planned.plan.linkChunks[chunk], shard: shard)
        case .tables, .foundObjects, .rowsComplete, .pageIndexes, .index, .finish: return
        }
    }

    /// Where shards whose keys interleave are merged.
    private var mergeFolder: FilePath { places.folder.appending("merge") }

    private func remove(_ shards: [FilePath]) throws(RunError) {
        try RunError.translating {
            for shard in shards where try FileStatus.ifPresent(shard.parent) != nil {
                try files.removeTree(shard.parent)
            }
        }
    }

    private func elapsed() -> Double {
        let now = shared.context.environment.clock()
        defer { since = now }
        return max(0, now - since)
    }

    /// Builds indexes and completes the file; the validation's source side begins meanwhile.
    ///
    /// - Returns: false for a store that has to be planned again.
    /// - Throws: `RunError`; the call can be repeated.
    package func index() throws(RunError) -> Bool {
        let (planned, _) = try known()
        if planned.isRebuilt { return try rebuild(planned) }
        try assemble(planned)
        return true
    }

    private func assemble(_ planned: PlannedStore) throws(RunError) {
        var copied = CopiedRows(plan: planned.plan)
        for receipt in try receipts() {
            guard case .copy(let chunk) = receipt.work else { continue }
            guard planned.plan.chunks.indices.contains(chunk) else { continue }
            copied.add(planned.plan.chunks[chunk], rows: receipt.rows)
        }
        let removed = PolicyRecord(places, files)
        try restoreSnapshot()
        let assembler = try opened()
        // It is closed with this call; another one opens what there is.
        self.assembler = nil
        try RunError.engine { () throws(EngineError) in
            try copied.check(store: planned.source.path.description)
            try assembler.mergeFoundObjects { sums throws(EngineError) in
                try removed.write(sums)
            }
        }
        let sums = try recordedSums()
        try RunError.engine { () throws(EngineError) in
            validation?.end()
            validation = try run.builder.beginValidation(planned, nil, recordedSums: sums)
            try run.builder.finish(planned, assembler)
            // In exclusive locking mode SQLite leaves an empty journal behind.
            try EngineError.translating {
                try files.remove(StoreLocation(places.building).companion(.rollbackJournal))
            }
        }
    }

    /// The failure of a task, or `sourceChanged` where a program wrote the store meanwhile.
    package func explained(_ error: RunError) -> RunError {
        planned.map { error.unlessChanged($0.original) } ?? error
    }

    /// Compares source and result.
    ///
    /// - Returns: nil where they agree, what differs otherwise.
    /// - Throws: `RunError`, `engine(.sourceChanged)` where they differ because a program wrote the
    ///   store; the call can be repeated.
    package func validate() throws(RunError) -> RunError? {
        let (planned, _) = try known()
        defer {
            validation?.end()
            validation = nil
        }
        let sums = try recordedSums()
        report = try RunError.engine { () throws(EngineError) in
            if validation == nil {
                validation = try run.builder.beginValidation(planned, nil, recordedSums: sums)
            }
            return try validation.map { begun throws(EngineError) in
                try run.builder.finish(begun)
            }
        }
        guard let report, !report.isEqual else { return nil }
        let failure = explained(.validationFailed(report))
        guard case .validationFailed = failure else { throw failure }
        return failure
    }
}
