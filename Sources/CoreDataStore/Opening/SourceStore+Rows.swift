package import SafeSQLite

extension SourceStore {
    /// How many rows each entity has; abstract ones and those without rows are left out.
    ///
    /// - Parameter connection: to the store.
    /// - Returns: the counts by the entity's name; rows of no known entity count for the root of
    ///   their table.
    /// - Throws: `StoreError`.
    /// - Complexity: O(rows).
    package func rowsByEntity(over connection: Connection) throws(StoreError) -> [String: Int64] {
        let names = layout.entityOrder
        var rows: [String: Int64] = [:]
        for table in layout.tables {
            let count = try connection.prepare(
                "SELECT Z_ENT, count(*) FROM \(SQLText.quoted(table.name)) GROUP BY Z_ENT")
            while try count.step() {
                let place = Int(clamping: count.integer(0)) - 1
                let name = names.indices.contains(place) ? names[place] : table.rootEntity
                rows[name, default: 0] += count.integer(1)
            }
        }
        return rows
    }
}
