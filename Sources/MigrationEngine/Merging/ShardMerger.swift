import DurableFiles
import MigrationPlans
import SafeSQLite
import ShardPages

/// Puts shards into a table of the destination.
struct ShardMerger {
    let connection: Connection
    let table: ShardTable

    /// Appends an attached shard whose keys lie above all that the table holds.
    ///
    /// Of equal layout and without an index yet, SQLite moves whole cells.
    ///
    /// - Parameter schema: the name under which the shard is attached.
    /// - Returns: the rows appended.
    /// - Throws: `StoreError` for a shard that cannot be read or a key that is there already.
    func append(from schema: StaticString) throws(StoreError) -> Int64 {
        let name = SQLText.quoted(table.name)
        let order: SQLText = table.isKeyed ? "" : " ORDER BY rowid"
        try connection.execute(
            "INSERT INTO main.\(name) SELECT * FROM \(.name(of: schema)).\(name)\(order)")
        return connection.changes
    }

    /// Merges rows of shards into a file of their own, which can be attached and appended.
    ///
    /// - Parameters:
    ///   - range: of keys.
    ///   - shards: their files.
    ///   - path: of the merged file.
    ///   - files: opens and makes files.
    /// - Throws: `EngineError` for a shard that cannot be read or a key that occurs twice.
    func merge(
        _ range: KeyRange, of shards: [FilePath], to path: FilePath, _ files: DurableFileSystem
    ) throws(EngineError) {
        let merge = ShardMerge(table.mergedDefinition, isKeyed: table.isKeyed, files: files)
        try merge.write(range, of: shards, to: path)
    }
}
