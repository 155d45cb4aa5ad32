import Foundation
import ManagedObjectModel
import MappingExpressions
import MappingFiles
import MappingModel
import ModelFiles
import TestSupport
import Testing

/// Mapping models that Xcode wrote.
@Suite(.enabled(if: Fixtures.available, Fixtures.absence))
struct FixtureMappingTests {
    /// Every mapping file of the fixtures, relative to them.
    private static func files(ending: String) throws -> [String] {
        let root = try #require(Fixtures.folder)
        let found = FileManager.default.enumerator(atPath: root.path)
        return (found?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(ending) }.sorted()
    }

    private static func file(_ path: String) throws -> MappingFile {
        let root = try #require(Fixtures.folder)
        return try MappingFile(path: root.appendingPathComponent(path).path)
    }

    @Test func everyMappingModelIsRead() throws {
        let files = try Self.files(ending: ".xcmappingmodel")
        #expect(files.count == 11)
        for path in files {
            let file = try Self.file(path)
            #expect(!file.definition.entityMappings.isEmpty, "\(path)")
            #expect(file.embedded?.source?.entities.isEmpty == false, "\(path)")
            #expect(file.embedded?.destination?.entities.isEmpty == false, "\(path)")
            #expect(file.warnings.isEmpty, "\(path)")
        }
    }

    @Test func yamlReadsBackAsTheSameMapping() throws {
        let files = try Self.files(ending: ".xcmappingmodel") + Self.files(ending: ".cdm")
        #expect(files.count == 12)
        for path in files {
            let definition = try Self.file(path).definition
            let text = YAMLMappingWriter.text(definition)
            let back = try MappingFile(path: "m.yaml", form: .yaml, bytes: Array(text.utf8))
            #expect(back.definition.withoutPositions == definition.withoutPositions, "\(path)")
        }
    }

    /// What Xcode compiled of a mapping model equals what follows from its source file.
    @Test func compiledFormEqualsCompletedSource() throws {
        let root = try #require(Fixtures.folder)
            .appendingPathComponent("alemar11-CoreDataPlus/Tests/Resources/SampleModel")
        let bundle = root.appendingPathComponent("SampleModel.xcdatamodeld")
        let source = try ModelBundle.read(bundle, version: "SampleModel2")
        let destination = try ModelBundle.read(bundle, version: "SampleModel3")
        let written = try MappingFile(
            path: root.appendingPathComponent("MappingModels/V2toV3.xcmappingmodel").path)
        let compiled = try MappingFile(
            path: root.appendingPathComponent("Fixtures/V2toV3.cdm").path)
        let completed = written.definition.completed(from: source, to: destination)
            .withoutPositions
        let expected = compiled.definition
        #expect(completed.entityMappings.count == 5)
        for (own, other) in zip(completed.entityMappings, expected.entityMappings) {
            #expect(own == other, "\(other.effectiveName)")
        }
    }
}
