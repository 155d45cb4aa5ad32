import ManagedObjectModel
import MappingExpressions
import MappingModel

/// Values of a later mapping in terms of what an earlier one reads.
struct ValueComposition {
    private let composition: MappingComposition
    /// The mapping that makes the objects whose values are read.
    private let earlier: EntityMapping
    private(set) var obstacles: [String] = []

    init(_ composition: MappingComposition, _ earlier: EntityMapping) {
        self.composition = composition
        self.earlier = earlier
    }

    /// A value of the later mapping.
    ///
    /// `name`: of what it is for, for messages.
    mutating func value(_ value: ValueExpression, for name: String) -> ValueExpression {
        switch value {
        case .constant, .null, .policy: return value
        case .source(let attribute): return before(attribute)
        case .sourceOrDefault(let attribute, let constant):
            return filled(before(attribute), constant, for: name)
        case .expression(let expression):
            return .expression(replaced(expression, for: name))
        }
    }

    /// The earlier mapping's value of an attribute in between.
    private func before(_ attribute: String) -> ValueExpression {
        earlier.attributes.first { $0.destination == attribute }?.value ?? .null
    }

    /// A value with a constant where there is none.
    private mutating func filled(
        _ value: ValueExpression, _ constant: DefaultValue, for name: String
    ) -> ValueExpression {
        switch value {
        case .source(let attribute): return .sourceOrDefault(attribute, constant)
        case .sourceOrDefault, .constant, .policy: return value
        case .null: return .constant(constant)
        case .expression(let expression):
            if expression.isAttempt {
                obstacles.append("\(name): its default fills values that the step before replaces")
            }
            return .expression(Self.filled(expression, constant))
        }
    }

    private static func filled(
        _ expression: MappingExpression, _ constant: DefaultValue
    ) -> MappingExpression {
        .conditional(
            .comparison(PredicateComparison(expression, .equal, .null)), .constant(constant),
            expression)
    }

    /// A filter of the later mapping.
    mutating func filter(_ filter: MappingPredicate, for name: String) -> MappingPredicate {
        // Both `SELF` and `$source` are the object in between.
        guard
            case .conditional(let predicate, _, _) = replaced(
                filter.sourceExpression, for: name)
        else { return filter }
        return predicate
    }

    private mutating func replaced(
        _ expression: MappingExpression, for name: String
    ) -> MappingExpression {
        let read = ComputedValue(expression, of: earlier.destination, in: composition.middle)
        guard read.tree == nil else {
            obstacles.append("\(name): it reads objects in between one by one")
            return .null
        }
        var found: [String] = []
        let result = expression.replacingSourceKeyPaths { keys in
            switch self.expression(of: keys) {
            case .success(let expression): return expression
            case .failure(let obstacle):
                found.append("\(name): \(obstacle.text)")
                return .null
            }
        }
        obstacles += found
        return result
    }

    private struct Obstacle: Error {
        let text: String
    }

    /// What a path of keys from an object in between gives.
    private func expression(of keys: [String]) -> Result<MappingExpression, Obstacle> {
        let path = keys.joined(separator: ".")
        if let own = earlier.attributes.first(where: { $0.destination == path })?.value {
            return value(own, path)
        }
        guard let entity = earlier.destination,
            let keys = sourceKeys(keys[...], from: entity, by: [earlier])
        else {
            return .failure(
                Obstacle(text: "$source.\(path) leads to objects that only the step before makes"))
        }
        return .success(.keyPath(.variable("source"), keys))
    }

    private func value(
        _ value: ValueExpression, _ path: String
    ) -> Result<MappingExpression, Obstacle> {
        switch value {
        case .source(let name): return .success(Self.source(name))
        case .constant(let constant): return .success(.constant(constant))
        case .null: return .success(.null)
        case .sourceOrDefault(let name, let constant):
            return .success(Self.filled(Self.source(name), constant))
        case .expression, .policy:
            return .failure(
                Obstacle(text: "$source.\(path) is computed by the step before"))
        }
    }

    private static func source(_ name: String) -> MappingExpression {
        .keyPath(.variable("source"), name.split(separator: ".").map { String($0) })
    }

    /// The keys of the source for keys of an object in between; nil where not all objects that the
    /// path may reach keep their links and values.
    ///
    /// `makers`: of the objects at the path's start.
    private func sourceKeys(
        _ keys: ArraySlice<String>, from entity: String, by makers: [EntityMapping]
    ) -> [String]? {
        guard let key = keys.first else { return [] }
        if key.hasPrefix("@") {
            return sourceKeys(keys.dropFirst(), from: entity, by: makers).map { [key] + $0 }
        }
        if let relationship = composition.middle.relationship(key, of: entity)?.relationship {
            let names = Set(
                makers.map { maker -> String? in
                    let found = maker.relationships.first { $0.destination == key }
                    return found?.mapping == nil ? found?.source : nil
                })
            guard names.count == 1, let name = names.first ?? nil,
                let next = unfiltered(relationship.destination, name, makers)
            else { return nil }
            return sourceKeys(keys.dropFirst(), from: relationship.destination, by: next)
                .map { [name] + $0 }
        }
        let path = keys.joined(separator: ".")
        let values = Set(
            makers.map { maker in
                maker.attributes.first { $0.destination == path }?.value
            })
        guard values.count == 1, case .source(let name)?? = values.first else { return nil }
        return name.split(separator: ".").map { String($0) }
    }

    /// The makers of all objects that a relationship may lead to, where each object of the source
    /// comes through.
    private func unfiltered(
        _ target: String, _ name: String, _ owners: [EntityMapping]
    ) -> [EntityMapping]? {
        var makers: [EntityMapping] = []
        for owner in owners {
            guard let from = owner.source,
                let before = composition.source.relationship(name, of: from)?.relationship
                    .destination
            else { return nil }
            for member in composition.source.family(of: before) where !member.isAbstract {
                let made = composition.first.entityMappings.filter {
                    $0.source == member.name
                        && $0.destination.map { composition.middle.isKind($0, of: target) } == true
                }
                guard made.count == 1, made[0].filter == nil else { return nil }
                if !makers.contains(made[0]) { makers.append(made[0]) }
            }
        }
        return makers.isEmpty ? nil : makers
    }
}
