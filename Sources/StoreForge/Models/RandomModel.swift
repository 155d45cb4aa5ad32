package import ManagedObjectModel

/// Models made from a source of random numbers: trees of entities, attributes of every stored
/// type, every kind of relationship, indexes, uniqueness, derived attributes.
package enum RandomModel {
    /// Makes a well-formed model; the same random numbers give the same model.
    ///
    /// - Parameters:
    ///   - random: the source.
    ///   - entities: how many there may be.
    /// - Returns: a model that a store can be made of.
    /// - Throws: `ModelError` never for what is made here; it comes with the check of models.
    package static func make<Random: RandomNumberGenerator>(
        using random: inout Random, entities: ClosedRange<Int> = 1...7
    ) throws(ModelError) -> Model {
        let count = Int.random(in: entities, using: &random)
        var draft = RandomModelDraft(random: random)
        draft.addEntities(count)
        draft.addAttributes()
        for number in 0..<Int.random(in: 0...(2 * count), using: &draft.random) {
            draft.addRelationship(number)
        }
        draft.addDerivedAttributes()
        draft.addIndexes()
        random = draft.random
        return try Model(entities: draft.entities, versionIdentifiers: ["random"])
    }
}

/// A random model in the making.
struct RandomModelDraft<Random: RandomNumberGenerator> {
    var random: Random
    private(set) var entities: [Entity] = []

    init(random: Random) { self.random = random }

    private mutating func chance(_ part: Int) -> Bool {
        Int.random(in: 0..<part, using: &random) == 0
    }

    private mutating func pick<Element>(_ list: [Element]) -> Element? {
        list.randomElement(using: &random)
    }

    mutating func addEntities(_ count: Int) {
        // Case decides nothing about the order of entities.
        let stems = ["Alpha", "beta", "Gamma", "delta", "Alpine", "ALPS", "Zeta", "eta", "Omega"]
        for index in 0..<count {
            let stem = pick(stems) ?? "Alpha"
            var entity = Entity(name: "\(stem)\(index)")
            if index > 0, !chance(3) {
                entity.parent = entities[Int.random(in: 0..<index, using: &random)].name
            }
            entity.isAbstract = chance(5)
            if chance(4) { entity.className = "Class\(index)" }
            if chance(6) { entity.versionHashModifier = "modified" }
            entities.append(entity)
        }
    }

    /// Indexes of the entity, its ancestors and what inherits from it: those whose properties
    /// must differ in name from its own.
    private func relatives(of index: Int) -> [Int] {
        let above = ancestry(of: index)
        return entities.indices.filter { above.contains($0) || ancestry(of: $0).contains(index) }
    }

    private func ancestry(of index: Int) -> [Int] {
        var chain = [index]
        while let name = entities[chain[chain.count - 1]].parent,
            let parent = entities.firstIndex(where: { $0.name == name }),
            !chain.contains(parent)
        {
            chain.append(parent)
        }
        return chain
    }

    /// A name that is free in the entity's line of descent; siblings may share it, and so get
    /// columns with suffixes.
    private mutating func freeName(_ stems: [String], for index: Int) -> String {
        let taken = Set(relatives(of: index).flatMap { entities[$0].propertyNames })
        let stem = pick(stems) ?? "name"
        if !taken.contains(stem) { return stem }
        var suffix = 2
        while taken.contains("\(stem)\(suffix)") { suffix += 1 }
        return "\(stem)\(suffix)"
    }

    private static var types: [AttributeType] {
        [
            .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .string,
            .boolean, .date, .binary, .binary, .uuid, .uri, .transformable,
        ]
    }

    mutating func addAttributes() {
        let stems = ["text", "Text", "value", "count", "data", "date", "identifier", "flag"]
        for index in entities.indices {
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                let name = freeName(stems, for: index)
                var attribute = Attribute(
                    name: name, type: pick(Self.types) ?? .string, isOptional: !chance(3),
                    isTransient: chance(10), isIndexed: chance(5))
                if attribute.type == .binary {
                    attribute.allowsExternalBinaryDataStorage = chance(2)
                }
                attribute.preservesValueInHistoryOnDeletion = chance(8)
                if attribute.type == .integer16 { attribute.defaultValue = .integer(7) }
                if attribute.type == .boolean { attribute.defaultValue = .boolean(true) }
                entities[index].attributes.append(attribute)
            }
        }
    }

    /// Adds a relationship, as a rule with its inverse.
    mutating func addRelationship(_ number: Int) {
        let from = Int.random(in: entities.indices, using: &random)
        let to = Int.random(in: entities.indices, using: &random)
        let (there, back) = ("link\(number)", "back\(number)")
        let (isMany, isManyBack) = (chance(2), chance(2))
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            entities[from].relationships.append(
                side(there, to: to, inverse: nil, isMany: isMany))
        case 1:
            entities[from].relationships.append(
                side(there, to: from, inverse: there, isMany: isMany))
        default:
            entities[from].relationships.append(
                side(there, to: to, inverse: back, isMany: isMany))
            entities[to].relationships.append(
                side(back, to: from, inverse: there, isMany: isManyBack))
        }
    }

    private mutating func side(
        _ name: String, to destination: Int, inverse: String?, isMany: Bool
    ) -> Relationship {
        Relationship(
            name: name, destination: entities[destination].name, inverse: inverse,
            isOptional: !chance(4), maximumCount: isMany ? 0 : 1, isOrdered: isMany && chance(2),
            deleteRule: chance(2) ? .nullify : .cascade)
    }

    /// Adds key paths over to-ones and counts of one-to-manys.
    mutating func addDerivedAttributes() {
        for index in entities.indices {
            for relationship in entities[index].relationships where chance(3) {
                let target = entities.first { $0.name == relationship.destination }
                if relationship.isToMany {
                    let inverse = target?.relationships.first { $0.name == relationship.inverse }
                    guard let inverse, !inverse.isToMany else { continue }
                    derive(
                        .integer64, from: "\(relationship.name).@count", in: index)
                } else if let found = target?.attributes.first(where: {
                    !$0.isTransient && $0.derivation == nil && $0.type == .string
                }) {
                    derive(found.type, from: "\(relationship.name).\(found.name)", in: index)
                }
            }
        }
    }

    private mutating func derive(_ type: AttributeType, from expression: String, in index: Int) {
        let name = freeName(["derived"], for: index)
        entities[index].attributes.append(
            Attribute(name: name, type: type, derivation: Derivation(expression: expression)))
    }

    /// Adds fetch indexes of all kinds, compound indexes and uniqueness constraints.
    mutating func addIndexes() {
        for index in entities.indices {
            let stored = entities[index].attributes.filter {
                !$0.isTransient && $0.derivation == nil && $0.type != .transformable
            }
            for attribute in stored where attribute.isIndexed {
                addFetchIndex(attribute.name, [FetchIndexElement(.property(attribute.name))], index)
            }
            if let first = pick(stored), let second = pick(stored), first != second {
                let elements = [
                    FetchIndexElement(.property(first.name), isAscending: chance(2)),
                    FetchIndexElement(chance(3) ? .entity : .property(second.name)),
                ]
                addFetchIndex("compound", elements, index, condition: condition(on: first))
                entities[index].compoundIndexes = [[first.name, second.name]]
            }
            let numbers = stored.filter { [.double, .float].contains($0.type) }
            if let number = pick(numbers), chance(2) {
                let element = FetchIndexElement(.property(number.name), type: .rTree)
                addFetchIndex("area", [element], index)
            }
            let unique = stored.filter { $0.type.canDiffer(inRows: 10_000) && $0.type != .binary }
            if let attribute = pick(unique), chance(3) {
                entities[index].uniquenessConstraints = [[attribute.name]]
            }
        }
    }

    private mutating func condition(on attribute: Attribute) -> Predicate? {
        guard chance(2) else { return nil }
        let present = Predicate.compare(property: attribute.name, .notEqual, nil)
        guard attribute.type == .integer32 else { return present }
        return .or([present, .compare(property: attribute.name, .greaterThan, .integer(5))])
    }

    private mutating func addFetchIndex(
        _ name: String, _ elements: [FetchIndexElement], _ index: Int,
        condition: Predicate? = nil
    ) {
        // SQLite takes names that differ in case alone for the same.
        let taken = entities[index].fetchIndexes.map { $0.name.lowercased() }
        guard !taken.contains(name.lowercased()) else { return }
        entities[index].fetchIndexes.append(
            FetchIndex(name: name, elements: elements, partialPredicate: condition))
    }
}
