import ManagedObjectModel
import MappingModel

/// Many-to-many links that policies set come from policies alone.
struct PolicyCoverage {
    /// With all its mappings.
    let draft: InferenceDraft

    /// A mistake for each entity mapping whose objects have a many-to-many relationship that a
    /// policy sets of other objects, and that its own policy does not set: their links would be
    /// lost.
    var mistakes: [MappingMistake] {
        var mistakes: [MappingMistake] = []
        let destination = draft.destination
        for (entity, mapping) in draft.directed.sorted(by: { $0.key < $1.key }) {
            guard let policy = draft.policy(of: entity) else { continue }
            for name in policy.sets {
                guard let owned = destination.relationship(name, of: entity),
                    owned.relationship.isToMany,
                    destination.inverse(of: owned)?.relationship.isToMany == true
                else { continue }
                for other in draft.mappings {
                    guard other.source != nil, let to = other.destination,
                        destination.model.isKind(to, of: owned.owner),
                        other.policy?.sets.contains(name) != true
                    else { continue }
                    mistakes.append(
                        MappingMistake(
                            in: mapping, at: nil,
                            "migration policy \(policy.className) sets \(entity).\(name), and "
                                + "entity mapping \(other.name) makes objects with the same "
                                + "relationship: give it a policy that sets \(name), too"))
                }
            }
        }
        return mistakes
    }
}
