package import ManagedObjectModel

extension Mapping {
    /// The mapping that carries every object of a model over as it is.
    ///
    /// - Complexity: O(entities × properties).
    package static func identity(_ model: Model) -> Mapping {
        let properties = StoredProperties(model)
        return Mapping(
            entityMappings: model.numberedEntities.map { entity in
                EntityMapping(
                    name: "\(entity.name)To\(entity.name)", kind: .copy, source: entity.name,
                    destination: entity.name,
                    attributes: properties.attributes(of: entity.name)
                        .flatMap { StoredLeaf.leaves(of: $0.attribute) }
                        .map { AttributeMapping(destination: $0.path, value: .source($0.path)) },
                    relationships: properties.relationships(of: entity.name)
                        .map(\.relationship.name)
                        .map { RelationshipMapping(destination: $0, source: $0) })
            })
    }
}

extension EntityMapping {
    /// Whether every property takes the value or links of the source property of its name.
    package var keepsEveryProperty: Bool {
        attributes.allSatisfy { $0.value == .source($0.destination) }
            && relationships.allSatisfy { $0.source == $0.destination }
    }
}
