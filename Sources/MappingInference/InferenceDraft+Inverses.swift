import ManagedObjectModel
import MappingModel

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
                statedPaths[member.name]?[name] == nil, infers(name, of: member.name)
            else { continue }
            let candidates = inverses.filter { candidate in
                source.relationship(candidate.relationship.name, of: from)?.reference
                    == candidate.reference
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
