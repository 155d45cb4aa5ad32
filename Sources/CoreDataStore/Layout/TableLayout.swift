package import SafeSQLite

/// The declared types of columns in a store.
package enum ColumnType: String, Hashable, Sendable, Codable {
    case integer = "INTEGER"
    case decimal = "DECIMAL"
    case float = "FLOAT"
    case varchar = "VARCHAR"
    case timestamp = "TIMESTAMP"
    case blob = "BLOB"
}

/// A property by the entity that declares it.
package struct PropertyKey: Hashable, Sendable, Codable, CustomStringConvertible {
    package let entity: String
    package let property: String

    package init(_ entity: String, _ property: String) {
        self.entity = entity
        self.property = property
    }

    package var description: String { "\(entity).\(property)" }
}

/// What a column of an entity table holds.
package enum ColumnRole: Hashable, Sendable, Codable {
    /// An attribute's value; elements of composites are named `composite.element`.
    case attribute(PropertyKey)
    /// The key of a to-one's target.
    case toOne(PropertyKey)
    /// The entity number of a to-one's target, where that entity has sub-entities.
    case toOneEntity(PropertyKey)
    /// The owner's key of a to-many without inverse, kept in the destination's table.
    case hiddenKey(PropertyKey)
    /// The order of a row in its owner's ordered to-many without inverse.
    case hiddenOrder(PropertyKey)
    /// The order of a row in the ordered to-many that is the inverse of this to-one.
    case order(PropertyKey)

    /// The property that the column belongs to.
    package var key: PropertyKey {
        switch self {
        case .attribute(let key), .toOne(let key), .toOneEntity(let key), .hiddenKey(let key),
            .hiddenOrder(let key), .order(let key):
            key
        }
    }
}

/// A column of an entity table beyond `Z_PK`, `Z_ENT`, `Z_OPT`.
package struct ColumnLayout: Hashable, Sendable, Codable {
    package let name: String
    package let type: ColumnType
    package let role: ColumnRole
    /// Whether values carry the prefix byte of external storage.
    package let isExternal: Bool
}

/// The table of a root entity and all that inherit from it.
package struct TableLayout: Hashable, Sendable, Codable {
    package let name: String
    package let rootEntity: String
    /// Columns after `Z_PK`, `Z_ENT`, `Z_OPT`, in Core Data's order.
    package let columns: [ColumnLayout]
    /// Uniqueness as a table constraint: column names; empty from framework version 640 on.
    package let constraints: [[String]]

    /// All column names in order, the three leading ones included.
    package var columnNames: [String] { ["Z_PK", "Z_ENT", "Z_OPT"] + columns.map(\.name) }

    /// The statement that makes the table, as Core Data writes it.
    package var sql: SQLText {
        guard !constraints.isEmpty else { return plainSQL }
        let unique = constraints.map { columns -> SQLText in
            let list = columns.map(SQLText.declared).joined(separator: ", ")
            return "CONSTRAINT \(.declared(columns.joined(separator: "_"))) UNIQUE (\(list))"
        }
        let list = unique.joined(separator: ", ")
        return "CREATE TABLE \(.declared(name)) ( \(body), \(list))"
    }

    private var body: SQLText {
        var parts: [SQLText] = ["Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER"]
        parts += columns.map { "\(.declared($0.name)) \(.type($0.type))" }
        return parts.joined(separator: ", ")
    }

    private var plainSQL: SQLText { "CREATE TABLE \(.declared(name)) ( \(body) )" }

    /// The table as an object to be made.
    package var definition: SchemaDefinition { SchemaDefinition(.table, name, sql: sql) }

    /// The same without constraints, so that the table has no index.
    package var plainDefinition: SchemaDefinition {
        SchemaDefinition(.table, name, sql: plainSQL)
    }
}

/// The table of a many-to-many pair.
package struct JoinTableLayout: Hashable, Sendable, Codable {
    package let name: String
    /// The side that names the table, by the entity that declares it.
    package let naming: PropertyKey
    /// The other side; equal to `naming` for a relationship that is its own inverse.
    package let inverse: PropertyKey
    /// The column of the naming entity's keys.
    package let namingColumn: String
    /// The column of the other entity's keys (`REFLEXIVE` for a self-inverse).
    package let inverseColumn: String
    /// The order of the naming object in the other one's list; nil if that side is not ordered.
    package let namingOrder: String?
    /// The order of the other object in the naming one's list; nil if that side is not ordered.
    package let inverseOrder: String?

    /// Whether the relationship is its own inverse.
    package var isReflexive: Bool { naming == inverse }

    /// All column names in order.
    package var columnNames: [String] {
        [namingColumn, inverseColumn] + [namingOrder, inverseOrder].compactMap { $0 }
    }

    /// The statement that makes the table, as Core Data writes it.
    package var sql: SQLText {
        let columns = columnNames.map { "\(.declared($0)) INTEGER" as SQLText }
        let key = [namingColumn, inverseColumn].map(SQLText.declared).joined(separator: ", ")
        return "CREATE TABLE \(.declared(name)) ( \(columns.joined(separator: ", ")), "
            + "PRIMARY KEY (\(key)) )"
    }

    /// The table as an object to be made.
    package var definition: SchemaDefinition { SchemaDefinition(.table, name, sql: sql) }
}

/// An index that the model demands.
package struct IndexLayout: Hashable, Sendable {
    /// One indexed column.
    package struct Column: Hashable, Sendable {
        package let name: String
        package let isDescending: Bool

        package init(_ name: String, isDescending: Bool = false) {
            self.name = name
            self.isDescending = isDescending
        }
    }

    package let name: String
    package let table: String
    package let columns: [Column]
    package let isUnique: Bool
    /// Whether columns are written with collation and direction, as fetch indexes are.
    package let spellsCollation: Bool
    /// The condition of a partial index as SQL; nil for a full one.
    package let condition: SQLText?

    /// The statement that makes the index, as Core Data writes it.
    package var sql: SQLText {
        let list = columns.map { column -> SQLText in
            let name = SQLText.declared(column.name)
            guard spellsCollation else { return name }
            return "\(name) COLLATE BINARY \(column.isDescending ? "DESC" : "ASC")"
        }
        let head: SQLText = isUnique ? "CREATE UNIQUE INDEX" : "CREATE INDEX"
        return "\(head) \(.declared(name)) ON \(.declared(table)) "
            + "(\(list.joined(separator: ", ")))\(condition.map { " WHERE \($0)" } ?? "")"
    }

    /// The index as an object to be made.
    package var definition: SchemaDefinition {
        SchemaDefinition(.index, name, table: table, sql: sql)
    }
}
