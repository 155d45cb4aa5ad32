import ManagedObjectModel
import MappingInference
import MappingModel
import Testing

/// Models with equal version hashes: Core Data opens a store of one with the other as it is.
@Suite("Inference: models of one version")
struct SameVersionTests {
    @Test("renaming identifiers that exchange properties change nothing")
    func exchangedProperties() throws {
        let one = try model(
            Entity(
                name: "Point",
                attributes: [
                    Attribute(name: "x", type: .string), Attribute(name: "y", type: .string),
                ],
                relationships: [
                    Relationship(name: "next", destination: "Point"),
                    Relationship(name: "other", destination: "Point"),
                ]))
        let two = try model(
            Entity(
                name: "Point",
                attributes: [
                    Attribute(name: "x", type: .string, renamingIdentifier: "y"),
                    Attribute(name: "y", type: .string, renamingIdentifier: "x"),
                ],
                relationships: [
                    Relationship(name: "next", destination: "Point", renamingIdentifier: "other"),
                    Relationship(name: "other", destination: "Point", renamingIdentifier: "next"),
                ]))
        #expect(VersionHashes(one).entities == VersionHashes(two).entities)
        let inference = try infer(one, two)
        #expect(inference.mapping == .identity(one))
        #expect(inference.requirements.isEmpty)
        #expect(inference.notes.isEmpty)
    }

    @Test("renaming identifiers that exchange entities change nothing")
    func exchangedEntities() throws {
        let one = try model(Entity(name: "A"), Entity(name: "B"))
        let two = try model(
            Entity(name: "A", renamingIdentifier: "B"), Entity(name: "B", renamingIdentifier: "A"))
        #expect(try infer(one, two).mapping == .identity(one))
    }

    @Test("identifiers that no one could tell apart do not refuse a store of the version")
    func ambiguousIdentifiers() throws {
        let attributes = ["x", "y"].map {
            Attribute(name: $0, type: .string, renamingIdentifier: "z")
        }
        let one = try model(
            Entity(
                name: "A",
                attributes: ["x", "y"].map { Attribute(name: $0, type: .string) }))
        #expect(
            try infer(one, model(Entity(name: "A", attributes: attributes))).mapping
                == .identity(one))
    }

    @Test("one entity of another version makes identifiers count again")
    func otherVersion() throws {
        let one = try model(
            Entity(
                name: "A",
                attributes: ["x", "y"].map { Attribute(name: $0, type: .string) }))
        let two = try model(
            Entity(
                name: "A",
                attributes: [
                    Attribute(name: "x", type: .string, renamingIdentifier: "y"),
                    Attribute(name: "y", type: .string, renamingIdentifier: "x"),
                    Attribute(name: "z", type: .string),
                ]))
        #expect(try infer(one, two).value("x", of: "A") == .source("y"))
    }
}
