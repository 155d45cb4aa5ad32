package import CoreDataStore
package import DurableFiles
package import Jobs
import ManagedObjectModel
package import MigrationPlans
import PageWriting
import SafeSQLite

/// Builds one destination file: tables, merged shards or direct copies, links, indexes, system
/// tables, and everything that the plan keeps beside them.
///
/// Used by one thread. The order of calls is that of `MigrationPlan.assemblySteps`. A store that
/// is copied as a whole is one transaction, which writes every page once.
package final class StoreAssembler {
    let file: LaidOutPlan
    private let builder: StoreBuilder
    private let source: SourceStore
    let recovery: StoreBuilder.Recovery
    private let isBlank: Bool
    /// Steps that the file holds; all of them when it is complete.
    package private(set) var done = 0
    /// The steps from an empty file to a complete one.
    package let steps: [AssemblyStep]
    /// Whether the source is attached as `src`.
    private var isSourceAttached = false

    private let valueFailures: ValueFailures
    private let policies: PolicyLibrary
    private let attempt: FilePath?
    let files: DurableFileSystem
    /// Sums over what policies made in a store that is copied as a whole, by labels.
    package private(set) var recordedSums: [String: ContentSum] = [:]

    var plan: MigrationPlan { file.plan }
    private var copier: ChunkCopier {
        ChunkCopier(
            file: file, connection: connection, failures: valueFailures, policies: policies,
            attempt: attempt, support: source.externalData)
    }
    var connection: Connection { builder.connection }

    /// Makes the file with its empty tables, or goes on with one that a killed process left.
    ///
    /// - Parameters:
    ///   - file: the plan.
    ///   - source: the store that it is about.
    ///   - path: of the file, which must exist; an empty one is begun.
    ///   - recovery: `.transactions` if the file is to be resumed after a crash.
    ///   - isBlank: whether the file holds the plan's `BlankStore` instead of nothing.
    ///   - policies: that the process carries, for a store that is copied as a whole.
    ///   - attempt: the folder of the attempt that copies it.
    ///   - files: writes the pages of indexes.
    /// - Throws: `EngineError` when the file cannot be made.
    package init(
        plan file: LaidOutPlan, source: SourceStore, at path: FilePath,
        recovery: StoreBuilder.Recovery = .none, isBlank: Bool = false,
        policies: PolicyLibrary = PolicyLibrary(), attempt: FilePath? = nil,
        files: DurableFileSystem = DurableFileSystem()
    ) throws(EngineError) {
        self.policies = policies
        self.files = files
        self.attempt = attempt
        self.file = file
        self.source = source
        self.recovery = recovery
        self.isBlank = isBlank
        valueFailures = ValueFailures(store: source.path.description)
        steps = file.plan.assemblySteps(indexes: file.destination.indexes)
        builder = try EngineError.translating {
            try StoreBuilder(creating: path, layout: file.destination, recovery: recovery)
        }
        if file.plan.strategy == .whole, recovery == .none {
            // All that is needed, before the transaction, in which GRDB can do nothing.
            try attachSource()
            try execute("BEGIN")
        }
        done = try stepsInFile()
        guard done == 0 else { return }
        try step { () throws(EngineError) in
            guard !isBlank else { return }
            try EngineError.translating { try builder.createTables(hiding: hiddenIndexes) }
        }
        if !hiddenIndexes.isEmpty { try EngineError.translating { try builder.reopen() } }
    }

    /// The indexes whose pages are written when all rows are there.
    private var hiddenIndexes: [IndexLayout] {
        steps.contains(.pageIndexes) ? file.destination.indexes.filter(PageIndexes.makes) : []
    }

    /// Makes or continues the file of a plan that is written down.
    ///
    /// - Throws: `EngineError` when the file cannot be made.
    package convenience init(
        plan file: PlanFile, source: SourceStore, at path: FilePath,
        recovery: StoreBuilder.Recovery = .none, files: DurableFileSystem = DurableFileSystem()
    ) throws(EngineError) {
        try self.init(
            plan: file.laidOut, source: source, at: path, recovery: recovery, files: files)
    }

    /// Makes the source known to the statements that copy it.
    private func attachSource() throws(EngineError) {
        guard !isSourceAttached else { return }
        try copier.attach(source: source.database, routes: [:])
        isSourceAttached = true
    }

    /// The steps that a file holds.
    ///
    /// The count stands in `user_version` (SQLite file format §1.3): it changes in the
    /// transaction of the step itself, and the last step sets it to the source's. Only that step
    /// writes metadata.
    private func stepsInFile() throws(EngineError) -> Int {
        guard recovery == .transactions else { return 0 }
        let count = try EngineError.translating { () throws(StoreError) in
            let hasTables =
                try connection.integer(
                    "SELECT count(*) FROM main.sqlite_master WHERE name = 'Z_METADATA'") == 1
            guard hasTables else { return 0 }
            let isComplete = try connection.integer("SELECT count(*) FROM main.Z_METADATA") != 0
            return isComplete ? steps.count : Int(try connection.userVersion())
        }
        guard (0...steps.count).contains(count) else {
            throw .internalError("a file that was begun has steps that the plan has not")
        }
        return count
    }

    /// Runs one step in a transaction that also counts it.
    func step<Result>(
        _ body: () throws(EngineError) -> Result
    ) throws(EngineError) -> Result {
        guard recovery == .transactions else {
            let result = try body()
            done += 1
            return result
        }
        let isLast = done + 1 == steps.count
        let count = isLast ? source.header.userVersion : Int32(clamping: done + 1)
        let result = try connection.transaction(
            { () throws(EngineError) in
                let result = try body()
                try EngineError.translating { try connection.setUserVersion(count) }
                return result
            }, failing: { .store($0) })
        done += 1
        return result
    }

    /// Copies all chunks of a small store straight into its tables.
    package func copyDirectly() throws(EngineError) {
        let copier = copier
        let isPart = connection.isInTransaction
        if !isPart {
            try attachSource()
            try execute("BEGIN")
        }
        var copied = CopiedRows(plan: plan)
        for (chunk, rows) in zip(plan.chunks, try copier.copyAll()) {
            copied.add(chunk, rows: rows)
        }
        try copied.check(store: source.path.description)
        for chunk in plan.linkChunks {
            let link = plan.links[chunk.link]
            let writer = LinkWriter(file: file, connection: connection)
            try writer.createTable(link)
            _ = try writer.write(chunk, link: link)
            try writer.apply(link, from: "main")
            try EngineError.translating { try connection.drop(table: "link") }
        }
        let found = FoundObjects(file: file, connection: connection)
        if found.isNeeded { _ = try found.merge() }
        recordedSums = try EngineError.translating { () throws(StoreError) in
            try RecordedSums(connection).sums(over: plan.recordedRows, plan.policyLinks)
        }
        if !isPart { try execute("COMMIT") }
    }

    /// Makes one object of those that several chunks made for one key of a policy.
    ///
    /// - Parameter record: gets the sums over what was removed, before that is final; nothing where
    ///   an earlier process has done the step.
    /// - Throws: `EngineError` with SQLite's reason, or what `record` throws.
    package func mergeFoundObjects(
        _ record: ([String: ContentSum]) throws(EngineError) -> Void
    ) throws(EngineError) {
        guard let number = steps.firstIndex(of: .foundObjects), number >= done else { return }
        try step { () throws(EngineError) in
            try record(try FoundObjects(file: file, connection: connection).merge())
        }
    }

    /// Applies the link shard of one chunk; shards come in the order of the plan.
    package func apply(_ chunk: LinkChunk, shard: FilePath) throws(EngineError) {
        let writer = LinkWriter(file: file, connection: connection)
        try EngineError.translating { try connection.attachImmutable(shard, as: "shard") }
        try step { () throws(EngineError) in
            try writer.apply(plan.links[chunk.link], from: "shard")
        }
        try EngineError.translating { try connection.detach("shard") }
    }

    /// Makes the indexes of entity tables and join tables that are not there yet.
    ///
    /// - Parameters:
    ///   - helpers: threads that sort beside this one.
    ///   - scratch: a folder for what is sorted.
    /// - Throws: `EngineError` with SQLite's reason.
    package func buildIndexes(helpers: Int, scratch: FilePath) throws(EngineError) {
        try writeIndexPages(scratch)
        try EngineError.translating { try builder.setSorterThreads(helpers) }
        let indexes = IndexBuilder(connection: connection, store: source.path.description)
        for (place, wanted) in steps.enumerated() where recovery == .none || place >= done {
            guard case .index(let number) = wanted else { continue }
            let index = file.destination.indexes[number]
            try step { () throws(EngineError) in
                if isBlank, BlankStore.holds(index) { return }
                try indexes.build(index)
            }
        }
    }

    /// Writes the pages of the hidden indexes and makes the schema name them.
    ///
    /// The number of pages before stands in `application_id` meanwhile (SQLite file format §1.3):
    /// what a killed process wrote behind them is cut off again. The last step sets it to the
    /// source's.
    private func writeIndexPages(_ scratch: FilePath) throws(EngineError) {
        guard let first = steps.firstIndex(of: .rowsComplete),
            recovery == .none || done < first + 2
        else { return }
        if recovery == .none || done == first {
            try step { () throws(EngineError) in
                try EngineError.translating {
                    try connection.setApplicationID(
                        Int32(clamping: try connection.pageCount()))
                }
            }
        }
        let count = try EngineError.translating { try connection.applicationID() }
        let tables = try EngineError.translating { try PageIndexes.tables(connection) }
        let indexes = PageIndexes(layout: file.destination, files: files)
        let roots = try EngineError.translating { try indexes.roots() }
        try EngineError.translating { try builder.suspend() }
        try PageIndexes.restore(count, of: builder.path, roots: Array(roots.values), files)
        try indexes.write(
            into: builder.path, tables: tables, roots: roots, store: source.path.description,
            scratch: scratch)
        try EngineError.translating { try builder.reopen() }
        try step { () throws(EngineError) in
            try EngineError.translating {
                for index in hiddenIndexes {
                    try connection.reveal(index.definition, rootPage: roots[index.name] ?? 0)
                }
            }
        }
        try EngineError.translating { try builder.reopen() }
    }

    /// Writes everything else and closes the file, marked as write-ahead logged.
    ///
    /// - Parameter destination: the model to name in metadata and model cache.
    /// - Throws: `EngineError` with SQLite's or the system's reason.
    package func finish(_ destination: DestinationModel) throws(EngineError) {
        if recovery == .none || done < steps.count {
            let extras = ExtrasCopier(
                extras: plan.extras, connection: connection, source: source.database,
                schema: source.schema)
            // Attaching makes SQLite read the source's schema, which only what is kept needs.
            if keepsHistory || extras.hasTables { try attachSource() }
            try step { () throws(EngineError) in try writeRest(destination, extras) }
            if connection.isInTransaction { try execute("COMMIT") }
        }
        try EngineError.translating {
            if isSourceAttached { try connection.detach("src") }
            isSourceAttached = false
            try builder.finish(isWriteAheadLogged: source.header.isWriteAheadLogged)
        }
        try settleChangeCounter()
    }

    /// Sets the file's change counter, and for which counter its page count is valid (SQLite file
    /// format §1.3), to what does not depend on the number of transactions.
    ///
    /// Each step is one, and there are more steps where more slots get smaller chunks. Thus results
    /// are equal byte by byte, however many workers made them and however often. What policies put
    /// into other tables lies in the order of chunks.
    private func settleChangeCounter() throws(EngineError) {
        do throws(DurableFileError) {
            let open = try files.openForWriting(builder.path)
            for place: Int64 in [24, 92] { try open.write([0, 0, 0, 1], at: place) }
            try open.close()
        } catch {
            throw .file(error)
        }
    }

    private var keepsHistory: Bool { plan.options.history == .keep && source.hasHistory }

    private func writeRest(
        _ destination: DestinationModel, _ extras: ExtrasCopier
    ) throws(EngineError) {
        let history = HistoryCopier(file: file, connection: connection, schema: source.schema)
        if keepsHistory {
            try history.copyTables()
            try history.copyIndexes()
        }
        try extras.copyTables()
        let reserved =
            keepsHistory ? try history.reservedKeys(source.primaryKeys.reserved) : []
        try EngineError.translating {
            try builder.writeSystemTables(
                maxima: plan.maxima, reserved: reserved,
                metadata: source.metadata.migrated(
                    hashes: destination.hashes,
                    identifiers: destination.identifiers,
                    framework: plan.framework),
                modelCache: destination.modelCache)
            try builder.createRTreesAndTriggers()
            try connection.setUserVersion(source.header.userVersion)
            try connection.setApplicationID(source.header.applicationID)
        }
        try extras.copyRest()
    }

    private func execute(_ sql: SQLText) throws(EngineError) {
        try EngineError.translating { try connection.execute(sql) }
    }
}
