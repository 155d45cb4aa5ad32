import ManagedObjectModel
import MappingModel
import MigrationPlans

/// What the original calls the values, links and objects of a store that was written on the way.
///
/// A later step may drop what an earlier one has only added: that is no loss of the original. What
/// cannot be traced keeps its name and counts.
package struct LossOrigins: Hashable, Sendable, Codable {
    /// By the name that the written store's model has for them.
    private var origins: [String: Loss.Subject] = [:]
    /// Names of attributes that steps have added, with values that come from no data.
    private var added: Set<String> = []

    /// The origins of what a step gives.
    ///
    /// - Parameters:
    ///   - plan: of the step that gives the store.
    ///   - before: of the store that the step reads; nil for the original.
    init(_ plan: MigrationPlan, after before: LossOrigins?) {
        let before = before ?? LossOrigins()
        for entity in plan.destinationModel.numberedEntities {
            let feeding = plan.mapping.entityMappings.filter { mapping in
                guard mapping.source != nil, let destination = mapping.destination else {
                    return false
                }
                return plan.destinationModel.isKind(destination, of: entity.name)
            }
            if let source = feeding.first?.source {
                origins[entity.name] = before.traced(Loss.Subject(.entity, source))
            }
            for attribute in entity.attributes {
                let name = "\(entity.name).\(attribute.name)"
                let found = feeding.map {
                    Self.origin(of: attribute.name, in: $0, plan.sourceModel)
                }
                origins[name] = found.lazy.compactMap(\.subject).compactMap(before.traced).first
                let isAdded = found.allSatisfy { origin in
                    switch origin {
                    case .none: true
                    case .unknown: false
                    case .source(let subject): before.traced(subject) == nil
                    }
                }
                if isAdded, !found.isEmpty { added.insert(name) }
            }
            for relationship in entity.relationships {
                // Links without a source may be those of the inverse.
                origins["\(entity.name).\(relationship.name)"] =
                    feeding.lazy.compactMap {
                        Self.source(ofLinks: relationship.name, in: $0, plan.sourceModel)
                    }.compactMap(before.traced).first
            }
        }
    }

    private init() {}

    /// Where the values of an attribute come from.
    private enum Origin: Hashable {
        case source(Loss.Subject)
        /// Of anything, such as what a policy gives.
        case unknown
        /// No data.
        case none

        var subject: Loss.Subject? { if case .source(let subject) = self { subject } else { nil } }
    }

    private static func origin(
        of attribute: String, in mapping: EntityMapping, _ source: Model
    ) -> Origin {
        guard let entity = mapping.source,
            let value = mapping.attributes.first(where: { $0.destination == attribute })?.value
        else { return .unknown }
        if case .policy = value { return .unknown }
        guard let key = value.firstSourceKey else { return .none }
        if let owner = source.attribute(key, of: entity)?.owner {
            return .source(Loss.Subject(.attribute, owner.name, key))
        }
        if let owner = source.relationship(key, of: entity)?.owner {
            return .source(Loss.Subject(.relationship, owner.name, key))
        }
        return .unknown
    }

    private static func source(
        ofLinks relationship: String, in mapping: EntityMapping, _ source: Model
    ) -> Loss.Subject? {
        guard let entity = mapping.source,
            let found = mapping.relationships.first(where: { $0.destination == relationship }),
            let key = found.source ?? found.path?.first,
            let owner = source.relationship(key, of: entity)?.owner
        else { return nil }
        return Loss.Subject(.relationship, owner.name, key)
    }

    /// Losses by the names of the original; without what the original never had.
    func traced(_ losses: [Loss]) -> [Loss] {
        Loss.combined(
            losses.compactMap { loss in
                traced(loss.subject).map { Loss($0, count: loss.count, renamed: loss.renamed) }
            })
    }

    /// What the original calls something that a later step can lose; nil for what it never had.
    func traced(_ subject: Loss.Subject) -> Loss.Subject? {
        switch subject.kind {
        case .history, .conversion, .path: return subject
        case .attribute, .relationship, .entity, .filter:
            if added.contains(subject.name) { return nil }
            guard let origin = origins[subject.name] else { return subject }
            return Loss.Subject(subject.kind, origin.entity, origin.property)
        }
    }
}
