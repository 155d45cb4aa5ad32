import CoreDataStore
import ManagedObjectModel
import MappingExpressions
import MigrationPlans
import SafeSQLite

/// Writes what policies make into the main schema of a connection.
final class MadeObjectWriter {
    private let connection: Connection
    private let layout: StoreLayout
    private var statements: [SQLText: Statement] = [:]
    /// By entity, and by table and column: texts are made once, not for every value.
    private var inserts: [String: Statement] = [:]
    private var updates: [String: [String: Statement]] = [:]
    private var hasFoundTable = false

    init(_ connection: Connection, _ layout: StoreLayout) {
        self.connection = connection
        self.layout = layout
    }

    private func statement(_ sql: SQLText) throws(StoreError) -> Statement {
        if let known = statements[sql] { return known }
        let made = try connection.prepare(sql)
        statements[sql] = made
        return made
    }

    /// Inserts an object with the default values of its attributes.
    func insert(_ object: MadeObject) throws(StoreError) {
        let insert: Statement
        if let known = inserts[object.entity] {
            insert = known
        } else {
            insert = try connection.prepare(insertion(of: object))
            inserts[object.entity] = insert
        }
        try insert.bind(object.key, at: 1)
        try insert.run()
    }

    private func insertion(of object: MadeObject) -> SQLText {
        var names: [SQLText] = ["Z_PK", "Z_ENT", "Z_OPT"]
        var values: [SQLText] = ["?1", "\(object.number)", "1"]
        for (column, value) in defaults(of: object.entity) {
            names.append(.quoted(column))
            values.append(value)
        }
        return "INSERT INTO main.\(SQLText.quoted(object.table)) "
            + "(\(names.joined(separator: ", "))) VALUES (\(values.joined(separator: ", ")))"
    }

    private func defaults(of entity: String) -> [(String, SQLText)] {
        var found: [(String, SQLText)] = []
        for column in layout.table(of: entity)?.columns ?? [] {
            guard case .attribute(let key) = column.role,
                layout.model.isKind(entity, of: key.entity),
                var value = layout.model.attribute(key.property, of: key.entity)?.attribute
                    .defaultValue
            else { continue }
            if column.isExternal, case .data(let bytes) = value {
                value = .data([ExternalReference.inlinePrefix] + bytes)
            }
            guard let literal = SQLText.literal(value)
            else { continue }
            found.append((column.name, literal))
        }
        return found
    }

    /// Sets a column of an object.
    func set(_ column: String, of object: MadeObject, to cell: StoredCell?) throws(StoreError) {
        let update: Statement
        if let known = updates[object.table]?[column] {
            update = known
        } else {
            update = try connection.prepare(
                "UPDATE main.\(SQLText.quoted(object.table)) SET \(SQLText.quoted(column)) = ?1 "
                    + "WHERE Z_PK = ?2")
            updates[object.table, default: [:]][column] = update
        }
        try update.bind(cell, at: 1)
        try update.bind(object.key, at: 2)
        try update.run()
    }

    /// What a column of an object holds.
    func value(_ column: String, of object: MadeObject) throws(StoreError) -> StoredCell? {
        let query = try statement(
            "SELECT \(SQLText.quoted(column)) FROM main.\(SQLText.quoted(object.table)) "
                + "WHERE Z_PK = ?1")
        defer { query.reset() }
        try query.bind(object.key, at: 1)
        return try query.step() ? query.cell(0) : nil
    }

    /// Adds a row to a join table.
    ///
    /// - Parameters:
    ///   - join: the table.
    ///   - values: of its columns, in order.
    /// - Returns: whether the link is new.
    /// - Throws: `StoreError` with SQLite's reason.
    func link(_ join: JoinTableLayout, _ values: [Int64]) throws(StoreError) -> Bool {
        let places = values.indices.map { "?\($0 + 1)" as SQLText }.joined(separator: ", ")
        let insert = try statement(
            "INSERT OR IGNORE INTO main.\(SQLText.quoted(join.name)) VALUES (\(places))")
        for (place, value) in values.enumerated() { try insert.bind(value, at: place + 1) }
        try insert.run()
        return connection.changes > 0
    }

    // MARK: - Objects that are found

    /// The key of an object that was found before; nil where there is none.
    func find(_ block: ObjectBlock, _ cells: [StoredCell?]) throws(StoreError) -> Int64? {
        try makeFoundTable()
        let query = try statement(
            "SELECT pk FROM temp.godwit_found WHERE entity = ?1 AND base = ?2 AND value = ?3")
        defer { query.reset() }
        try query.bind(block.objects.number, at: 1)
        try query.bind(block.base, at: 2)
        try query.bind(Self.identity(of: cells), at: 3)
        return try query.step() ? query.integer(0) : nil
    }

    /// Remembers an object by its key.
    func remember(
        _ block: ObjectBlock, _ cells: [StoredCell?], key: Int64
    ) throws(StoreError) {
        let insert = try statement("INSERT INTO temp.godwit_found VALUES (?1, ?2, ?3, ?4)")
        try insert.bind(block.objects.number, at: 1)
        try insert.bind(block.base, at: 2)
        try insert.bind(Self.identity(of: cells), at: 3)
        try insert.bind(key, at: 4)
        try insert.run()
    }

    private func makeFoundTable() throws(StoreError) {
        guard !hasFoundTable else { return }
        hasFoundTable = true
        try connection.create(
            SchemaDefinition(
                .table, "godwit_found", isTemporary: true,
                sql: "CREATE TEMP TABLE IF NOT EXISTS godwit_found "
                    + "(entity INTEGER, base INTEGER, value BLOB, pk INTEGER, "
                    + "PRIMARY KEY (entity, base, value)) "
                    + "WITHOUT ROWID"))
    }

    /// Bytes that only equal values have.
    private static func identity(of cells: [StoredCell?]) -> [UInt8] {
        var bytes: [UInt8] = []
        func add(_ kind: UInt8, _ content: some Collection<UInt8>) {
            bytes.append(kind)
            withUnsafeBytes(of: UInt64(content.count).littleEndian) { bytes += $0 }
            bytes += content
        }
        for cell in cells {
            switch cell {
            case nil: add(0, [])
            case .integer(let number): withUnsafeBytes(of: number.littleEndian) { add(1, $0) }
            case .real(let number):
                let bits = (number == 0 ? 0 : number).bitPattern
                withUnsafeBytes(of: bits.littleEndian) { add(2, $0) }
            case .text(let text): add(3, Array(text.utf8))
            case .blob(let content): add(4, content)
            }
        }
        return bytes
    }
}
