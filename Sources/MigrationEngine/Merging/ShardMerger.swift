import CoreDataStore
import DurableFiles
import SafeSQLite

/// Puts shards into a table of the destination: the seam behind which faster ways can stand.
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

    /// The most shards that are read at one time.
    ///
    /// Each costs a file and about 200 KiB. More of them are copied once more, which takes their
    /// room again.
    static let width = 128

    /// Merges shards whose keys interleave, by always taking the lowest key.
    ///
    /// More shards than `width` are merged in groups first, into files in the scratch folder. Those
    /// of a join table, which has no keys, are put one behind the other.
    ///
    /// - Returns: the rows merged.
    /// - Throws: `StoreError` for a shard that cannot be read or a key that occurs twice.
    /// - Complexity: O(rows · log width) comparisons a pass.
    func merge(
        _ shards: [FilePath], scratch: FilePath
    ) throws(StoreError) -> Int64 {
        guard table.isKeyed else { return try putBehind(shards) }
        var level = shards
        var pass = 0
        while level.count > Self.width {
            var next: [FilePath] = []
            var start = 0
            while start < level.count {
                let group = Array(level[start..<min(start + Self.width, level.count)])
                let path = scratch.appending("merge-\(table.name)-\(pass)-\(next.count).sqlite")
                let target = try Connection(path: path, mode: .create)
                try target.configure(StoreBuilder.bulkPragmas)
                try target.create(table.definition)
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

    private var list: SQLText { table.columns.map(SQLText.quoted).joined(separator: ", ") }

    private func insertion(into target: Connection) throws(StoreError) -> Statement {
        let places = table.columns.map { _ in "?" as SQLText }.joined(separator: ", ")
        return try target.prepare(
            "INSERT INTO main.\(SQLText.quoted(table.name)) (\(list)) VALUES (\(places))")
    }

    private func write(_ reader: Statement, by insert: Statement) throws(StoreError) {
        for column in table.columns.indices {
            try insert.bindValue(at: column + 1, from: reader, column: column)
        }
        try insert.run()
    }

    private func putBehind(_ shards: [FilePath]) throws(StoreError) -> Int64 {
        let insert = try insertion(into: connection)
        var rows: Int64 = 0
        for shard in shards {
            let source = try Connection(path: shard, mode: .immutable, cacheKibibytes: 64)
            rows += try put(source, by: insert)
            try source.close()
        }
        return rows
    }

    private func put(_ shard: Connection, by insert: Statement) throws(StoreError) -> Int64 {
        let reader = try shard.prepare(
            "SELECT \(list) FROM \(SQLText.quoted(table.name)) ORDER BY rowid")
        var rows: Int64 = 0
        while try reader.step() {
            try write(reader, by: insert)
            rows += 1
        }
        return rows
    }

    private func mergeAtOnce(
        _ shards: [FilePath], into target: Connection
    ) throws(StoreError) -> Int64 {
        var connections: [Connection] = []
        var heap = KeyHeap()
        var readers: [Statement] = []
        for (number, shard) in shards.enumerated() {
            let connection = try Connection(path: shard, mode: .immutable, cacheKibibytes: 64)
            let reader = try connection.prepare(
                "SELECT \(list) FROM \(SQLText.quoted(table.name)) ORDER BY Z_PK")
            connections.append(connection)
            readers.append(reader)
            if try reader.step() { heap.push(key: reader.integer(0), reader: number) }
        }
        let insert = try insertion(into: target)
        var rows: Int64 = 0
        try target.transaction { () throws(StoreError) in
            while let number = heap.lowest {
                let reader = readers[number]
                try write(reader, by: insert)
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
