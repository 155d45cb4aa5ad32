package import DurableFiles
package import Jobs
package import MigrationPlans
import SafeSQLite
import StorePages

/// Looks through a shard that another process made, before any of it is read into a store: what is
/// wrong with it is that process's fault, and not the store's.
package struct ShardCheck {
    private let file: PlanFile

    /// - Parameter file: the plan of the store.
    package init(_ file: PlanFile) { self.file = file }

    /// What is wrong with a shard: its schema, its pages, the number of its rows.
    ///
    /// - Parameters:
    ///   - shard: the file, closed.
    ///   - work: the job that made it.
    ///   - rows: without those that policies made, as the receipt says.
    ///   - counts: rows by table, as the receipt says.
    /// - Returns: words in one printable line each; empty where nothing is wrong.
    /// - Throws: `EngineError` where it cannot be read.
    /// - Complexity: reads the whole file.
    package func faults(
        of shard: FilePath, _ work: Work, rows: Int64, counts: [String: Int64]
    ) throws(EngineError) -> [String] {
        let tables = try ShardTable.tables(of: work, file)
        return try EngineError.translating {
            let sample = try Connection(path: FilePath("shard"), mode: .memory)
            for table in tables { try sample.create(table.definition) }
            let connection = try Connection(path: shard, mode: .immutable, cacheKibibytes: 256)
            let objects: SQLText = "SELECT type || ' ' || name || ' ' || sql FROM sqlite_master"
            guard try connection.texts(objects) == sample.texts(objects) else {
                return ["its schema is not that of such a shard"]
            }
            let schema = try StoreSchema.read(connection)
            let facts = try PageWalk.SchemaFacts(connection)
            let walk = try PageWalk(shard, DurableFileSystem())
            if try !walk.isSound(schema, facts) {
                guard try connection.pragma("quick_check(1)") == ["ok"] else {
                    return ["its pages are damaged"]
                }
                guard try walk.faults(in: PageWalk.trees(schema, facts)).isEmpty else {
                    return ["its records do not fit their columns"]
                }
            }
            var found: [String: Int64] = [:]
            var own: Int64 = 0
            for (place, table) in tables.enumerated() {
                let name = SQLText.quoted(table.name)
                let made = madeKeys(work, table.name)
                let isMade: SQLText = made.map {
                    "(\($0.conditions(on: "Z_PK").joined(separator: " AND ")))" as SQLText
                }.joined(separator: " OR ")
                let all = try connection.integer("SELECT count(*) FROM main.\(name)") ?? 0
                found[table.name] = all
                // Policies alone make links in the shard of a feed.
                if place > 0, !table.isKeyed { continue }
                // Only tables with policies have keys of made objects, and only these are asked.
                let others =
                    made.isEmpty
                    ? all
                    : try connection.integer(
                        "SELECT count(*) FROM main.\(name) WHERE NOT (\(isMade))") ?? 0
                if place == 0 {
                    own = others
                } else if others != 0 {
                    return ["it holds objects that no policy of it makes"]
                }
            }
            try connection.close()
            try sample.close()
            return found == counts && own == rows
                ? [] : ["it holds another number of rows than its receipt says"]
        }
    }

    /// Keys of the objects that policies make in a table while a job copies.
    private func madeKeys(_ work: Work, _ table: String) -> [KeyRange] {
        guard case .copy(let chunk) = work, case .feed(let place) = file.plan.chunks[chunk].subject
        else { return [] }
        return file.plan.policies(of: file.plan.feeds[place]).flatMap(\.blocks).map(\.objects)
            .filter { $0.table == table }.map(\.keys)
    }
}
