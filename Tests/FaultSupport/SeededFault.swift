package import CoreDataStore
package import DurableFiles
import ManagedObjectModel
import MigrationEngine
import MigrationValidation
package import SafeSQLite
import TestSupport
import ValidationScans

/// One way to spoil a destination or a part of one, at a place that a seed chooses.
package struct SeededFault: Sendable, CustomStringConvertible {
    /// What it does, in a few words.
    package let name: String
    /// Spoils the file; false where the store has nothing that it could spoil.
    package let body: @Sendable (FaultSite) throws -> Bool

    package init(name: String, body: @escaping @Sendable (FaultSite) throws -> Bool) {
        self.name = name
        self.body = body
    }

    package var description: String { name }

    /// Every fault of a finished store that validation must catch.
    package static let all = valueFaults + rowFaults + linkFaults + schemaFaults + fileFaults

    /// Spoils a store, or a file that holds some of its tables.
    ///
    /// The store must have no links to objects that are gone: faults may hide behind those.
    ///
    /// - Returns: whether it did; the file is as before where it did not.
    package func apply(to path: FilePath, layout: StoreLayout, seed: UInt64) throws -> Bool {
        let site = try FaultSite(path: path, layout: layout, seed: seed)
        let isDone = try body(site)
        try site.close()
        return isDone
    }
}

/// The store that a fault is put into, with the random choices.
package final class FaultSite {
    private let path: FilePath
    package let layout: StoreLayout
    package private(set) var connection: Connection
    private var generator: SeededGenerator
    /// Names of the tables that are in the file: a shard holds one of the layout's.
    private let present: Set<String>

    /// The entity tables of the file.
    package var tables: [TableLayout] { layout.tables.filter { present.contains($0.name) } }
    /// The join tables of the file.
    package var joinTables: [JoinTableLayout] {
        layout.joinTables.filter { present.contains($0.name) }
    }

    init(path: FilePath, layout: StoreLayout, seed: UInt64) throws {
        self.path = path
        self.layout = layout
        generator = SeededGenerator(seed: seed)
        connection = try Connection(path: path, mode: .create)
        present = Set(
            try connection.texts("SELECT name FROM sqlite_master WHERE type = 'table'"))
    }

    /// Reopens the file, so that SQLite reads the schema again.
    func reopen() throws {
        try close()
        connection = try Connection(path: path, mode: .create)
    }

    /// Closes the file with everything in it.
    func close() throws {
        _ = try connection.texts("PRAGMA wal_checkpoint(TRUNCATE)")
        try connection.close()
    }

    /// The elements in a random order.
    package func shuffled<Element>(_ elements: [Element]) -> [Element] {
        elements.shuffled(using: &generator)
    }

    /// One integer of a query's first column; nil where there is no row.
    package func pick(_ sql: String) throws -> Int64? {
        let count = try connection.integer("SELECT count(*) FROM (\(sql))") ?? 0
        guard count > 0 else { return nil }
        let place = Int64.random(in: 0..<count, using: &generator)
        return try connection.integer("\(sql) LIMIT 1 OFFSET \(place)")
    }

    /// Runs a statement; whether it changed anything.
    package func change(_ sql: String) throws -> Bool {
        do {
            try connection.execute(sql)
        } catch {
            guard error.description.contains("UNIQUE") else { throw error }
            return false
        }
        return try connection.integer("SELECT changes()") ?? 0 > 0
    }

    /// The attribute columns of a type in a random order, with their tables.
    func attributes(_ types: Set<ColumnType>) -> [(table: TableLayout, column: ColumnLayout)] {
        columns { column in
            if case .attribute = column.role { types.contains(column.type) } else { false }
        }
    }

    /// The columns that fulfil a condition in a random order, with their tables.
    func columns(
        where isWanted: (ColumnLayout) -> Bool
    ) -> [(table: TableLayout, column: ColumnLayout)] {
        shuffled(
            tables.flatMap { table in
                table.columns.filter(isWanted).map { (table: table, column: $0) }
            })
    }

    /// Entity numbers of the rows that use a column, as SQL.
    func users(of column: ColumnLayout, in table: TableLayout) -> String {
        let numbers = layout.model.family(of: table.rootEntity)
            .filter { layout.uses(column, by: $0.name) }
            .compactMap { layout.number(of: $0.name) }.map(String.init)
        return "(\(numbers.joined(separator: ", ")))"
    }

    /// Changes one value of an attribute of these types in the first table that has one.
    ///
    /// `condition`: of the rows that can be changed, over `c`, the column's name.
    /// `value`: the new value, over `c`.
    func changeValue(
        _ types: Set<ColumnType>, where condition: (String) -> String, to value: (String) -> String
    ) throws -> Bool {
        for (table, column) in attributes(types) {
            let (name, c) = (SQLText.quoted(table.name), SQLText.quoted(column.name).description)
            let rows =
                "SELECT Z_PK FROM \(name) WHERE Z_ENT IN \(users(of: column, in: table)) "
                + "AND (\(condition(c))) ORDER BY Z_PK"
            guard let key = try pick(rows) else { continue }
            if try change("UPDATE \(name) SET \(c) = \(value(c)) WHERE Z_PK = \(key)") {
                return true
            }
        }
        return false
    }
}
