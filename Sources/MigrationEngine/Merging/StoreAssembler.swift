package import CoreDataStore
package import DurableFiles
import ManagedObjectModel

/// Builds one destination file: tables, merged shards or direct copies, links, indexes, system
/// tables, and everything that the plan keeps beside them.
///
/// Used by one thread. The order of calls is the order of the methods.
package final class StoreAssembler {
    private let file: PlanFile
    private let builder: StoreBuilder
    private let source: SourceStore

    private var plan: MigrationPlan { file.plan }

    /// Makes the file with its empty tables.
    ///
    /// - Throws: `EngineError` when the file cannot be made.
    package init(
        plan file: PlanFile, source: SourceStore, at path: FilePath
    ) throws(EngineError) {
        self.file = file
        self.source = source
        builder = try EngineError.translating {
            let builder = try StoreBuilder(creating: path, layout: file.destination)
            try builder.createTables()
            return builder
        }
    }

    /// Copies all chunks of a small store straight into its tables.
    package func copyDirectly() throws(EngineError) {
        let copier = ChunkCopier(file: file, connection: builder.connection)
        try copier.attach(
            source: source.database, support: source.externalData, routes: [:])
        try execute("BEGIN")
        var copied = CopiedRows(plan: plan)
        for chunk in plan.chunks { copied.add(chunk, rows: try copier.copy(chunk)) }
        try copied.check(store: source.path.description)
        for chunk in plan.linkChunks {
            let link = plan.links[chunk.link]
            let writer = LinkWriter(file: file, connection: builder.connection)
            try writer.createTable(link)
            _ = try writer.write(chunk, link: link)
            try writer.apply(link, from: "main")
            try execute("DROP TABLE main.link")
        }
        try execute("COMMIT")
        try EngineError.translating { try builder.connection.detach("src") }
    }

    /// Appends the shard of one chunk of keys; shards come in the order of the plan.
    package func append(_ chunk: Chunk, shard: FilePath) throws(EngineError) -> Int64 {
        let merger = merger(for: chunk)
        return try EngineError.translating { try merger.append(shard) }
    }

    /// Merges the shards of a feed whose keys interleave.
    package func merge(
        _ chunk: Chunk, shards: [FilePath], scratch: FilePath
    ) throws(EngineError) -> Int64 {
        let merger = merger(for: chunk)
        let definition = file.destination.tables.first { $0.name == merger.table }?.sql ?? ""
        return try EngineError.translating {
            try merger.merge(shards, scratch: scratch, definition: definition)
        }
    }

    private func merger(for chunk: Chunk) -> ShardMerger {
        switch chunk.subject {
        case .feed(let place):
            let name = plan.feeds[place].destinationTable
            let columns = file.destination.tables.first { $0.name == name }?.columnNames ?? []
            return ShardMerger(
                connection: builder.connection, table: name, columns: columns, isKeyed: true)
        case .join(let place, _):
            let name = plan.joins[place].table
            let columns = file.destination.joinTables.first { $0.name == name }?.columnNames ?? []
            return ShardMerger(
                connection: builder.connection, table: name, columns: columns, isKeyed: false)
        }
    }

    /// Applies the link shard of one chunk; shards come in the order of the plan.
    package func apply(_ chunk: LinkChunk, shard: FilePath) throws(EngineError) {
        try EngineError.translating {
            try builder.connection.attachImmutable(shard, as: "shard")
            let writer = LinkWriter(file: file, connection: builder.connection)
            try writer.apply(plan.links[chunk.link], from: "shard")
            try builder.connection.detach("shard")
        }
    }

    /// Makes the indexes of entity tables and join tables.
    ///
    /// - Parameter helpers: threads that sort beside this one.
    /// - Throws: `EngineError` with SQLite's reason.
    package func buildIndexes(helpers: Int) throws(EngineError) {
        try EngineError.translating { try builder.setSorterThreads(helpers) }
        try IndexBuilder(connection: builder.connection).build(
            file.destination.indexes, store: source.path.description)
    }

    /// Writes everything else and closes the file, marked as write-ahead logged.
    ///
    /// - Parameter destination: the model to name in metadata and model cache.
    /// - Throws: `EngineError` with SQLite's or the system's reason.
    package func finish(_ destination: DestinationModel) throws(EngineError) {
        let connection = builder.connection
        let keepsHistory = plan.options.history == .keep && source.hasHistory
        let extras = ExtrasCopier(
            extras: plan.extras, connection: connection, schema: source.schema)
        let history = HistoryCopier(file: file, connection: connection, schema: source.schema)
        try EngineError.translating {
            try connection.attachImmutable(source.database, as: "src")
            if keepsHistory {
                try history.copyTables()
                try history.copyIndexes()
            }
            try extras.copyTables()
            try builder.writeSystemTables(
                maxima: plan.maxima,
                reserved: keepsHistory ? source.primaryKeys.reserved : [],
                metadata: source.metadata.migrated(
                    hashes: destination.hashes,
                    identifiers: destination.model.versionIdentifiers,
                    framework: plan.framework),
                modelCache: destination.modelCache)
            try builder.createRTreesAndTriggers()
            try extras.copyRest()
            try connection.detach("src")
            try builder.finish(isWriteAheadLogged: source.header.isWriteAheadLogged)
        }
    }

    private func execute(_ sql: String) throws(EngineError) {
        try EngineError.translating { try builder.connection.execute(sql) }
    }
}
