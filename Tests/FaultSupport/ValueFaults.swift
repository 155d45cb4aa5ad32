import CoreDataStore
import ManagedObjectModel
import SafeSQLite

extension SeededFault {
    private static let every: Set<ColumnType> = [
        .integer, .decimal, .float, .varchar, .timestamp, .blob,
    ]

    private static func value(
        _ name: String, _ types: Set<ColumnType>,
        where condition: @escaping @Sendable (String) -> String,
        to value: @escaping @Sendable (String) -> String
    ) -> SeededFault {
        SeededFault(name: name) { site in
            try site.changeValue(types, where: condition, to: value)
        }
    }

    /// Faults of values.
    package static let valueFaults: [SeededFault] = [
        value("NULL for a value", every, where: { "\($0) IS NOT NULL" }, to: { _ in "NULL" }),
        value("empty text for NULL", [.varchar], where: { "\($0) IS NULL" }, to: { _ in "''" }),
        value("empty blob for NULL", [.blob], where: { "\($0) IS NULL" }, to: { _ in "x''" }),
        value("zero for NULL", [.integer], where: { "\($0) IS NULL" }, to: { _ in "0" }),
        value(
            "NULL for an empty text", [.varchar], where: { "\($0) = ''" }, to: { _ in "NULL" }),
        value(
            "text for a blob", [.blob], where: { "typeof(\($0)) = 'blob' AND length(\($0)) > 0" },
            to: { "CAST(\($0) AS TEXT)" }),
        value(
            "blob for a text", [.varchar], where: { "typeof(\($0)) = 'text'" },
            to: { "CAST(\($0) AS BLOB)" }),
        value(
            "a truncated blob", [.blob], where: { "length(\($0)) > 0" },
            to: { "substr(\($0), 1, length(\($0)) - 1)" }),
        value(
            "a blob with a byte too many", [.blob],
            where: { "typeof(\($0)) = 'blob' AND length(\($0)) > 0" },
            to: { "CAST(\($0) || x'00' AS BLOB)" }),
        value(
            "a blob with another last byte", [.blob],
            where: { "typeof(\($0)) = 'blob' AND length(\($0)) > 1 AND hex(\($0)) NOT LIKE '%7F'" },
            to: { "CAST(substr(\($0), 1, length(\($0)) - 1) || x'7F' AS BLOB)" }),
        value(
            "a truncated text", [.varchar], where: { "length(\($0)) > 0" },
            to: { "substr(\($0), 1, length(\($0)) - 1)" }),
        value(
            "a text in capitals", [.varchar], where: { "upper(\($0)) <> \($0)" },
            to: { "upper(\($0))" }),
        value(
            "a blank behind a text", [.varchar], where: { "\($0) IS NOT NULL" },
            to: { "\($0) || ' '" }),
        value(
            "a number off by one", [.integer, .decimal],
            where: { "\($0) BETWEEN -1000000 AND 1000000" }, to: { "\($0) + 1" }),
        value("another sign", [.integer], where: { "\($0) > 0" }, to: { "-\($0)" }),
        value(
            "a number cut to 16 bits", [.integer], where: { "abs(\($0)) BETWEEN 32768 AND 4e18" },
            to: { "\($0) & 32767" }),
        value(
            "a date off by a second", [.timestamp], where: { "\($0) IS NOT NULL" },
            to: { "\($0) + 1" }),
        value(
            "a date counted from 1970", [.timestamp], where: { "\($0) IS NOT NULL" },
            to: { "\($0) + 978307200" }),
        value(
            "a whole number for a real", [.float, .decimal, .timestamp],
            where: { "abs(\($0)) < 1e15 AND CAST(\($0) AS INTEGER) <> \($0)" },
            to: { "CAST(\($0) AS INTEGER)" }),
        value(
            "a real as text", [.float], where: { "\($0) IS NOT NULL" }, to: { "\($0) || 'x'" }),
        value(
            "a real rounded", [.float], where: { "round(\($0), 2) <> \($0)" },
            to: { "round(\($0), 2)" }),
        SeededFault(name: "values of two rows swapped", body: swapRows),
        SeededFault(name: "values of two columns swapped", body: swapColumns),
        SeededFault(name: "a value in a column that the entity does not use", body: strayValue),
        SeededFault(name: "a column emptied", body: emptyColumn),
        SeededFault(name: "save counter off by one") { site in
            for table in site.shuffled(site.tables) {
                let name = SQLText.quoted(table.name)
                guard let key = try site.pick("SELECT Z_PK FROM \(name) ORDER BY Z_PK") else {
                    continue
                }
                return try site.change("UPDATE \(name) SET Z_OPT = Z_OPT + 1 WHERE Z_PK = \(key)")
            }
            return false
        },
    ]

    private static let swapRows: @Sendable (FaultSite) throws -> Bool = { site in
        for (table, column) in site.attributes(every) {
            let (name, c) = (SQLText.quoted(table.name), SQLText.quoted(column.name))
            guard let first = try site.pick("SELECT Z_PK FROM \(name) ORDER BY Z_PK"),
                let second = try site.pick(
                    "SELECT b.Z_PK FROM \(name) a JOIN \(name) b ON a.Z_ENT = b.Z_ENT "
                        + "WHERE a.Z_PK = \(first) AND a.\(c) IS NOT b.\(c) ORDER BY b.Z_PK")
            else { continue }
            let isUnique = site.layout.indexes.contains {
                $0.isUnique && $0.columns.contains { $0.name == column.name }
            }
            guard !isUnique else { continue }
            return try site.change(
                "UPDATE \(name) SET \(c) = (SELECT x.\(c) FROM \(name) x "
                    + "WHERE x.Z_PK = CASE \(name).Z_PK WHEN \(first) THEN \(second) "
                    + "ELSE \(first) END) WHERE Z_PK IN (\(first), \(second))")
        }
        return false
    }

    private static let swapColumns: @Sendable (FaultSite) throws -> Bool = { site in
        for (table, column) in site.attributes(every) {
            let partner = site.shuffled(table.columns).first { other in
                guard case .attribute(let key) = other.role, other.type == column.type else {
                    return false
                }
                return other.name != column.name && key.entity == column.role.key.entity
            }
            guard let partner else { continue }
            let name = SQLText.quoted(table.name)
            let (a, b) = (SQLText.quoted(column.name), SQLText.quoted(partner.name))
            let rows = "SELECT Z_PK FROM \(name) WHERE \(a) IS NOT \(b) ORDER BY Z_PK"
            guard let key = try site.pick(rows) else { continue }
            if try site.change("UPDATE \(name) SET \(a) = \(b), \(b) = \(a) WHERE Z_PK = \(key)") {
                return true
            }
        }
        return false
    }

    private static let strayValue: @Sendable (FaultSite) throws -> Bool = { site in
        for (table, column) in site.columns(where: { _ in true }) {
            let name = SQLText.quoted(table.name)
            let rows =
                "SELECT Z_PK FROM \(name) WHERE Z_ENT NOT IN \(site.users(of: column, in: table)) "
                + "AND \(SQLText.quoted(column.name)) IS NULL ORDER BY Z_PK"
            guard let key = try site.pick(rows) else { continue }
            if try site.change(
                "UPDATE \(name) SET \(SQLText.quoted(column.name)) = 1 WHERE Z_PK = \(key)")
            {
                return true
            }
        }
        return false
    }

    private static let emptyColumn: @Sendable (FaultSite) throws -> Bool = { site in
        for (table, column) in site.attributes(every) {
            let (name, c) = (SQLText.quoted(table.name), SQLText.quoted(column.name))
            if try site.change("UPDATE \(name) SET \(c) = NULL WHERE \(c) IS NOT NULL") {
                return true
            }
        }
        return false
    }
}
