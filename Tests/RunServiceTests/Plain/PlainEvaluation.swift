import CoreDataStore
import ExpressionEvaluation
import ManagedObjectModel
import MappingExpressions

/// An object of a store by its entity and key.
struct PlainReference: Hashable, Sendable {
    let entity: String
    let key: Int64
}

/// Evaluates expressions of mappings over a store that is held in memory.
struct PlainEvaluation: ExpressionObjects {
    let store: PlainStore

    /// What an attribute gets; nil where the expression has no value for the object.
    func value(
        of expression: MappingExpression, for object: PlainReference, now: Double,
        type: AttributeType
    ) throws(ExpressionError) -> PlainValue {
        // A value that the attribute cannot hold has failed, too.
        if case .attempt(let first, let other) = expression {
            do throws(ExpressionError) {
                return try assigned(first, object, now, type)
            } catch {
                return try assigned(other, object, now, type)
            }
        }
        return try assigned(expression, object, now, type)
    }

    private func assigned(
        _ expression: MappingExpression, _ object: PlainReference, _ now: Double,
        _ type: AttributeType
    ) throws(ExpressionError) -> PlainValue {
        let evaluator = ExpressionEvaluator(self, now: now)
        let result = try evaluator.value(
            of: expression, variables: ["source": .object(object)])
        guard case .scalar(let scalar) = result else { return .null }
        switch (scalar, type) {
        case (.real(let number), .integer16), (.real(let number), .integer32),
            (.real(let number), .integer64):
            guard let whole = Int64(exactly: number.rounded(.towardZero)),
                type.integerRange?.contains(whole) != false
            else { throw ExpressionError(.evaluation, "the number does not fit") }
            return .integer(whole)
        case (.integer(let number), .integer16), (.integer(let number), .integer32):
            guard type.integerRange?.contains(number) != false else {
                throw ExpressionError(.evaluation, "the number does not fit")
            }
            return .integer(number)
        case (.integer(let number), .boolean): return .integer(number == 0 ? 0 : 1)
        case (.real(let number), .boolean): return .integer(number == 0 ? 0 : 1)
        case (.integer(let number), .double), (.integer(let number), .float):
            return .real(Double(number))
        case (.boolean(let flag), .double), (.boolean(let flag), .float):
            return .real(flag ? 1 : 0)
        default: return PlainValue(scalar)
        }
    }

    func value(
        forKey key: String, of object: PlainReference
    ) throws(ExpressionError) -> ExpressionValue<PlainReference> {
        if let attribute = store.model.attribute(key, of: object.entity)?.attribute {
            let value = store.object(object.key, of: object.entity).flatMap {
                store.value(key, of: $0)
            }
            return Self.scalar(value ?? .null, attribute.type)
        }
        guard let found = store.model.relationship(key, of: object.entity) else {
            throw ExpressionError(.evaluation, "no key \(key)")
        }
        let links = store.relations[PropertyKey(found.owner.name, key)] ?? [:]
        let isOrdered = found.relationship.isOrdered
        let own = links.filter { $0.key.owner == object.key }.sorted { one, other in
            let places = isOrdered ? (one.value.target ?? 0, other.value.target ?? 0) : (0, 0)
            return (places.0, one.key.target) < (places.1, other.key.target)
        }
        let targets = own.compactMap { link, _ in
            store.object(link.target, of: found.relationship.destination).map {
                PlainReference(entity: $0.entity, key: link.target)
            }
        }
        guard found.relationship.isToMany else { return targets.first.map { .object($0) } ?? .null }
        return .collection(targets.map { .object($0) }, isOrdered ? .orderedSet : .set)
    }

    private static func scalar(
        _ value: PlainValue, _ type: AttributeType
    ) -> ExpressionValue<PlainReference> {
        switch (value, type) {
        case (.null, _): .null
        case (.integer(let number), .boolean): .scalar(.boolean(number != 0))
        case (.integer(let number), .double), (.integer(let number), .float):
            .scalar(.real(Double(number)))
        case (.integer(let number), .date): .scalar(.date(Double(number)))
        case (.integer(let number), .decimal): .scalar(.decimal("\(number)"))
        case (.integer(let number), _): .scalar(.integer(number))
        case (.real(let number), .date): .scalar(.date(number))
        case (.real(let number), .decimal): .scalar(.decimal("\(number)"))
        case (.real(let number), _): .scalar(.real(number))
        case (.text(let bytes), .uri):
            .scalar(.uri(String(decoding: bytes, as: UTF8.self)))
        case (.text(let bytes), _): .scalar(.text(String(decoding: bytes, as: UTF8.self)))
        case (.blob(let bytes), .uuid): .scalar(.uuid(bytes))
        case (.blob(let bytes), _): .scalar(.data(bytes))
        }
    }
}
