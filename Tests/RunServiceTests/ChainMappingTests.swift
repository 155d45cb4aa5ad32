import ManagedObjectModel
import MappingFiles
import MappingModel
import MigrationPlanning
import Testing

/// Mapping files for the steps of a chain.
@Suite("Chains: mapping files") struct ChainMappingTests {
    private func version(_ name: String, _ attribute: String) throws -> MappedWay.End {
        let model = try Model(entities: [
            Entity(
                name: "Note",
                attributes: [
                    Attribute(name: attribute, type: .string),
                    Attribute(name: "n", type: .integer32),
                ])
        ])
        return MappedWay.End(name: name, model: model, hashes: VersionHashes(model))
    }

    private func file(_ name: String, _ line: String) throws -> MappingChoice {
        let yaml =
            "godwit-mapping: 1\nentities:\n  - entity: Note\n    attributes:\n      \(line)\n"
        return MappingChoice(
            name: name,
            definition: try MappingFile(path: name, form: .yaml, bytes: Array(yaml.utf8))
                .definition)
    }

    private func way(_ files: MappingChoice...) throws -> MappedWay {
        let ends = [try version("1", "a"), try version("2", "b"), try version("3", "c")]
        var options = PlanOptions()
        options.mappings = files
        options.ways = VersionWays(
            [
                VersionWays.Version(
                    name: "2", model: ends[1].model, hashes: ends[1].hashes.entities)
            ], otherwise: [0])
        return try MappedWay(from: ends[0], to: ends[2], options: options, cache: PlanningCache())
    }

    @Test func eachStepTakesItsFile() throws {
        let found = try way(
            file("one.yaml", "b: uppercase($source.a)"), file("two.yaml", "c: $source.b"))
        let leg = try #require(found.legs.first)
        #expect(found.legs.count == 1)
        #expect(leg.mappingName == "one.yaml, two.yaml")
        #expect(leg.steps.map(\.version) == ["2", "3"])
        #expect(leg.steps.allSatisfy { $0.reasonToWrite == nil })
        let value = leg.inference.mapping.entityMappings.first?.attributes.first?.value
        #expect(value?.text == "uppercase:($source.a)")
    }

    /// A file that no step can take is not left aside, although another step has a file.
    @Test func aMistypedFileIsRefused() throws {
        let mismatch = #expect(throws: MappingMismatch.self) {
            try way(file("one.yaml", "b: $source.a"), file("two.yaml", "c: $source.bb"))
        }
        #expect(mismatch?.file == "two.yaml")
        #expect(mismatch.map { "\($0)" }?.contains("no property bb") == true)
    }

    @Test func aStepWithoutAMappingIsNamed() throws {
        let one = try version("1", "a")
        let models = [AttributeType.string, .date].map { type in
            Entity(name: "Note", attributes: [Attribute(name: "a", type: type)])
        }
        let two = try Model(entities: [models[1]])
        let three = try Model(entities: [models[0]])
        var options = PlanOptions()
        options.ways = VersionWays(
            [
                VersionWays.Version(
                    name: "2", model: two, hashes: VersionHashes(two).entities)
            ], otherwise: [0])
        let end = MappedWay.End(name: "3", model: three, hashes: VersionHashes(three))
        let error = #expect(throws: EngineError.self) {
            try MappedWay(from: one, to: end, options: options, cache: PlanningCache())
        }
        guard case .noMapping(let text) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(text.contains("step 1 → 2 has no mapping"))
    }
}
