import CoreDataStore
import ManagedObjectModel
import MappingModel

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
    func relations(feeding key: PropertyKey) -> [SourceRelation] {
        let own = sources(of: key)
        let relations =
            own.map { relation(sourceKey: $0, destination: key) } + pathRelations(feeding: key)
        guard let inverse = inverseKey(of: key) else { return relations }
        // Links that this side's sources tell already are not taken from the inverse again.
        let others = sources(of: inverse).filter { other in
            !own.contains { $0 == inverseKey(of: other, in: context.source.model) }
        }
        return relations
            + (others.map { relation(sourceKey: $0, destination: inverse) }
            + pathRelations(feeding: inverse)).map(\.flipped)
    }

    /// The paths that entity mappings state for a destination relationship.
    private func pathRelations(feeding key: PropertyKey) -> [SourceRelation] {
        context.mapping.entityMappings.compactMap { mapping in
            guard let entity = mapping.source, let destination = mapping.destination,
                context.destination.model.isKind(destination, of: key.entity),
                let keys = mapping.relationships.first(where: { $0.destination == key.property })?
                    .path,
                let path = SourcePath(toOne: keys, of: entity, in: context.source),
                let target = context.source.model.target(ofPath: keys, from: entity)
            else { return nil }
            let wanted =
                context.destination.model.relationship(key.property, of: key.entity)?.relationship
                .destination ?? key.entity
            return SourceRelation(
                name: "\(entity).\(keys.joined(separator: "."))",
                storage: .path(
                    table: context.source.table(of: entity)?.name ?? "", path, isFlipped: false),
                owner: RelationEnd(
                    table: context.source.table(of: entity)?.name ?? "",
                    // Only of exactly this entity: others have mappings of their own.
                    targets: context.targets(ofSource: entity) { $0.name == mapping.name }),
                target: RelationEnd(
                    table: context.source.table(of: target)?.name ?? "",
                    targets: context.targets(ofSource: target) { mapping in
                        mapping.destination.map {
                            context.destination.model.isKind($0, of: wanted)
                        } ?? false
                    }))
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

    /// Source relationships, by declaring entity, that any mapping names for this one.
    private func sources(of key: PropertyKey) -> [PropertyKey] {
        var result: [PropertyKey] = []
        for mapping in context.mapping.entityMappings {
            guard let source = mapping.source, let destination = mapping.destination,
                context.destination.model.isKind(destination, of: key.entity),
                let name = mapping.relationships.first(where: { $0.destination == key.property })?
                    .source,
                let owner = context.source.model.relationship(name, of: source)?.owner
            else { continue }
            let found = PropertyKey(owner.name, name)
            if !result.contains(found) { result.append(found) }
        }
        return result
    }

    /// A source relationship with its storage and both ends.
    private func relation(sourceKey: PropertyKey, destination: PropertyKey) -> SourceRelation {
        let (source, model) = (context.source, context.source.model)
        let relationship =
            model.relationship(sourceKey.property, of: sourceKey.entity)?.relationship
        let target = relationship?.destination ?? sourceKey.entity
        let destinationTarget =
            context.destination.model.relationship(destination.property, of: destination.entity)?
            .relationship.destination ?? destination.entity
        let owners = context.targets(ofSource: sourceKey.entity) { mapping in
            // Elsewhere a relationship of the same name is another one.
            guard let to = mapping.destination,
                context.destination.model.isKind(to, of: destination.entity)
            else { return false }
            return mapping.relationships.contains {
                $0.destination == destination.property && $0.source == sourceKey.property
            }
        }
        let targets = context.targets(ofSource: target) { mapping in
            mapping.destination.map {
                context.destination.model.isKind($0, of: destinationTarget)
            } ?? false
        }
        return SourceRelation(
            name: sourceKey.description, storage: source.storage(of: sourceKey),
            owner: RelationEnd(
                table: source.table(of: sourceKey.entity)?.name ?? "", targets: owners),
            target: RelationEnd(table: source.table(of: target)?.name ?? "", targets: targets))
    }
}

extension SourceRelation {
    /// The same links seen from the other end.
    var flipped: SourceRelation {
        let turned: RelationStorage =
            switch storage {
            case .ownerColumn(let table, let key, let entity, let ownerOrder):
                .targetColumn(table: table, key: key, entity: entity, targetOrder: ownerOrder)
            case .targetColumn(let table, let key, let entity, let targetOrder):
                .ownerColumn(table: table, key: key, entity: entity, ownerOrder: targetOrder)
            case .path(let table, let path, let isFlipped):
                .path(table: table, path, isFlipped: !isFlipped)
            case .join(let table, let owner, let target, let ownerOrder, let targetOrder):
                .join(
                    table: table, owner: target, target: owner, ownerOrder: targetOrder,
                    targetOrder: ownerOrder)
            }
        return SourceRelation(name: name, storage: turned, owner: target, target: owner)
    }

    /// Whether both ends move by constants and none is dropped: no object is looked up.
    var isArithmetic: Bool {
        owner.targets.commonOffset != nil && target.targets.commonOffset != nil
    }
}
