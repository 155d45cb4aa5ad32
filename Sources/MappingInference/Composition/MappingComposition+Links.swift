import ManagedObjectModel
import MappingModel

/// Links of a later mapping in terms of what an earlier one reads.
extension MappingComposition {
    /// One relationship of the composed mapping.
    mutating func links(
        _ link: RelationshipMapping, of later: EntityMapping, through earlier: EntityMapping
    ) -> RelationshipMapping {
        var result = RelationshipMapping(destination: link.destination, source: nil)
        let name = "\(later.name).\(link.destination)"
        if let path = link.path {
            if path.isEmpty, let maker = link.mapping {
                result.path = []
                result.mapping = composed(from: earlier, by: maker, for: name)
            } else {
                add(obstacle: "\(name): its path leads through the version in between")
            }
            return result
        }
        guard let key = link.source,
            let before = earlier.relationships.first(where: { $0.destination == key })
        else { return result }
        result.source = before.source
        result.path = before.path
        if before.source == nil, before.path == nil {
            checkInverse(key, of: earlier, keptBy: link, later, name)
            return result
        }
        checkDropped(before, earlier, key, link, later, name)
        result.mapping = maker(before.mapping, link.mapping, for: name)
        return result
    }

    /// The composed mapping that makes the targets, where one must be named.
    private mutating func maker(
        _ earlier: String?, _ later: String?, for name: String
    ) -> String? {
        guard earlier != nil || later != nil else { return nil }
        let names = first.entityMappings.flatMap { one in
            second.entityMappings.filter { other in
                one.source != nil && one.destination != nil && other.source == one.destination
                    && (earlier == nil || one.name == earlier)
                    && (later == nil || other.name == later)
            }.map { self.name(one, $0) }
        }
        if names.count == 1 { return names[0] }
        add(obstacle: "\(name): several mappings together make the objects that it leads to")
        return nil
    }

    /// The composed mapping of the same source object whose later part has a name.
    private mutating func composed(
        from earlier: EntityMapping, by maker: String, for name: String
    ) -> String? {
        guard
            let other = second.entityMappings.first(where: {
                $0.name == maker && $0.source == earlier.destination
            })
        else {
            add(obstacle: "\(name): no mapping makes the objects that it leads to")
            return nil
        }
        return self.name(earlier, other)
    }

    /// Links that only the inverse gives in between must come from the inverse afterwards, too.
    private mutating func checkInverse(
        _ key: String, of earlier: EntityMapping, keptBy link: RelationshipMapping,
        _ later: EntityMapping, _ name: String
    ) {
        guard let between = earlier.destination, let to = later.destination,
            let owned = middle.relationship(key, of: between)?.relationship,
            let inverse = middle.inverse(of: owned)
        else { return }
        let givers = first.entityMappings.filter { mapped in
            mapped.destination.map { middle.isKind($0, of: inverse.owner.name) } == true
                && mapped.relationships.contains {
                    $0.destination == inverse.relationship.name
                        && ($0.source != nil || $0.path != nil)
                }
        }
        guard !givers.isEmpty else { return }
        let after = destination.relationship(link.destination, of: to)
            .flatMap { destination.inverse(of: $0.relationship) }
        let isKept = after.map { after in
            second.entityMappings.filter { mapped in
                mapped.source != nil
                    && mapped.destination.map { destination.isKind($0, of: after.owner.name) }
                        == true
            }.allSatisfy { mapped in
                mapped.relationships.contains {
                    $0.destination == after.relationship.name
                        && $0.source == inverse.relationship.name
                }
            }
        }
        if isKept != true {
            add(obstacle: "\(name): only the inverse in between has its links")
        }
    }

    /// What the version in between drops, links or their order, must not come back.
    private mutating func checkDropped(
        _ before: RelationshipMapping, _ earlier: EntityMapping, _ key: String,
        _ link: RelationshipMapping, _ later: EntityMapping, _ name: String
    ) {
        guard let from = earlier.source, let between = earlier.destination,
            let to = later.destination, let old = before.source,
            let one = source.relationship(old, of: from)?.relationship,
            let two = middle.relationship(key, of: between)?.relationship,
            let three = destination.relationship(link.destination, of: to)?.relationship
        else { return }
        if one.isToMany, one.isOrdered, !(two.isToMany && two.isOrdered), three.isOrdered {
            add(obstacle: "\(name): the version in between drops its order")
        }
        if targetsReturn(of: one, through: two, to: three) {
            add(obstacle: "\(name): the version in between drops links that could come back")
        }
    }

    /// Whether objects to which a relationship leads before and after cannot be its targets in
    /// between.
    private func targetsReturn(
        of one: Relationship, through two: Relationship, to three: Relationship
    ) -> Bool {
        first.entityMappings.contains { maker in
            guard let made = maker.destination,
                maker.source.map({ source.isKind($0, of: one.destination) }) == true,
                !middle.isKind(made, of: two.destination)
            else { return false }
            return second.entityMappings.contains { other in
                other.source == made
                    && other.destination.map { destination.isKind($0, of: three.destination) }
                        == true
            }
        }
    }
}
