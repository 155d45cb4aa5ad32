import CoreDataStore
import DurableFiles
import SafeSQLite

/// Puts shards into a table of the destination: the seam behind which faster ways can stand.
struct ShardMerger {
    let connection: Connection
    /// The destination's table.
    let table: String
    /// All its columns, in order.
    let columns: [String]
    /// Whether rows are keyed by `Z_PK`; join tables are not.
    let isKeyed: Bool

    /// Appends an attached shard whose keys lie above all that the table holds.
    ///
    /// Of equal layout and without an index yet, SQLite moves whole cells.
    ///
    /// - Parameter schema: the name under which the shard is attached.
    /// - Returns: the rows appended.
    /// - Throws: `StoreError` for a shard that cannot be read or a key that is there already.
    func append(from schema: StaticString) throws(StoreError) -> Int64 {
        let name = SQLText.quoted(table)
        let order: SQLText = isKeyed ? "" : " ORDER BY rowid"
        try connection.execute(
            "INSERT INTO main.\(name) SELECT * FROM \(.name(of: schema)).\(name)\(order)")
        return connection.changes
    }

    /// The most shards that are read at one time.
    ///
    /// Each costs a file and about 200 KiB. More of them are copied once more, which takes their
    /// room again.
    static let width = 128

    /// Merges shards whose keys interleave, by always taking the lowest key.
    ///
    /// More shards than `width` are merged in groups first, into files in the scratch folder.
    ///
    /// - Returns: the rows merged.
    /// - Throws: `StoreError` for a shard that cannot be read or a key that occurs twice.
    /// - Complexity: O(rows · log width) comparisons a pass.
    func merge(
        _ shards: [FilePath], scratch: FilePath, definition: SchemaDefinition
    ) throws(StoreError) -> Int64 {
        var level = shards
        var pass = 0
        while level.count > Self.width {
            var next: [FilePath] = []
            var start = 0
            while start < level.count {
                let group = Array(level[start..<min(start + Self.width, level.count)])
                let path = scratch.appending("merge-\(table)-\(pass)-\(next.count).sqlite")
                let target = try Connection(path: path, mode: .create)
                try target.configure(StoreBuilder.bulkPragmas)
                try target.create(definition)
                _ = try mergeAtOnce(group, into: target)
                try target.close()
                next.append(path)
                start += Self.width
            }
            level = next
            pass += 1
        }
        return try mergeAtOnce(level, into: connection)
    }

    private func mergeAtOnce(
        _ shards: [FilePath], into target: Connection
    ) throws(StoreError) -> Int64 {
        var connections: [Connection] = []
        var heap = KeyHeap()
        var readers: [Statement] = []
        let list = columns.map(SQLText.quoted).joined(separator: ", ")
        for (number, shard) in shards.enumerated() {
            let connection = try Connection(path: shard, mode: .immutable, cacheKibibytes: 64)
            let reader = try connection.prepare(
                "SELECT \(list) FROM \(SQLText.quoted(table)) ORDER BY Z_PK")
            connections.append(connection)
            readers.append(reader)
            if try reader.step() { heap.push(key: reader.integer(0), reader: number) }
        }
        let places = columns.map { _ in "?" as SQLText }.joined(separator: ", ")
        let insert = try target.prepare(
            "INSERT INTO main.\(SQLText.quoted(table)) (\(list)) VALUES (\(places))")
        var rows: Int64 = 0
        try target.transaction { () throws(StoreError) in
            while let number = heap.lowest {
                let reader = readers[number]
                for column in columns.indices {
                    try insert.bindValue(at: column + 1, from: reader, column: column)
                }
                try insert.run()
                rows += 1
                if try reader.step() {
                    heap.replaceLowest(key: reader.integer(0))
                } else {
                    heap.removeLowest()
                }
            }
        }
        readers = []
        for connection in connections { try connection.close() }
        return rows
    }
}

/// A binary heap of readers by the key of their current row.
struct KeyHeap {
    private var entries: [(key: Int64, reader: Int)] = []

    /// The reader with the lowest key; nil when all are at their end.
    var lowest: Int? { entries.first?.reader }

    mutating func push(key: Int64, reader: Int) {
        entries.append((key, reader))
        var child = entries.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child].key < entries[parent].key else { return }
            entries.swapAt(child, parent)
            child = parent
        }
    }

    mutating func replaceLowest(key: Int64) {
        entries[0].key = key
        sink()
    }

    mutating func removeLowest() {
        let last = entries.removeLast()
        guard !entries.isEmpty else { return }
        entries[0] = last
        sink()
    }

    private mutating func sink() {
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < entries.count {
                if entries[child].key < entries[least].key { least = child }
            }
            guard least != parent else { return }
            entries.swapAt(parent, least)
            parent = least
        }
    }
}
