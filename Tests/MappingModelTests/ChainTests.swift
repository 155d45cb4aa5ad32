import ManagedObjectModel
import MappingExpressions
import MappingInference
import MappingModel
import Testing

@Suite("Chains of versions") struct ChainTests {
    private func note(_ attributes: Attribute...) throws -> Model {
        try model(Entity(name: "Note", attributes: attributes))
    }

    private func step(
        _ from: Model, _ to: Model, _ values: [String: String]
    ) throws -> Inference {
        let mapping = EntityMappingDefinition(
            source: "Note", destination: "Note",
            attributes: try values.map {
                PropertyMappingDefinition(
                    destination: $0.key,
                    value: .expression(try ExpressionParser.expression($0.value)))
            })
        return try Inference(
            from: from, to: to,
            by: MappingDefinition(entityMappings: [mapping], infersRest: true))
    }

    private func chain(_ source: Model, _ steps: (Model, Inference)...) throws -> Inference {
        let joined = JoinedSteps(
            from: source, named: "1",
            steps.enumerated().map { place, step in
                ChainStep(name: "\(place + 2)", destination: step.0, inference: step.1)
            })
        #expect(joined.obstacle == nil)
        #expect(joined.count == steps.count)
        return joined.inference
    }

    private func reasons(_ source: Model, _ steps: (Model, Inference)...) throws -> String {
        let joined = JoinedSteps(
            from: source, named: "1",
            steps.enumerated().map { place, step in
                ChainStep(name: "\(place + 2)", destination: step.0, inference: step.1)
            })
        #expect(joined.count == 1)
        #expect(joined.inference == steps.first?.1)
        return try #require(joined.obstacle).description
    }

    @Test("values go through renames, defaults and expressions")
    func values() throws {
        let one = try note(
            Attribute(name: "a", type: .string), Attribute(name: "n", type: .integer32))
        let two = try note(
            Attribute(name: "b", type: .string, renamingIdentifier: "a"),
            Attribute(
                name: "n", type: .integer32, isOptional: false, defaultValue: .integer(7)),
            Attribute(name: "new", type: .string, defaultValue: .text("x")))
        let three = try note(
            Attribute(name: "c", type: .string, renamingIdentifier: "b"),
            Attribute(name: "n", type: .integer32), Attribute(name: "m", type: .integer32),
            Attribute(name: "new", type: .string))
        let whole = try chain(
            one, (two, try infer(one, two)), (three, try step(two, three, ["m": "$source.n + 1"])))
        #expect(try whole.value("c", of: "Note") == .source("a"))
        #expect(try whole.value("n", of: "Note") == .sourceOrDefault("n", .integer(7)))
        #expect(try whole.value("new", of: "Note") == .constant(.text("x")))
        guard case .expression(let sum) = try whole.value("m", of: "Note") else {
            Issue.record("m is not computed")
            return
        }
        #expect(sum.text == "TERNARY($source.n == nil, 7, $source.n) + 1")
    }

    @Test("what an earlier step asks of the data is asked")
    func requirements() throws {
        let one = try note(Attribute(name: "a", type: .string))
        let two = try note(Attribute(name: "a", type: .string, isOptional: false))
        let three = try note(Attribute(name: "a", type: .string))
        let whole = try chain(one, (two, try infer(one, two)), (three, try infer(two, three)))
        #expect(whole.requirements.isEmpty)
        #expect(whole.earlier.map(\.name) == ["1 → 2"])
        #expect(
            whole.earlier.flatMap(\.requirements) == [
                .noMissingValue(
                    source: PropertyReference("Note", "a"),
                    destination: PropertyReference("Note", "a"))
            ])
    }

    @Test("what only the version in between checks cannot be joined")
    func computedInBetween() throws {
        let one = try note(Attribute(name: "a", type: .string))
        let two = try note(Attribute(name: "a", type: .integer32, isOptional: false))
        let three = try note(Attribute(name: "a", type: .integer32))
        let four = try note(Attribute(name: "z", type: .string))
        let first = try step(one, two, ["a": "CONVERT($source.a, 'integer32')"])
        #expect(
            try reasons(one, (two, first), (three, try infer(two, three)))
                .contains("required there alone"))
        #expect(try reasons(one, (two, first), (four, try infer(two, four))).contains("and goes"))
    }

    @Test("links that the version in between drops do not come back")
    func droppedLinks() throws {
        func versions(_ owner: String, _ others: Entity...) throws -> Model {
            try Model(
                entities: [
                    Entity(
                        name: "Note",
                        relationships: [Relationship(name: "owner", destination: owner)])
                ] + others)
        }
        let one = try versions(
            "Person",
            Entity(
                name: "Person",
                attributes: [
                    Attribute(name: "isMember", type: .boolean)
                ]))
        let two = try versions("Member", Entity(name: "Member"), Entity(name: "Guest"))
        let three = try versions(
            "Party", Entity(name: "Party", isAbstract: true),
            Entity(name: "Member", parent: "Party"), Entity(name: "Guest", parent: "Party"))
        let filter = try ExpressionParser.predicate("isMember == YES")
        let split = MappingDefinition(
            entityMappings: [
                EntityMappingDefinition(source: "Note", destination: "Note"),
                EntityMappingDefinition(source: "Person", destination: "Member", filter: filter),
                EntityMappingDefinition(
                    source: "Person", destination: "Guest", filter: .not(filter)),
            ], infersRest: true)
        let first = try Inference(from: one, to: two, by: split)
        #expect(
            try reasons(one, (two, first), (three, try infer(two, three)))
                .contains("could come back"))
    }
}
