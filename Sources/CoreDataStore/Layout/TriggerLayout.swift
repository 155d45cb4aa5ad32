package import SafeSQLite

/// A trigger that the model demands.
package struct TriggerLayout: Hashable, Sendable {
    package let name: String
    /// The table whose changes run it.
    package let table: String
    /// The statement that makes the trigger, as Core Data writes it.
    package let sql: SQLText

    /// The trigger as an object to be made.
    package var definition: SchemaDefinition {
        SchemaDefinition(.trigger, name, table: table, sql: sql)
    }
}

/// An R-tree over columns of an entity's table.
package struct RTreeLayout: Hashable, Sendable {
    package let name: String
    package let table: String
    /// The indexed columns; each gives a minimum and a maximum, both of the same value.
    package let columns: [String]

    /// The columns of the R-tree behind its key.
    package var bounds: [String] { columns.flatMap { ["\($0)_MIN", "\($0)_MAX"] } }

    /// The statement that makes the virtual table.
    package var sql: SQLText {
        let list = bounds.map { "\(.declared($0)) FLOAT" as SQLText }.joined(separator: ", ")
        return "CREATE VIRTUAL TABLE \(.declared(name)) "
            + "USING RTREE (Z_PK INTEGER PRIMARY KEY, \(list))"
    }

    /// The R-tree as an object to be made.
    package var definition: SchemaDefinition { SchemaDefinition(.rTree, name, sql: sql) }

    /// The statement that fills the R-tree from its table, rows without values left out as the
    /// triggers would not accept them.
    package var fillSQL: SQLText {
        let quoted = columns.map(SQLText.quoted)
        let bounds = bounds.map(SQLText.quoted).joined(separator: ", ")
        let values = quoted.flatMap { [$0, $0] }.joined(separator: ", ")
        let present = quoted.map { "\($0) IS NOT NULL" as SQLText }.joined(separator: " AND ")
        return "INSERT INTO \(.quoted(name)) (Z_PK, \(bounds)) "
            + "SELECT Z_PK, \(values) FROM \(.quoted(table)) WHERE \(present) ORDER BY Z_PK"
    }

    /// The three triggers that keep it.
    package var triggers: [TriggerLayout] {
        let tree = SQLText.declared(name)
        let list = (["Z_PK"] + bounds).map(SQLText.declared).joined(separator: ", ")
        let values = columns.map(SQLText.declared).map { "NEW.\($0) ,NEW.\($0)" as SQLText }
        let row: SQLText =
            "(\(list)) VALUES (NEW.Z_PK, \(values.joined(separator: ", "))) ;"
        return [
            trigger("INSERT", "INSERT", "INSERT OR REPLACE INTO \(tree) \(row)"),
            trigger(
                "UPDATE", "UPDATE",
                "DELETE FROM \(tree) WHERE Z_PK = NEW.Z_PK ; INSERT INTO \(tree) \(row)"),
            trigger("DELETE", "DELETE", "DELETE FROM \(tree) WHERE Z_PK = OLD.Z_PK ;"),
        ]
    }

    private func trigger(_ kind: String, _ event: SQLText, _ body: SQLText) -> TriggerLayout {
        let name = "\(name)_\(kind)"
        return TriggerLayout(
            name: name, table: table,
            sql: "CREATE TRIGGER \(.declared(name)) AFTER \(event) ON \(.declared(table)) "
                + "FOR EACH ROW BEGIN \(body) END")
    }
}
