import CoreDataStore
import ExpressionEvaluation
import ManagedObjectModel
import MappingExpressions
import MappingModel
import SafeSQLite
import StoreFileChecks

/// What an expression of a mapping must give for a source row, evaluated here and not by SQL.
///
/// An object, for the same reason as `RowExpression`.
final class ComputedRule: Sendable {
    private let expression: RowExpression
    /// What stands in the place of a value that cannot be computed; nil where that is a fault.
    private let other: RowExpression?
    /// Whether it is a source attribute's value, of which less may be held.
    private let isCopy: Bool
    private let column: ColumnLayout
    private let type: AttributeType
    /// The destination attribute, for messages.
    private let name: String

    /// Makes the rule; `read` is that of `RowExpression`.
    ///
    /// Nil for an expression that a plan refuses.
    init?(
        _ expression: MappingExpression, for column: ColumnLayout, key: PropertyKey,
        from entity: String, scope: ValidationScope, read: (SQLText, String?) -> InputPlace
    ) {
        var (first, replacement): (MappingExpression, MappingExpression?) = (expression, nil)
        if case .attempt(let value, let other) = expression {
            (first, replacement) = (value, other)
        }
        guard let attribute = scope.destination.attribute(key),
            let found = RowExpression(
                first, of: entity, in: scope.source, now: scope.now, read: read)
        else { return nil }
        other = replacement.flatMap {
            RowExpression($0, of: entity, in: scope.source, now: scope.now, read: read)
        }
        self.expression = found
        isCopy = CarriedKeyPaths.copiedAttribute(first) != nil
        type = attribute.element.type
        self.column = column
        name = key.description
    }

    /// A row, with what its hashes are made with.
    struct Row {
        let cells: RawRow
        /// The place of the first input in the row.
        let first: Int
        let seed: HashSeed
        let key: RowKey
    }

    /// The hash of what the row's cell must hold.
    ///
    /// - Throws: `StoreError.unsupported` for a row whose value cannot be computed.
    func digest(
        _ row: Row, _ evaluator: ExpressionEvaluator<NoObjects>
    ) throws(StoreError) -> CellDigest {
        do throws(ExpressionError) {
            do throws(ExpressionError) {
                return try digest(of: expression, row, evaluator, isReplaced: false)
            } catch {
                guard let other, error.reason == .evaluation else { throw error }
                return try digest(of: other, row, evaluator, isReplaced: true)
            }
        } catch {
            let key = row.cells.integer(0)
            throw .unsupported(
                path: name,
                reason: "the value of the object with key \(key) cannot be computed: \(error)")
        }
    }

    private func digest(
        of expression: RowExpression, _ row: Row, _ evaluator: ExpressionEvaluator<NoObjects>,
        isReplaced: Bool
    ) throws(ExpressionError) -> CellDigest {
        if type == .string {
            var found: CellDigest?
            expression.withText(row.cells, first: row.first) { text in
                found =
                    text.map {
                        CellDigest(ContentHash.bytes(row.seed, row.key, storageClass: 3, $0))
                    } ?? CellReader.null(row.seed, row.key)
            }
            found?.isReplaced = isReplaced
            if let found { return found }
        }
        let value = try expression.value(row.cells, first: row.first, evaluator)
        let held = try value.map { value throws(ExpressionError) in try stored(value) } ?? .null
        return CellDigest(
            held.digest(row.seed, row.key), isNull: held.storageClass == 5,
            isReplaced: isReplaced || isCopy && value.map(type.cuts) == true)
    }

    private func stored(_ value: DefaultValue) throws(ExpressionError) -> StoredConstant {
        switch try assigned(value) {
        case .text(let text), .uri(let text): StoredConstant(text: StoredText.bytes(text))
        case let value: StoredConstant(value, in: column)
        }
    }

    /// A value as an attribute takes it: numbers become those of its type.
    private func assigned(_ value: DefaultValue) throws(ExpressionError) -> DefaultValue {
        switch type {
        case .string, .uri, .date, .binary, .uuid, .transformable:
            guard value.isHeld(by: type) else {
                throw ExpressionError(.evaluation, "the value is of another type than \(type)")
            }
            return value
        case .integer16, .integer32, .integer64:
            var whole = value
            if case .boolean(let flag) = value { whole = .integer(flag ? 1 : 0) }
            if case .real(let number) = value {
                whole = Int64(exactly: number.rounded(.towardZero)).map { .integer($0) } ?? value
            }
            guard case .integer(let number) = whole, type.integerRange?.contains(number) != false
            else { throw ExpressionError(.evaluation, "the number does not fit the type \(type)") }
            return whole
        case .boolean:
            switch value {
            case .integer(let number): return .boolean(number != 0)
            case .real(let number): return .boolean(number != 0)
            case .boolean: return value
            default: throw ExpressionError(.evaluation, "the value is not a number")
            }
        case .double, .float:
            if case .integer(let number) = value { return .real(Double(number)) }
            if case .boolean(let flag) = value { return .real(flag ? 1 : 0) }
            guard case .real(let number) = value, number.isFinite else {
                throw ExpressionError(.evaluation, "the value is not a finite number")
            }
            return value
        case .decimal:
            switch value {
            case .real(let number) where number.isFinite: return value
            case .integer, .decimal: return value
            default: throw ExpressionError(.evaluation, "the value is not a finite number")
            }
        default: return value
        }
    }
}

/// The computed values of a source table's rows, with what their inputs are read by.
struct ComputedRules: Sendable {
    /// Nil for an expression that a plan refuses.
    private(set) var rules: [ComputedRule?] = []
    /// What is read behind the columns of the pass.
    private(set) var inputs: [SQLText] = []
    /// What evaluates them, row after row.
    let evaluator: ExpressionEvaluator<NoObjects>

    /// `now`: what `now()` gives, in seconds since 2001-01-01 00:00:00 UTC.
    init(now: Double) { evaluator = ExpressionEvaluator(NoObjects(), now: now) }

    /// Adds a rule; the list gets the columns that it reads of the row itself.
    ///
    /// - Returns: its place.
    mutating func add(
        _ expression: MappingExpression, for column: ColumnLayout, key: PropertyKey,
        from entity: String, scope: ValidationScope, list: inout SelectList
    ) -> Int {
        var inputs = inputs
        let rule = ComputedRule(expression, for: column, key: key, from: entity, scope: scope) {
            if let own = $1 { return .column(list.place(of: own)) }
            return .further(inputs.place(of: $0))
        }
        self.inputs = inputs
        rules.append(rule)
        return rules.count - 1
    }
}

/// How validation reads a key path of a source object: as an expression over the row's table.
struct ComputedInput {
    let sql: SQLText
    /// The row's own column; nil for what lies elsewhere.
    let column: String?
    /// The type of what is read.
    let type: AttributeType

    /// Nil for a path that a plan refuses.
    ///
    /// `column`: of the last row, where no attribute is read.
    init?(
        _ keys: [String], of entity: String, in layout: StoreLayout, column object: String = "Z_PK"
    ) {
        guard let table = layout.table(of: entity)?.name else { return nil }
        var row = SQLText.quoted(table)
        var current = entity
        var tables: [SQLText] = []
        var conditions: [SQLText] = []
        var reduction: String?
        var leaf: (column: String, type: AttributeType) = (object, .objectID)
        var rest = keys[...]
        while let key = rest.popFirst() {
            if key.hasPrefix("@") {
                reduction = key
            } else if let found = layout.model.relationship(key, of: current) {
                guard
                    let storage = layout.linkStorage(PropertyKey(found.owner.name, key)),
                    let target = layout.table(of: found.relationship.destination)?.name
                else { return nil }
                let next: SQLText = "v\(tables.count)"
                let leadsBothWays =
                    layout.joinTable(of: PropertyKey(found.owner.name, key))?.isReflexive == true
                Self.follow(
                    storage, from: row, to: next, target: target, leadsBothWays: leadsBothWays,
                    tables: &tables, conditions: &conditions)
                row = next
                current = found.relationship.destination
            } else {
                let name = ([key] + rest).joined(separator: ".")
                rest = []
                guard let found = Self.attribute(name, of: current, in: layout) else { return nil }
                leaf = found
            }
        }
        let column: SQLText = "\(row).\(SQLText.quoted(leaf.column))"
        self.column = tables.isEmpty && reduction == nil ? leaf.column : nil
        let value: SQLText
        switch reduction {
        case nil: (value, type) = (column, leaf.type)
        case "@count": (value, type) = ("count(*)", .integer64)
        case "@sum":
            let sum: SQLText =
                leaf.type.isWhole ? .sum(ofIntegers: column) : "coalesce(sum(\(column)), 0)"
            (value, type) = (sum, leaf.type == .boolean ? .integer64 : leaf.type)
        case "@min": (value, type) = ("min(\(column))", leaf.type)
        case "@max": (value, type) = ("max(\(column))", leaf.type)
        case "@avg": (value, type) = ("total(\(column)) / count(*)", .double)
        default: return nil
        }
        sql =
            tables.isEmpty
            ? value
            : "(SELECT \(value) FROM \(tables.joined(separator: " CROSS JOIN ")) "
                + "WHERE \(conditions.joined(separator: " AND ")))"
    }

    private static func follow(
        _ storage: LinkStorage, from row: SQLText, to next: SQLText, target: String,
        leadsBothWays: Bool, tables: inout [SQLText], conditions: inout [SQLText]
    ) {
        guard storage.isJoin else {
            let name = storage.target == .row ? storage.table : target
            tables.append("\(SQLText.quoted(name)) AS \(next)")
            let (own, other) =
                storage.owner == .row
                ? (storage.target.keyColumn, "Z_PK") : ("Z_PK", storage.owner.keyColumn)
            conditions.append(
                "\(next).\(SQLText.quoted(other)) = \(row).\(SQLText.quoted(own))")
            return
        }
        let join: SQLText = "l\(tables.count)"
        let (own, other) = (
            SQLText.quoted(storage.owner.keyColumn), SQLText.quoted(storage.target.keyColumn)
        )
        let name = SQLText.quoted(storage.table)
        let links: SQLText = "SELECT \(own), \(other) FROM \(name)"
        let turned: SQLText = "SELECT \(other), \(own) FROM \(name)"
        tables.append(
            leadsBothWays
                ? "(\(links) UNION \(turned)) AS \(join)" : "\(name) AS \(join)")
        tables.append("\(SQLText.quoted(target)) AS \(next)")
        conditions += ["\(join).\(own) = \(row).Z_PK", "\(next).Z_PK = \(join).\(other)"]
    }

    static func attribute(
        _ name: String, of entity: String, in layout: StoreLayout
    ) -> (column: String, type: AttributeType)? {
        guard let column = layout.column(ofAttribute: name, of: entity)?.column,
            let known = layout.attribute(column.role.key)
        else { return nil }
        return (column.name, known.element.type)
    }
}
