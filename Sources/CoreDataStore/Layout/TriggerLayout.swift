/// A trigger that the model demands.
package struct TriggerLayout: Hashable, Sendable, Codable {
    package let name: String
    /// The table whose changes run it.
    package let table: String
    /// The statement that makes the trigger, as Core Data writes it.
    package let sql: String
}

/// An R-tree over columns of an entity's table (format page §7.6).
package struct RTreeLayout: Hashable, Sendable, Codable {
    package let name: String
    package let table: String
    /// The indexed columns; each gives a minimum and a maximum, both of the same value.
    package let columns: [String]

    private var bounds: [String] { columns.flatMap { ["\($0)_MIN", "\($0)_MAX"] } }

    /// The statement that makes the virtual table.
    package var sql: String {
        let list = bounds.map { "\($0) FLOAT" }.joined(separator: ", ")
        return "CREATE VIRTUAL TABLE \(name) USING RTREE (Z_PK INTEGER PRIMARY KEY, \(list))"
    }

    /// The statement that fills the R-tree from its table, rows without values left out as the
    /// triggers would not accept them.
    package var fillSQL: String {
        let values = columns.flatMap { [$0, $0] }.joined(separator: ", ")
        let present = columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
        return "INSERT INTO \(name) (Z_PK, \(bounds.joined(separator: ", "))) "
            + "SELECT Z_PK, \(values) FROM \(table) WHERE \(present) ORDER BY Z_PK"
    }

    /// The three triggers that keep it.
    package var triggers: [TriggerLayout] {
        let list = (["Z_PK"] + bounds).joined(separator: ", ")
        let values = columns.map { "NEW.\($0) ,NEW.\($0)" }.joined(separator: ", ")
        let row = "(\(list)) VALUES (NEW.Z_PK, \(values)) ;"
        let head = { (kind: String) in
            "CREATE TRIGGER \(name)_\(kind) AFTER \(kind) ON \(table) FOR EACH ROW BEGIN "
        }
        return [
            TriggerLayout(
                name: "\(name)_INSERT", table: table,
                sql: head("INSERT") + "INSERT OR REPLACE INTO \(name) \(row) END"),
            TriggerLayout(
                name: "\(name)_UPDATE", table: table,
                sql: head("UPDATE") + "DELETE FROM \(name) WHERE Z_PK = NEW.Z_PK ; "
                    + "INSERT INTO \(name) \(row) END"),
            TriggerLayout(
                name: "\(name)_DELETE", table: table,
                sql: head("DELETE") + "DELETE FROM \(name) WHERE Z_PK = OLD.Z_PK ; END"),
        ]
    }
}
