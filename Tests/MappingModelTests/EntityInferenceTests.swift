import ManagedObjectModel
import MappingInference
import MappingModel
import Testing

@Suite("Inference: entities")
struct EntityInferenceTests {
    private let name = Attribute(name: "name", type: .string)

    @Test("an equal model is copied entity by entity")
    func equal() throws {
        let one = try model(
            Entity(name: "b", attributes: [name]), Entity(name: "A", attributes: [name]))
        let inference = try infer(one, one)
        #expect(inference.mapping == .identity(one))
        #expect(inference.mapping.entityMappings.map(\.name) == ["AToA", "bTob"])
        #expect(inference.mapping.entityMappings.allSatisfy { $0.kind == .copy })
        #expect(inference.requirements.isEmpty)
        #expect(inference.notes.isEmpty)
    }

    @Test("entities are added and removed; removals come last")
    func addedAndRemoved() throws {
        let inference = try infer(
            model(Entity(name: "A"), Entity(name: "B")),
            model(
                Entity(
                    name: "C",
                    attributes: [
                        Attribute(name: "n", type: .integer16, defaultValue: .integer(3)),
                        Attribute(name: "required", type: .string, isOptional: false),
                    ],
                    relationships: [
                        Relationship(name: "b", destination: "B", isOptional: false)
                    ]), Entity(name: "B")))
        let mappings = inference.mapping.entityMappings
        #expect(mappings.map(\.kind) == [.copy, .add, .remove])
        #expect(mappings.map(\.name) == ["BToB", "C", "A"])
        #expect(mappings[1].source == nil)
        #expect(mappings[2].destination == nil)
        #expect(try inference.value("n", of: "C") == .constant(.integer(3)))
        #expect(try inference.value("required", of: "C") == .null)
        // A new entity has no objects that could lack a value.
        #expect(inference.requirements.isEmpty)
        #expect(inference.notes.isEmpty)
    }

    @Test("a renamed entity is found by its identifier and is not a copy")
    func renamed() throws {
        let inference = try infer(
            model(Entity(name: "Old", attributes: [name])),
            model(Entity(name: "New", attributes: [name], renamingIdentifier: "Old")))
        let only = try #require(inference.mapping.entityMappings.first)
        #expect(inference.mapping.entityMappings.count == 1)
        #expect(only.name == "OldToNew")
        #expect(only.kind == .transform)
        #expect(only.source == "Old")
        #expect(only.keepsEveryProperty)
    }

    @Test("identifiers swap two names")
    func swapped() throws {
        let inference = try infer(
            model(Entity(name: "A"), Entity(name: "B")),
            model(
                Entity(name: "A", attributes: [name], renamingIdentifier: "B"),
                Entity(name: "B", renamingIdentifier: "A")))
        #expect(try inference.mapping(to: "A").source == "B")
        #expect(try inference.mapping(to: "B").source == "A")
        #expect(inference.mapping.entityMappings.allSatisfy { $0.kind == .transform })
    }

    @Test("two entities that claim one source are refused")
    func ambiguous() throws {
        let refused = try refusals(
            model(Entity(name: "A")),
            model(
                Entity(name: "B", renamingIdentifier: "A"),
                Entity(name: "C", renamingIdentifier: "A")))
        #expect(refused.map(\.rule) == [.ambiguousIdentifier])
        #expect(refused.first?.entity == "B")
        #expect(refused.first?.property == nil)
        #expect(refused.first?.explanation.contains("B or C") == true)
    }

    @Test("properties move up into a new parent and down into a sub-entity")
    func movedInHierarchy() throws {
        let flat = try model(
            Entity(name: "Cat", attributes: [name]), Entity(name: "Dog", attributes: [name]))
        let tree = try model(
            Entity(name: "Animal", isAbstract: true, attributes: [name]),
            Entity(name: "Cat", parent: "Animal"), Entity(name: "Dog", parent: "Animal"))
        let up = try infer(flat, tree)
        #expect(try up.value("name", of: "Cat") == .source("name"))
        #expect(try up.value("name", of: "Dog") == .source("name"))
        #expect(try up.mapping(to: "Cat").kind == .transform)
        #expect(try up.mapping(to: "Animal").kind == .add)
        #expect(up.requirements.isEmpty)
        #expect(up.notes == [.tablesJoined(root: "Animal", sourceRoots: ["Cat", "Dog"])])

        let down = try infer(tree, flat)
        #expect(try down.value("name", of: "Cat") == .source("name"))
        #expect(down.mapping.entityMappings.map(\.kind) == [.transform, .transform, .remove])
        #expect(down.requirements.isEmpty)
        #expect(down.notes.isEmpty)
    }

    @Test("a property that only a sub-entity keeps is carried for that")
    func lostProperty() throws {
        let before = try model(
            Entity(name: "Base", attributes: [name]), Entity(name: "Leaf", parent: "Base"))
        let moved = try model(
            Entity(name: "Base"), Entity(name: "Leaf", parent: "Base", attributes: [name]))
        #expect(try infer(before, moved).value("name", of: "Leaf") == .source("name"))
    }

    @Test("a concrete entity that becomes abstract must have no objects")
    func becomesAbstract() throws {
        let inference = try infer(
            model(Entity(name: "A")), model(Entity(name: "A", isAbstract: true)))
        #expect(
            inference.requirements == [.noObjects(entity: "A", reason: .abstractEntity("A"))])
        let back = try infer(
            model(Entity(name: "A", isAbstract: true)), model(Entity(name: "A")))
        #expect(back.requirements.isEmpty)
    }

    @Test("what is not stored does not keep an entity from being a copy")
    func copyByContent() throws {
        let before = try model(Entity(name: "A", className: "One", attributes: [name]))
        var changed = name
        changed.userInfo = ["key": "value"]
        changed.isIndexed = true
        changed.renamingIdentifier = "name"
        let after = try model(
            Entity(
                name: "A", className: "Two",
                attributes: [changed, Attribute(name: "t", type: .string, isTransient: true)],
                fetchedProperties: ["f"], compoundIndexes: [["name"]]))
        #expect(try infer(before, after).mapping(to: "A").kind == .copy)
        changed.allowsExternalBinaryDataStorage = true
        let external = try infer(before, model(Entity(name: "A", attributes: [changed])))
        #expect(try external.mapping(to: "A").kind == .transform)
        #expect(try external.value("name", of: "A") == .source("name"))
    }

    @Test("a change in a parent makes its sub-entities a transform")
    func changedParent() throws {
        let inference = try infer(
            model(Entity(name: "Base"), Entity(name: "Leaf", parent: "Base")),
            model(
                Entity(name: "Base", attributes: [name]), Entity(name: "Leaf", parent: "Base")))
        #expect(try inference.mapping(to: "Leaf").kind == .transform)
        #expect(try inference.value("name", of: "Leaf") == .null)
    }

    @Test("names of mappings differ even where entities imitate them")
    func mappingNames() throws {
        let inference = try infer(
            model(Entity(name: "A")),
            model(Entity(name: "B", renamingIdentifier: "A"), Entity(name: "AToB")))
        let names = inference.mapping.entityMappings.map(\.name)
        #expect(Set(names).count == names.count)
    }

    @Test("uniqueness is demanded where a constraint is new or reaches further")
    func uniqueness() throws {
        let plain = try model(Entity(name: "A", attributes: [name]))
        let unique = try model(
            Entity(name: "A", attributes: [name], uniquenessConstraints: [["name"]]))
        let demand = DataRequirement.unique(entity: "A", attributes: ["name"])
        #expect(try infer(plain, unique).requirements == [demand])
        #expect(try infer(unique, unique).requirements.isEmpty)
        #expect(try infer(unique, plain).requirements.isEmpty)
        let renamed = try model(
            Entity(
                name: "A",
                attributes: [Attribute(name: "title", type: .string, renamingIdentifier: "name")],
                uniquenessConstraints: [["title"]]))
        #expect(try infer(unique, renamed).requirements.isEmpty)

        let separate = try model(
            Entity(name: "A", attributes: [name], uniquenessConstraints: [["name"]]),
            Entity(name: "B", attributes: [name], uniquenessConstraints: [["name"]]))
        let joined = try model(
            Entity(name: "Base", attributes: [name], uniquenessConstraints: [["name"]]),
            Entity(name: "A", parent: "Base"), Entity(name: "B", parent: "Base"))
        #expect(
            try infer(separate, joined).requirements
                == [.unique(entity: "Base", attributes: ["name"])])
    }
}
