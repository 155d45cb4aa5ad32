package import ManagedObjectModel

/// What becomes of every entity of a source model in a destination model.
///
/// Inference makes such values; mapping models from files can make the same ones. The engine
/// plans, copies and links by them and by nothing else.
package struct Mapping: Hashable, Sendable, Codable {
    /// In the order of execution; no two have one name.
    ///
    /// Inference puts destination entities by their number first, then removals by the number
    /// of the source entity.
    package var entityMappings: [EntityMapping]

    package init(entityMappings: [EntityMapping]) { self.entityMappings = entityMappings }
}

/// What an entity mapping does, as `NSEntityMappingType` names it.
package enum EntityMappingKind: Hashable, Sendable, Codable {
    /// The destination entity is new: no object comes from it.
    case add
    /// The source entity has no destination: its objects are dropped.
    case remove
    /// Both entities are the same version, and every property keeps its value.
    case copy
    /// Every object is carried over property by property.
    case transform
    /// A migration policy of this class does the work.
    case custom(policyClassName: String)
}

/// What becomes of the objects of exactly one source entity, its sub-entities not included.
package struct EntityMapping: Hashable, Sendable, Codable {
    /// `<Source>To<Destination>`; the entity's name where one of the two is missing.
    package var name: String
    package var kind: EntityMappingKind
    /// Name of the source entity; nil for `add`.
    package var source: String?
    /// Name of the destination entity; nil for `remove`.
    package var destination: String?
    /// One for every stored attribute of the destination entity, inherited ones included.
    package var attributes: [AttributeMapping]
    /// One for every stored relationship of the destination entity, inherited ones included.
    package var relationships: [RelationshipMapping]

    package init(
        name: String, kind: EntityMappingKind, source: String?, destination: String?,
        attributes: [AttributeMapping] = [], relationships: [RelationshipMapping] = []
    ) {
        self.name = name
        self.kind = kind
        self.source = source
        self.destination = destination
        self.attributes = attributes
        self.relationships = relationships
    }
}

/// Where one attribute of a destination object gets its value.
package struct AttributeMapping: Hashable, Sendable, Codable {
    /// Name of a declared or inherited attribute; an element of a composite attribute is
    /// written `composite.element`.
    package var destination: String
    package var value: ValueExpression

    package init(destination: String, value: ValueExpression) {
        self.destination = destination
        self.value = value
    }
}

/// A value in terms of one source object.
package enum ValueExpression: Hashable, Sendable, Codable {
    /// The value of the source attribute of this name (elements as `composite.element`).
    case source(String)
    /// The value of the source attribute, or the default where it has none.
    case sourceOrDefault(String, DefaultValue)
    case constant(DefaultValue)
    /// No value.
    case null

    /// The source attribute that the value comes from; nil where it comes from none.
    package var sourceName: String? {
        switch self {
        case .source(let name), .sourceOrDefault(let name, _): name
        case .constant, .null: nil
        }
    }
}

/// Where one relationship of a destination object gets its links.
package struct RelationshipMapping: Hashable, Sendable, Codable {
    /// Name of a declared or inherited relationship of the destination entity.
    package var destination: String
    /// Name of the source relationship whose links are carried.
    ///
    /// Nil means no links of its own: it stays empty, unless the inverse in the destination
    /// model has a source, in which case its links are those of the inverse.
    package var source: String?

    package init(destination: String, source: String?) {
        self.destination = destination
        self.source = source
    }
}
