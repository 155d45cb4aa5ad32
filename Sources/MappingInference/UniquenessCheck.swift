import ManagedObjectModel
import MappingModel

/// Finds uniqueness constraints of a destination that its source does not imply.
struct UniquenessCheck {
    let source: StoredProperties
    let destination: StoredProperties
    let mappings: [EntityMapping]

    /// A constraint of the source model.
    private struct Constraint: Hashable {
        let owner: String
        let properties: Set<String>
    }

    /// What the data must fulfil: one demand for each destination constraint that is new, or wider
    /// than before.
    func requirements() -> [DataRequirement] {
        var requirements: [DataRequirement] = []
        let byDestination = Dictionary(grouping: mappings) { $0.destination ?? "" }
        for entity in destination.model.numberedEntities {
            for properties in entity.uniquenessConstraints where !properties.isEmpty {
                let members = destination.model.family(of: entity.name)
                    .flatMap { byDestination[$0.name] ?? [] }.filter { $0.source != nil }
                if !members.isEmpty, !isImplied(properties, members) {
                    requirements.append(.unique(entity: entity.name, attributes: properties))
                }
            }
        }
        return requirements
    }

    /// Whether one source constraint covers the objects of all members with the same values.
    private func isImplied(_ properties: [String], _ members: [EntityMapping]) -> Bool {
        // What comes twice of one object is equal.
        guard Set(members.map(\.source)).count == members.count else { return false }
        var common: Set<Constraint>?
        for member in members {
            guard let from = member.source, let sources = sources(of: properties, in: member)
            else { return false }
            let covering = source.model.ancestry(of: from).flatMap { owner in
                owner.uniquenessConstraints.filter { Set($0) == sources }
                    .map { Constraint(owner: owner.name, properties: Set($0)) }
            }
            common = common.map { $0.intersection(covering) } ?? Set(covering)
        }
        return !(common ?? []).isEmpty
    }

    /// The source properties whose values are carried; nil where a value comes from elsewhere.
    private func sources(of properties: [String], in mapping: EntityMapping) -> Set<String>? {
        var sources: Set<String> = []
        for property in properties {
            if let attribute = mapping.attributes.first(where: { $0.destination == property }),
                case .source(let name) = attribute.value
            {
                sources.insert(name)
            } else if let relationship = mapping.relationships.first(where: {
                $0.destination == property
            }), let name = relationship.source {
                sources.insert(name)
            } else {
                return nil
            }
        }
        return sources
    }
}
