import ManagedObjectModel
import MappingModel

/// What a later step asks of the data, in terms of the source of an earlier one.
extension MappingComposition {
    /// The requirements of the second mapping, asked of the source.
    mutating func requirements(_ later: [DataRequirement]) -> [DataRequirement] {
        var found = DistinctList<DataRequirement>()
        for requirement in later {
            for translated in translated(requirement) { found.append(translated) }
        }
        return found.elements
    }

    private mutating func translated(_ requirement: DataRequirement) -> [DataRequirement] {
        switch requirement {
        case .unique: return [requirement]
        case .pathLeads(let entity, let path, let to, _):
            // A longer path leads through the version in between, which is then written.
            guard path.isEmpty else { return [] }
            return makers(of: entity).compactMap(\.source).map {
                .pathLeads(entity: $0, path: [], destination: to, maker: nil)
            }
        case .noObjects(let entity, let reason):
            return makers(of: entity).compactMap(\.source).map {
                .noObjects(entity: $0, reason: reason)
            }
        case .noMissingValue(let between, let to):
            return makers(of: between.entity).compactMap { maker in
                switch maker.attributes.first(where: { $0.destination == between.property })?.value
                {
                case .source(let name):
                    .noMissingValue(
                        source: PropertyReference(entity: maker.source ?? "", property: name),
                        destination: to)
                case .null, nil:
                    .noObjects(entity: maker.source ?? "", reason: .requiredAttribute(to))
                // What is computed is checked as it is written.
                case .sourceOrDefault, .constant, .expression, .policy: nil
                }
            }
        case .atMostOne(let between, let to):
            let found = links(between, to).filter { isToMany($0) }
            if found.contains(where: { dropsTargets($0, between) }) {
                add(obstacle: "\(to): its links are counted in the version in between")
            }
            return found.map { .atMostOne(source: $0, destination: to) }
        case .linkCount(let between, let to, let bounds):
            return links(between, to, needed: !bounds.allowsNone).map {
                .linkCount(source: $0, destination: to, bounds: bounds)
            } + unlinked(between, to, isNeeded: !bounds.allowsNone)
        case .distinctTargets(let between, let to):
            return links(between, to).map { .distinctTargets(source: $0, destination: to) }
        case .noTargets(let between, let to, let entities):
            let made = entities.flatMap { makers(of: $0) }
            if made.contains(where: { $0.filter != nil }) {
                add(obstacle: "\(to): filters of the step before decide which links go")
            }
            let before = made.compactMap(\.source)
            guard !before.isEmpty else { return [] }
            return links(between, to).map {
                .noTargets(
                    source: $0, destination: to,
                    ofEntities: Array(Set(before)).sorted(by: Model.precedes))
            }
        case .noFilteredTargets(let between, let to):
            return links(between, to).map { .noFilteredTargets(source: $0, destination: to) }
        }
    }

    /// The source relationships that give the links of one in between.
    private mutating func links(
        _ between: PropertyReference, _ to: PropertyReference, needed: Bool = false
    ) -> [PropertyReference] {
        var found: [PropertyReference] = []
        for maker in makers(of: between.entity) {
            guard
                let link = maker.relationships.first(where: {
                    $0.destination == between.property
                })
            else { continue }
            if let name = link.source {
                found.append(PropertyReference(entity: maker.source ?? "", property: name))
            } else if link.path != nil || isGivenByInverse(between) {
                add(
                    obstacle: "\(to): it asks something of links that only the version in "
                        + "between has")
            }
        }
        return found
    }

    /// Objects without any link, where one is needed.
    private func unlinked(
        _ between: PropertyReference, _ to: PropertyReference, isNeeded: Bool
    ) -> [DataRequirement] {
        guard isNeeded, !isGivenByInverse(between) else { return [] }
        return makers(of: between.entity).filter { maker in
            maker.relationships.contains {
                $0.destination == between.property && $0.source == nil && $0.path == nil
            }
        }.map { .noObjects(entity: $0.source ?? "", reason: .requiredRelationship(to)) }
    }

    /// Whether some links of a source relationship do not arrive in between.
    private func dropsTargets(_ found: PropertyReference, _ between: PropertyReference) -> Bool {
        guard
            let target = source.relationship(found.property, of: found.entity)?.relationship
                .destination,
            let wanted = middle.relationship(between.property, of: between.entity)?.relationship
                .destination
        else { return false }
        return !source.family(of: target).filter { !$0.isAbstract }.allSatisfy { member in
            first.entityMappings.contains {
                $0.source == member.name && $0.filter == nil
                    && $0.destination.map { middle.isKind($0, of: wanted) } == true
            }
        }
    }

    private func isToMany(_ reference: PropertyReference) -> Bool {
        source.relationship(reference.property, of: reference.entity)?.relationship.isToMany
            ?? false
    }

    private func isGivenByInverse(_ between: PropertyReference) -> Bool {
        guard
            let owned = middle.relationship(between.property, of: between.entity)?.relationship,
            let inverse = middle.inverse(of: owned)
        else { return false }
        return first.entityMappings.contains { mapped in
            mapped.destination.map { middle.isKind($0, of: inverse.owner.name) } == true
                && mapped.relationships.contains {
                    $0.destination == inverse.relationship.name
                        && ($0.source != nil || $0.path != nil)
                }
        }
    }
}
