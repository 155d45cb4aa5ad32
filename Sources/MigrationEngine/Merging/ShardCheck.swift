package import DurableFiles
package import Jobs
package import MigrationPlanning
import SafeSQLite

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
    ///   - counts: rows by table, as the receipt says.
    /// - Returns: words in one printable line each; empty where nothing is wrong.
    /// - Throws: `EngineError` where it cannot be read.
    /// - Complexity: reads the whole file.
    package func faults(
        of shard: FilePath, _ work: Work, counts: [String: Int64]
    ) throws(EngineError) -> [String] {
        let definitions = try ShardTable.definitions(of: work, file)
        return try EngineError.translating {
            let sample = try Connection(path: FilePath("shard"), mode: .memory)
            for definition in definitions { try sample.create(definition) }
            let connection = try Connection(path: shard, mode: .immutable, cacheKibibytes: 256)
            let objects: SQLText = "SELECT type || ' ' || name || ' ' || sql FROM sqlite_master"
            guard try connection.texts(objects) == sample.texts(objects) else {
                return ["its schema is not that of such a shard"]
            }
            guard try connection.pragma("quick_check(1)") == ["ok"] else {
                return ["its pages are damaged"]
            }
            let trees = RecordWalk.trees(
                try StoreSchema.read(connection), try RecordWalk.columns(connection))
            guard try RecordWalk(shard, DurableFileSystem()).faults(in: trees).isEmpty else {
                return ["its records do not fit their columns"]
            }
            var found: [String: Int64] = [:]
            for definition in definitions {
                let name = SQLText.quoted(definition.name)
                found[definition.name] = try connection.integer(
                    "SELECT count(*) FROM main.\(name)")
            }
            try connection.close()
            try sample.close()
            return found == counts
                ? [] : ["it holds another number of rows than its receipt says"]
        }
    }
}
