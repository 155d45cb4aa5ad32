package import MappingExpressions

/// The paths from `$source` whose values go into that of an expression.
///
/// Those that only decide between other values are left out, and those of which only a length is
/// taken. A test for equality with constants hands its value on: a table of values consists of
/// such tests.
package struct CarriedKeyPaths {
    private(set) var paths: Set<[String]> = []

    /// - Complexity: O(n).
    init(_ expression: MappingExpression) { visit(expression) }

    /// The source attribute whose value an expression is, as it is; nil for anything else.
    package static func copiedAttribute(_ expression: MappingExpression) -> String? {
        guard case .keyPath(.variable("source"), let keys) = expression else { return nil }
        return keys.joined(separator: ".")
    }

    private mutating func visit(_ expression: MappingExpression) {
        switch expression {
        case .conditional(let predicate, let one, let other):
            visit(predicate)
            visit(one)
            visit(other)
        case .function(.length, _): break
        case .function(_, let arguments): for argument in arguments { visit(argument) }
        case .cast(let value, _), .conversion(_, let value): visit(value)
        case .attempt(let value, let other), .combination(_, let value, let other):
            visit(value)
            visit(other)
        case .call(let receiver, _, let arguments):
            visit(receiver)
            for argument in arguments { visit(argument) }
        case .list(let values): for value in values { visit(value) }
        case .null, .constant, .evaluatedObject, .variable, .keyPath, .subquery, .element:
            paths.formUnion(ExpressionInspection(expression).sourceKeyPaths)
        }
    }

    private mutating func visit(_ predicate: MappingPredicate) {
        switch predicate {
        case .constant: break
        case .not(let part): visit(part)
        case .and(let parts), .or(let parts): for part in parts { visit(part) }
        case .comparison(let comparison):
            guard [.equal, .notEqual, .contained].contains(comparison.relation) else { return }
            switch (comparison.left, comparison.right) {
            case (.constant, let value), (let value, .constant), (let value, .list): visit(value)
            default: break
            }
        }
    }
}
