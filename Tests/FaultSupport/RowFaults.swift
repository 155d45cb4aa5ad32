import CoreDataStore
import ManagedObjectModel
import MigrationEngine
import MigrationValidation
import SafeSQLite
import ValidationScans

extension SeededFault {
    /// A fault of one row of a random table that has rows.
    static func row(
        _ name: String, _ body: @escaping @Sendable (FaultSite, TableLayout, Int64) throws -> Bool
    ) -> SeededFault {
        SeededFault(name: name) { site in
            for table in site.shuffled(site.tables) {
                let rows = "SELECT Z_PK FROM \(SQLText.quoted(table.name)) ORDER BY Z_PK"
                guard let key = try site.pick(rows) else { continue }
                if try body(site, table, key) { return true }
            }
            return false
        }
    }

    /// Faults of whole rows and of their keys.
    package static let rowFaults: [SeededFault] = [
        row("a row dropped") { site, table, key in
            try site.change("DELETE FROM \(SQLText.quoted(table.name)) WHERE Z_PK = \(key)")
        },
        row("a row doubled") { site, table, key in
            let name = SQLText.quoted(table.name)
            let list = table.columnNames.dropFirst().map(SQLText.quoted).joined(separator: ", ")
            return try site.change(
                "INSERT INTO \(name) (Z_PK, \(list)) SELECT (SELECT max(Z_PK) + 1 FROM \(name)), "
                    + "\(list) FROM \(name) WHERE Z_PK = \(key)")
        },
        row("a key off by one") { site, table, _ in
            let name = SQLText.quoted(table.name)
            return try site.change(
                "UPDATE \(name) SET Z_PK = Z_PK + 1 WHERE Z_PK = (SELECT max(Z_PK) FROM \(name))")
        },
        row("keys of two rows swapped") { site, table, key in
            let name = SQLText.quoted(table.name)
            guard
                let other = try site.pick(
                    "SELECT Z_PK FROM \(name) WHERE Z_PK <> \(key) ORDER BY Z_PK")
            else { return false }
            return try site.change(
                "UPDATE \(name) SET Z_PK = -1 WHERE Z_PK = \(key); "
                    + "UPDATE \(name) SET Z_PK = \(key) WHERE Z_PK = \(other); "
                    + "UPDATE \(name) SET Z_PK = \(other) WHERE Z_PK = -1")
        },
        row("another entity of the tree") { site, table, key in
            let name = SQLText.quoted(table.name)
            let now = try site.connection.integer("SELECT Z_ENT FROM \(name) WHERE Z_PK = \(key)")
            let others = site.layout.familyNumbers(of: table.rootEntity).filter { $0 != now }
            guard let other = site.shuffled(others).first else { return false }
            return try site.change("UPDATE \(name) SET Z_ENT = \(other) WHERE Z_PK = \(key)")
        },
        row("an unknown entity") { site, table, key in
            try site.change(
                "UPDATE \(SQLText.quoted(table.name)) SET Z_ENT = 9999 WHERE Z_PK = \(key)")
        },
        row("no entity") { site, table, key in
            try site.change(
                "UPDATE \(SQLText.quoted(table.name)) SET Z_ENT = NULL WHERE Z_PK = \(key)")
        },
        row("a table emptied") { site, table, _ in
            try site.change("DELETE FROM \(SQLText.quoted(table.name))")
        },
        row("all keys moved") { site, table, _ in
            let name = SQLText.quoted(table.name)
            let top = try site.connection.integer("SELECT max(Z_PK) FROM \(name)") ?? 0
            return try site.change(
                "UPDATE \(name) SET Z_PK = -Z_PK; UPDATE \(name) SET Z_PK = -Z_PK + \(top)")
        },
    ]
}
