import ManagedObjectModel
import MappingExpressions

/// Equality and order of values as predicates have them.
struct ValueComparison<Object: Hashable & Sendable> {
    typealias Value = ExpressionValue<Object>

    let text: TextComparison

    init(_ options: PredicateComparison.Options = []) { text = TextComparison(options: options) }

    /// Whether two values are equal.
    ///
    /// No value equals only no value. Numbers and booleans are compared as numbers, texts by the
    /// options, dates with dates, other scalars with those of their kind; values of different
    /// kinds differ. Two collections are equal with equal members in their order, or in any order
    /// if one of them is a set.
    func equal(_ one: Value, _ other: Value) -> Bool {
        switch (one, other) {
        case (.null, .null): true
        case (.scalar(let one), .scalar(let other)): equal(one, other)
        case (.object(let one), .object(let other)): one == other
        case (.collection(let one, let kind), .collection(let other, let otherKind)):
            kind == .set || otherKind == .set
                ? equalSets(one, other)
                : one.count == other.count && zip(one, other).allSatisfy { equal($0, $1) }
        default: false
        }
    }

    private func equal(_ one: DefaultValue, _ other: DefaultValue) -> Bool {
        if let one = EvaluatedNumber(one), let other = EvaluatedNumber(other) {
            return EvaluatedNumber.equal(one, other)
        }
        return switch (one, other) {
        case (.text(let one), .text(let other)), (.uri(let one), .uri(let other)):
            text.equal(one, other)
        case (.date(let one), .date(let other)): one == other
        case (.data(let one), .data(let other)), (.uuid(let one), .uuid(let other)): one == other
        default: false
        }
    }

    private func equalSets(_ one: [Value], _ other: [Value]) -> Bool {
        if text.options.isEmpty {
            return Set(one.map(ComparedValue.init)) == Set(other.map(ComparedValue.init))
        }
        return one.allSatisfy { isMember($0, of: other) }
            && other.allSatisfy { isMember($0, of: one) }
    }

    /// Whether a collection has an equal member.
    func isMember(_ value: Value, of members: [Value]) -> Bool {
        members.contains { equal(value, $0) }
    }

    /// The members without those that equal an earlier one.
    ///
    /// - Complexity: O(n).
    static func distinct(_ members: [Value]) -> [Value] {
        var seen: Set<ComparedValue<Object>> = []
        return members.filter { seen.insert(ComparedValue(value: $0)).inserted }
    }

    /// Whether one value is before the other; nil, for neither, if one of them is absent.
    ///
    /// - Throws: `ExpressionError` for values that have no order, or none with each other.
    func isLess(_ one: Value, _ other: Value) throws(ExpressionError) -> Bool? {
        if one == .null || other == .null { return nil }
        guard case .scalar(let first) = one, case .scalar(let second) = other else {
            throw ExpressionError(.evaluation, "objects and collections have no order")
        }
        if let first = EvaluatedNumber(first), let second = EvaluatedNumber(second) {
            let isUnordered = first.real.isNaN || second.real.isNaN
            return isUnordered ? nil : EvaluatedNumber.isLess(first, second)
        }
        switch (first, second) {
        case (.text(let one), .text(let other)): return text.isLess(one, other)
        case (.date(let one), .date(let other)):
            return one.isNaN || other.isNaN ? nil : one < other
        default:
            throw ExpressionError(
                .evaluation, "\(first.kindName) has no order with \(second.kindName)")
        }
    }
}

/// A value by the equality of predicates without options.
struct ComparedValue<Object: Hashable & Sendable>: Hashable {
    let value: ExpressionValue<Object>

    static func == (one: Self, other: Self) -> Bool {
        ValueComparison<Object>().equal(one.value, other.value)
    }

    func hash(into hasher: inout Hasher) {
        switch value {
        case .null: hasher.combine(0)
        case .object(let object): hasher.combine(object)
        // Sets with another order or with repeated members are equal: what they have in common is
        // which members there are.
        case .collection(let members, _):
            let hashes = members.map { ComparedValue(value: $0).hashValue }
            hasher.combine(hashes.min())
            hasher.combine(hashes.max())
        case .scalar(let scalar):
            if let number = EvaluatedNumber(scalar) {
                // Equal numbers of different kinds are near the same real number.
                hasher.combine(number.real)
            } else {
                hasher.combine(scalar)
            }
        }
    }
}
