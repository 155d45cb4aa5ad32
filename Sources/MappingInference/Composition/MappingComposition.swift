import ManagedObjectModel
import MappingExpressions
import MappingModel

/// Two mappings, one after the other, as one.
struct MappingComposition {
    let first: Mapping
    let second: Mapping
    let source: Model
    /// The destination of the first and the source of the second mapping.
    let middle: Model
    let destination: Model
    /// Why the two cannot be one.
    private(set) var obstacles: [String] = []

    init(first: Mapping, second: Mapping, source: Model, middle: Model, destination: Model) {
        self.first = first
        self.second = second
        self.source = source
        self.middle = middle
        self.destination = destination
    }

    mutating func add(obstacle: String) {
        if !obstacles.contains(obstacle) { obstacles.append(obstacle) }
    }

    /// The mappings of the first that make objects of an entity in between.
    func makers(of entity: String) -> [EntityMapping] {
        first.entityMappings.filter { $0.destination == entity && $0.source != nil }
    }

    /// The composed mapping: in the order of the second, and within that of the first.
    mutating func mapping() -> Mapping {
        var mappings: [EntityMapping] = []
        var kept: Set<String> = []
        for later in second.entityMappings {
            guard let to = later.destination else { continue }
            let earlier = later.source.map { makers(of: $0) } ?? []
            guard !earlier.isEmpty else {
                mappings.append(added(later, to))
                continue
            }
            for one in earlier {
                kept.insert(one.source ?? "")
                mappings.append(joined(one, later, name: name(one, later)))
            }
        }
        for entity in source.numberedEntities where !kept.contains(entity.name) {
            mappings.append(
                EntityMapping(
                    name: unused(entity.name, mappings), kind: .remove, source: entity.name,
                    destination: nil))
        }
        return Mapping(entityMappings: mappings)
    }

    /// The name of the mapping that two make together.
    func name(_ earlier: EntityMapping, _ later: EntityMapping) -> String {
        let others = makers(of: later.source ?? "")
        return others.count == 1 ? later.name : "\(earlier.name) + \(later.name)"
    }

    private func unused(_ name: String, _ mappings: [EntityMapping]) -> String {
        var candidate = name
        var number = 2
        while mappings.contains(where: { $0.name == candidate }) {
            candidate = "\(name)_\(number)"
            number += 1
        }
        return candidate
    }

    /// An entity to which no object of the source comes.
    private func added(_ later: EntityMapping, _ entity: String) -> EntityMapping {
        var mapping = later
        mapping.kind = .add
        mapping.source = nil
        mapping.filter = nil
        mapping.attributes = later.attributes.map { attribute in
            if case .constant = attribute.value { return attribute }
            return AttributeMapping(destination: attribute.destination, value: .null)
        }
        mapping.relationships = later.relationships.map {
            RelationshipMapping(destination: $0.destination, source: nil)
        }
        return mapping
    }

    private mutating func joined(
        _ earlier: EntityMapping, _ later: EntityMapping, name: String
    ) -> EntityMapping {
        if earlier.policy != nil || later.policy != nil {
            add(obstacle: "\(later.name): a migration policy needs the version in between")
        }
        var values = ValueComposition(self, earlier)
        var mapping = EntityMapping(
            name: name, kind: .transform, source: earlier.source, destination: later.destination)
        mapping.attributes = later.attributes.map { attribute in
            AttributeMapping(
                destination: attribute.destination,
                value: values.value(attribute.value, for: "\(later.name).\(attribute.destination)"))
        }
        mapping.filter = Self.both(
            earlier.filter, later.filter.map { values.filter($0, for: later.name) })
        for obstacle in values.obstacles { add(obstacle: obstacle) }
        checkComputed(earlier, keptBy: later)
        mapping.relationships = later.relationships.map { links($0, of: later, through: earlier) }
        if earlier.kind == .copy, later.kind == .copy { mapping.kind = .copy }
        return mapping
    }

    /// A value that may fail to be computed, or that the version in between needs, must be computed
    /// for the destination, too.
    private mutating func checkComputed(_ earlier: EntityMapping, keptBy later: EntityMapping) {
        for attribute in earlier.attributes {
            guard case .expression(let expression) = attribute.value,
                let between = earlier.destination.flatMap({
                    middle.attribute(attribute.destination, of: $0)?.attribute
                })
            else { continue }
            let keeper = later.attributes.first { $0.value == .source(attribute.destination) }
            let kept = keeper.flatMap { keeper in
                later.destination.flatMap {
                    destination.attribute(keeper.destination, of: $0)?.attribute
                }
            }
            if kept == nil, expression.mayFail || !between.isOptional {
                add(
                    obstacle: "\(later.name): \(attribute.destination) is computed for the version "
                        + "in between, and goes")
            } else if kept?.isOptional == true, !between.isOptional {
                add(
                    obstacle: "\(later.name): \(attribute.destination) is computed for the version "
                        + "in between, and required there alone")
            }
        }
    }

    private static func both(
        _ one: MappingPredicate?, _ other: MappingPredicate?
    ) -> MappingPredicate? {
        guard let one, let other else { return one ?? other }
        return .and([one, other])
    }
}
