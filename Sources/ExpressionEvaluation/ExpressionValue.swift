package import ManagedObjectModel
package import MappingExpressions

/// What an expression gives: nothing, a scalar, an object, or a collection of such values.
///
/// `==` compares the representation; `ExpressionEvaluator` compares as predicates do.
package indirect enum ExpressionValue<Object: Hashable & Sendable>: Hashable, Sendable {
    case null
    case scalar(DefaultValue)
    case object(Object)
    case collection([ExpressionValue], CollectionKind)

    /// The members of an array, such as a list in braces gives.
    package static func array(_ members: [ExpressionValue]) -> Self { .collection(members, .array) }

    /// The members of a set, such as a to-many relationship has.
    package static func set(_ members: [ExpressionValue]) -> Self { .collection(members, .set) }
}

/// The classes of collections.
package enum CollectionKind: Hashable, Sendable, CaseIterable {
    case array
    /// Without an order and without equal members.
    case set
    /// As of an ordered relationship: with an order, without equal members.
    case orderedSet
}

/// Where an evaluator gets the values of objects from.
package protocol ExpressionObjects {
    /// What stands for an object.
    associatedtype Object: Hashable & Sendable

    /// The value of an attribute or a relationship.
    ///
    /// - Parameters:
    ///   - key: one key, no collection operator and never `self`.
    ///   - object: has the key or not.
    /// - Returns: a to-many relationship as a collection, an absent value as `null`.
    /// - Throws: `ExpressionError` if the object has no such key or cannot be read.
    func value(
        forKey key: String, of object: Object
    ) throws(ExpressionError) -> ExpressionValue<Object>
}
