/// An attribute that has a column of its own: an ordinary one or an innermost element of a
/// composite attribute.
package struct StoredLeaf {
    /// The name, with those of the composite attributes around it before it: `composite.element`.
    package let path: String
    package let attribute: Attribute
    /// Whether it or a composite attribute around it may be without a value.
    package let isOptional: Bool

    /// How deep composite attributes may lie in each other.
    package static let depthLimit = 16

    /// The leaves of an attribute in listed order.
    ///
    /// Elements deeper than `depthLimit` are left out; inference refuses such a model.
    package static func leaves(of attribute: Attribute) -> [StoredLeaf] {
        leaves(of: attribute, prefix: "", isOptional: false, depth: 0)
    }

    /// The leaves of an attribute that lies in composite attributes with the given path.
    package static func leaves(
        of attribute: Attribute, prefix: String, isOptional: Bool, depth: Int
    ) -> [StoredLeaf] {
        let path = prefix + attribute.name
        let mayMiss = isOptional || attribute.isOptional
        guard attribute.type == .composite else {
            return [StoredLeaf(path: path, attribute: attribute, isOptional: mayMiss)]
        }
        guard depth < depthLimit else { return [] }
        return attribute.elements.filter(\.isStored).flatMap {
            leaves(of: $0, prefix: path + ".", isOptional: mayMiss, depth: depth + 1)
        }
    }
}
