import CoreDataStore
import DurableFiles
package import Jobs
package import MigrationPlans
package import SafeSQLite
import Synchronization

/// Runs copy and link jobs: a job in, a shard and a receipt out.
///
/// Synchronous, without network and clock; each job opens its own connections. One runner serves
/// the slots of a process: what it keeps are plans that it has read.
package final class JobRunner: Sendable {
    private let environment: JobEnvironment
    private let plans = Mutex<[String: PlanFile]>([:])

    /// The most plans that are kept; the oldest are read again.
    private static let planLimit = 8

    package init(environment: JobEnvironment) { self.environment = environment }

    /// Runs one attempt.
    ///
    /// - Parameters:
    ///   - job: a piece of a plan.
    ///   - attempt: its folder and fence.
    ///   - counter: counts every row, for a watchdog.
    /// - Returns: the proof on which the job is accepted.
    /// - Throws: `EngineError`; the attempt's folder then holds nothing of use.
    package func run(
        _ job: Job, attempt: Attempt, counter: RowCounter? = nil
    ) throws(EngineError) -> Receipt {
        guard job.engine == MigrationPlan.engineVersion else {
            throw .wrongPlan("engine \(job.engine) made the job")
        }
        let file = try plan(of: job)
        switch job.work {
        case .whole: throw .internalError("a whole store is no job of chunks")
        case .copy(let chunk): return try copy(chunk, job, attempt, file, counter)
        case .link(let chunk): return try link(chunk, job, attempt, file, counter)
        }
    }

    private func plan(of job: Job) throws(EngineError) -> PlanFile {
        if let known = plans.withLock({ $0[job.planDigest] }) { return known }
        let file = try PlanFile(reading: environment.resolve(job.plan), digest: job.planDigest)
        plans.withLock { plans in
            if plans.count >= Self.planLimit { plans.removeAll() }
            plans[job.planDigest] = file
        }
        return file
    }

    private func copy(
        _ number: Int, _ job: Job, _ attempt: Attempt, _ file: PlanFile, _ counter: RowCounter?
    ) throws(EngineError) -> Receipt {
        guard file.plan.chunks.indices.contains(number) else {
            throw .internalError("job \(job.work.name) names a chunk that the plan has not")
        }
        let chunk = file.plan.chunks[number]
        return try shard(job, attempt, counter) { connection throws(EngineError) in
            let tables = try ShardTable.tables(of: job.work, file)
            try EngineError.translating {
                for table in tables { try connection.create(table.definition) }
            }
            let copier = ChunkCopier(
                file: file.laidOut, connection: connection, policies: environment.policies,
                attempt: try environment.resolve(attempt.folder),
                support: try job.sourceSupport.map { reference throws(EngineError) in
                    try environment.resolve(reference)
                })
            try copier.attach(
                source: environment.resolve(job.source), routes: routes(of: chunk, job))
            var made = Made(rows: try copier.copy(chunk))
            try count(tables.map(\.name), of: chunk, file.plan, connection, &made)
            return made
        }
    }

    /// Counts what stands in a shard of which policies may have made something, and sums over it.
    private func count(
        _ tables: [String], of chunk: Chunk, _ plan: MigrationPlan, _ connection: Connection,
        _ made: inout Made
    ) throws(EngineError) {
        made.counts = [tables[0]: made.rows]
        guard case .feed(let place) = chunk.subject,
            !plan.policies(of: plan.feeds[place]).isEmpty
        else { return }
        made = try EngineError.translating { () throws(StoreError) in
            var counted = made
            for table in tables {
                counted.counts[table] = try connection.integer(
                    "SELECT count(*) FROM main.\(SQLText.quoted(table))")
            }
            let feed = plan.feeds[place]
            let linked = plan.linkedTables(of: feed)
            counted.sums = try RecordedSums(connection).sums(
                over: plan.recordedRows(of: feed),
                plan.policyLinks.filter { linked.contains($0.table) })
            return counted
        }
    }

    /// What a job has made in its shard.
    private struct Made {
        var rows: Int64
        /// Rows by table.
        var counts: [String: Int64] = [:]
        /// Over what policies made, by labels.
        var sums: [String: ContentSum] = [:]
    }

    private func routes(of chunk: Chunk, _ job: Job) throws(EngineError) -> [Int: FilePath] {
        switch chunk.selection {
        case .listed(let route, _):
            return [route: try environment.resolve(RouteFile.reference(job.plan, route))]
        case .keys, .entities: return [:]
        }
    }

    private func link(
        _ number: Int, _ job: Job, _ attempt: Attempt, _ file: PlanFile, _ counter: RowCounter?
    ) throws(EngineError) -> Receipt {
        guard file.plan.linkChunks.indices.contains(number) else {
            throw .internalError("job \(job.work.name) names a chunk that the plan has not")
        }
        let chunk = file.plan.linkChunks[number]
        let link = file.plan.links[chunk.link]
        return try shard(job, attempt, counter) { connection throws(EngineError) in
            let writer = LinkWriter(file: file.laidOut, connection: connection)
            try writer.createTable(link)
            let source = try environment.resolve(job.source)
            let failures = ValueFailures()
            try EngineError.translating {
                try connection.attachImmutable(source, as: "src")
                try ValueFunction.register(
                    connection, source: .attached, cells: file.plan.computedCells,
                    failures: failures, methods: environment.policies.methods)
            }
            let links = try failures.translating { () throws(EngineError) in
                try writer.write(chunk, link: link)
            }
            return Made(rows: links, counts: ["link": links])
        }
    }

    /// Makes a shard in the attempt's folder, publishes it, and writes the receipt.
    private func shard(
        _ job: Job, _ attempt: Attempt, _ counter: RowCounter?,
        _ body: (Connection) throws(EngineError) -> Made
    ) throws(EngineError) -> Receipt {
        let folder = try environment.resolve(attempt.folder)
        let files = environment.files
        return try EngineError.translating {
            try files.makeFolders(folder)
            let temporary = folder.appending("shard.unpublished")
            if try FileStatus.ifPresent(temporary) != nil { try files.remove(temporary) }
            try files.create(temporary).close()
            let connection = try Connection(
                path: temporary, mode: .create, cacheKibibytes: job.limits.cacheKibibytes)
            try connection.configure(StoreBuilder.bulkPragmas)
            let made =
                if let counter {
                    try counter.counting(on: connection) { try body(connection) }
                } else {
                    try body(connection)
                }
            try connection.close()
            let published = folder.appending("shard.sqlite")
            if job.limits.isDurable {
                try files.publishFile(temporary, as: published)
            } else {
                try files.rename(temporary, to: published, existing: .replace)
            }
            let content = try ContentDigest.hexadecimal(of: published, files: files)
            let reference = FileReference(
                root: attempt.folder.root, path: attempt.folder.path + "/shard.sqlite")
            return Receipt(
                job: job, attempt: attempt,
                files: [
                    DeliveredFile(file: reference, bytes: content.bytes, digest: content.digest)
                ], rows: made.rows, sums: made.sums, counts: made.counts)
        }
    }
}
