import CoreDataStore
import DurableFiles
import Jobs
import MigrationEngine
import RunLedger

/// Copies the chunks of one store on the slots and puts their shards together, or goes on where
/// an earlier process was stopped.
///
/// What the destination holds stands in the destination; what was copied and not yet merged
/// stands in the ledger. Between the two no chunk is copied twice.
final class ShardAssembly {
    private let store: StoreRun
    private let planned: PlannedStore
    private let plan: MigrationPlan
    private let assembler: StoreAssembler
    private let makers: JobMaker
    private let jobs: ChunkJobs
    private var receipts: [Work: Receipt]

    init(
        run: StoreRun, planned: PlannedStore, file: PlanFile, assembler: StoreAssembler
    ) throws(RunError) {
        self.store = run
        self.planned = planned
        plan = planned.plan
        self.assembler = assembler
        let context = run.context
        makers = try RunError.engine { () throws(EngineError) in
            try JobMaker(
                run: context.id, number: run.found.number, places: run.places, planned: planned,
                file: file, files: context.files)
        }
        let known = try context.read { ledger throws(LedgerError) in
            try ledger.acceptedReceipts(run: context.id, store: run.found.number)
        }
        let attempts = try context.read { ledger throws(LedgerError) in
            try ledger.attempts(run: context.id, store: run.found.number)
        }
        receipts = Dictionary(known.map { ($0.work, $0) }, uniquingKeysWith: { first, _ in first })
        jobs = ChunkJobs(
            context: context, makers: makers, attempts: attempts, isInline: run.slots == 1)
    }

    /// Brings the destination to where indexes are built.
    func assemble() throws(RunError) {
        try removeStrays()
        let left = Array(assembler.steps.dropFirst(assembler.done))
        do throws(RunError) {
            try copy(left)
            try link(left)
        } catch {
            jobs.wait()
            throw error
        }
    }

    /// The steps of one stage that are left, with the jobs that deliver to them.
    private func works(of step: AssemblyStep) -> [Work] {
        switch step {
        case .append(let chunk): [.copy(chunk: chunk)]
        case .merge(let chunks): chunks.map { .copy(chunk: $0) }
        case .link(let chunk): [.link(chunk: chunk)]
        case .tables, .index, .finish: []
        }
    }

    private func copy(_ left: [AssemblyStep]) throws(RunError) {
        let steps = left.filter { step in
            switch step {
            case .append, .merge: true
            case .tables, .link, .index, .finish: false
            }
        }
        let open = steps.flatMap { works(of: $0) }.filter { receipts[$0] == nil }
        try store.step(.copy, jobs: open.count) { () throws(RunError) in
            jobs.queue(open)
            let isSnapshotInTheWay = planned.source.isSnapshot && steps.contains { $0.isMerge }
            if isSnapshotInTheWay { try giveUpSnapshot(for: open) }
            for step in steps { try merge(step) }
            if isSnapshotInTheWay { try store.remakeSnapshot() }
            var copied = CopiedRows(plan: plan)
            for (number, chunk) in plan.chunks.enumerated() {
                copied.add(chunk, rows: receipts[.copy(chunk: number)]?.rows ?? 0)
            }
            try RunError.engine { () throws(EngineError) in
                try copied.check(store: planned.source.path.description)
            }
        }
    }

    /// Waits for all shards, which a merge reads at one time, and removes the snapshot.
    ///
    /// Snapshot, shards and result together would be three times the source. The original has
    /// not changed, so that the snapshot can be made again.
    private func giveUpSnapshot(for works: [Work]) throws(RunError) {
        for work in works { _ = try shard(of: work, .copy) }
        try RunError.translating { try store.context.files.remove(store.places.snapshot) }
    }

    private func merge(_ step: AssemblyStep) throws(RunError) {
        var shards: [FilePath] = []
        for work in works(of: step) { shards.append(try shard(of: work, .copy)) }
        try RunError.engine { () throws(EngineError) in
            switch step {
            case .append(let chunk):
                guard let shard = shards.first else { return }
                _ = try assembler.append(plan.chunks[chunk], shard: shard)
            case .merge(let chunks):
                let scratch = store.places.folder.appending("merge")
                try EngineError.translating { try store.context.files.makeFolders(scratch) }
                _ = try assembler.merge(
                    plan.chunks[chunks.lowerBound], shards: shards, scratch: scratch)
                try EngineError.translating { try store.context.files.removeTree(scratch) }
            case .tables, .link, .index, .finish: return
            }
        }
        try remove(shards)
    }

    private func link(_ left: [AssemblyStep]) throws(RunError) {
        let open = left.flatMap { works(of: $0) }.filter { work in
            if case .link = work { receipts[work] == nil } else { false }
        }
        try store.step(.link, jobs: open.count) { () throws(RunError) in
            jobs.queue(open)
            for case .link(let number) in left {
                let shard = try shard(of: .link(chunk: number), .link)
                try RunError.engine { () throws(EngineError) in
                    try assembler.apply(plan.linkChunks[number], shard: shard)
                }
                try remove([shard])
            }
        }
    }

    /// Waits for the shard of a job, or takes the one that is there already.
    private func shard(of work: Work, _ step: RunStep) throws(RunError) -> FilePath {
        if let receipt = receipts[work] { return try path(of: receipt) }
        let receipt = try jobs.receipt(of: work)
        receipts[work] = receipt
        store.observe(.jobDone(step, rows: receipt.rows, bytes: receipt.files.first?.bytes ?? 0))
        return try path(of: receipt)
    }

    private func path(of receipt: Receipt) throws(RunError) -> FilePath {
        guard makers.knows(receipt) else {
            throw .engine(
                .wrongPlan(
                    "\(planned.source.path): the shard of \(receipt.work.name) was made by a "
                        + "worker that called its folders otherwise"))
        }
        return try RunError.engine { () throws(EngineError) in try makers.shard(of: receipt) }
    }

    private func remove(_ shards: [FilePath]) throws(RunError) {
        try RunError.translating {
            for shard in shards { try store.context.files.removeTree(shard.parent) }
        }
    }

    /// Removes what attempts left that are merged already or were never accepted.
    private func removeStrays() throws(RunError) {
        let left = assembler.steps.dropFirst(assembler.done).flatMap { works(of: $0) }
        var wanted: Set<FilePath> = []
        for work in left {
            guard let receipt = receipts[work] else { continue }
            let shard = try path(of: receipt)
            let status = try RunError.translating { try FileStatus.ifPresent(shard) }
            guard status?.size == receipt.files.first?.bytes else {
                throw .engine(
                    .wrongPlan(
                        "\(planned.source.path): the shard of \(work.name), which was accepted, "
                            + "is gone or changed"))
            }
            wanted.insert(shard.parent.lastComponent)
        }
        try RunError.translating {
            let folder = store.places.attempts
            guard try FileStatus.ifPresent(folder) != nil else { return }
            for name in try store.context.files.names(in: folder) where !wanted.contains(name) {
                try store.context.files.removeTree(folder.appending(name))
            }
        }
    }
}

extension AssemblyStep {
    /// Whether the step reads many shards at one time.
    fileprivate var isMerge: Bool {
        if case .merge = self { true } else { false }
    }
}
