import Foundation
import ManagedObjectModel
import MappingInference
import MappingModel
import Testing

@Suite("Mapping values")
struct MappingTextTests {
    private func example() throws -> Inference {
        try infer(
            model(
                Entity(
                    name: "Person",
                    attributes: [
                        Attribute(name: "name", type: .string),
                        Attribute(name: "age", type: .integer16),
                    ]), Entity(name: "Same"), Entity(name: "Gone")),
            model(
                Entity(
                    name: "Human",
                    attributes: [
                        Attribute(name: "title", type: .string, renamingIdentifier: "name"),
                        Attribute(
                            name: "age", type: .integer16, isOptional: false,
                            defaultValue: .integer(0)),
                        Attribute(name: "photo", type: .binary, defaultValue: .data([1, 2])),
                    ], relationships: [Relationship(name: "friend", destination: "Human")],
                    renamingIdentifier: "Person"), Entity(name: "Same"), Entity(name: "New")))
    }

    @Test("the lines name what changes")
    func lines() throws {
        #expect(
            try example().mapping.lines == [
                "transform Person -> Human", "  age = age, else 0", "  photo = 2 bytes",
                "  title = name", "  friend = no links of its own", "add New", "copy Same",
                "remove Gone",
            ])
        let custom = EntityMapping(
            name: "AToA", kind: .custom(PolicyDeclaration(className: "App.Policy")),
            source: "A",
            destination: "A")
        #expect(custom.lines == ["custom A by App.Policy"])
    }

    @Test("an inference survives encoding")
    func coding() throws {
        let inference = try example()
        let data = try JSONEncoder().encode(inference)
        #expect(try JSONDecoder().decode(Inference.self, from: data) == inference)
    }

    @Test("every requirement says names, count, rule and remedy")
    func requirementTexts() {
        let (a, b) = (PropertyReference("A", "p"), PropertyReference("B", "q"))
        let bounds = LinkBounds(Relationship(name: "q", destination: "A", isOptional: false))
        let requirements: [DataRequirement] = [
            .noObjects(entity: "A", reason: .requiredAttribute(b)),
            .noObjects(entity: "A", reason: .requiredRelationship(b)),
            .noObjects(entity: "A", reason: .abstractEntity("B")),
            .noMissingValue(source: a, destination: b), .atMostOne(source: a, destination: b),
            .linkCount(source: a, destination: b, bounds: bounds),
            .distinctTargets(source: a, destination: b),
            .noTargets(source: a, destination: b, ofEntities: ["A", "C"]),
            .unique(entity: "B", attributes: ["q", "A"]),
        ]
        for requirement in requirements {
            let text = requirement.refusal(count: 41)
            for part in [
                "A", "B", "41", "(rule: \(requirement.rule))", "or use a version in between",
            ] {
                #expect(text.contains(part), "\(part) in \(text)")
            }
        }
        #expect(Set(requirements.map(\.rule)).count == requirements.count)
        #expect(requirements[0].refusal(count: 1).contains("has 1 object, but"))
    }

    @Test("every note names what it is about")
    func noteTexts() {
        let property = PropertyReference("A", "p")
        let notes: [InferenceNote] = [
            .linksDropped(property, ofEntities: ["C"]),
            .derivedLater(property), .derivationChanged(property), .transformerChanged(property),
            .orderAssigned(property), .orderDropped(property),
        ]
        #expect(notes.allSatisfy { $0.description.contains("A.p") })
        #expect(Set(notes.map(\.description)).count == notes.count)
        let joined = InferenceNote.tablesJoined(root: "R", sourceRoots: ["A", "B"])
        #expect(joined.description.contains("A, B now share the table of R"))
    }
}
