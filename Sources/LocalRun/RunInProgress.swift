import CoreDataStore
import DurableFiles
import Jobs
import MigrationEngine

/// One run of one store, step by step.
final class RunInProgress {
    let request: MigrationRequest
    let folder: RunFolder
    let files: DurableFileSystem
    let clock: () -> Double
    let observe: (RunEvent) -> Void
    private var building: FilePath { folder.building }
    private var seconds: [RunStep: Double] = [:]

    init(
        request: MigrationRequest, folder: RunFolder, files: DurableFileSystem,
        clock: @escaping () -> Double, observe: @escaping (RunEvent) -> Void
    ) {
        self.request = request
        self.folder = folder
        self.files = files
        self.clock = clock
        self.observe = observe
    }

    func run() throws(RunError) -> MigrationOutcome {
        let planned = try step(.prepare) { () throws(RunError) in
            try StorePreparation(request: request, folder: folder.path, files: files).prepare()
        }
        let validation: ValidationReport
        do throws(EngineError) {
            validation = try build(planned)
        } catch {
            throw .engine(named(error, planned.source.path))
        }
        guard validation.isEqual else { throw .validationFailed(validation) }
        let bytes = try step(.publish) { () throws(RunError) in try publish(planned) }
        return MigrationOutcome(
            plan: planned.plan, validation: validation, output: request.output,
            outputBytes: bytes, seconds: seconds, oddities: planned.source.oddities)
    }

    /// A fault that was met in a file of our own lies in the rows that were put there: it is
    /// told of the store that they come from.
    private func named(_ error: EngineError, _ source: FilePath) -> EngineError {
        guard case .store(.notAStore(_, let reason)) = error else { return error }
        return .store(.notAStore(path: source.description, reason: reason))
    }

    /// Runs one step, telling when it begins and ends.
    private func step<Result, Failure: Error>(
        _ step: RunStep, jobs: Int = 0, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        observe(.began(step, jobs: jobs))
        let start = clock()
        defer {
            seconds[step, default: 0] += clock() - start
            observe(.ended(step))
        }
        return try body()
    }

    private func build(_ planned: PlannedStore) throws(EngineError) -> ValidationReport {
        let file = try PlanFile(planned.plan)
        try EngineError.translating {
            try files.publish(file.bytes, to: folder.path.appending("plan.json"))
            try files.create(building).close()
        }
        let assembler = try StoreAssembler(plan: file, source: planned.source, at: building)
        let jobs = try SlotJobs<Receipt>(
            count: request.slots,
            jobs: planned.plan.chunks.count + planned.plan.linkChunks.count + 1)
        defer { jobs.end() }
        switch planned.plan.strategy {
        case .whole:
            try step(.copy) { () throws(EngineError) in
                try assembler.copyDirectly()
            }
        case .partitioned:
            let makers = try JobMaker(
                folder: folder.path, planned: planned, file: file, files: files)
            try step(.copy, jobs: planned.plan.chunks.count) { () throws(EngineError) in
                let copied = try copyAndMerge(planned.plan, makers, jobs, assembler)
                try copied.check(store: planned.source.path.description)
            }
            try step(.link, jobs: planned.plan.linkChunks.count) { () throws(EngineError) in
                try link(planned.plan, makers, jobs, assembler)
            }
        }
        let validation = try ValidationRun(
            planned: planned, building: building, slots: request.slots,
            externalData: folder.buildingSupport.appending("_EXTERNAL_DATA"))
        defer { validation.end() }
        // The source stands still, so its side can be summed while indexes are built.
        validation.beginSource()
        try step(.index) { () throws(EngineError) in
            try assembler.buildIndexes(helpers: request.slots > 1 ? 1 : 0)
            try assembler.finish(planned.destination)
            try carryExternalData(planned, layout: file.destination)
        }
        // Nothing is written any more: the disk may work while the processors compare.
        let sync = try FileSync(building, files: files)
        let report: ValidationReport
        do throws(EngineError) {
            report = try step(.validate, jobs: validation.count) { () throws(EngineError) in
                try validation.finish { rows in
                    observe(.jobDone(.validate, rows: rows, bytes: 0))
                }
            }
        } catch {
            try sync.finish()
            throw error
        }
        try sync.finish()
        return report
    }

    /// Copies chunks on the slots and merges their shards as soon as it is their turn.
    private func copyAndMerge(
        _ plan: MigrationPlan, _ makers: JobMaker, _ jobs: SlotJobs<Receipt>,
        _ assembler: StoreAssembler
    ) throws(EngineError) -> CopiedRows {
        var copied = CopiedRows(plan: plan)
        for number in plan.chunks.indices { jobs.submit(makers.job(.copy(chunk: number))) }
        var group: [FilePath] = []
        for (number, chunk) in plan.chunks.enumerated() {
            let receipt = try jobs.next()
            let shard = try makers.shard(of: receipt)
            copied.add(chunk, rows: receipt.rows)
            observe(
                .jobDone(.copy, rows: receipt.rows, bytes: receipt.files.first?.bytes ?? 0))
            if chunk.isAscending {
                _ = try assembler.append(chunk, shard: shard)
                try remove([shard])
                continue
            }
            group.append(shard)
            let isLast =
                number + 1 == plan.chunks.count || plan.chunks[number + 1].subject != chunk.subject
            if isLast {
                let scratch = folder.path.appending("merge")
                try EngineError.translating { try files.makeFolders(scratch) }
                _ = try assembler.merge(chunk, shards: group, scratch: scratch)
                try EngineError.translating { try files.removeTree(scratch) }
                try remove(group)
                group = []
            }
        }
        return copied
    }

    private func link(
        _ plan: MigrationPlan, _ makers: JobMaker, _ jobs: SlotJobs<Receipt>,
        _ assembler: StoreAssembler
    ) throws(EngineError) {
        for number in plan.linkChunks.indices { jobs.submit(makers.job(.link(chunk: number))) }
        for chunk in plan.linkChunks {
            let receipt = try jobs.next()
            let shard = try makers.shard(of: receipt)
            observe(
                .jobDone(.link, rows: receipt.rows, bytes: receipt.files.first?.bytes ?? 0))
            try assembler.apply(chunk, shard: shard)
            try remove([shard])
        }
    }

    private func remove(_ shards: [FilePath]) throws(EngineError) {
        try EngineError.translating {
            for shard in shards { try files.remove(shard) }
        }
    }

    /// Brings external data files to the place that the result will have.
    private func carryExternalData(
        _ planned: PlannedStore, layout: StoreLayout
    ) throws(EngineError) {
        let carrier = ExternalDataCarrier(
            files: files, links: planned.plan.options.linksExternalData)
        _ = try carrier.carry(
            layout: layout, database: building, from: planned.source.externalData,
            to: folder.buildingSupport.appending("_EXTERNAL_DATA"))
    }

    /// Makes the result durable and gives it its name.
    private func publish(_ planned: PlannedStore) throws(RunError) -> Int64 {
        try RunError.translating {
            let now = try StoreFingerprint(of: planned.source.path)
            guard now == planned.source.fingerprint else {
                throw EngineError.sourceChanged(planned.source.path.description)
            }
            let bytes = try FileStatus(of: building).size
            try publishFiles()
            return bytes
        }
    }

    /// Gives external data and database their names, the database last: once it is there, all of
    /// the result is.
    private func publishFiles() throws(DurableFileError) {
        let support = SupportFolder.folder(ofStore: request.output)
        let hasSupport = try FileStatus.ifPresent(folder.buildingSupport) != nil
        if hasSupport {
            try files.rename(folder.buildingSupport, to: support, existing: .refuse)
        }
        do throws(DurableFileError) {
            try files.publishFile(building, as: request.output, existing: .refuse)
        } catch {
            // Where the database did not get its name, its data must not keep theirs.
            if hasSupport, try FileStatus.ifPresent(building) != nil {
                try files.rename(support, to: folder.buildingSupport, existing: .refuse)
            }
            throw error
        }
    }
}
