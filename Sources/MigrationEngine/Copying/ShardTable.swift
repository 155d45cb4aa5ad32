import CoreDataStore
import Jobs
import MigrationPlans
import SafeSQLite

/// A table of a shard, as its maker creates it and its reader expects it.
struct ShardTable {
    let name: String
    /// All its columns, in order.
    let columns: [String]
    /// Whether rows are keyed by `Z_PK`; those of join tables are not.
    let isKeyed: Bool
    let definition: SchemaDefinition
    /// The table of a file into which shards are merged: without an index.
    let mergedDefinition: SchemaDefinition

    private init(_ table: TableLayout) {
        name = table.name
        columns = table.columnNames
        isKeyed = true
        definition = table.definition
        mergedDefinition = table.plainDefinition
    }

    /// `definition`: nil for one without the primary key.
    private init(_ join: JoinTableLayout, definition: SchemaDefinition?) {
        let list = join.columnNames.map { "\(.quoted($0)) INTEGER" as SQLText }
        let plain = SchemaDefinition(
            .table, join.name,
            sql: "CREATE TABLE \(.quoted(join.name)) (\(list.joined(separator: ", ")))")
        name = join.name
        columns = join.columnNames
        isKeyed = false
        self.definition = definition ?? plain
        mergedDefinition = plain
    }

    /// The tables of the shard that a job makes: its own first, then those in which policies make
    /// objects and links.
    ///
    /// - Throws: `EngineError.internalError` for a job that the plan has not.
    static func tables(of work: Work, _ file: PlanFile) throws(EngineError) -> [ShardTable] {
        switch work {
        case .whole: throw .internalError("a job for a whole store makes no shard")
        case .copy(let number):
            guard file.plan.chunks.indices.contains(number) else { throw unknown(work) }
            let subject = file.plan.chunks[number].subject
            return try [own(subject, file.laidOut)] + made(subject, file.laidOut)
        case .link(let number):
            guard file.plan.linkChunks.indices.contains(number) else { throw unknown(work) }
            let definition = LinkWriter.definition(
                of: file.plan.links[file.plan.linkChunks[number].link])
            return [ShardTable(definition)]
        }
    }

    private init(_ link: SchemaDefinition) {
        name = link.name
        columns = []
        isKeyed = false
        definition = link
        mergedDefinition = link
    }

    private static func unknown(_ work: Work) -> EngineError {
        .internalError("job \(work.name) names a chunk that the plan has not")
    }

    /// The table whose rows a chunk copies.
    ///
    /// - Throws: `EngineError.internalError` for a table that the destination has not.
    static func own(
        _ subject: ChunkSubject, _ file: LaidOutPlan
    ) throws(EngineError) -> ShardTable {
        switch subject {
        case .feed(let place):
            return try table(file.plan.feeds[place].destinationTable, file)
        case .join(let place, _):
            let join = try join(file.plan.joins[place].table, file)
            // Without its primary key: rows keep the order of the source, and the destination
            // checks that they differ.
            return ShardTable(join, definition: nil)
        }
    }

    /// The tables in which policies make objects and links while a chunk is copied, without its
    /// own.
    ///
    /// - Throws: `EngineError.internalError` for a table that the destination has not.
    static func made(
        _ subject: ChunkSubject, _ file: LaidOutPlan
    ) throws(EngineError) -> [ShardTable] {
        guard case .feed(let place) = subject else { return [] }
        let feed = file.plan.feeds[place]
        var tables: [ShardTable] = []
        for name in file.plan.madeTables(of: feed) { tables.append(try table(name, file)) }
        for name in file.plan.linkedTables(of: feed) {
            let join = try join(name, file)
            // With its primary key: a policy may set a link twice.
            tables.append(ShardTable(join, definition: join.definition))
        }
        return tables
    }

    private static func table(
        _ name: String, _ file: LaidOutPlan
    ) throws(EngineError) -> ShardTable {
        guard let table = file.destination.tables.first(where: { $0.name == name }) else {
            throw missing(name)
        }
        return ShardTable(table)
    }

    private static func join(
        _ name: String, _ file: LaidOutPlan
    ) throws(EngineError) -> JoinTableLayout {
        guard let join = file.destination.joinTables.first(where: { $0.name == name }) else {
            throw missing(name)
        }
        return join
    }

    private static func missing(_ name: String) -> EngineError {
        .internalError("the destination has no table \(name)")
    }
}
