package import ManagedObjectModel

/// The stored properties of every entity of a model, inherited ones included.
///
/// Transient properties and attributes of undefined type have no column and are left out.
package struct StoredProperties {
    /// An attribute with the entity that declares it.
    package struct OwnedAttribute {
        /// Name of the entity that declares it.
        package let owner: String
        package let attribute: Attribute
    }

    /// A relationship with the entity that declares it.
    package struct OwnedRelationship {
        /// Name of the entity that declares it.
        package let owner: String
        package let relationship: Relationship

        package init(owner: String, relationship: Relationship) {
            self.owner = owner
            self.relationship = relationship
        }

        /// What tells it from every other relationship of its model.
        package var reference: PropertyReference {
            PropertyReference(entity: owner, property: relationship.name)
        }
    }

    /// The model that they are of.
    package let model: Model
    private var attributesByEntity: [String: [OwnedAttribute]] = [:]
    private var relationshipsByEntity: [String: [OwnedRelationship]] = [:]
    private var attributeByName: [String: [String: OwnedAttribute]] = [:]
    private var relationshipByName: [String: [String: OwnedRelationship]] = [:]

    /// Finds them.
    package init(_ model: Model) {
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
    package func attributes(of entity: String) -> [OwnedAttribute] {
        attributesByEntity[entity] ?? []
    }

    /// Relationships of an entity, those of its root first; empty for an unknown name.
    package func relationships(of entity: String) -> [OwnedRelationship] {
        relationshipsByEntity[entity] ?? []
    }

    /// An attribute by its name; nil for an unknown one.
    package func attribute(_ name: String, of entity: String) -> OwnedAttribute? {
        attributeByName[entity]?[name]
    }

    /// A relationship by its name; nil for an unknown one.
    package func relationship(_ name: String, of entity: String) -> OwnedRelationship? {
        relationshipByName[entity]?[name]
    }

    /// The stored inverse of a relationship; nil where it has none.
    package func inverse(of owned: OwnedRelationship) -> OwnedRelationship? {
        owned.relationship.inverse.flatMap {
            relationship($0, of: owned.relationship.destination)
        }
    }

    /// Whether some object can be of both kinds: one entity is the other or inherits from it.
    package func overlap(_ left: String, _ right: String) -> Bool {
        model.isKind(left, of: right) || model.isKind(right, of: left)
    }
}
