import CoreDataStore
import SafeSQLite

/// Faults of files on the way to a store.
extension SeededFault {
    /// Faults of a shard that holds copied rows of one entity table or join table.
    package static let copiedShardFaults: [SeededFault] =
        valueFaults + rowFaults + linkFaults + [
            row("the upper half of the rows left out") { site, table, key in
                try site.change("DELETE FROM \(SQLText.quoted(table.name)) WHERE Z_PK > \(key)")
            },
            join("a join row doubled") { site, join, row in
                let name = SQLText.quoted(join.name)
                return try site.change(
                    "INSERT INTO \(name) SELECT * FROM \(name) WHERE rowid = \(row)")
            },
            join("the upper half of the join rows left out") { site, join, row in
                try site.change("DELETE FROM \(SQLText.quoted(join.name)) WHERE rowid > \(row)")
            },
        ]

    /// A fault in one value of a random link, over `c`, the column's name.
    private static func link(
        _ name: String, where condition: String = "c IS NOT NULL", to value: String
    ) -> SeededFault {
        SeededFault(name: name) { site in
            for column in try linkColumns(site) {
                let inserted = { (sql: String) in sql.replacing("c ", with: "\(column) ") }
                guard
                    let key = try site.pick(
                        "SELECT key FROM link WHERE \(inserted(condition)) ORDER BY key")
                else { continue }
                return try site.change(
                    "UPDATE link SET \(column) = \(inserted(value)) WHERE key = \(key)")
            }
            return false
        }
    }

    /// A fault of links as rows; `key` is that of a random one.
    private static func links(
        _ name: String, _ sql: @escaping @Sendable (Int64) -> String
    ) -> SeededFault {
        SeededFault(name: name) { site in
            guard let key = try site.pick("SELECT key FROM link ORDER BY key") else { return false }
            return try site.change(sql(key))
        }
    }

    /// Names of the columns that are filled by links, in a random order.
    private static func linkColumns(_ site: FaultSite) throws -> [String] {
        site.shuffled(
            try site.connection.texts(
                "SELECT name FROM pragma_table_info('link') WHERE name <> 'key'"))
    }

    /// Faults of a shard that holds links of one relationship.
    package static let linkShardFaults: [SeededFault] = [
        link("a link lost", to: "NULL"),
        link("a link to the next object", to: "c + 1"),
        link("a link to nothing", to: "c + 1000000"),
        link("zero for a link", to: "0"),
        link("a blob for a link", to: "CAST(c AS BLOB)"),
        link("a real for a link", to: "c + 0.5"),
        links("a link dropped") { "DELETE FROM link WHERE key = \($0)" },
        links("the upper half of the links left out") { "DELETE FROM link WHERE key > \($0)" },
        links("all links left out") { _ in "DELETE FROM link" },
        links("a link at the next object") { "UPDATE link SET key = key + 1 WHERE key = \($0)" },
        links("all links at the next object") { _ in
            "UPDATE link SET key = -key; UPDATE link SET key = 1 - key"
        },
        SeededFault(name: "a link doubled at an object without one") { site in
            guard
                let free = try site.pick(
                    "SELECT key + 1 FROM link WHERE key + 1 NOT IN (SELECT key FROM link) "
                        + "ORDER BY key"),
                let key = try site.pick("SELECT key FROM link ORDER BY key"),
                let columns = Optional(try linkColumns(site).joined(separator: ", "))
            else { return false }
            return try site.change(
                "INSERT INTO link (key, \(columns)) "
                    + "SELECT \(free), \(columns) FROM link WHERE key = \(key)")
        },
        SeededFault(name: "values of two links swapped") { site in
            for column in try linkColumns(site) {
                guard
                    let one = try site.pick(
                        "SELECT key FROM link WHERE \(column) IS NOT NULL ORDER BY key"),
                    let other = try site.pick(
                        "SELECT key FROM link WHERE \(column) IS NOT "
                            + "(SELECT \(column) FROM link WHERE key = \(one)) ORDER BY key")
                else { continue }
                return try site.change(
                    "UPDATE link SET \(column) = (SELECT x.\(column) FROM link x "
                        + "WHERE x.key = CASE link.key WHEN \(one) THEN \(other) ELSE \(one) END) "
                        + "WHERE key IN (\(one), \(other))")
            }
            return false
        },
        SeededFault(name: "the same value in all links") { site in
            for column in try linkColumns(site) {
                let sql =
                    "UPDATE link SET \(column) = (SELECT min(\(column)) FROM link) "
                    + "WHERE \(column) <> (SELECT min(\(column)) FROM link)"
                if try site.change(sql) { return true }
            }
            return false
        },
    ]
}
