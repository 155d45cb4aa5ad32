import ManagedObjectModel
import MappingModel

/// The destinations of a relationship before and after.
struct TargetFateKey: Hashable {
    let source: String
    let destination: String
}

/// What becomes of the entities to whose objects a source relationship can lead.
struct TargetFate {
    /// Source entities without a destination.
    var removed: [String] = []
    /// Source entities whose destination is not below that of the relationship.
    var outside: [String] = []
}

/// Relationship mappings of paired entities.
extension InferenceDraft {
    /// Maps every stored relationship of a destination entity.
    mutating func mapRelationships(of entity: String, from: String) -> [RelationshipMapping] {
        var mapped: [RelationshipMapping] = []
        for owned in destination.relationships(of: entity) {
            let name = owned.relationship.name
            let reference = PropertyReference(entity: entity, property: name)
            let maker = linkMapping[entity]?[name]
            if let path = statedPaths[entity]?[name] {
                mapped.append(
                    RelationshipMapping(
                        destination: name, source: nil, path: path, mapping: maker))
                if !LinkBounds(owned.relationship).allowsNone {
                    requirements.append(
                        .pathLeads(entity: from, path: path, destination: reference, maker: maker))
                }
                continue
            }
            let before = sourceRelationship[entity]?[name]
                .flatMap { source.relationship($0, of: from) }
            mapped.append(
                RelationshipMapping(
                    destination: name, source: before?.relationship.name,
                    mapping: before == nil ? nil : maker))
            if let before {
                check(owned, reference, from: before, of: from)
            } else if !LinkBounds(owned.relationship).allowsNone,
                !isFilledByPolicy(name, of: entity)
            {
                requirements.append(
                    .noObjects(entity: from, reason: .requiredRelationship(owned.reference)))
            }
        }
        return mapped
    }

    private mutating func check(
        _ owned: StoredProperties.OwnedRelationship, _ reference: PropertyReference,
        from before: StoredProperties.OwnedRelationship, of from: String
    ) {
        let (now, then) = (owned.relationship, before.relationship)
        let sourceReference = PropertyReference(entity: from, property: then.name)
        let bounds = LinkBounds(now)
        let becomesToOne = then.isToMany && !now.isToMany
        if becomesToOne {
            requirements.append(.atMostOne(source: sourceReference, destination: reference))
        }
        if bounds.raiseLowerBound(of: LinkBounds(then))
            || (!becomesToOne && bounds.lowerUpperBound(of: LinkBounds(then)))
        {
            requirements.append(
                .linkCount(source: sourceReference, destination: reference, bounds: bounds))
        }
        refuseLostSymmetry(owned, before)
        if mayShareTargets(owned, before) {
            requirements.append(.distinctTargets(source: sourceReference, destination: reference))
        }
        noteOrder(now, then, owned.reference)
        checkTargets(now, reference, from: before, sourceReference)
    }

    /// Whether objects may be targets of several objects, which the destination cannot hold: it
    /// puts the owner's key into the target's row, for a to-one inverse or for a to-many without
    /// inverse.
    private func mayShareTargets(
        _ owned: StoredProperties.OwnedRelationship, _ before: StoredProperties.OwnedRelationship
    ) -> Bool {
        let inverse = destination.inverse(of: owned)?.relationship
        let inverseBefore = source.inverse(of: before)?.relationship
        guard inverse.map({ !$0.isToMany }) ?? owned.relationship.isToMany else { return false }
        let found = sources(
            of: owned.relationship.name, below: owned.owner, in: sourceRelationship)
        if found.count > 1 { return true }
        // The source had nothing that kept the links of different objects apart, nor is the
        // inverse asked for one link at most.
        if inverse != nil { return inverseBefore == nil }
        return inverseBefore.map(\.isToMany) ?? !before.relationship.isToMany
    }

    /// Each link of a to-many that is its own inverse leads both ways, however it is stored;
    /// what becomes of it must do so, too.
    private mutating func refuseLostSymmetry(
        _ owned: StoredProperties.OwnedRelationship, _ before: StoredProperties.OwnedRelationship
    ) {
        guard before.relationship.isToMany,
            source.inverse(of: before)?.reference == before.reference,
            !owned.relationship.isToMany
                || destination.inverse(of: owned)?.reference != owned.reference
        else { return }
        refuse(
            .ambiguousInverse, owned.owner, owned.relationship.name,
            "its source \(before.reference) is its own inverse, which it is not",
            remedy: "Keep it to-many and its own inverse, or use a version in between.")
    }

    private mutating func noteOrder(
        _ now: Relationship, _ before: Relationship, _ reference: PropertyReference
    ) {
        guard now.isToMany, before.isToMany, now.isOrdered != before.isOrdered else { return }
        notes.append(now.isOrdered ? .orderAssigned(reference) : .orderDropped(reference))
    }

    private mutating func checkTargets(
        _ now: Relationship, _ reference: PropertyReference,
        from before: StoredProperties.OwnedRelationship, _ sourceReference: PropertyReference
    ) {
        let found =
            linkMapping[reference.entity]?[now.name].map {
                fate(of: before.relationship.destination, onlyBy: $0)
            } ?? fate(of: before.relationship.destination, in: now.destination)
        var forbidden = found.outside
        if LinkBounds(now).needLinks {
            forbidden += found.removed
            let maker = linkMapping[reference.entity]?[now.name]
            if filtersLeaveOut(
                before.relationship.destination, towards: now.destination, madeBy: maker)
            {
                requirements.append(
                    .noFilteredTargets(source: sourceReference, destination: reference))
            }
        } else {
            let dropped = found.removed.filter { source.model.entities[$0]?.isAbstract == false }
            if !dropped.isEmpty {
                notes.append(.linksDropped(before.reference, ofEntities: dropped))
            }
        }
        if !forbidden.isEmpty {
            requirements.append(
                .noTargets(
                    source: sourceReference, destination: reference,
                    ofEntities: forbidden.sorted(by: Model.precedes)))
        }
    }

    /// Whether filters decide which objects of a source entity, or of one that inherits from it,
    /// become objects to which a relationship can lead.
    private func filtersLeaveOut(
        _ target: String, towards wanted: String, madeBy maker: String?
    ) -> Bool {
        source.model.family(of: target).contains { member in
            let makers = (direction?.entityMappings ?? []).filter { mapping in
                mapping.source == member.name
                    && (maker ?? mapping.effectiveName)
                        == mapping.effectiveName
                    && mapping.destination.map { destination.model.isKind($0, of: wanted) } == true
            }
            return !makers.isEmpty && makers.allSatisfy { $0.filter != nil }
        }
    }

    /// What becomes of targets where only objects of one entity mapping are linked.
    private func fate(of from: String, onlyBy name: String) -> TargetFate {
        let maker = direction?.entityMappings.first { $0.effectiveName == name }?.source
        return TargetFate(
            removed: source.model.family(of: from).map(\.name).filter { $0 != maker })
    }

    private mutating func fate(of from: String, in entity: String) -> TargetFate {
        let key = TargetFateKey(source: from, destination: entity)
        if let known = targetFates[key] { return known }
        var fate = TargetFate()
        let destinations = destinationEntities
        for target in source.model.family(of: from) {
            let made = destinations[target.name] ?? []
            if made.isEmpty {
                fate.removed.append(target.name)
            } else if !made.contains(where: { destination.model.isKind($0, of: entity) }) {
                fate.outside.append(target.name)
            }
        }
        targetFates[key] = fate
        return fate
    }
}

/// The two sides of a relationship in the destination come from two sides in the source.
extension InferenceDraft {
    typealias Owned = StoredProperties.OwnedRelationship

    /// Gives a side without a source the inverse of the other side's source, and refuses sides
    /// whose sources are not each other's inverse.
    mutating func completeInverses() {
        // What is completed must not become the reason to complete something else.
        let found = sourceRelationship
        for entity in destination.model.numberedEntities {
            for relationship in entity.relationships where !relationship.isTransient {
                let owned = Owned(owner: entity.name, relationship: relationship)
                guard let inverse = destination.inverse(of: owned) else { continue }
                let own = sources(of: relationship.name, below: entity.name, in: found)
                let other = sources(
                    of: inverse.relationship.name, below: relationship.destination, in: found)
                refuseDisagreement(owned, own, inverse, other)
                complete(owned, from: other, found)
            }
        }
    }

    /// The distinct sources of a relationship over an entity and those that inherit from it.
    func sources(
        of relationship: String, below entity: String, in found: [String: [String: String]]
    ) -> [Owned] {
        var seen: Set<PropertyReference> = []
        var distinct: [Owned] = []
        for member in destination.model.family(of: entity) {
            guard let from = sourceEntity[member.name],
                let name = found[member.name]?[relationship],
                let owned = source.relationship(name, of: from),
                seen.insert(owned.reference).inserted
            else { continue }
            distinct.append(owned)
        }
        return distinct
    }

    private mutating func refuseDisagreement(
        _ side: Owned, _ own: [Owned], _ inverse: Owned, _ other: [Owned]
    ) {
        for one in own {
            for two in other where disagree(one, two) {
                // Both sides come here; the text is the same from either.
                let ordered = [(side.reference, one), (inverse.reference, two)]
                    .sorted { $0.0.description < $1.0.description }
                let (first, second) = (ordered[0], ordered[1])
                refuse(
                    .ambiguousInverse, first.0.entity, first.0.property,
                    "its inverse is \(second.0), but their sources \(first.1.reference) and "
                        + "\(second.1.reference) are not each other's inverse",
                    remedy: "Pair both sides by renaming identifiers, or migrate with a mapping "
                        + "model.")
            }
        }
    }

    private func disagree(_ one: Owned, _ two: Owned) -> Bool {
        if source.inverse(of: one)?.reference == two.reference { return false }
        if source.inverse(of: two)?.reference == one.reference { return false }
        // Relationships whose objects never meet cannot contradict each other.
        return source.overlap(one.relationship.destination, two.owner)
            || source.overlap(two.relationship.destination, one.owner)
    }

    private mutating func complete(
        _ side: Owned, from other: [Owned], _ found: [String: [String: String]]
    ) {
        let name = side.relationship.name
        let inverses = other.compactMap { source.inverse(of: $0) }
        guard !inverses.isEmpty else { return }
        for member in destination.model.family(of: side.owner) {
            guard let from = sourceEntity[member.name], found[member.name]?[name] == nil,
                statedPaths[member.name]?[name] == nil, infers(name, of: member.name),
                !isInverseOfPolicy(name, of: member.name)
            else { continue }
            let candidates = inverses.filter { candidate in
                source.relationship(candidate.relationship.name, of: from)?.reference
                    == candidate.reference
                    && !isInverseOfPath(name, of: member.name, reading: candidate.relationship)
            }
            let distinct = Set(candidates.map(\.reference))
            if distinct.count == 1, let only = candidates.first {
                sourceRelationship[member.name, default: [:]][name] = only.relationship.name
            } else if distinct.count > 1, !side.relationship.isToMany {
                refuse(
                    .ambiguousInverse, side.owner, name,
                    "it is to-one, but would get the links of "
                        + distinct.map(\.description).sorted().joined(separator: " and "),
                    remedy: "Make it to-many, or use a version in between.")
            }
        }
    }
}
