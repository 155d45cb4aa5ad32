import ManagedObjectModel
import MappingModel

/// The stored properties of every entity of a model, inherited ones included.
///
/// Transient properties and attributes of undefined type have no column and are left out.
struct StoredProperties {
    struct OwnedAttribute {
        /// Name of the entity that declares it.
        let owner: String
        let attribute: Attribute
    }

    struct OwnedRelationship {
        /// Name of the entity that declares it.
        let owner: String
        let relationship: Relationship

        /// What tells it from every other relationship of its model.
        var reference: PropertyReference {
            PropertyReference(entity: owner, property: relationship.name)
        }
    }

    let model: Model
    private var attributesByEntity: [String: [OwnedAttribute]] = [:]
    private var relationshipsByEntity: [String: [OwnedRelationship]] = [:]
    private var attributeByName: [String: [String: OwnedAttribute]] = [:]
    private var relationshipByName: [String: [String: OwnedRelationship]] = [:]

    init(_ model: Model) {
        self.model = model
        for name in model.entities.keys {
            let attributes = model.allAttributes(of: name)
                .filter { $0.attribute.isStored }
                .map { OwnedAttribute(owner: $0.owner.name, attribute: $0.attribute) }
            let relationships = model.allRelationships(of: name)
                .filter { !$0.relationship.isTransient }
                .map { OwnedRelationship(owner: $0.owner.name, relationship: $0.relationship) }
            attributesByEntity[name] = attributes
            relationshipsByEntity[name] = relationships
            attributeByName[name] = Dictionary(
                attributes.map { ($0.attribute.name, $0) }, uniquingKeysWith: { _, last in last })
            relationshipByName[name] = Dictionary(
                relationships.map { ($0.relationship.name, $0) },
                uniquingKeysWith: { _, last in last })
        }
    }

    /// Attributes of an entity, those of its root first; empty for an unknown name.
    func attributes(of entity: String) -> [OwnedAttribute] { attributesByEntity[entity] ?? [] }

    /// Relationships of an entity, those of its root first; empty for an unknown name.
    func relationships(of entity: String) -> [OwnedRelationship] {
        relationshipsByEntity[entity] ?? []
    }

    func attribute(_ name: String, of entity: String) -> OwnedAttribute? {
        attributeByName[entity]?[name]
    }

    func relationship(_ name: String, of entity: String) -> OwnedRelationship? {
        relationshipByName[entity]?[name]
    }

    /// The stored inverse of a relationship; nil where it has none.
    func inverse(of owned: OwnedRelationship) -> OwnedRelationship? {
        owned.relationship.inverse.flatMap {
            relationship($0, of: owned.relationship.destination)
        }
    }

    /// Whether some object can be of both kinds: one entity is the other or inherits from it.
    func overlap(_ left: String, _ right: String) -> Bool {
        model.isKind(left, of: right) || model.isKind(right, of: left)
    }
}

/// An attribute that has a column of its own: an ordinary one or an innermost element of a
/// composite attribute.
struct StoredLeaf {
    /// The name, with those of the composite attributes around it before it: `composite.element`.
    let path: String
    let attribute: Attribute
    /// Whether it or a composite attribute around it may be without a value.
    let isOptional: Bool

    /// How deep composite attributes may lie in each other.
    static let depthLimit = 16

    /// The leaves of an attribute in listed order.
    ///
    /// Elements deeper than `depthLimit` are left out; inference refuses such a model.
    static func leaves(of attribute: Attribute) -> [StoredLeaf] {
        leaves(of: attribute, prefix: "", isOptional: false, depth: 0)
    }

    /// The leaves of an attribute that lies in composite attributes with the given path.
    static func leaves(
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
