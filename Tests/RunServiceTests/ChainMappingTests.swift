import CoreDataStore
import Foundation
import GRDB
import Godwit
import Jobs
import ManagedObjectModel
import MappingFiles
import MappingInference
import MappingModel
import MigrationPlanning
import MigrationPlans
import MigrationValidation
import StoreForge
import StoreRuns
import TestSupport
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

    @Test("a file without versions that several steps would take is refused")
    func repeatedFile() throws {
        let (one, two, three) = (
            try version("1", "a"), try versionWithExtra("2", "x"), try versionWithExtra("3", "y")
        )
        var options = PlanOptions()
        options.mappings = [try file("twice.yaml", "n: $source.n * 100")]
        options.ways = VersionWays(
            [VersionWays.Version(name: "2", model: two.model, hashes: two.hashes.entities)],
            otherwise: [0])
        let error = #expect(throws: EngineError.self) {
            try MappedWay(from: one, to: three, options: options, cache: PlanningCache())
        }
        #expect(error?.cause == .noMapping)
        #expect(error?.description.contains("twice.yaml fits the steps 1 → 2 and 2 → 3") == true)
        // Also with hashes that both steps have.
        let hash = two.hashes.entities["Note"]
        options.mappings[0].definition.entityMappings[0].sourceHash = nil
        options.mappings[0].definition.entityMappings[0].destinationHash = hash
        let bound = try MappedWay(from: one, to: three, options: options, cache: PlanningCache())
        #expect(bound.legs.flatMap(\.steps).map(\.mapping) == ["twice.yaml", nil])
        options.mappings[0].definition.entityMappings[0].destinationHash = nil
        options.ways = VersionWays()
        let way = try MappedWay(from: one, to: three, options: options, cache: PlanningCache())
        #expect(way.legs.flatMap(\.steps).compactMap(\.mapping) == ["twice.yaml"])
    }

    private func versionWithExtra(_ name: String, _ extra: String) throws -> MappedWay.End {
        let model = try Model(entities: [
            Entity(
                name: "Note",
                attributes: ["a", extra].map { Attribute(name: $0, type: .string) }
                    + [Attribute(name: "n", type: .integer32)])
        ])
        return MappedWay.End(name: name, model: model, hashes: VersionHashes(model))
    }

    private func ways(through model: Model) -> VersionWays {
        VersionWays(
            [
                VersionWays.Version(
                    name: "2", model: model, hashes: VersionHashes(model).entities)
            ], otherwise: [0])
    }

    /// The version after the one that a policy gives, or before the one that it takes.
    private func changed(_ model: Model) throws -> Model {
        try Model(
            entities: model.numberedEntities.map { entity in
                guard entity.name == "Note" else { return entity }
                var entity = entity
                entity.attributes.append(Attribute(name: "zone", type: .string))
                return entity
            })
    }

    @Test("a policy in the last step reads the store that was written before it")
    func policyAtTheEnd() throws {
        var first: [[DatabaseValue]]?
        for strategy in [MigrationPlans.Strategy.whole, .partitioned] {
            try StoreLab.run { lab in
                var recipe = ForgeRecipe(model: try changed(PolicyLab.source()), seed: 3)
                recipe.rows = ["Note": 200, "Person": 9]
                try lab.forge(recipe)
                try lab.damage("UPDATE ZNOTE SET ZSCORE = Z_PK % 50, ZTAG = 'tag ' || Z_PK % 7")
                var options = try PolicyLab.options(strategy)
                options.ways = ways(through: try PolicyLab.source())
                let outcome = try lab.migrate(
                    to: .model(DestinationModel(model: PolicyLab.destination())),
                    options: options, policies: [NotePolicy.self])
                #expect(outcome.result.steps.map { $0.reasonToWrite != nil } == [true, false])
                #expect(outcome.validation.losses.map(\.subject.name).contains("Note.zone"))
                let rows = try PolicyLab.rows(lab)
                #expect(rows.count > 200)
                if let first { #expect(rows == first) }
                first = first ?? rows
            }
        }
    }

    @Test("a policy before other steps gives a store that they read")
    func policyInBetween() throws {
        try StoreLab.run { lab in
            try PolicyLab.forge(lab)
            _ = try lab.migrate(
                to: .model(DestinationModel(model: PolicyLab.destination())),
                options: PolicyLab.options(.whole), policies: [NotePolicy.self])
            let alone = try PolicyLab.rows(lab)
            try FileManager.default.removeItem(at: lab.output)
            for strategy in [MigrationPlans.Strategy.whole, .partitioned] {
                var options = try PolicyLab.options(strategy)
                let (from, to) = (try PolicyLab.source(), try PolicyLab.destination())
                options.ways = ways(through: to)
                // It fits both steps, and is for the first.
                options.mappings[0].definition.entityMappings[0].sourceHash =
                    VersionHashes(from).entities["Note"]
                options.mappings[0].definition.entityMappings[0].destinationHash =
                    VersionHashes(to).entities["Note"]
                let outcome = try lab.migrate(
                    to: .model(DestinationModel(model: changed(PolicyLab.destination()))),
                    options: options, policies: [NotePolicy.self])
                #expect(outcome.plan.strategy == .whole)
                #expect(outcome.plan.leg == 1)
                let rows = try PolicyLab.rows(lab)
                // Notes have one more column, and nothing else differs.
                let cells = rows.reduce(0) { $0 + $1.count }
                let cellsAlone = alone.reduce(0) { $0 + $1.count }
                #expect(cells == cellsAlone + 300)
                let others = rows.filter { $0.count < 8 }
                let othersAlone = alone.filter { $0.count < 8 }
                #expect(others == othersAlone)
                try FileManager.default.removeItem(at: lab.output)
            }
        }
    }

    @Test("objects that a policy makes and a later step drops are a loss")
    func lostObjectsOfAPolicy() throws {
        try StoreLab.run { lab in
            try PolicyLab.forge(lab)
            var options = try PolicyLab.options(.whole)
            options.ways = ways(through: try PolicyLab.destination())
            let last = try Model(
                entities: PolicyLab.destination().numberedEntities.compactMap { entity in
                    guard entity.name != "Tag" else { return nil }
                    var entity = entity
                    entity.relationships.removeAll { $0.destination == "Tag" }
                    return entity
                })
            // The file names a relationship that the last version has not, and fits one step.
            let outcome = try lab.migrate(
                to: .model(DestinationModel(model: last)), options: options,
                policies: [NotePolicy.self])
            let losses = outcome.validation.losses
            let tags = losses.first { $0.subject.kind == .entity && $0.subject.entity == "Tag" }
            #expect(tags?.count == 23, "\(outcome.validation.lines)")
        }
    }
}
