/// A property by the names of its entity and its own.
package struct PropertyReference: Hashable, Sendable, Codable {
    package var entity: String
    /// Elements of a composite attribute are written `composite.element`.
    package var property: String

    package init(entity: String, property: String) {
        self.entity = entity
        self.property = property
    }
}

extension PropertyReference: CustomStringConvertible {
    package var description: String { "\(entity).\(property)" }
}
