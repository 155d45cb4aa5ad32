import ExpressionEvaluation
import ManagedObjectModel
import MappingExpressions
import MappingModel

/// Finds what kind of value an expression gives, and every name in it that the source model does
/// not have.
struct ExpressionTyper {
    let model: Model
    /// The entity of `$source`; nil where there is no source object.
    let entity: String?
    /// What variables of subqueries stand for.
    private var variables: [String: ValueKind] = [:]
    /// What `SELF` stands for.
    private var evaluated: ValueKind?
    private(set) var mistakes: [String] = []
    /// What is no mistake, and hardly meant.
    private(set) var warnings: [String] = []

    init(model: Model, entity: String?) {
        self.model = model
        self.entity = entity
    }

    /// The kind of an expression; mistakes are collected, and what they hide is unknown.
    mutating func kind(of expression: MappingExpression) -> ValueKind {
        switch expression {
        case .null: return .null
        case .constant(let value): return ValueKind(value)
        case .evaluatedObject: return evaluated ?? mistake("SELF has no meaning here")
        case .variable(let name): return variable(name)
        case .keyPath(let operand, let keys): return path(operand, keys)
        case .function(let function, let arguments): return self.function(function, arguments)
        case .cast(let value, let target):
            if kind(of: value) == .date, target == .string {
                return mistake(
                    "a date cannot be cast to NSString. Write CONVERT(\(value.text), \"string\")")
            }
            return Self.kind(of: target)
        case .conversion(let conversion, let value):
            return converted(kind(of: value), conversion)
        case .attempt(let value, let other):
            let kinds = (kind(of: value), kind(of: other))
            let joined = joined(kinds.0, kinds.1)
            guard joined == .unknown, kinds.0 != .unknown, kinds.1 != .unknown else {
                return joined
            }
            return mistake(
                "the replacement value is \(kinds.1.noun) instead of "
                    + kinds.0.noun)
        case .call(_, _, let arguments):
            for argument in arguments { _ = kind(of: argument) }
            return .unknown
        case .conditional(let predicate, let first, let second):
            check(predicate)
            let kinds = (kind(of: first), kind(of: second))
            let joined = joined(kinds.0, kinds.1)
            guard joined == .unknown, kinds.0 != .unknown, kinds.1 != .unknown else {
                return joined
            }
            return mistake(
                "TERNARY gives \(kinds.0.noun) or \(kinds.1.noun): both must be of the same kind")
        case .list(let members):
            let kinds = members.map { kind(of: $0) }
            return .collection(kinds.reduce(.null) { joined($0, $1) })
        case .combination(_, let left, let right):
            return joined(collection(left), collection(right))
        case .subquery(let collection, let variable, let predicate):
            return subquery(collection, variable, predicate)
        case .element(let collection, let index): return element(collection, index)
        }
    }

    /// Looks at every expression in a predicate about an object, the subject: what `SELF` stands
    /// for; nil leaves it as it is.
    mutating func check(_ predicate: MappingPredicate, about subject: ValueKind? = nil) {
        let outer = evaluated
        if let subject { evaluated = subject }
        defer { evaluated = outer }
        switch predicate {
        case .constant: return
        case .and(let parts), .or(let parts): for part in parts { check(part) }
        case .not(let part): check(part)
        case .comparison(let comparison):
            check(comparison)
        }
    }

    private mutating func check(_ comparison: PredicateComparison) {
        var left = kind(of: comparison.left)
        let right = kind(of: comparison.right)
        if comparison.quantifier != .direct {
            guard case .collection = left else {
                guard left != .unknown else { return }
                mistake("\(comparison.quantifier.rawValue) needs a collection, not \(left.noun)")
                return
            }
            // Members of members count as members.
            while case .collection(let member) = left { left = member }
        }
        switch comparison.relation {
        case .equal, .notEqual: warn(of: comparison, left, right)
        case .contained:
            if case .collection(let member) = right { warn(of: comparison, left, member) }
        case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
            guard !left.isComparable(with: right) else { return }
            let hint: String =
                if case .collection = left {
                    ". Write ANY or ALL before it, or .@count behind it"
                } else { "" }
            mistake(
                "\(comparison.left.text) \(comparison.relation.rawValue) "
                    + "\(comparison.right.text) compares \(left.noun) with \(right.noun)\(hint)")
        case .matches:
            guard case .constant(.text(let pattern)) = comparison.right else { return }
            do throws(ExpressionError) {
                _ = try TextPattern(pattern)
            } catch {
                mistake("\(comparison.right.text) is no pattern: \(error)")
            }
        default: return
        }
    }

    /// Values of two kinds are not equal, which is no error.
    private mutating func warn(
        of comparison: PredicateComparison, _ left: ValueKind, _ right: ValueKind
    ) {
        guard !left.isComparable(with: right) else { return }
        warnings.append(
            "\(comparison.text) compares \(left.noun) with \(right.noun): they are never equal")
    }

    @discardableResult
    mutating func mistake(_ text: String) -> ValueKind {
        if !mistakes.contains(text) { mistakes.append(text) }
        return .unknown
    }

    private mutating func variable(_ name: String) -> ValueKind {
        if let kind = variables[name] { return kind }
        switch name {
        case "source":
            if let entity { return .object(entity) }
            return mistake("there is no source object: the entity mapping has no source entity")
        case "manager", "entityPolicy", "entityMapping", "propertyMapping", "destination":
            return .unknown
        default:
            return mistake(
                "there is no variable $\(name): mapping models have $source, $destination, "
                    + "$manager, $entityMapping, $entityPolicy and $propertyMapping")
        }
    }

    // MARK: - Key paths

    private mutating func path(_ operand: MappingExpression, _ keys: [String]) -> ValueKind {
        if operand == .evaluatedObject, evaluated == nil {
            let path = keys.joined(separator: ".")
            return mistake(
                "\(path) names no value: write $source.\(path) for a property of the source "
                    + "object, or quotes around a text")
        }
        var kind = kind(of: operand)
        var rest = keys[...]
        while let key = rest.popFirst() {
            guard key.hasPrefix("@") else {
                kind = value(of: key, in: kind)
                continue
            }
            guard case .collection(let member) = kind else {
                guard kind == .unknown else {
                    return mistake("\(key) needs a collection, not \(kind.noun)")
                }
                return .unknown
            }
            var inner = member
            for key in rest { inner = value(of: key, in: inner) }
            return collected(key, inner, hasPath: !rest.isEmpty)
        }
        return kind
    }

    /// What a sum adds, that of sums of texts within it included.
    private func summands(_ expression: MappingExpression) -> [MappingExpression] {
        var probe = self
        guard case .function(.add, let arguments) = expression, probe.kind(of: expression) == .text
        else { return [expression] }
        return arguments.flatMap(summands)
    }

    private mutating func collected(
        _ name: String, _ inner: ValueKind, hasPath: Bool
    ) -> ValueKind {
        if !hasPath, name != "@count", Self.operators.contains(name) {
            return mistake("\(name) needs a key after it")
        }
        switch name {
        case "@count": return .number
        case "@sum", "@avg":
            if !inner.isNumeric { mistake("\(name) needs numbers, not \(inner.noun)") }
            return inner == .decimal ? .decimal : .number
        case "@min", "@max": return inner
        case "@unionOfObjects", "@distinctUnionOfObjects", "@unionOfArrays", "@unionOfSets",
            "@distinctUnionOfArrays", "@distinctUnionOfSets":
            if case .collection(let member) = inner { return .collection(member) }
            return .collection(inner)
        default:
            let hint = NameSuggestion.hint(name, Self.operators, noun: "operators")
            return mistake("there is no collection operator \(name). \(hint)")
        }
    }

    private static let operators = [
        "@count", "@sum", "@avg", "@min", "@max", "@unionOfObjects", "@distinctUnionOfObjects",
        "@unionOfArrays", "@distinctUnionOfArrays", "@unionOfSets", "@distinctUnionOfSets",
    ]

    private mutating func value(of key: String, in kind: ValueKind) -> ValueKind {
        switch kind {
        case .unknown, .null: return .unknown
        case .collection(let member):
            if case .object(let entity) = member, Self.operators.contains("@" + key),
                model.attribute(key, of: entity) == nil,
                model.relationship(key, of: entity) == nil
            {
                return mistake(
                    "\(entity) has no property \(key): an operator of collections is written "
                        + "@\(key)")
            }
            return .collection(value(of: key, in: member))
        case .composite(let elements):
            if let element = elements.first(where: { $0.name == key }) { return ValueKind(element) }
            return mistake(
                "the composite attribute has no element \(key). "
                    + NameSuggestion.hint(key, elements.map(\.name), noun: "elements"))
        case .object(let entity): return property(key, of: entity)
        default: return mistake("\(kind.noun) has no key \(key)")
        }
    }

    private mutating func property(_ key: String, of entity: String) -> ValueKind {
        if let found = model.attribute(key, of: entity) {
            if found.attribute.isTransient {
                return mistake("\(entity).\(key) is transient: no store holds its values")
            }
            return ValueKind(found.attribute)
        }
        if let found = model.relationship(key, of: entity)?.relationship {
            let target = ValueKind.object(found.destination)
            return found.isToMany ? .collection(target) : target
        }
        let names =
            model.allAttributes(of: entity).map(\.attribute.name)
            + model.allRelationships(of: entity).map(\.relationship.name)
        let hint = NameSuggestion.hint(key, names, noun: "properties")
        return mistake("source entity \(entity) has no property \(key). \(hint)")
    }
}

// MARK: - Functions and collections

extension ExpressionTyper {
    private static func kind(of target: MappingExpression.CastTarget) -> ValueKind {
        switch target {
        case .number: .number
        case .decimal: .decimal
        case .date: .date
        case .string: .text
        case .uuid: .uuid
        case .url: .uri
        }
    }

    private mutating func function(
        _ function: ExpressionFunction, _ arguments: [MappingExpression]
    ) -> ValueKind {
        let operands = function == .add ? arguments.flatMap(summands) : arguments
        let kinds = operands.map { kind(of: $0) }
        switch function {
        case .now: return .date
        case .add where kinds.contains(.text):
            let texts = zip(operands, kinds).map { $1.isNumeric ? .cast($0, to: .string) : $0 }
            let joined = texts.dropFirst().reduce(texts[0]) { .function(.append, [$0, $1]) }
            let isJoinable = kinds.allSatisfy { [.text, .number, .decimal].contains($0) }
            mistake(
                "\(function.rawValue) needs numbers, not a text"
                    + (isJoinable ? ". Write \(joined.text)" : ""))
            return .text
        case .uppercase, .lowercase, .length, .append:
            for (kind, argument) in zip(kinds, arguments) where !kind.isText {
                let hint =
                    kind.isNumeric ? ". Write CAST(\(argument.text), \"NSString\")" : ""
                mistake("\(function.rawValue) needs a text, not \(kind.noun)\(hint)")
            }
            return function == .length ? .number : .text
        case .noIndex: return kinds.first ?? .unknown
        case .distinct, .count, .sum, .min, .max, .average, .median, .mode, .standardDeviation:
            return collected(function, kinds)
        default:
            if let wrong = kinds.first(where: { !$0.isNumeric }) {
                mistake("\(function.rawValue) needs numbers, not \(wrong.noun)")
            }
            return kinds.contains(.decimal) ? .decimal : .number
        }
    }

    private mutating func collected(
        _ function: ExpressionFunction, _ kinds: [ValueKind]
    ) -> ValueKind {
        guard let first = kinds.first, first != .unknown else { return .unknown }
        guard case .collection(let member) = first else {
            return mistake("\(function.rawValue) needs a collection, not \(first.noun)")
        }
        switch function {
        case .count: return .number
        case .distinct: return first
        case .min, .max, .mode: return member
        default:
            if !member.isNumeric {
                mistake("\(function.rawValue) needs numbers, not \(member.noun)")
            }
            return member == .decimal ? .decimal : .number
        }
    }

    private mutating func collection(_ expression: MappingExpression) -> ValueKind {
        let kind = kind(of: expression)
        if case .collection = kind { return kind }
        return kind == .unknown ? kind : mistake("expected a collection, not \(kind.noun)")
    }

    private mutating func subquery(
        _ members: MappingExpression, _ variable: String, _ predicate: MappingPredicate
    ) -> ValueKind {
        let kind = collection(members)
        if ComputedValue.input(named: variable) != nil {
            return mistake("a subquery cannot name its variable $\(variable)")
        }
        let outer = variables[variable]
        if case .collection(let member) = kind {
            variables[variable] = member
        } else {
            variables[variable] = .unknown
        }
        check(predicate)
        variables[variable] = outer
        return kind
    }

    private mutating func element(
        _ members: MappingExpression, _ index: MappingExpression.ElementIndex
    ) -> ValueKind {
        let kind = collection(members)
        if case .size = index { return .number }
        if isSet(members) {
            return mistake("\(members.text) is a set: its objects have no order for an index")
        }
        if case .at(let place) = index { _ = self.kind(of: place) }
        if case .collection(let member) = kind { return member }
        return .unknown
    }

    /// Whether objects behind a relationship have no order, or one that is that of both its sides.
    private mutating func isSet(_ members: MappingExpression) -> Bool {
        guard case .keyPath(let start, let keys) = members, let last = keys.last else {
            return false
        }
        let before = keys.dropLast()
        let owner = before.isEmpty ? kind(of: start) : path(start, Array(before))
        guard case .object(let entity) = owner,
            let found = model.relationship(last, of: entity), found.relationship.isToMany
        else { return false }
        let inverse = model.inverse(of: found.relationship)
        return !found.relationship.isOrdered
            || inverse?.relationship.name == last && inverse?.owner.name == found.owner.name
    }

    /// The kind of a value that is one or the other.
    private func joined(_ left: ValueKind, _ right: ValueKind) -> ValueKind {
        if left == right || right == .null { return left }
        if left == .null { return right }
        switch (left, right) {
        case (.number, .decimal), (.decimal, .number): return .decimal
        default: return .unknown
        }
    }
}
