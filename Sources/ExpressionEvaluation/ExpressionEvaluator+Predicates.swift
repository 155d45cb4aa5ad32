import ManagedObjectModel
import MappingExpressions

/// Predicates and their comparisons.
extension ExpressionEvaluator {
    func isFulfilled(
        _ predicate: MappingPredicate, _ outer: Scope
    ) throws(ExpressionError) -> Bool {
        let scope = try outer.deeper()
        switch predicate {
        case .constant(let value): return value
        case .and(let parts):
            for part in parts where try !isFulfilled(part, scope) { return false }
            return true
        case .or(let parts):
            for part in parts where try isFulfilled(part, scope) { return true }
            return false
        case .not(let part): return try !isFulfilled(part, scope)
        case .comparison(let comparison): return try holds(comparison, scope)
        }
    }

    private func holds(
        _ comparison: PredicateComparison, _ scope: Scope
    ) throws(ExpressionError) -> Bool {
        let left = try value(comparison.left, scope)
        let right = try value(comparison.right, scope)
        switch comparison.quantifier {
        case .direct: return try holds(left, comparison, right)
        case .any:
            for member in left.leaves where try holds(member, comparison, right) {
                return true
            }
            return false
        case .all:
            for member in left.leaves where try !holds(member, comparison, right) {
                return false
            }
            return true
        }
    }

    private func holds(
        _ left: Value, _ comparison: PredicateComparison, _ right: Value
    ) throws(ExpressionError) -> Bool {
        let values = ValueComparison<Objects.Object>(comparison.options)
        switch comparison.relation {
        case .equal: return values.equal(left, right)
        case .notEqual: return !values.equal(left, right)
        case .lessThan: return try values.isLess(left, right) ?? false
        case .greaterThan: return try values.isLess(right, left) ?? false
        case .lessThanOrEqual: return try isOrdered(left, right, values)
        case .greaterThanOrEqual: return try isOrdered(right, left, values)
        case .between: return try isBetween(left, right, values)
        case .contained: return try contains(right, left, values, "IN")
        case .contains: return try contains(left, right, values, "CONTAINS")
        case .beginsWith, .endsWith, .like, .matches:
            guard let (text, form) = try texts(left, right, comparison.relation.rawValue) else {
                return false
            }
            switch comparison.relation {
            case .beginsWith: return values.text.begins(text, with: form)
            case .endsWith: return values.text.ends(text, with: form)
            case .like: return values.text.isLike(text, form)
            default: return try patterns.matches(text, form, comparison.options)
            }
        }
    }

    /// Whether the first value is before the other one or equal to it.
    private func isOrdered(
        _ one: Value, _ other: Value, _ values: ValueComparison<Objects.Object>
    ) throws(ExpressionError) -> Bool {
        guard let isLess = try values.isLess(one, other) else { return false }
        return isLess || values.equal(one, other)
    }

    /// Whether a value is at neither side of two bounds, which belong to the range.
    private func isBetween(
        _ value: Value, _ bounds: Value, _ values: ValueComparison<Objects.Object>
    ) throws(ExpressionError) -> Bool {
        guard case .collection(let bounds, let kind) = bounds, bounds.count == 2, kind != .set
        else { throw ExpressionError(.evaluation, "BETWEEN needs two bounds in order") }
        guard try isOrdered(bounds[0], value, values) else { return false }
        return try isOrdered(value, bounds[1], values)
    }

    /// Whether a collection has a member, or a text a part; no value has neither.
    private func contains(
        _ whole: Value, _ part: Value, _ values: ValueComparison<Objects.Object>, _ name: String
    ) throws(ExpressionError) -> Bool {
        switch whole {
        case .null: return false
        case .collection(let members, _): return values.isMember(part, of: members)
        default:
            guard let (text, part) = try texts(whole, part, name) else { return false }
            return values.text.contains(text, part)
        }
    }

    /// Both texts; nil if one is absent.
    private func texts(
        _ one: Value, _ other: Value, _ name: String
    ) throws(ExpressionError) -> (String, String)? {
        switch (one, other) {
        case (.scalar(.text(let one)), .scalar(.text(let other))): return (one, other)
        case (.null, .scalar(.text)), (.scalar(.text), .null), (.null, .null): return nil
        default: throw ExpressionError(.evaluation, "\(name) needs texts")
        }
    }
}

extension ExpressionValue {
    /// The members, those of members among them; a single value is its own only member, and no
    /// value has none.
    fileprivate var leaves: [ExpressionValue] {
        switch self {
        case .null: []
        case .collection(let members, _): members.flatMap(\.leaves)
        case .scalar, .object: [self]
        }
    }
}
