import CoreDataStore
import ManagedObjectModel
import MappingModel
import MigrationPlans

/// Finds the source relation behind each relationship of the destination, and where its links
/// lie in the source's file.
struct RelationPlanner {
    let context: PlanContext

    /// The source relations that feed a destination relationship, seen from its own side; more
    /// than one where entities that come together had relationships of their own, and where some
    /// of them had one side of the pair alone.
    ///
    /// - Parameter key: the destination relationship by the entity that declares it.
    /// - Returns: none where neither it nor its inverse has a source.
    func relations(feeding key: PropertyKey) -> [PlannedRelation] {
        let own = sources(of: key)
        let relations =
            own.map { relation($0, destination: key) } + pathRelations(feeding: key)
        guard let inverse = inverseKey(of: key) else { return relations }
        var others: [PlannedRelation] = []
        var rests: [PlannedRelation] = []
        for other in sources(of: inverse) {
            if let turned = inverseKey(of: other.key, in: context.source.model),
                own.contains(where: { $0.key == turned })
            {
                var rest = rest(of: turned, destination: key, inverse: inverse, statedBy: other)
                rest.sharing = sharing(rest, relations)
                if !rest.owner.passes.isEmpty { rests.append(rest) }
            } else {
                others.append(relation(other, destination: inverse))
            }
        }
        return relations + rests + (others + pathRelations(feeding: inverse)).map(\.flipped)
    }

    /// Links of objects whose own mapping leaves a relationship out, and whose other ends state it:
    /// what one side says links both.
    ///
    /// - Parameters:
    ///   - source: the source relationship.
    ///   - key: the relationship of the destination.
    ///   - inverse: its inverse.
    ///   - other: what entity mappings name for the inverse.
    /// - Returns: the relation without the links that the objects' own mappings tell.
    private func rest(
        of source: PropertyKey, destination key: PropertyKey, inverse: PropertyKey,
        statedBy other: Named
    ) -> PlannedRelation {
        let model = context.destination.model
        let owners = context.end(ofSource: source.entity) { mapping in
            guard let made = mapping.destination, other.maker.map({ $0 == mapping.name }) ?? true
            else { return false }
            return model.isKind(made, of: key.entity)
                && !mapping.relationships.contains {
                    $0.destination == key.property && $0.source == source.property
                }
        }
        return PlannedRelation(
            name: source.description, destination: inverse,
            storage: context.source.storage(of: source), owner: owners,
            target: context.end(ofSource: other.key.entity) { states(other, inverse, $0) },
            isRest: true)
    }

    /// Two entity mappings that make objects of one source object, one of them at least of a rest;
    /// nil where there are none.
    private func sharing(_ rest: PlannedRelation, _ others: [PlannedRelation]) -> [String]? {
        if let doubled = rest.owner.doubled { return doubled }
        let passes = context.allPasses
        func taking(_ relation: PlannedRelation) -> [PlanContext.Pass] {
            passes.filter { relation.owner.passes.contains($0.place) }
        }
        for one in others.filter({ $0.name == rest.name }).flatMap(taking) {
            for other in taking(rest)
            where one.mapping.source == other.mapping.source
                && !Set(one.numbers).isDisjoint(with: other.numbers)
            {
                return [one.mapping.name, other.mapping.name]
            }
        }
        return nil
    }

    /// Whether an entity mapping names a source relationship for a destination relationship.
    private func states(_ named: Named, _ key: PropertyKey, _ mapping: EntityMapping) -> Bool {
        // Elsewhere a relationship of the same name is another one.
        guard let to = mapping.destination,
            context.destination.model.isKind(to, of: key.entity)
        else { return false }
        return mapping.relationships.contains {
            $0.destination == key.property && $0.source == named.key.property
                && $0.mapping == named.maker
        }
    }

    /// The paths that entity mappings state for a destination relationship.
    private func pathRelations(feeding key: PropertyKey) -> [PlannedRelation] {
        context.mapping.entityMappings.compactMap { mapping in
            guard let entity = mapping.source, let destination = mapping.destination,
                context.destination.model.isKind(destination, of: key.entity),
                let stated = mapping.relationships.first(where: {
                    $0.destination == key.property
                }), let keys = stated.path,
                let path = SourcePath(toOne: keys, of: entity, in: context.source),
                let target = context.source.model.target(ofPath: keys, from: entity)
            else { return nil }
            // Only of exactly this mapping: others have relationships of their own.
            let owners = context.end(ofSource: entity) { $0.name == mapping.name }
            return PlannedRelation(
                name: "\(entity).\(keys.isEmpty ? "SELF" : keys.joined(separator: "."))",
                destination: key,
                storage: .path(table: owners.end.table, path, isFlipped: false),
                owner: owners, target: targets(target, of: key, madeBy: stated.mapping))
        }
    }

    /// What becomes of source objects of an entity to which a destination relationship leads.
    private func targets(
        _ entity: String, of key: PropertyKey, madeBy maker: String?
    ) -> PlannedEnd {
        let wanted =
            context.destination.model.relationship(key.property, of: key.entity)?.relationship
            .destination ?? key.entity
        return context.end(ofSource: entity) { mapping in
            guard let made = mapping.destination, maker.map({ $0 == mapping.name }) ?? true
            else { return false }
            return context.destination.model.isKind(made, of: wanted)
        }
    }

    /// The inverse of a destination relationship, by the entity that declares it.
    func inverseKey(of key: PropertyKey) -> PropertyKey? {
        inverseKey(of: key, in: context.destination.model)
    }

    private func inverseKey(of key: PropertyKey, in model: Model) -> PropertyKey? {
        guard let relationship = model.relationship(key.property, of: key.entity)?.relationship,
            let (owner, inverse) = model.inverse(of: relationship)
        else { return nil }
        return PropertyKey(owner.name, inverse.name)
    }

    /// A source relationship that entity mappings name for a destination relationship.
    private struct Named: Equatable {
        /// By the entity that declares it.
        let key: PropertyKey
        /// The entity mapping that makes the targets; nil for any.
        let maker: String?
    }

    /// The source relationships that any mapping names for this one.
    private func sources(of key: PropertyKey) -> [Named] {
        var result: [Named] = []
        for mapping in context.mapping.entityMappings {
            guard let source = mapping.source, let destination = mapping.destination,
                context.destination.model.isKind(destination, of: key.entity),
                let stated = mapping.relationships.first(where: {
                    $0.destination == key.property
                }), let name = stated.source,
                let owner = context.source.model.relationship(name, of: source)?.owner
            else { continue }
            let found = Named(key: PropertyKey(owner.name, name), maker: stated.mapping)
            if !result.contains(found) { result.append(found) }
        }
        return result
    }

    /// A source relationship with its storage and both ends.
    private func relation(_ named: Named, destination key: PropertyKey) -> PlannedRelation {
        let (source, model) = (context.source, context.source.model)
        let target =
            model.relationship(named.key.property, of: named.key.entity)?.relationship.destination
            ?? named.key.entity
        return PlannedRelation(
            name: named.key.description, destination: key, storage: source.storage(of: named.key),
            owner: context.end(ofSource: named.key.entity) { states(named, key, $0) },
            target: targets(target, of: key, madeBy: named.maker))
    }
}
