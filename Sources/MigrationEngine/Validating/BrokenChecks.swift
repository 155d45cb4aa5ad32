import CoreDataStore
import DurableFiles

/// Counts rows of a table of the app's own that break its `CHECK` constraints.
///
/// SQLite does not evaluate them in a file that is opened for reading alone, so that the rows go,
/// a batch at a time, into an empty table of the same declaration, which takes those that break
/// nothing.
struct BrokenChecks {
    let table: SchemaObject
    let columns: [StoreSchema.Column]
    /// Holds the table.
    let file: FilePath

    /// Rows that are tried at a time.
    private static let batch = 1_000

    /// Counts the rows.
    ///
    /// - Throws: `StoreError` for a declaration that needs what only the app has.
    /// - Complexity: reads the whole table; memory for one batch, of a table without rowids for
    ///   all of it.
    func count() throws(StoreError) -> Int64 {
        let connection = try Connection(path: FilePath("checks"), mode: .memory)
        try connection.create(table)
        try connection.attachImmutable(file, as: "tried")
        let broken = try count(connection)
        try connection.close()
        return broken
    }

    private func count(_ connection: Connection) throws(StoreError) -> Int64 {
        let name = SQLText.quoted(table.name)
        let list = columns.filter { !$0.isGenerated }.map { SQLText.quoted($0.name) }
            .joined(separator: ", ")
        let insert: SQLText = "INSERT OR IGNORE INTO main.\(name) (\(list)) SELECT \(list) "
        guard let rowid = rowidName(connection) else {
            try connection.execute(insert + "FROM tried.\(name)")
            let all = try connection.integer("SELECT count(*) FROM tried.\(name)") ?? 0
            return try all - (connection.integer("SELECT count(*) FROM main.\(name)") ?? 0)
        }
        let keys: SQLText =
            "SELECT \(rowid) AS k FROM tried.\(name) WHERE \(rowid) > ?1 "
            + "ORDER BY \(rowid) LIMIT \(Self.batch)"
        let next = try connection.prepare("SELECT count(*), max(k) FROM (\(keys))")
        let fill = try connection.prepare(
            insert + "FROM tried.\(name) WHERE \(rowid) > ?1 AND \(rowid) <= ?2")
        var broken: Int64 = 0
        var last = Int64.min
        while true {
            try next.bind(last, at: 1)
            guard try next.step(), next.integer(0) > 0 else { return broken }
            let (rows, end) = (next.integer(0), next.integer(1))
            next.reset()
            try fill.bind(last, at: 1)
            try fill.bind(end, at: 2)
            try fill.run()
            broken += rows - connection.changes
            try connection.execute("DELETE FROM main.\(name)")
            last = end
        }
    }

    /// A name of the rowid that no column has; nil for a table without rowids.
    private func rowidName(_ connection: Connection) -> SQLText? {
        let taken = Set(columns.map { $0.name.lowercased() })
        let names: [SQLText] = ["rowid", "_rowid_", "oid"]
        guard let name = names.first(where: { !taken.contains($0.description) }) else {
            return nil
        }
        do throws(StoreError) {
            _ = try connection.prepare(
                "SELECT \(name) FROM main.\(SQLText.quoted(table.name)) LIMIT 0")
            return name
        } catch {
            return nil
        }
    }
}
