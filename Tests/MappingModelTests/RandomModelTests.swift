import ManagedObjectModel
import MappingInference
import MappingModel
import TestSupport
import Testing

/// Properties of inference over models made from a seed.
@Suite("Inference: random models")
struct RandomModelTests {
    private static let seeds: [UInt64] = Array(1...60)

    @Test("a model onto itself is the identity", arguments: seeds)
    func identity(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let model = try Model(entities: RandomModel.entities(&random, identifiers: true))
        let inference = try infer(model, model)
        #expect(inference.mapping == .identity(model))
        #expect(inference.requirements.isEmpty)
        #expect(inference.notes.isEmpty)
    }

    @Test("renames with identifiers lose nothing", arguments: seeds)
    func renames(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let entities = RandomModel.entities(&random, identifiers: false)
        let renames = Renames(entities, &random)
        let source = try Model(entities: entities)
        let inference = try infer(source, Model(entities: entities.map(renames.apply)))
        #expect(inference.requirements.isEmpty)
        #expect(inference.notes.isEmpty)
        #expect(inference.mapping.entityMappings.count == entities.count)
        for mapping in inference.mapping.entityMappings {
            let from = try #require(mapping.source)
            #expect(mapping.destination == renames.names[from])
            for attribute in mapping.attributes {
                guard case .source(let name) = attribute.value else {
                    Issue.record("no source for \(attribute.destination)")
                    continue
                }
                #expect(renames.renamed(name) == attribute.destination)
            }
            for relationship in mapping.relationships {
                let name = try #require(relationship.source)
                #expect(renames.renamed(name) == relationship.destination)
            }
        }
    }

    @Test("the order of entities in a file does not matter", arguments: seeds)
    func deterministic(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let before = RandomModel.entities(&random, identifiers: true)
        let after = RandomModel.entities(&random, identifiers: true)
        let first = Result { try infer(Model(entities: before), Model(entities: after)) }
        let second = Result {
            try infer(
                Model(entities: before.shuffled(using: &random)),
                Model(entities: after.shuffled(using: &random)))
        }
        switch (first, second) {
        case (.success(let one), .success(let two)): #expect(one == two)
        case (.failure(let one), .failure(let two)):
            #expect(one as? InferenceError == two as? InferenceError)
            #expect((one as? InferenceError)?.refusals.isEmpty == false)
        default: Issue.record("one order is refused, the other is not")
        }
    }

    @Test("every stored property is mapped once, every source entity once", arguments: seeds)
    func complete(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let entities = RandomModel.entities(&random, identifiers: false)
        let before = try Model(entities: entities)
        let after = try Model(entities: RandomModel.changed(entities, &random))
        let inference = try infer(before, after)
        let expected = Mapping.identity(after).entityMappings
        let found = inference.mapping.entityMappings.filter { $0.destination != nil }
        #expect(found.map(\.destination) == expected.map(\.destination))
        for (one, two) in zip(found, expected) {
            #expect(one.attributes.map(\.destination) == two.attributes.map(\.destination))
            #expect(one.relationships.map(\.destination) == two.relationships.map(\.destination))
        }
        let sources = inference.mapping.entityMappings.compactMap(\.source)
        #expect(Set(sources) == Set(before.entities.keys))
        #expect(Set(sources).count == sources.count)
    }
}

/// Entities made from a seed: trees, attributes of all types, pairs of relationships.
enum RandomModel {
    static func entities(_ random: inout SeededGenerator, identifiers: Bool) -> [Entity] {
        let count = Int.random(in: 1...9, using: &random)
        var entities: [Entity] = []
        for index in 0..<count {
            var entity = Entity(name: "E\(index)")
            if index > 0, Bool.random(using: &random) {
                entity.parent = "E\(Int.random(in: 0..<index, using: &random))"
            }
            entity.isAbstract = Int.random(in: 0..<4, using: &random) == 0
            for number in 0..<Int.random(in: 0...5, using: &random) {
                entity.attributes.append(attribute("a\(index)x\(number)", &random))
            }
            entities.append(entity)
        }
        for number in 0..<Int.random(in: 0...(2 * count), using: &random) {
            addPair(number, to: &entities, &random)
        }
        if identifiers { identify(&entities, &random) }
        return entities
    }

    /// The entities after changes that can all be inferred: other parents, other attributes,
    /// other optionality, other numbers of links.
    static func changed(_ entities: [Entity], _ random: inout SeededGenerator) -> [Entity] {
        var changed = entities
        for index in changed.indices {
            if index > 0, Int.random(in: 0..<4, using: &random) == 0 {
                changed[index].parent = "E\(Int.random(in: 0..<index, using: &random))"
            }
            changed[index].attributes.removeAll { _ in
                Int.random(in: 0..<5, using: &random) == 0
            }
            if Bool.random(using: &random) {
                changed[index].attributes.append(attribute("new\(index)", &random))
            }
            for number in changed[index].attributes.indices {
                changed[index].attributes[number].isOptional = Bool.random(using: &random)
            }
            for number in changed[index].relationships.indices {
                changed[index].relationships[number].maximumCount =
                    Int32.random(in: 0...2, using: &random)
            }
        }
        return changed + [Entity(name: "Added")]
    }

    private static func attribute(_ name: String, _ random: inout SeededGenerator) -> Attribute {
        let types = AttributeType.allCases
        var attribute = Attribute(
            name: name, type: types[Int.random(in: 0..<types.count, using: &random)],
            isOptional: Bool.random(using: &random),
            isTransient: Int.random(in: 0..<6, using: &random) == 0)
        if attribute.type == .integer16, Bool.random(using: &random) {
            attribute.defaultValue = .integer(1)
        }
        if attribute.type == .composite {
            attribute.elements = [
                Attribute(name: "one", type: .string, isOptional: Bool.random(using: &random)),
                Attribute(name: "two", type: .double),
            ]
        }
        return attribute
    }

    private static func addPair(
        _ number: Int, to entities: inout [Entity], _ random: inout SeededGenerator
    ) {
        let from = Int.random(in: 0..<entities.count, using: &random)
        let to = Int.random(in: 0..<entities.count, using: &random)
        let isPair = Int.random(in: 0..<4, using: &random) > 0
        func side(_ name: String, _ destination: String, _ inverse: String?) -> Relationship {
            Relationship(
                name: name, destination: destination, inverse: inverse,
                isOptional: Bool.random(using: &random),
                maximumCount: Int32.random(in: 0...2, using: &random),
                isOrdered: Bool.random(using: &random))
        }
        let (there, back) = ("r\(number)", "s\(number)")
        entities[from].relationships.append(
            side(there, entities[to].name, isPair ? back : nil))
        if isPair { entities[to].relationships.append(side(back, entities[from].name, there)) }
    }

    /// Identifiers as real models have them: the name again, or an old name.
    private static func identify(
        _ entities: inout [Entity], _ random: inout SeededGenerator
    ) {
        func identifier(_ name: String) -> String? {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: name
            case 1: "old\(name)"
            case 2: String(name.dropLast()) + "1"
            default: nil
            }
        }
        for index in entities.indices {
            entities[index].renamingIdentifier = identifier(entities[index].name)
            for number in entities[index].attributes.indices {
                entities[index].attributes[number].renamingIdentifier = identifier(
                    entities[index].attributes[number].name)
            }
            for number in entities[index].relationships.indices {
                entities[index].relationships[number].renamingIdentifier = identifier(
                    entities[index].relationships[number].name)
            }
        }
    }
}

/// New names for everything in a model: a permutation of the old ones, so that swaps occur,
/// with some names that are new.
struct Renames {
    let names: [String: String]

    init(_ entities: [Entity], _ random: inout SeededGenerator) {
        var names: [String: String] = [:]
        let groups = [
            entities.map(\.name), entities.flatMap { $0.attributes.map(\.name) },
            entities.flatMap { $0.relationships.map(\.name) },
        ]
        for group in groups {
            let targets = group.shuffled(using: &random)
                .map { Bool.random(using: &random) ? $0 : "new\($0)" }
            for (old, new) in zip(group, targets) { names[old] = new }
        }
        self.names = names
    }

    /// The new name of a property; elements of composite attributes keep theirs.
    func renamed(_ path: String) -> String {
        guard let point = path.firstIndex(of: ".") else { return names[path] ?? path }
        return (names[String(path[..<point])] ?? "") + path[point...]
    }

    func apply(_ entity: Entity) -> Entity {
        var copy = entity
        copy.name = renamed(entity.name)
        copy.renamingIdentifier = entity.name
        copy.parent = entity.parent.map(renamed)
        for index in copy.attributes.indices {
            let old = copy.attributes[index].name
            copy.attributes[index].renamingIdentifier = old
            copy.attributes[index].name = renamed(old)
        }
        for index in copy.relationships.indices {
            let old = copy.relationships[index]
            copy.relationships[index].renamingIdentifier = old.name
            copy.relationships[index].name = renamed(old.name)
            copy.relationships[index].destination = renamed(old.destination)
            copy.relationships[index].inverse = old.inverse.map(renamed)
        }
        return copy
    }
}
