import ManagedObjectModel
import MappingFiles
import MappingInference
import MappingModel
import TestSupport
import Testing

@Suite("Scaffolds of mapping files")
struct ScaffoldTests {
    /// What a scaffold says, as a mapping file is read.
    private func definition(_ source: Model, _ destination: Model) throws -> MappingDefinition {
        let text = YAMLMappingWriter.scaffold(
            from: source, to: destination, comments: ["a comment: with \"signs\""])
        return try MappingFile(path: "m.yaml", form: .yaml, bytes: Array(text.utf8)).definition
    }

    private func note(_ attributes: [(String, AttributeType)]) throws -> Model {
        try Model(entities: [
            Entity(
                name: "Note", attributes: attributes.map { Attribute(name: $0.0, type: $0.1) })
        ])
    }

    /// An entity with another one that inherits its only attribute.
    private func family(_ age: AttributeType) throws -> Model {
        try Model(entities: [
            Entity(name: "Person", attributes: [Attribute(name: "age", type: age)]),
            Entity(name: "Boss", parent: "Person"),
        ])
    }

    /// What inference refuses is stated, so that the file can be used as it is.
    @Test("a scaffold states type changes and names what goes")
    func typeChanges() throws {
        let source = try note([
            ("age", .integer16), ("body", .string), ("key", .string), ("price", .string),
            ("when", .date),
        ])
        let destination = try note([
            ("age", .string), ("key", .uuid), ("price", .decimal), ("when", .string),
        ])
        let text = YAMLMappingWriter.scaffold(from: source, to: destination, comments: [])
        #expect(text.contains("      age: convert\n"))
        #expect(text.contains("# dropped: body\n"))
        let stated = try definition(source, destination)
        let directed = try Inference(from: source, to: destination, by: stated)
        let values = try #require(directed.mapping.entityMappings.first).attributes.map(\.value)
        #expect(
            values.map(\.text) == [
                #"CONVERT($source.age, "string")"#, #"CONVERT($source.key, "uuid")"#,
                #"CONVERT($source.price, "decimal")"#, #"CONVERT($source.when, "string")"#,
            ])
    }

    /// What an entity inherits is stated for itself.
    @Test("a scaffold states type changes of inherited attributes")
    func inheritedTypeChanges() throws {
        let (source, destination) = (try family(.integer16), try family(.string))
        let directed = try Inference(
            from: source, to: destination, by: definition(source, destination))
        let values = directed.mapping.entityMappings.flatMap(\.attributes).map(\.value.text)
        #expect(values == [String](repeating: #"CONVERT($source.age, "string")"#, count: 2))
    }

    /// Where a file leaves an inherited attribute out, the mistake names the entity that lacks it.
    @Test("a mistake names the entity whose mapping lacks a type change")
    func lackingTypeChange() throws {
        let yaml = """
            godwit-mapping: 1
            entities:
              - entity: Person
                attributes: {age: convert}
              - entity: Boss
            """
        let stated = try MappingFile(path: "m.yaml", form: .yaml, bytes: Array(yaml.utf8))
            .definition
        let error = try #require(throws: (any Error).self) {
            try Inference(from: family(.integer16), to: family(.string), by: stated)
        }
        #expect("\(error)".contains("Boss.age"), "\(error)")
        #expect("\(error)".contains("in the entity mapping of Boss, as in age: convert"))
    }

    @Test("a scaffold names the version hashes of its entities if it is asked to")
    func hashes() throws {
        let entities = ["Gone", "Note"].map { name in
            Entity(name: name, attributes: [Attribute(name: "age", type: .integer16)])
        }
        let source = try Model(entities: entities)
        let destination = try Model(entities: [
            Entity(name: "Added", attributes: [Attribute(name: "on", type: .date)]), entities[1],
        ])
        let text = YAMLMappingWriter.scaffold(
            from: source, to: destination, comments: [], hasHashes: true)
        let mappings = try MappingFile(path: "m.yaml", form: .yaml, bytes: Array(text.utf8))
            .definition.entityMappings
        let (before, after) = (VersionHashes(source).entities, VersionHashes(destination).entities)
        #expect(mappings.count == 3)
        for mapping in mappings {
            #expect(mapping.sourceHash == mapping.source.flatMap { before[$0] })
            #expect(mapping.destinationHash == mapping.destination.flatMap { after[$0] })
        }
    }

    @Test("a scaffold gives the migration that inference gives", arguments: UInt64(1)...150)
    func scaffolds(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let entities = RandomModel.entities(&random, identifiers: seed % 2 == 0)
        let source = try Model(entities: entities)
        let destination = try Model(entities: RandomModel.changed(entities, &random))
        let stated = try definition(source, destination)
        let inferred: Inference
        do {
            inferred = try infer(source, destination)
        } catch {
            // Without identifiers everything can be inferred; where nothing can, the scaffold must
            // still be a mapping file.
            #expect(seed % 2 == 0, "\(error)")
            return
        }
        let directed = try Inference(from: source, to: destination, by: stated)
        #expect(directed.mapping == inferred.mapping)
        #expect(Set(directed.requirements) == Set(inferred.requirements))
        #expect(Set(directed.notes) == Set(inferred.notes))
    }
}
