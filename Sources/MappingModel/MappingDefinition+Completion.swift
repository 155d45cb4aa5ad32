package import ManagedObjectModel
import MappingExpressions

extension MappingDefinition {
    /// The mapping with everything stated that follows from two models when Xcode compiles it.
    ///
    /// Rules: mapping-model page §1. Names that the models do not have stay as they are; the check
    /// of a mapping finds them. Entities that are not mentioned stay out.
    ///
    /// - Parameters:
    ///   - source: the model of the stores as they are.
    ///   - destination: the model that they are to have.
    /// - Returns: no automatic value is left in it, and every entity mapping has a name, a type
    ///   and the hashes of the models.
    /// - Complexity: O(property mappings).
    package func completed(from source: Model, to destination: Model) -> MappingDefinition {
        let hashes = (VersionHashes(source).entities, VersionHashes(destination).entities)
        var complete = self
        for place in complete.entityMappings.indices {
            var mapping = complete.entityMappings[place]
            mapping.name = mapping.effectiveName
            mapping.sourceHash = mapping.source.flatMap { hashes.0[$0] }
            mapping.destinationHash = mapping.destination.flatMap { hashes.1[$0] }
            mapping.type = mapping.effectiveType(from: source, to: destination)
            for property in mapping.attributes.indices
            where mapping.attributes[property].value == .automatic {
                let name = mapping.attributes[property].destination
                let isKnown = mapping.source.map { source.attribute(name, of: $0) != nil } ?? false
                mapping.attributes[property].value =
                    isKnown ? .expression(.source(name)) : .unset
            }
            for property in mapping.relationships.indices
            where mapping.relationships[property].value == .automatic {
                mapping.relationships[property].value = links(
                    of: mapping.relationships[property].destination, in: mapping, from: source)
            }
            complete.entityMappings[place] = mapping
        }
        return complete
    }
}

extension MappingDefinition {
    /// What Xcode compiles an automatic relationship to: the objects of the source relationship,
    /// by the one entity mapping that can make them, or by whichever did.
    private func links(
        of name: String, in mapping: EntityMappingDefinition, from source: Model
    ) -> PropertyMappingDefinition.Value {
        guard let entity = mapping.source,
            let target = source.relationship(name, of: entity)?.relationship.destination
        else { return .unset }
        let makers = entityMappings.filter { other in
            other.destination != nil
                && other.source.map { source.isKind($0, of: target) } ?? false
        }
        guard makers.count == 1 else {
            return .expression(ManagerCall.relationship(name, .source(name)).expression)
        }
        return .expression(
            ManagerCall.entityMapping(makers[0].effectiveName, .source(name)).expression)
    }
}

extension EntityMappingDefinition {
    /// The type that Xcode compiles the mapping to.
    ///
    /// It never stores one. A mapping between entities of one name is a copy, whether their
    /// versions are equal or not: the one compiled mapping model that is known says so.
    func effectiveType(from source: Model, to destination: Model) -> EntityMappingType {
        if let type { return type }
        if policy != nil { return .custom }
        guard let from = self.source else { return .add }
        guard let to = self.destination else { return .remove }
        return from == to ? .copy : .transform
    }
}
