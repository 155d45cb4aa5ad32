package import DurableFiles
package import SafeSQLite

/// Counts rows of a table of the app's own that break its `CHECK` constraints.
///
/// SQLite does not evaluate them in a file that is opened for reading alone, so that the rows go,
/// a batch at a time, into an empty table of the same declaration, which takes those that break
/// nothing.
///
/// One connection, and so one budget, serves all tables of a file.
package struct BrokenChecks {
    private let connection: Connection

    /// Rows that are tried at a time, fewer where they are large.
    private static let batch: Int64 = 1_000
    /// The most pages that they take, of 4 KiB.
    private static let pages: Int64 = 1 << 16

    /// Opens a file.
    ///
    /// - Parameter file: holds the tables.
    /// - Throws: `StoreError`.
    package init(_ file: FilePath) throws(StoreError) {
        connection = try Connection(path: FilePath("checks"), mode: .memory)
        _ = try connection.pragma("max_page_count", Self.pages)
        try connection.attachImmutable(file, as: "tried")
    }

    /// Counts the rows of a table that break its constraints.
    ///
    /// - Throws: `StoreError` for a declaration that needs what only the app has, and for rows that
    ///   take more than 256 MiB: one of them, or all of a table without rowids.
    /// - Complexity: reads the whole table.
    package func count(
        _ table: SchemaObject, columns: [StoreSchema.Column]
    ) throws(StoreError) -> Int64 {
        try connection.create(table)
        let broken = try rows(of: table, columns)
        try connection.execute("DELETE FROM main.\(SQLText.quoted(table.name))")
        return broken
    }

    private func rows(
        of table: SchemaObject, _ columns: [StoreSchema.Column]
    ) throws(StoreError) -> Int64 {
        let name = SQLText.quoted(table.name)
        let list = columns.filter { !$0.isGenerated }.map { SQLText.quoted($0.name) }
            .joined(separator: ", ")
        let insert: SQLText = "INSERT OR IGNORE INTO main.\(name) (\(list)) SELECT \(list) "
        guard let rowid = rowidName(of: table, columns) else {
            try connection.execute(insert + "FROM tried.\(name)")
            let all = try connection.integer("SELECT count(*) FROM tried.\(name)") ?? 0
            return try all - (connection.integer("SELECT count(*) FROM main.\(name)") ?? 0)
        }
        let keys: SQLText =
            "SELECT \(rowid) AS k FROM tried.\(name) WHERE \(rowid) > ?1 "
            + "ORDER BY \(rowid) LIMIT ?2"
        let next = try connection.prepare("SELECT count(*), max(k) FROM (\(keys))")
        let fill = try connection.prepare(
            insert + "FROM tried.\(name) WHERE \(rowid) > ?1 AND \(rowid) <= ?2")
        var broken: Int64 = 0
        var last = Int64.min
        var batch = Self.batch
        while true {
            try next.bind(last, at: 1)
            try next.bind(batch, at: 2)
            guard try next.step(), next.integer(0) > 0 else { return broken }
            let (rows, end) = (next.integer(0), next.integer(1))
            next.reset()
            try fill.bind(last, at: 1)
            try fill.bind(end, at: 2)
            do throws(StoreError) {
                try fill.run()
            } catch {
                fill.reset()
                guard case .outOfSpace = error, batch > 1 else { throw error }
                batch = max(1, batch / 10)
                continue
            }
            broken += rows - connection.changes
            try connection.execute("DELETE FROM main.\(name)")
            last = end
        }
    }

    /// A name of the rowid that no column has; nil for a table without rowids.
    private func rowidName(
        of table: SchemaObject, _ columns: [StoreSchema.Column]
    ) -> SQLText? {
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
