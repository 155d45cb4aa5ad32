import ManagedObjectModel
import MappingExpressions
import MappingModel

/// Compares what a mapping asks of its policies with what these say of themselves.
struct PolicyCheck {
    let source: Model
    let destination: Model
    let policies: [PolicyDeclaration]
    private let mappings: [EntityMappingDefinition]
    private(set) var mistakes: [MappingMistake] = []

    init(
        _ definition: MappingDefinition, from source: Model, to destination: Model,
        policies: [PolicyDeclaration]
    ) {
        self.source = source
        self.destination = destination
        self.policies = policies
        mappings = definition.entityMappings
        for mapping in definition.entityMappings {
            let calls = mapping.policyCalls
            guard let name = mapping.policy else {
                if let call = calls.first {
                    add(
                        mapping,
                        "FUNCTION($entityPolicy, \"\(call.selector)\"): the entity "
                            + "mapping names no policy", call.property)
                }
                continue
            }
            check(mapping, name, calls)
        }
    }

    private mutating func add(
        _ mapping: EntityMappingDefinition, _ text: String,
        _ property: PropertyMappingDefinition? = nil
    ) {
        mistakes.append(MappingMistake(in: mapping, at: property, text))
    }

    private mutating func check(
        _ mapping: EntityMappingDefinition, _ name: String, _ calls: [PolicyCall]
    ) {
        guard let policy = policies.named(name) else {
            return mistakes.append(
                MappingMistake(
                    missing: name, of: mapping, calling: Set(calls.map(\.selector)).sorted(),
                    carried: policies.map(\.className)))
        }
        for property in mapping.relationships
        where property.callsPolicy && !policy.sets.contains(property.destination) {
            add(
                mapping,
                "links that a method of a policy gives are not supported: migration policy "
                    + "\(name) must declare that it sets \(property.destination), and set it",
                property)
        }
        for call in calls
        where !policy.functions.contains(call.selector)
            && !policy.sets.contains(call.property.destination)
            && !mapping.relationships.contains(call.property)
        {
            let hint = NameSuggestion.hint(call.selector, policy.functions, noun: "selectors")
            add(
                mapping, "migration policy \(name) has no method \(call.selector). \(hint)",
                call.property)
        }
        guard let entity = mapping.destination, destination.entities[entity] != nil,
            let from = mapping.source, source.entities[from] != nil
        else {
            guard !policy.sets.isEmpty || !policy.creates.isEmpty else { return }
            return add(
                mapping,
                "migration policy \(name) needs a source entity and a destination entity: it is "
                    + "asked for every object that comes from one to the other")
        }
        for property in policy.carries
        where source.attribute(property, of: from) == nil
            && source.relationship(property, of: from) == nil
        {
            let names =
                source.allAttributes(of: from).map(\.attribute.name)
                + source.allRelationships(of: from).map(\.relationship.name)
            let hint = NameSuggestion.hint(property, names, noun: "properties")
            add(
                mapping,
                "migration policy \(name) carries \(from).\(property), which does not exist. "
                    + hint)
        }
        for property in policy.sets { checkSetting(property, of: entity, policy, mapping) }
        var seen: Set<String> = []
        for created in policy.creates {
            if !seen.insert(created.entity).inserted {
                add(mapping, "migration policy \(name) declares \(created.entity) twice")
            }
            checkCreating(created, policy, mapping)
        }
    }

    private mutating func checkSetting(
        _ property: String, of entity: String, _ policy: PolicyDeclaration,
        _ mapping: EntityMappingDefinition
    ) {
        let subject = "migration policy \(policy.className) sets \(entity).\(property)"
        if let attribute = destination.attribute(property, of: entity)?.attribute {
            if let reason = PolicyDeclaration.refusal(of: attribute) {
                add(mapping, "\(subject): \(reason)")
            }
            return
        }
        guard let found = destination.relationship(property, of: entity) else {
            let names =
                destination.allAttributes(of: entity).map(\.attribute.name)
                + destination.allRelationships(of: entity).map(\.relationship.name)
            let hint = NameSuggestion.hint(property, names, noun: "properties")
            return add(mapping, "\(subject), which does not exist. \(hint)")
        }
        if let reason = refusal(of: found.relationship) { add(mapping, "\(subject): \(reason)") }
        if let inverse = destination.inverse(of: found.relationship),
            found.relationship.isToMany, inverse.relationship.isToMany,
            (inverse.owner.name, inverse.relationship.name) != (found.owner.name, property),
            isSet(inverse.relationship.name, of: inverse.owner.name)
        {
            add(
                mapping,
                "\(subject), and a policy sets its inverse \(inverse.owner.name)."
                    + "\(inverse.relationship.name), too: let one side set the links")
        }
    }

    /// Whether a policy of any entity mapping sets a relationship.
    private func isSet(_ name: String, of owner: String) -> Bool {
        mappings.contains { mapping in
            guard let policy = mapping.policy.flatMap({ policies.named($0) }),
                let entity = mapping.destination, destination.entities[entity] != nil
            else { return false }
            return policy.sets.contains(name) && destination.isKind(entity, of: owner)
        }
    }

    private mutating func checkCreating(
        _ created: CreatedObjects, _ policy: PolicyDeclaration, _ mapping: EntityMappingDefinition
    ) {
        let subject = "migration policy \(policy.className) creates \(created.entity)"
        guard let entity = destination.entities[created.entity] else {
            let names = destination.entities.keys.sorted()
            let hint = NameSuggestion.hint(created.entity, names, noun: "entities")
            return add(mapping, "\(subject), which does not exist. \(hint)")
        }
        if entity.isAbstract { add(mapping, "\(subject), which is abstract") }
        if !(1...CreatedObjects.limit).contains(created.most) {
            add(
                mapping,
                "\(subject): the maximum for one source object must be 1 to "
                    + "\(CreatedObjects.limit)")
        }
        for name in created.key {
            guard let attribute = destination.attribute(name, of: created.entity)?.attribute else {
                let names = destination.allAttributes(of: created.entity).map(\.attribute.name)
                let hint = NameSuggestion.hint(name, names, noun: "attributes")
                add(mapping, "\(subject) by \(name), which does not exist. \(hint)")
                continue
            }
            if let reason = PolicyDeclaration.refusal(ofKey: attribute) {
                add(mapping, "\(subject) by \(name): \(reason)")
            }
        }
    }

    /// Why a policy cannot set a relationship; nil where it can.
    private func refusal(of relationship: Relationship) -> String? {
        if relationship.isTransient { return "it is transient: no store holds its links" }
        guard let inverse = destination.inverse(of: relationship)?.relationship else {
            return relationship.isToMany ? "it is to-many and has no inverse" : nil
        }
        if relationship.isToMany, !inverse.isToMany {
            return "it is to-many: set the to-one inverse of the objects instead"
        }
        return inverse.isOrdered
            ? "its inverse is ordered, and places in the lists of other objects cannot be set" : nil
    }
}

/// A call of a policy's method in a mapping.
struct PolicyCall {
    let property: PropertyMappingDefinition
    let selector: String
}

extension EntityMappingDefinition {
    /// The calls of the policy's methods, in the order of the properties.
    var policyCalls: [PolicyCall] {
        (attributes + relationships).flatMap { property -> [PolicyCall] in
            guard case .expression(let expression) = property.value else { return [] }
            return ExpressionInspection(expression).calls.filter {
                $0.receiver == .variable(PolicyReceiver.name)
            }.map { PolicyCall(property: property, selector: $0.selector) }
        }
    }
}
