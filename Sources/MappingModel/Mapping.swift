package import ManagedObjectModel
package import MappingExpressions

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

    /// The different filters of the mappings from one source entity, in their order.
    ///
    /// Which of them hold for an object decides what becomes of it: bit n of its filter mask is set
    /// where filter n holds.
    package func filters(ofSource entity: String) -> [MappingPredicate] {
        var filters: [MappingPredicate] = []
        for mapping in entityMappings where mapping.source == entity {
            if let filter = mapping.filter, !filters.contains(filter) { filters.append(filter) }
        }
        return filters
    }

    /// Whether an entity mapping takes an object of its source entity.
    ///
    /// - Parameters:
    ///   - mapping: one of this mapping.
    ///   - mask: the object's filter mask.
    /// - Returns: true for every mapping without a filter.
    package func takes(_ mapping: EntityMapping, mask: Int64) -> Bool {
        guard let filter = mapping.filter, let source = mapping.source,
            let bit = filters(ofSource: source).firstIndex(of: filter)
        else { return true }
        return mask >> Int64(bit) & 1 == 1
    }

    /// The most filters of one source entity: their mask is a positive 64-bit integer.
    package static let filterLimit = 62
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
    /// A migration policy takes part.
    case custom(PolicyDeclaration)
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
    /// Which objects of the source entity are meant; nil for all of them.
    package var filter: MappingPredicate?
    /// One for every stored attribute of the destination entity, inherited ones included.
    package var attributes: [AttributeMapping]
    /// One for every stored relationship of the destination entity, inherited ones included.
    package var relationships: [RelationshipMapping]

    /// The policy that takes part; nil where none does.
    package var policy: PolicyDeclaration? {
        if case .custom(let policy) = kind { policy } else { nil }
    }

    package init(
        name: String, kind: EntityMappingKind, source: String?, destination: String?,
        filter: MappingPredicate? = nil, attributes: [AttributeMapping] = [],
        relationships: [RelationshipMapping] = []
    ) {
        self.name = name
        self.kind = kind
        self.source = source
        self.destination = destination
        self.filter = filter
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
    /// What an expression of a mapping file gives.
    case expression(MappingExpression)
    /// What the migration policy gives: by the methods that an expression calls, or by its hooks.
    case policy(MappingExpression?)
    /// No value.
    case null

    /// The source attribute whose values are carried as they are; nil where it is none.
    package var sourceName: String? {
        switch self {
        case .source(let name), .sourceOrDefault(let name, _): name
        case .constant, .expression, .policy, .null: nil
        }
    }

    /// The first property of the source that the value is, or is computed from; nil for none.
    package var firstSourceKey: String? {
        guard case .expression(let expression) = self else { return sourceName }
        return ExpressionInspection(expression).sourceKeyPaths.first?.first
    }

    /// Whether the values of a source attribute go into this one, as they are or changed.
    package func reads(_ attribute: String) -> Bool {
        let paths: Set<[String]>? =
            switch self {
            case .expression(let expression): CarriedKeyPaths(expression).paths
            case .policy(let expression):
                expression.map { ExpressionInspection($0).sourceKeyPaths }
            case .source, .sourceOrDefault, .constant, .null: nil
            }
        guard let paths else { return sourceName == attribute }
        return paths.contains { keys in
            (1...max(1, keys.count)).contains {
                keys.prefix($0).joined(separator: ".") == attribute
            }
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
    /// Keys of to-one relationships of the source behind which the target is whose object is
    /// linked, none for the source object itself; nil for every other relationship, and then alone
    /// `source` counts.
    package var path: [String]?
    /// The entity mapping that makes the targets, where several ones could; nil where one alone
    /// can.
    package var mapping: String?

    package init(
        destination: String, source: String?, path: [String]? = nil, mapping: String? = nil
    ) {
        self.destination = destination
        self.source = source
        self.path = path
        self.mapping = mapping
    }
}

extension EntityMapping {
    /// The expression that gives an attribute of the destination; nil for any other value.
    package func expression(of name: String) -> MappingExpression? {
        guard let found = attributes.first(where: { $0.destination == name }),
            case .expression(let expression) = found.value
        else { return nil }
        return expression
    }

    /// The source attributes whose values an attribute of the destination gets.
    package func attributeSources(of name: String) -> [String] {
        attributes.filter { $0.destination == name }.compactMap(\.value.sourceName)
    }

    /// The path that gives a relationship of the destination; nil where none is stated.
    package func path(of name: String) -> [String]? {
        relationships.first { $0.destination == name }?.path
    }

    /// The source relationship whose links a relationship of the destination gets.
    package func relationshipSource(of name: String) -> String? {
        relationships.first { $0.destination == name }?.source
    }

    /// Whether values of a source attribute go somewhere.
    package func readsAttribute(_ name: String) -> Bool {
        attributes.contains { $0.value.reads(name) } || policy?.carries.contains(name) == true
    }

    /// Whether links of a source relationship go somewhere, a policy's included.
    package func readsRelationship(_ name: String) -> Bool {
        relationships.contains { $0.source == name } || policy?.carries.contains(name) == true
    }

    /// Names of the attributes that a policy gives their values.
    package var attributesOfPolicy: Set<String> {
        Set(
            attributes.filter { attribute in
                if case .policy = attribute.value { true } else { false }
            }.map(\.destination))
    }

    /// Whether a relationship of the destination gets the links of a source relationship.
    package func readsLinks(of relationship: PropertyReference) -> Bool {
        relationships.contains { $0.source == relationship.property }
    }
}
