import CoreDataStore
import ManagedObjectModel
import MappingExpressions
import MappingModel
package import SafeSQLite

/// Computed values as SQL, wherever SQL gives the same result as an evaluation.
///
/// Texts are compared by Unicode's canonical equivalence, which SQL cannot. What is deeply nested
/// or long is left to Swift.
package struct ValueSQL {
    private let cell: ComputedCell
    private let row: SourceRow

    /// - Parameters:
    ///   - cell: to be computed.
    ///   - row: of the source.
    package init(_ cell: ComputedCell, of row: SourceRow = .attached("s")) {
        self.cell = cell
        self.row = row
    }

    /// What a part of an expression gives.
    private enum Kind {
        case integer, real, date, null
        /// A value that is carried or compared with nil, and not computed with.
        case carried
    }

    private typealias Part = (sql: SQLText, kind: Kind)

    /// The expression for the cell; nil where Swift must evaluate it.
    package var expression: SQLText? { expression { sql, _ in sql } }

    /// The expression for the cell, with a check of what SQL itself does not refuse: an integer
    /// beyond 64 bits, which SQLite turns into a real number, and a missing required value.
    ///
    /// - Parameter checked: gets an expression, and whether it must be an integer; it gives one
    ///   that fails where the value may not be.
    /// - Returns: nil where Swift must evaluate the expression.
    package func expression(checked: (SQLText, Bool) -> SQLText) -> SQLText? {
        guard cell.tree == nil, isSmall, var part = part(cell.value.expression) else { return nil }
        let isComputed = Self.computes(cell.value.expression)
        let bounds = ValueBounds(cell.value.expression)
        if part.kind == .integer, isHeld(bounds) {
            let mustCheck = bounds.mayMiss && cell.isRequired
            return mustCheck ? "ifnull(\(part.sql), \(checked("NULL", false)))" : part.sql
        }
        let mustFit = cell.type.integerRange != nil || cell.type == .integer64 && part.kind == .real
        if mustFit, part.kind != .null, !isConstant {
            return checked(part.kind == .real ? Self.whole(part.sql) : part.sql, true)
        }
        let canOverflow = part.kind == .integer && isComputed
        if canOverflow || cell.isRequired { part.sql = checked(part.sql, canOverflow) }
        switch cell.type {
        case .integer16, .integer32, .integer64:
            return part.kind == .real ? "CAST(\(part.sql) AS INTEGER)" : part.sql
        case .boolean:
            if part.kind == .null || isBoolean(cell.value.expression) { return part.sql }
            return "(\(part.sql)) <> 0"
        case .double, .float:
            return part.kind == .integer ? "CAST(\(part.sql) AS REAL)" : part.sql
        case .date, .string, .uuid, .uri, .binary, .transformable: return part.sql
        case .decimal:
            return [.date, .carried].contains(part.kind) ? nil : part.sql
        case .undefined, .objectID, .composite: return part.kind == .null ? part.sql : nil
        }
    }

    /// A real number without its fraction; as it is where no integer holds it, which a cast would
    /// turn into the nearest that there is.
    private static func whole(_ real: SQLText) -> SQLText {
        let (least, end): (SQLText, SQLText) = ("-9223372036854775808.0", "9223372036854775808.0")
        return "CASE WHEN \(real) >= \(least) AND \(real) < \(end) "
            + "THEN CAST(\(real) AS INTEGER) ELSE \(real) END"
    }

    /// Whether real numbers are computed, whose result may be infinite or none: SQL writes the one,
    /// and NULL for the other.
    ///
    /// What is carried may be infinite as well, because a store or a sum is.
    var computesReals: Bool { !isConstant && part(cell.value.expression)?.kind == .real }

    /// Whether SQLite's parser, which has a bound on what is nested, takes the expression wherever
    /// it stands.
    private var isSmall: Bool {
        let found = ExpressionInspection(cell.value.expression)
        return found.depth <= 12 && found.size <= 200
    }

    /// The inputs, each as an expression of its own; the tree alone where there is one.
    package var inputs: [SQLText] {
        cell.tree.map { [$0.sql(from: row)] } ?? cell.inputs.map { $0.sql(from: row) }
    }

    /// Whether the attribute's type holds every integer within bounds.
    private func isHeld(_ bounds: ValueBounds) -> Bool {
        guard let integers = bounds.integers else { return false }
        if cell.type == .integer64 { return true }
        guard let range = cell.type.integerRange else { return false }
        return range.contains(integers.lowerBound) && range.contains(integers.upperBound)
    }

    private var isConstant: Bool {
        if case .constant = cell.value.expression { return true }
        return false
    }

    /// Whether a number may come from a function.
    private static func computes(_ expression: MappingExpression) -> Bool {
        switch expression {
        case .function(let function, _): function != .now
        case .conditional(_, let first, let second):
            computes(first) || computes(second)
        default: false
        }
    }

    private func isBoolean(_ expression: MappingExpression) -> Bool {
        switch expression {
        case .constant(.boolean): true
        case .variable(let name):
            ComputedValue.input(named: name).map { cell.inputs[$0].valueType == .boolean } ?? false
        default: false
        }
    }

    // MARK: - Expressions

    private func part(_ expression: MappingExpression) -> Part? {
        switch expression {
        case .null: return ("NULL", .null)
        case .constant(let value): return constant(value)
        case .variable(let name): return ComputedValue.input(named: name).flatMap(input)
        case .function(.now, _): return SQLText.literal(.date(cell.now)).map { ($0, .date) }
        case .function(let function, let arguments): return arithmetic(function, arguments)
        case .conditional(let predicate, let first, let second):
            guard let condition = condition(predicate), let left = part(first),
                let right = part(second), let kind = Self.joined(left.kind, right.kind)
            else { return nil }
            return ("CASE WHEN \(condition) THEN \(left.sql) ELSE \(right.sql) END", kind)
        default: return nil
        }
    }

    private func constant(_ value: DefaultValue) -> Part? {
        guard let literal = SQLText.literal(value) else { return nil }
        switch value {
        case .integer, .boolean: return (literal, .integer)
        case .real: return (literal, .real)
        case .date: return (literal, .date)
        case .text, .data, .uuid, .uri: return (literal, .carried)
        case .decimal: return nil
        }
    }

    private func input(_ number: Int) -> Part? {
        // A sum of integers may be infinite, in place of one with more than 64 bits.
        guard cell.inputs.indices.contains(number), !cell.inputs[number].sumsIntegers else {
            return nil
        }
        let sql = cell.inputs[number].sql(from: row)
        switch cell.inputs[number].valueType {
        case .integer16, .integer32, .integer64: return (sql, .integer)
        // Every number but 0 is true, whatever a store holds.
        case .boolean: return ("(\(sql) <> 0)", .integer)
        case .double, .float: return (sql, .real)
        case .date: return (sql, .date)
        case .decimal: return nil
        default: return (sql, .carried)
        }
    }

    private func arithmetic(
        _ function: ExpressionFunction, _ arguments: [MappingExpression]
    ) -> Part? {
        let signs: [ExpressionFunction: SQLText] = [.add: "+", .subtract: "-", .multiply: "*"]
        guard arguments.count == 2, let left = part(arguments[0]), let right = part(arguments[1]),
            Self.isNumber(left.kind), Self.isNumber(right.kind)
        else { return nil }
        let kind: Kind = left.kind == .real || right.kind == .real ? .real : .integer
        // An evaluation refuses what SQL would turn into a real number on the way. Of integers the
        // end shows it, but not where the NULL of the other side hides it.
        let isHidden = [(0, 1), (1, 0)].contains { own, other in
            mayOverflow(arguments[own])
                && (kind == .real || ValueBounds(arguments[other]).mayMiss)
        }
        guard !isHidden else { return nil }
        if let sign = signs[function] { return ("(\(left.sql) \(sign) \(right.sql))", kind) }
        // Division by zero is an error, not NULL: only a known divisor is left to SQL.
        guard function == .divide, case .constant(let divisor) = arguments[1],
            divisor != .integer(0), divisor != .real(0), divisor != .boolean(false)
        else { return nil }
        return ("(\(left.sql) / \(right.sql))", kind)
    }

    /// Whether an expression computes an integer that may have more than 64 bits.
    private func mayOverflow(_ expression: MappingExpression) -> Bool {
        guard Self.computes(expression), part(expression)?.kind == .integer else {
            return false
        }
        return ValueBounds(expression).integers == nil
    }

    private static func isNumber(_ kind: Kind) -> Bool {
        switch kind {
        case .integer, .real, .null: true
        case .date, .carried: false
        }
    }

    private static func joined(_ left: Kind, _ right: Kind) -> Kind? {
        if left == right || right == .null { return left }
        if left == .null { return right }
        // Which of both it is shows in the row alone.
        return nil
    }

    // MARK: - Predicates

    /// A predicate as an expression that is 0 or 1, never NULL.
    private func condition(_ predicate: MappingPredicate) -> SQLText? {
        switch predicate {
        case .constant(let flag): return flag ? "1" : "0"
        case .not(let inner): return condition(inner).map { "NOT (\($0))" }
        case .and(let parts): return joined(parts, by: " AND ")
        case .or(let parts): return joined(parts, by: " OR ")
        case .comparison(let comparison): return self.comparison(comparison)
        }
    }

    private func joined(_ parts: [MappingPredicate], by word: SQLText) -> SQLText? {
        var all: SQLText?
        for part in parts {
            guard let condition = condition(part) else { return nil }
            all = all.map { "\($0)\(word)(\(condition))" } ?? "(\(condition))"
        }
        return all
    }

    private func comparison(_ comparison: PredicateComparison) -> SQLText? {
        guard comparison.quantifier == .direct else { return nil }
        if let parts = comparison.asComparisons { return condition(parts) }
        guard let left = part(comparison.left), let right = part(comparison.right) else {
            return nil
        }
        guard comparison.options == [] else { return nil }
        let isComparable =
            Self.isNumber(left.kind) && Self.isNumber(right.kind)
            || (left.kind == .date || left.kind == .null)
                && (right.kind == .date || right.kind == .null)
        let isNullTest = left.kind == .null || right.kind == .null
        guard !mayOverflow(comparison.left), !mayOverflow(comparison.right) else { return nil }
        switch comparison.relation {
        case .equal where isComparable || isNullTest: return "\(left.sql) IS \(right.sql)"
        case .notEqual where isComparable || isNullTest: return "\(left.sql) IS NOT \(right.sql)"
        case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
            guard isComparable, let sign = Self.signs[comparison.relation] else { return nil }
            return "ifnull(\(left.sql) \(sign) \(right.sql), 0)"
        default: return nil
        }
    }

    private static let signs: [PredicateComparison.Operator: SQLText] = [
        .lessThan: "<", .lessThanOrEqual: "<=", .greaterThan: ">", .greaterThanOrEqual: ">=",
    ]
}
