import CoreDataStore
import DurableFiles
import ExpressionEvaluation
import ManagedObjectModel
import MappingExpressions
import MigrationPlans
import SafeSQLite

/// Reads objects of a source that is attached as `src`, one value at a time.
final class SourceReader {
    private let file: LaidOutPlan
    private let connection: Connection
    private var statements: [SQLText: Statement] = [:]
    /// By entity and attribute: texts are made once, not for every value.
    private var values: [String: [String: (Statement, AttributeType)]] = [:]
    private let numbers: SplitNumbers
    private let cells: CellSQL

    /// The value that a piece was read of last, by its object and name.
    private var open: (object: SourceObjectKey, name: String, bytes: SourceBytes?)?
    private var hasEnded = false
    /// The folder of the source's external data.
    private let support: FilePath?

    init(file: LaidOutPlan, connection: Connection, support: FilePath?) {
        self.support = support
        self.file = file
        self.connection = connection
        numbers = SplitNumbers(file.plan.splits, cells: file.plan.computedCells)
        cells = CellSQL(file.plan)
    }

    private var layout: StoreLayout { file.source }

    private func statement(_ sql: SQLText) throws(StoreError) -> Statement {
        if let known = statements[sql] { return known }
        let made = try connection.prepare(sql)
        statements[sql] = made
        return made
    }

    private func table(of object: SourceObjectKey) throws -> SQLText {
        guard let table = layout.table(of: object.entity) else {
            throw PolicyFailure("entity \(object.entity) has no table")
        }
        return .quoted(table.name)
    }

    /// A name that a policy uses, for messages: another one may be what a user wrote.
    private func shown(_ name: String) -> String {
        layout.model.knows(name) ? name : "(a name that the model does not have)"
    }

    // MARK: - Values

    func value(_ name: String, of object: SourceObjectKey) throws -> DefaultValue? {
        let query: Statement
        let type: AttributeType
        if let known = values[object.entity]?[name] {
            (query, type) = known
        } else {
            let column: SQLText
            (column, type) = try attribute(name, object)
            query = try connection.prepare(
                "SELECT \(column) FROM src.\(try table(of: object)) s WHERE s.Z_PK = ?1")
            values[object.entity, default: [:]][name] = (query, type)
        }
        defer { query.reset() }
        try query.bind(object.key, at: 1)
        return try query.step() ? query.cell(0)?.value(type) : nil
    }

    /// A part of a text or of binary data; the rest is not read.
    func bytes(
        _ name: String, of object: SourceObjectKey, from offset: Int64, count: Int64
    ) throws -> [UInt8]? {
        let (_, type) = try attribute(name, object)
        guard [.binary, .transformable, .string].contains(type) else {
            throw PolicyFailure("\(object.entity).\(name) is not a binary or text attribute")
        }
        guard !hasEnded else {
            throw PolicyFailure("it reads an object that it kept from an earlier hook")
        }
        if open.map({ $0.object != object || $0.name != name }) ?? true {
            open = nil
            open = (object, name, try opened(name, of: object))
        }
        let (start, length) = (max(0, offset), max(0, count))
        if let pieces = open?.bytes { return try pieces.bytes(from: start, count: length) }
        return try digits(name, of: object, from: start, count: length)
    }

    /// The same of a number, which a column of texts may hold; nil for NULL.
    private func digits(
        _ name: String, of object: SourceObjectKey, from offset: Int64, count: Int64
    ) throws -> [UInt8]? {
        let (column, _) = try attribute(name, object)
        let query = try statement(
            "SELECT CAST(\(column) AS TEXT) FROM src.\(try table(of: object)) s WHERE s.Z_PK = ?1")
        defer { query.reset() }
        try query.bind(object.key, at: 1)
        guard try query.step(), let text = query.text(0) else { return nil }
        let digits = Array(text.utf8).dropFirst(Int(clamping: offset))
        return Array(digits.prefix(Int(clamping: count)))
    }

    /// Closes what a piece was read of last, and opens nothing more: else the source could not be
    /// detached.
    func end() {
        open = nil
        hasEnded = true
    }

    private func opened(_ name: String, of object: SourceObjectKey) throws -> SourceBytes? {
        guard let found = layout.column(ofAttribute: name, of: object.entity) else { return nil }
        return try SourceBytes(
            found.column, of: found.table.name, key: object.key, connection, support: support)
    }

    private var attributes: [String: [String: (SQLText, AttributeType)]] = [:]

    private func attribute(
        _ name: String, _ object: SourceObjectKey
    ) throws -> (SQLText, AttributeType) {
        if let known = attributes[object.entity]?[name] { return known }
        guard let column = layout.column(ofAttribute: name, of: object.entity)?.column,
            let type = layout.model.element(name, of: object.entity)?.type
        else {
            throw PolicyFailure("source entity \(object.entity) has no attribute \(shown(name))")
        }
        let cell: Cell = column.isExternal ? .removingPrefix(column.name) : .column(column.name)
        let made = (try cells.expression(cell), type)
        attributes[object.entity, default: [:]][name] = made
        return made
    }

    // MARK: - Relationships

    func targets(
        _ name: String, of object: SourceObjectKey, _ body: (SourceObjectKey) throws -> Void
    ) throws {
        guard let found = layout.model.relationship(name, of: object.entity),
            !found.relationship.isTransient,
            let target = layout.table(of: found.relationship.destination)
        else {
            throw PolicyFailure("source entity \(object.entity) has no relationship \(shown(name))")
        }
        let key = PropertyKey(found.owner.name, name)
        let isReflexive = layout.joinTable(of: key)?.isReflexive == true
        let keys = Self.keys(of: layout.storage(of: key), isReflexive: isReflexive)
        // A statement of its own: the body may read the same relationship of other objects.
        let query = try connection.prepare(
            "SELECT t.Z_PK, t.Z_ENT FROM src.\(SQLText.quoted(target.name)) t WHERE t.Z_PK IN "
                + "(\(keys)) ORDER BY t.Z_PK")
        try query.bind(object.key, at: 1)
        while try query.step() {
            let entity = entity(number: query.integer(1), in: target)
            try body(SourceObjectKey(entity: entity, key: query.integer(0)))
        }
    }

    /// A query for the keys of the targets of the object with key `?1`.
    ///
    /// `isReflexive`: whether rows of a join table lead both ways.
    private static func keys(of storage: RelationStorage, isReflexive: Bool) -> SQLText {
        switch storage {
        case .ownerColumn(let table, let key, _, _):
            "SELECT \(.quoted(key)) FROM src.\(SQLText.quoted(table)) WHERE Z_PK = ?1"
        case .targetColumn(let table, let key, _, _):
            "SELECT Z_PK FROM src.\(SQLText.quoted(table)) WHERE \(.quoted(key)) = ?1"
        case .join(let table, let owner, let target, _, _):
            "SELECT \(.quoted(target)) FROM src.\(SQLText.quoted(table)) "
                + "WHERE \(.quoted(owner)) = ?1"
                + (isReflexive
                    ? " UNION SELECT \(.quoted(owner)) FROM src.\(SQLText.quoted(table)) "
                        + "WHERE \(.quoted(target)) = ?1" : "")
        // No relationship of a layout is stored as a path.
        case .path: "SELECT NULL"
        }
    }

    private func entity(number: Int64, in table: TableLayout) -> String {
        if layout.onlyEntity(of: table) != nil { return table.rootEntity }
        let order = layout.entityOrder
        return order.indices.contains(Int(number) - 1) ? order[Int(number) - 1] : table.rootEntity
    }

    /// The number that says what becomes of an object; nil for one that is not there.
    func splitNumber(of object: SourceObjectKey) throws -> Int64? {
        guard let table = layout.table(of: object.entity) else { return nil }
        let number = numbers.number(of: .attached("s"), in: table.name)
        let query = try statement(
            "SELECT \(number) FROM src.\(SQLText.quoted(table.name)) s WHERE s.Z_PK = ?1")
        defer { query.reset() }
        try query.bind(object.key, at: 1)
        guard try query.step() else { return nil }
        if layout.onlyEntity(of: table) != nil,
            !file.plan.splits.contains(where: { $0.table == table.name })
        {
            return layout.number(of: object.entity).map(Int64.init)
        }
        return query.integer(0)
    }
}
