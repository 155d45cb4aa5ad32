package import CoreDataStore
import ManagedObjectModel
import SafeSQLite

extension SeededFault {
    /// Faults of links, wherever they are stored.
    package static let linkFaults: [SeededFault] = columnLinkFaults + joinFaults

    /// A fault in one key, number or order that stands in an entity table's column.
    private static func column(
        _ name: String, _ kinds: Set<LinkColumn>, where condition: String = "c IS NOT NULL",
        to value: String
    ) -> SeededFault {
        SeededFault(name: name) { site in
            for (table, column) in site.columns(where: {
                LinkColumn($0).map(kinds.contains) == true
            }) {
                let (name, c) = (SQLText.quoted(table.name), SQLText.quoted(column.name))
                let inserted = { (sql: String) in sql.replacing("c ", with: "\(c) ") }
                // Places in lists count only where the row is in a list.
                let key = SQLText.quoted(site.keyColumn(of: column) ?? column.name)
                let rows =
                    "SELECT Z_PK FROM \(name) WHERE \(inserted(condition)) "
                    + "AND \(key) IS NOT NULL "
                    + "AND Z_ENT IN \(site.users(of: column, in: table)) ORDER BY Z_PK"
                guard let row = try site.pick(rows) else { continue }
                if try site.change(
                    "UPDATE \(name) SET \(c) = \(inserted(value)) WHERE Z_PK = \(row)")
                {
                    return true
                }
            }
            return false
        }
    }

    private static let columnLinkFaults: [SeededFault] = [
        column("a link lost", [.key], to: "NULL"),
        column("a link to the next object", [.key], to: "c + 1"),
        column("a link to nothing", [.key], to: "c + 1000000"),
        column("a target of another entity", [.entity], to: "c + 1"),
        column("a target without entity", [.entity], to: "NULL"),
        column("a place in a list lost", [.order], to: "NULL"),
        column("a place in a list moved", [.order], to: "c + 1"),
        SeededFault(name: "a link invented") { site in
            for (table, column) in site.columns(where: { LinkColumn($0) == .key }) {
                let (name, c) = (SQLText.quoted(table.name), SQLText.quoted(column.name))
                let rows =
                    "SELECT Z_PK FROM \(name) WHERE \(c) IS NULL "
                    + "AND Z_ENT IN \(site.users(of: column, in: table)) ORDER BY Z_PK"
                guard let row = try site.pick(rows) else { continue }
                return try site.change("UPDATE \(name) SET \(c) = 1 WHERE Z_PK = \(row)")
            }
            return false
        },
        SeededFault(name: "places of two objects in a list swapped") { site in
            for (table, column) in site.columns(where: { LinkColumn($0) == .order }) {
                guard let key = site.keyColumn(of: column) else { continue }
                let (name, c, k) = (
                    SQLText.quoted(table.name), SQLText.quoted(column.name), SQLText.quoted(key)
                )
                let pairs =
                    "FROM \(name) a JOIN \(name) b ON a.\(k) = b.\(k) "
                    + "AND a.Z_PK < b.Z_PK AND a.\(c) IS NOT b.\(c)"
                guard let first = try site.pick("SELECT a.Z_PK \(pairs) ORDER BY a.Z_PK"),
                    let second = try site.pick(
                        "SELECT b.Z_PK \(pairs) WHERE a.Z_PK = \(first) ORDER BY b.Z_PK")
                else { continue }
                return try site.change(
                    "UPDATE \(name) SET \(c) = (SELECT x.\(c) FROM \(name) x "
                        + "WHERE x.Z_PK = CASE \(name).Z_PK WHEN \(first) THEN \(second) "
                        + "ELSE \(first) END) WHERE Z_PK IN (\(first), \(second))")
            }
            return false
        },
        SeededFault(name: "all links of a relationship lost") { site in
            for (table, column) in site.columns(where: { LinkColumn($0) == .key }) {
                let (name, c) = (SQLText.quoted(table.name), SQLText.quoted(column.name))
                if try site.change("UPDATE \(name) SET \(c) = NULL WHERE \(c) IS NOT NULL") {
                    return true
                }
            }
            return false
        },
    ]

    /// A fault in one row of a random join table that has rows.
    static func join(
        _ name: String,
        _ body: @escaping @Sendable (FaultSite, JoinTableLayout, Int64) throws -> Bool
    ) -> SeededFault {
        SeededFault(name: name) { site in
            for join in site.shuffled(site.joinTables) {
                let rows = "SELECT rowid FROM \(SQLText.quoted(join.name)) ORDER BY rowid"
                guard let row = try site.pick(rows) else { continue }
                if try body(site, join, row) { return true }
            }
            return false
        }
    }

    private static let joinFaults: [SeededFault] = [
        join("a join row dropped") { site, join, row in
            try site.change("DELETE FROM \(SQLText.quoted(join.name)) WHERE rowid = \(row)")
        },
        join("a join row added") { site, join, row in
            let (a, b) = (SQLText.quoted(join.namingColumn), SQLText.quoted(join.inverseColumn))
            return try site.change(
                "INSERT INTO \(SQLText.quoted(join.name)) (\(a), \(b)) SELECT \(a), \(b) + 1000000 "
                    + "FROM \(SQLText.quoted(join.name)) WHERE rowid = \(row)")
        },
        join("a join row turned round") { site, join, row in
            let (a, b) = (SQLText.quoted(join.namingColumn), SQLText.quoted(join.inverseColumn))
            return try site.change(
                "UPDATE \(SQLText.quoted(join.name)) SET \(a) = \(b), \(b) = \(a) "
                    + "WHERE rowid = \(row) AND \(a) <> \(b)")
        },
        join("a join row to the next object") { site, join, row in
            let b = SQLText.quoted(join.inverseColumn)
            return try site.change(
                "UPDATE \(SQLText.quoted(join.name)) SET \(b) = \(b) + 1 WHERE rowid = \(row)")
        },
        join("a join row without an end") { site, join, row in
            try site.change(
                "UPDATE \(SQLText.quoted(join.name)) "
                    + "SET \(SQLText.quoted(join.namingColumn)) = NULL WHERE rowid = \(row)")
        },
        join("a place in a many-to-many list lost") { site, join, row in
            guard let order = join.namingOrder ?? join.inverseOrder else { return false }
            return try site.change(
                "UPDATE \(SQLText.quoted(join.name)) SET \(SQLText.quoted(order)) = NULL "
                    + "WHERE rowid = \(row) AND \(SQLText.quoted(order)) IS NOT NULL")
        },
        join("a place in a many-to-many list moved") { site, join, row in
            guard let order = join.inverseOrder ?? join.namingOrder else { return false }
            let column = SQLText.quoted(order)
            return try site.change(
                "UPDATE \(SQLText.quoted(join.name)) SET \(column) = \(column) + 1 "
                    + "WHERE rowid = \(row) AND \(column) IS NOT NULL")
        },
        join("a join table emptied") { site, join, _ in
            try site.change("DELETE FROM \(SQLText.quoted(join.name))")
        },
    ]
}

/// What a column of a relationship holds.
enum LinkColumn: Hashable, Sendable {
    case key, entity, order

    init?(_ column: ColumnLayout) {
        switch column.role {
        case .attribute: return nil
        case .toOne, .hiddenKey: self = .key
        case .toOneEntity: self = .entity
        case .order, .hiddenOrder: self = .order
        }
    }
}

extension FaultSite {
    /// The key that an order column or an entity column goes with.
    func keyColumn(of column: ColumnLayout) -> String? { layout.keyColumn(of: column) }
}

extension StoreLayout {
    /// The key that an order column or an entity column goes with; nil for other columns.
    package func keyColumn(of column: ColumnLayout) -> String? {
        switch column.role {
        case .order(let key), .toOneEntity(let key): self.column(.toOne(key))?.column.name
        case .hiddenOrder(let key): self.column(.hiddenKey(key))?.column.name
        default: nil
        }
    }
}
