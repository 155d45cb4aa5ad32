import ManagedObjectModel
import MappingExpressions
import MappingModel

/// Entity mappings out of the pairs.
extension InferenceDraft {
    /// Makes the mapping of every destination entity, by number.
    mutating func mapDestinationEntities() {
        for entity in destination.model.numberedEntities
        where mappedEntities?.contains(entity.name) != false {
            if let from = sourceEntity[entity.name] {
                mapPaired(entity, from)
            } else {
                mapAdded(entity)
            }
        }
    }

    /// Makes the mapping of every source entity without a destination, by number.
    mutating func mapRemovedEntities() {
        for entity in source.model.numberedEntities where destinationEntity[entity.name] == nil {
            mappings.append(
                EntityMapping(
                    name: unused(entity.name), kind: .remove, source: entity.name,
                    destination: nil))
        }
    }

    private mutating func mapAdded(_ entity: Entity) {
        let leaves = destination.attributes(of: entity.name)
            .flatMap { StoredLeaf.leaves(of: $0.attribute) }
        mappings.append(
            EntityMapping(
                name: unused(entity.name), kind: .add, source: nil, destination: entity.name,
                attributes: leaves.map {
                    AttributeMapping(
                        destination: $0.path,
                        value: $0.attribute.defaultValue.map { .constant($0) } ?? .null)
                },
                relationships: destination.relationships(of: entity.name).map {
                    RelationshipMapping(destination: $0.relationship.name, source: nil)
                }))
    }

    private mutating func mapPaired(_ entity: Entity, _ from: String) {
        let wasAbstract = source.model.entities[from]?.isAbstract ?? false
        if entity.isAbstract, !wasAbstract {
            requirements.append(.noObjects(entity: from, reason: .abstractEntity(entity.name)))
        }
        var mapping = EntityMapping(
            name: unused(directed[entity.name]?.effectiveName ?? "\(from)To\(entity.name)"),
            kind: .transform, source: from,
            destination: entity.name, filter: filter(of: entity.name))
        mapping.attributes = mapAttributes(of: entity.name, from: from)
        mapping.relationships = mapRelationships(of: entity.name, from: from)
        if mapping.filter == nil, mapping.keepsEveryProperty, isSameVersion(entity.name, from) {
            mapping.kind = .copy
        }
        if let policy = policy(of: entity.name) { mapping.kind = .custom(policy) }
        mappings.append(mapping)
    }

    /// Which source objects become objects of a destination entity; nil for all.
    private func filter(of entity: String) -> MappingPredicate? {
        let filter = directed[entity]?.filter
        return filter == .constant(true) ? nil : filter
    }

    /// A name that no mapping has: mapping names identify.
    private mutating func unused(_ name: String) -> String {
        var candidate = name
        var number = 2
        while !usedNames.insert(candidate).inserted {
            candidate = "\(name)_\(number)"
            number += 1
        }
        return candidate
    }

    /// Whether everything that shapes rows or hashes is declared alike, up to the roots.
    private func isSameVersion(_ entity: String, _ from: String) -> Bool {
        let now = destination.model.ancestry(of: entity).map(\.storedForm)
        return now == source.model.ancestry(of: from).map(\.storedForm)
    }

    /// Notes destination tables that take in objects of several source tables.
    mutating func noteJoinedTables() {
        for root in destination.model.roots {
            var sourceRoots: [String] = []
            for member in destination.model.family(of: root.name) {
                guard let from = sourceEntity[member.name],
                    let name = source.model.root(of: from)?.name, !sourceRoots.contains(name)
                else { continue }
                sourceRoots.append(name)
            }
            if sourceRoots.count > 1 {
                notes.append(
                    .tablesJoined(
                        root: root.name, sourceRoots: sourceRoots.sorted(by: Model.precedes)))
            }
        }
    }
}

extension InferenceDraft {
    /// Makes the mapping out of the pairs.
    ///
    /// - Returns: every reason why there is none.
    mutating func finish() -> [Refusal] {
        let uniqueness = UniquenessCheck(
            source: source, destination: destination, mappings: mappings)
        for requirement in uniqueness.requirements() { requirements.append(requirement) }
        return refusals.elements
    }

    /// Makes the entity mappings out of the pairs.
    mutating func mapEntities() {
        completeInverses()
        mapDestinationEntities()
        if mappedEntities == nil { mapRemovedEntities() }
        noteJoinedTables()
    }

    /// Goes on after the mappings of another draft, with further ones to some entities.
    ///
    /// - Parameters:
    ///   - draft: that has mapped every entity once.
    ///   - layer: the further entity mappings.
    mutating func continueMappings(of draft: InferenceDraft, with layer: [EntityMappingDefinition])
    {
        mappings = draft.mappings
        usedNames = draft.usedNames
        refusals = draft.refusals
        requirements = draft.requirements
        notes = draft.notes
        mappedEntities = Set(layer.compactMap(\.destination))
    }
}

extension Entity {
    /// The declaration reduced to what shapes rows or goes into the version hash.
    fileprivate var storedForm: Entity {
        Entity(
            name: name, parent: parent, isAbstract: isAbstract,
            attributes: attributes.filter(\.isStored).map { Self.storedForm(of: $0, depth: 0) },
            relationships: relationships.filter { !$0.isTransient }.map(\.storedForm),
            uniquenessConstraints: uniquenessConstraints, versionHashModifier: versionHashModifier)
    }

    private static func storedForm(of attribute: Attribute, depth: Int) -> Attribute {
        let elements = depth < StoredLeaf.depthLimit ? attribute.elements : []
        return Attribute(
            name: attribute.name, type: attribute.type, isOptional: attribute.isOptional,
            isReadOnly: attribute.isReadOnly,
            allowsExternalBinaryDataStorage: attribute.allowsExternalBinaryDataStorage,
            preservesValueInHistoryOnDeletion: attribute.preservesValueInHistoryOnDeletion,
            derivation: attribute.derivation,
            elements: elements.filter(\.isStored).map { storedForm(of: $0, depth: depth + 1) },
            versionHashModifier: attribute.versionHashModifier)
    }
}

extension Relationship {
    fileprivate var storedForm: Relationship {
        Relationship(
            name: name, destination: destination, inverse: inverse, isOptional: isOptional,
            isReadOnly: isReadOnly, minimumCount: minimumCount, maximumCount: maximumCount,
            isOrdered: isOrdered, versionHashModifier: versionHashModifier)
    }
}
