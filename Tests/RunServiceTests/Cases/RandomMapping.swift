import ManagedObjectModel
import MappingExpressions
import MappingInference
import MappingModel

/// Random mapping files over two models: expressions of the types that attributes have.
struct RandomMapping<Random: RandomNumberGenerator> {
    let source: Model
    let destination: Model
    var random: Random

    init(_ source: Model, _ destination: Model, using random: Random) {
        self.source = source
        self.destination = destination
        self.random = random
    }

    private mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

    /// States about half of what can be stated; the rest is inferred.
    mutating func definition(_ inference: Inference) -> MappingDefinition {
        var stated: [EntityMappingDefinition] = []
        for mapping in inference.mapping.entityMappings {
            guard let from = mapping.source, let to = mapping.destination,
                destination.ancestry(of: to).allSatisfy(\.uniquenessConstraints.isEmpty)
            else { continue }
            var definition = EntityMappingDefinition(source: from, destination: to)
            for (_, attribute) in destination.allAttributes(of: to) where below(2) == 0 {
                guard attribute.isOptional, !attribute.isTransient, attribute.derivation == nil,
                    !attribute.allowsExternalBinaryDataStorage,
                    let value = value(attribute.type, of: from)
                else { continue }
                definition.attributes.append(
                    PropertyMappingDefinition(
                        destination: attribute.name, value: .expression(value)))
            }
            if below(3) == 0 { definition.filter = predicate(from, 2) }
            guard definition.filter != nil || !definition.attributes.isEmpty else { continue }
            stated.append(definition)
            if below(3) == 0 { stated.append(further(after: definition, from, to)) }
        }
        for place in stated.indices where stated[place].name == nil {
            stated[place].relationships = paths(of: stated[place], inference, stated)
        }
        return MappingDefinition(entityMappings: stated, infersRest: true)
    }

    /// To-one relationships of an entity mapping that get their links by a path.
    private mutating func paths(
        of mapping: EntityMappingDefinition, _ inference: Inference,
        _ stated: [EntityMappingDefinition]
    ) -> [PropertyMappingDefinition] {
        guard let from = mapping.source, let to = mapping.destination else { return [] }
        var found: [PropertyMappingDefinition] = []
        for (_, relationship) in destination.allRelationships(of: to) where below(2) == 0 {
            let inverse = destination.inverse(of: relationship)?.relationship
            let isFree = inverse.map { $0.isToMany && !$0.isOrdered } ?? true
            guard !relationship.isToMany, relationship.isOptional, !relationship.isTransient,
                isFree, let (keys, target) = objectPath(from), let last = keys.last
            else { continue }
            let makers = inference.mapping.entityMappings.filter { made in
                guard let from = made.source, let to = made.destination else { return false }
                return source.isKind(from, of: target)
                    && destination.isKind(to, of: relationship.destination)
            }
            guard !makers.isEmpty else { continue }
            let path = MappingExpression.keyPath(.variable("source"), keys)
            let named = stated.filter { one in
                one.name == nil && makers.contains { $0.name == one.effectiveName }
            }
            let isMadeOften = stated.contains { one in
                one.name != nil && one.source.map { source.isKind($0, of: target) } == true
            }
            if let maker = named.randomElement(using: &random), isMadeOften || below(2) == 0 {
                found.append(
                    PropertyMappingDefinition(
                        destination: relationship.name,
                        value: .expression(
                            ManagerCall.entityMapping(maker.effectiveName, path).expression)))
            } else if !isMadeOften {
                found.append(
                    PropertyMappingDefinition(
                        destination: relationship.name,
                        value: .expression(ManagerCall.relationship(last, path).expression)))
            }
        }
        return found
    }

    /// A path of two or three to-one relationships, with the entity to which it leads.
    private mutating func objectPath(_ entity: String) -> (keys: [String], target: String)? {
        var keys: [String] = []
        var current = entity
        for _ in 0..<2 + below(2) {
            let links = source.allRelationships(of: current).map(\.relationship).filter {
                !$0.isToMany && !$0.isTransient
            }
            guard let link = links.randomElement(using: &random) else { return nil }
            keys.append(link.name)
            current = link.destination
        }
        return (keys, current)
    }

    /// A second mapping between the same entities: for the other objects, or for some of the same,
    /// which then have no links.
    private mutating func further(
        after first: EntityMappingDefinition, _ from: String, _ to: String
    ) -> EntityMappingDefinition {
        var definition = EntityMappingDefinition(
            name: "Further\(to)", source: from, destination: to)
        if let filter = first.filter, below(2) == 0 {
            definition.filter = .not(filter)
            return definition
        }
        definition.filter = below(2) == 0 ? nil : predicate(from, 2)
        definition.relationships = destination.allRelationships(of: to).map(\.relationship)
            .filter { !$0.isTransient }
            .map { PropertyMappingDefinition(destination: $0.name, value: .unset) }
        return definition
    }

    private mutating func value(_ type: AttributeType, of entity: String) -> MappingExpression? {
        if below(3) == 0, let value = converted(type, entity) { return value }
        switch type {
        case .integer16, .integer32, .integer64: return integer(entity, 2)
        case .double, .float: return below(2) == 0 ? real(entity, 2) : integer(entity, 2)
        case .boolean:
            return .conditional(
                predicate(entity, 2), .constant(.boolean(true)), .constant(.boolean(false)))
        case .string: return text(entity, 2)
        case .date: return date(entity, 1)
        default: return nil
        }
    }

    /// A value of another type, with what stands in the place of those without a form.
    private mutating func converted(
        _ type: AttributeType, _ entity: String
    ) -> MappingExpression? {
        let numbers: Set<AttributeType> = [
            .integer16, .integer32, .integer64, .double, .float, .decimal,
        ]
        let origins: Set<AttributeType> =
            switch type {
            case .integer16, .integer32, .integer64, .double, .float, .decimal:
                numbers.union([.boolean, .string, .date])
            case .boolean: numbers.union([.string])
            case .date: numbers.union([.string, .date])
            case .string: numbers.union([.string, .date, .uuid, .uri, .binary, .boolean])
            case .uuid: [.string, .uri, .uuid]
            case .uri: [.string, .uuid]
            default: []
            }
        guard let path = path(origins, entity) else { return nil }
        let format = below(3) == 0 && type == .date ? Self.format : nil
        let value = MappingExpression.conversion(.type(type, format: format), of: path)
        switch below(3) {
        case 0: return .attempt(value, otherwise: .null)
        case 1:
            return .attempt(
                .conditional(
                    .comparison(PredicateComparison(value, .equal, .null)), .null, value),
                otherwise: .null)
        default:
            let other: DefaultValue? =
                switch type {
                case .integer16, .integer32, .integer64: .integer(7)
                case .double, .float: .real(0.5)
                case .boolean: .boolean(true)
                case .string: .text("?")
                case .date: .date(86_400)
                default: nil
                }
            return .attempt(value, otherwise: other.map { .constant($0) } ?? .null)
        }
    }

    private static var format: DateFormat? {
        do { return try DateFormat("yyyy-MM-dd") } catch { return nil }
    }

    /// A path to an attribute of one of the types: of the object, or behind a to-one relationship.
    private mutating func path(_ types: Set<AttributeType>, _ entity: String) -> MappingExpression?
    {
        var keys: [String] = []
        var current = entity
        let links = source.allRelationships(of: entity).map(\.relationship).filter {
            !$0.isToMany && !$0.isTransient
        }
        if below(3) == 0, let link = links.randomElement(using: &random) {
            keys.append(link.name)
            current = link.destination
        }
        let attributes = source.allAttributes(of: current).map(\.attribute).filter {
            types.contains($0.type) && !$0.isTransient && $0.derivation == nil
        }
        guard let attribute = attributes.randomElement(using: &random) else { return nil }
        return .keyPath(.variable("source"), keys + [attribute.name])
    }

    /// What a to-many relationship is counted or summed by.
    private mutating func collected(
        _ entity: String, _ reductions: [String] = ["@sum", "@min", "@max"]
    ) -> MappingExpression? {
        let links = source.allRelationships(of: entity).map(\.relationship).filter {
            $0.isToMany && !$0.isTransient
        }
        guard let link = links.randomElement(using: &random) else { return nil }
        let attributes = source.allAttributes(of: link.destination).map(\.attribute).filter {
            [.integer16, .integer32].contains($0.type) && !$0.isTransient && $0.derivation == nil
        }
        guard below(2) == 0, let attribute = attributes.randomElement(using: &random) else {
            return .keyPath(.variable("source"), [link.name, "@count"])
        }
        let reduction = reductions.randomElement(using: &random) ?? "@sum"
        return .keyPath(.variable("source"), [link.name, reduction, attribute.name])
    }

    private mutating func integer(_ entity: String, _ depth: Int) -> MappingExpression {
        if below(6) == 0, let value = counted(entity) { return value }
        switch depth > 0 ? below(8) : below(3) {
        case 0:
            return path([.integer16, .integer32, .boolean], entity)
                ?? .constant(.integer(Int64(below(9))))
        case 1: return collected(entity) ?? .constant(.integer(2))
        case 2: return .constant(.integer(Int64(below(200) - 100)))
        case 3:
            return .function(.add, [integer(entity, depth - 1), integer(entity, depth - 1)])
        case 4:
            return .function(.subtract, [integer(entity, depth - 1), integer(entity, depth - 1)])
        case 5:
            return .function(
                below(2) == 0 ? .multiply : .divide,
                [integer(entity, depth - 1), .constant(.integer(Int64(below(7) + 1)))])
        case 6: return .function(.length, [text(entity, depth - 1)])
        default:
            return .conditional(
                predicate(entity, depth - 1), integer(entity, depth - 1),
                integer(entity, depth - 1))
        }
    }

    private mutating func real(_ entity: String, _ depth: Int) -> MappingExpression {
        if below(6) == 0, let average = collected(entity, ["@avg"]) { return average }
        switch depth > 0 ? below(5) : below(2) {
        case 0: return path([.double, .float], entity) ?? .constant(.real(0.5))
        case 1: return .constant(.real(Double(below(100)) / 8))
        case 2: return .function(.add, [real(entity, depth - 1), integer(entity, depth - 1)])
        case 3: return .function(.multiply, [real(entity, depth - 1), .constant(.real(0.25))])
        default: return .function(.divide, [real(entity, depth - 1), .constant(.real(3))])
        }
    }

    private mutating func text(_ entity: String, _ depth: Int) -> MappingExpression {
        switch depth > 0 ? below(6) : below(2) {
        case 0: return path([.string], entity) ?? .constant(.text("none"))
        case 1: return .constant(.text(["", "a", "É", "x'y"].randomElement(using: &random) ?? ""))
        case 4:
            return .function(.append, [text(entity, depth - 1), .constant(.text("\u{301}b"))])
        case 2: return .function(.uppercase, [text(entity, depth - 1)])
        case 3: return .function(.lowercase, [text(entity, depth - 1)])
        default:
            return .conditional(
                predicate(entity, depth - 1), text(entity, depth - 1), text(entity, depth - 1))
        }
    }

    private mutating func date(_ entity: String, _ depth: Int) -> MappingExpression {
        switch depth > 0 ? below(3) : below(2) {
        case 0: return path([.date], entity) ?? .function(.now, [])
        case 1: return .function(.now, [])
        default:
            return .conditional(
                predicate(entity, depth - 1), date(entity, depth - 1), .null)
        }
    }

    private mutating func predicate(_ entity: String, _ depth: Int) -> MappingPredicate {
        let depth = max(0, depth)
        if below(6) == 0, let predicate = quantified(entity) { return predicate }
        switch depth > 0 ? below(7) : below(4) {
        case 0:
            let relation: PredicateComparison.Operator =
                [.lessThan, .lessThanOrEqual, .equal, .notEqual, .greaterThan]
                .randomElement(using: &random) ?? .equal
            return .comparison(
                PredicateComparison(integer(entity, depth - 1), relation, integer(entity, 0)))
        case 1:
            let relation: PredicateComparison.Operator =
                [.equal, .beginsWith, .contains, .like].randomElement(using: &random) ?? .equal
            return .comparison(
                PredicateComparison(
                    text(entity, 0), relation, .constant(.text(relation == .like ? "*a*" : "a")),
                    options: below(2) == 0 ? [.caseInsensitive, .diacriticInsensitive] : []))
        case 2: return .comparison(PredicateComparison(text(entity, 0), .equal, .null))
        case 3:
            return .comparison(
                PredicateComparison(date(entity, 0), .lessThan, date(entity, 0)))
        case 4: return .not(predicate(entity, depth - 1))
        case 5: return .and([predicate(entity, depth - 1), predicate(entity, depth - 1)])
        default: return .or([predicate(entity, depth - 1), predicate(entity, depth - 1)])
        }
    }
}

// MARK: - Collections

extension RandomMapping {
    /// Keys to several objects, and the entity of these.
    private struct Objects {
        var keys: [String]
        var entity: String
        var isOrdered: Bool
        /// Whether the members are collections themselves.
        var isNested = false
    }

    /// Objects behind a to-many relationship: of the object itself, of another one, or of several.
    private mutating func objects(_ entity: String) -> Objects? {
        var found = Objects(keys: [], entity: entity, isOrdered: false)
        var isToMany = false
        for _ in 0..<3 {
            let links = source.allRelationships(of: found.entity).map(\.relationship).filter {
                !$0.isTransient && !($0.isOrdered && $0.name == $0.inverse)
            }
            guard let link = links.randomElement(using: &random) else { break }
            found.keys.append(link.name)
            found.entity = link.destination
            found.isOrdered = link.isOrdered && !isToMany
            found.isNested = found.isNested || isToMany && link.isToMany
            isToMany = isToMany || link.isToMany
            if isToMany, below(2) == 0 { break }
        }
        return isToMany ? found : nil
    }

    private mutating func number(of entity: String) -> String? {
        source.allAttributes(of: entity).map(\.attribute).filter {
            [.integer16, .integer32, .boolean].contains($0.type) && !$0.isTransient
                && $0.derivation == nil
        }.randomElement(using: &random)?.name
    }

    /// An integer for which objects of a collection are looked at one by one.
    private mutating func counted(_ entity: String) -> MappingExpression? {
        guard let objects = objects(entity) else { return nil }
        let path = MappingExpression.keyPath(.variable("source"), objects.keys)
        guard let attribute = number(of: objects.entity), below(5) > 0 else {
            return .keyPath(path, ["@count"])
        }
        let values = MappingExpression.keyPath(.variable("source"), objects.keys + [attribute])
        switch objects.isNested ? 0 : below(4) {
        case 0: return .function(objects.isNested || below(2) == 0 ? .count : .max, [values])
        case 1 where objects.isOrdered:
            return .keyPath(.element(path, at: below(2) == 0 ? .first : .last), [attribute])
        case 2:
            return .function(.count, [.function(.distinct, [values])])
        default:
            let member = MappingExpression.keyPath(.variable("x"), [attribute])
            let predicate = MappingPredicate.comparison(
                PredicateComparison(
                    member, below(2) == 0 ? .lessThan : .notEqual,
                    .constant(.integer(Int64(below(200) - 100)))))
            return .keyPath(.subquery(path, variable: "x", predicate), ["@count"])
        }
    }

    private mutating func quantified(_ entity: String) -> MappingPredicate? {
        guard let objects = objects(entity), let attribute = number(of: objects.entity) else {
            return nil
        }
        return .comparison(
            PredicateComparison(
                .keyPath(.variable("source"), objects.keys + [attribute]),
                below(2) == 0 ? .greaterThan : .equal,
                .constant(.integer(Int64(below(200) - 100))),
                quantifier: below(2) == 0 ? .any : .all))
    }
}
