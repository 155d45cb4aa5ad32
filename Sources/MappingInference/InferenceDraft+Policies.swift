import ManagedObjectModel
import MappingModel

/// Policies decide in place of the models about what they set.
extension InferenceDraft {
    /// The policy that takes part in making objects of a destination entity; nil for none.
    func policy(of entity: String) -> PolicyDeclaration? {
        directed[entity]?.policy.flatMap { policies.named($0) }
    }

    /// Whether the hooks of a policy give a property of a destination entity its value.
    func isSetByPolicy(_ property: String, of entity: String) -> Bool {
        policy(of: entity)?.sets.contains(property) == true
    }

    /// Whether a relationship is the other side of one that a policy sets: what one side says links
    /// both.
    func isInverseOfPolicy(_ name: String, of entity: String) -> Bool {
        policies(linking: name, of: entity) { policy, other, inverse in
            destination.model.isKind(other, of: inverse.owner)
                && policy.sets.contains(inverse.relationship.name)
        }
    }

    /// Whether a relationship may get its links from a policy.
    func isFilledByPolicy(_ name: String, of entity: String) -> Bool {
        if isSetByPolicy(name, of: entity) || isInverseOfPolicy(name, of: entity) { return true }
        return policies(linking: name, of: entity) { policy, _, inverse in
            policy.creates.contains { destination.model.isKind($0.entity, of: inverse.owner) }
        }
    }

    /// Whether a policy of any entity mapping has to do with the other side of a relationship.
    private func policies(
        linking name: String, of entity: String,
        where isMeant: (PolicyDeclaration, String, StoredProperties.OwnedRelationship) -> Bool
    ) -> Bool {
        guard let owned = destination.relationship(name, of: entity),
            let inverse = destination.inverse(of: owned)
        else { return false }
        return directed.keys.contains { other in
            policy(of: other).map { isMeant($0, other, inverse) } ?? false
        }
    }
}
