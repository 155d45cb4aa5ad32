import CoreDataStore
import Jobs
import MigrationPlans
import SafeSQLite

/// The tables of a shard, as its maker creates them and its reader expects them.
enum ShardTable {
    /// The tables of the shard that a job makes: its own first, then those in which policies make
    /// objects.
    ///
    /// - Throws: `EngineError.internalError` for a job that the plan has not.
    static func definitions(
        of work: Work, _ file: PlanFile
    ) throws(EngineError) -> [SchemaDefinition] {
        switch work {
        case .whole: throw .internalError("a job for a whole store makes no shard")
        case .copy(let number):
            guard file.plan.chunks.indices.contains(number) else { throw unknown(work) }
            let subject = file.plan.chunks[number].subject
            var tables = [try definition(of: subject, file)]
            if case .feed(let place) = subject {
                for name in file.plan.madeTables(of: file.plan.feeds[place]) {
                    tables.append(try definition(ofTable: name, file))
                }
            }
            return tables
        case .link(let number):
            guard file.plan.linkChunks.indices.contains(number) else { throw unknown(work) }
            return [LinkWriter.definition(of: file.plan.links[file.plan.linkChunks[number].link])]
        }
    }

    private static func unknown(_ work: Work) -> EngineError {
        .internalError("job \(work.name) names a chunk that the plan has not")
    }

    private static func definition(
        of subject: ChunkSubject, _ file: PlanFile
    ) throws(EngineError) -> SchemaDefinition {
        switch subject {
        case .feed(let place):
            return try definition(ofTable: file.plan.feeds[place].destinationTable, file)
        case .join(let place, _):
            let name = file.plan.joins[place].table
            guard let join = file.destination.joinTables.first(where: { $0.name == name }) else {
                throw .internalError("the destination has no table \(name)")
            }
            // Without its primary key: rows keep the order of the source, and the destination
            // checks that they differ.
            let columns = join.columnNames.map { "\(.quoted($0)) INTEGER" as SQLText }
            return SchemaDefinition(
                .table, name,
                sql: "CREATE TABLE \(.quoted(name)) (\(columns.joined(separator: ", ")))")
        }
    }

    private static func definition(
        ofTable name: String, _ file: PlanFile
    ) throws(EngineError) -> SchemaDefinition {
        guard let table = file.destination.tables.first(where: { $0.name == name }) else {
            throw .internalError("the destination has no table \(name)")
        }
        return table.definition
    }
}
