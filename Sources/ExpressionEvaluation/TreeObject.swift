package import MappingExpressions

/// An object of a source, with all that an expression asks of it and of the objects around it.
///
/// Two are equal that are the same object, whatever was read of them.
package struct TreeObject: Hashable, Sendable {
    /// The entity above all that its entity inherits from: keys are unique below it.
    let root: String
    package let key: Int64
    /// By the names of attributes and relationships.
    let values: [String: ExpressionValue<TreeObject>]

    package static func == (left: TreeObject, right: TreeObject) -> Bool {
        left.key == right.key && left.root == right.root
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

/// Objects that were read before an expression is evaluated.
package struct TreeObjects: ExpressionObjects, Sendable {
    package init() {}

    /// The value that was read.
    ///
    /// - Throws: `ExpressionError` for a key that the expression's tree does not have.
    package func value(
        forKey key: String, of object: TreeObject
    ) throws(ExpressionError) -> ExpressionValue<TreeObject> {
        guard let value = object.values[key] else {
            throw ExpressionError(.unknownName, "an object of \(object.root) has no key \(key)")
        }
        return value
    }
}
