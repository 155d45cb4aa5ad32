extension Connection {
    /// A name of a table's rowid that no column has; nil for a table without rowids, and where
    /// columns have taken every name.
    package func rowidName(
        of table: String, columns: [StoreSchema.Column]
    ) throws(StoreError) -> SQLText? {
        let taken = Set(columns.map { $0.name.lowercased() })
        let names: [SQLText] = ["rowid", "_rowid_", "oid"]
        guard let name = names.first(where: { !taken.contains($0.description) }) else {
            return nil
        }
        let probe: SQLText = "SELECT \(name) FROM main.\(SQLText.quoted(table)) LIMIT 0"
        do throws(StoreError) {
            _ = try prepare(probe)
            return name
        } catch {
            return nil
        }
    }
}
