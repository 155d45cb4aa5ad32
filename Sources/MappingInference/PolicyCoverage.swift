import ManagedObjectModel
import MappingModel

/// Many-to-many links that a policy sets come from policies alone: those that other entity mappings
/// would carry beside it would be lost.
struct PolicyCoverage {
    /// With all its mappings.
    let draft: InferenceDraft
    let definition: MappingDefinition

    /// A mistake for each entity mapping that would carry links of a relationship that a policy of
    /// another one sets.
    var mistakes: [MappingMistake] {
        let destination = draft.destination
        var mistakes: [MappingMistake] = []
        for stated in definition.entityMappings {
            guard let entity = stated.destination,
                let policy = stated.policy.flatMap({ draft.policies.named($0) })
            else { continue }
            for name in policy.sets {
                guard let owned = destination.relationship(name, of: entity),
                    owned.relationship.isToMany,
                    destination.inverse(of: owned)?.relationship.isToMany == true
                else { continue }
                for other in draft.mappings where carries(other, owned) {
                    mistakes.append(
                        MappingMistake(
                            in: stated, at: nil,
                            "migration policy \(policy.className) sets \(entity).\(name), and "
                                + "entity mapping \(other.name) makes objects with the same "
                                + "relationship: give it a policy that sets \(name), too, or state "
                                + "{\(name): unset}"))
                }
            }
        }
        return mistakes
    }

    /// Whether an entity mapping would carry links of a relationship if no policy set them.
    private func carries(
        _ mapping: EntityMapping, _ owned: StoredProperties.OwnedRelationship
    ) -> Bool {
        let name = owned.relationship.name
        guard let from = mapping.source, let to = mapping.destination,
            draft.destination.model.isKind(to, of: owned.owner),
            draft.destination.model.entities[to]?.isAbstract == false,
            mapping.policy?.sets.contains(name) != true
        else { return false }
        let stated = definition.entityMappings.first { $0.effectiveName == mapping.name }
        switch stated?.relationships.first(where: { $0.destination == name })?.value {
        case .unset: return false
        case .expression, .converted: return true
        case .automatic: break
        case nil: guard stated == nil || definition.infersRest else { return false }
        }
        // By renaming identifiers and names, as inference pairs them.
        let names = [owned.relationship.renamingIdentifier, name]
        return draft.source.relationships(of: from).contains { before in
            let known = [before.relationship.renamingIdentifier, before.relationship.name]
            return known.contains { $0 != nil && names.contains($0) }
        }
    }
}
