import CoreDataStore
import DurableFiles
import Foundation
import ManagedObjectModel
@testable import ModelCommands
import RunReports
import TestSupport
import Testing

@testable import CommandSupport
@testable import RunCommands

@Suite struct ModelArgumentTests {
    @Test(arguments: [
        ("self", ModelArgument.Form.itself),
        ("./self", .store("./self")),
        ("a/M.xcdatamodel", .source("a/M.xcdatamodel")),
        ("a/M.xcdatamodel/", .source("a/M.xcdatamodel")),
        ("a/M.xcdatamodel/contents", .source("a/M.xcdatamodel/contents")),
        ("a/M.xcdatamodeld/V 2.xcdatamodel", .source("a/M.xcdatamodeld/V 2.xcdatamodel")),
        ("a/M.xcdatamodeld", .sourceBundle("a/M.xcdatamodeld", version: nil)),
        ("a/M.xcdatamodeld//", .sourceBundle("a/M.xcdatamodeld", version: nil)),
        ("a/M.xcdatamodeld:V 2", .sourceBundle("a/M.xcdatamodeld", version: "V 2")),
        ("a/M.xcdatamodeld/:V:2", .sourceBundle("a/M.xcdatamodeld", version: "V:2")),
        ("b:c/M.momd", .compiledBundle("b:c/M.momd", version: nil)),
        ("b:c/M.momd:V", .compiledBundle("b:c/M.momd", version: "V")),
        ("M.momd/V.mom", .compiled("M.momd/V.mom")),
        ("M.momd:", .store("M.momd:")),
        ("M.momd:x/store.sqlite", .store("M.momd:x/store.sqlite")),
        ("store.sqlite", .store("store.sqlite")),
        ("/", .store("/")),
    ])
    func formsAreToldByTheText(_ text: String, _ form: ModelArgument.Form) {
        #expect(ModelArgument(text).form == form)
    }

    private func load(_ text: String, _ folder: URL) throws -> LoadedModel {
        try ModelArgument(text).load(scratch: FilePath(folder.path))
    }

    private func failure(_ text: String, _ folder: URL) throws -> CommandFailure {
        try #require(throws: CommandFailure.self) { try load(text, folder) }
    }

    @Test func sourcesAreReadWithAndWithoutVersion() throws {
        try withTemporaryFolder { folder in
            let bundle = folder.appendingPathComponent("M.xcdatamodeld")
            for version in ["1", "2"] {
                try Samples.makeSource(
                    at: bundle.appendingPathComponent("V\(version).xcdatamodel"),
                    attribute: "text\(version)")
            }
            let second = try load("\(bundle.path):V2", folder).model
            #expect(second.entities["Note"]?.attributes.map(\.name) == ["text2"])
            let first = try load("\(bundle.path)/V1.xcdatamodel/contents", folder)
            #expect(first.model.entities["Note"]?.attributes.map(\.name) == ["text1"])
            #expect(first.storedHashes == nil)
            #expect(first.warnings.isEmpty)
            let unnamed = try failure(bundle.path, folder)
            #expect(unnamed.status == .usage)
            #expect(unnamed.description.contains("V1, V2"))
            #expect(try failure("\(bundle.path):V3", folder).status == .usage)
        }
    }

    @Test func storedHashesOfCompiledModelsTakePrecedence() throws {
        try withTemporaryFolder { folder in
            let right = VersionHashes(try Samples.garage()).entities
            let whole = folder.appendingPathComponent("Right.momd")
            try Samples.makeCompiled(at: whole, hashes: right)
            let loaded = try load(whole.path, folder)
            #expect(loaded.warnings.isEmpty)
            #expect(loaded.hashes.entities == right)

            var wrong = right
            wrong["Car"] = Array(repeating: 7, count: 32)
            let differing = folder.appendingPathComponent("Wrong.momd")
            try Samples.makeCompiled(at: differing, hashes: wrong)
            let odd = try load("\(differing.path):Garage", folder)
            #expect(odd.hashes.entities == wrong)
            #expect(try odd.destination().hashes.entities == wrong)
            #expect(odd.warnings.count == 1)
            #expect(odd.warnings.first?.contains("hashes of Car differ") == true)

            let alone = try load("\(differing.path)/Garage.mom", folder)
            #expect(alone.hashes.entities == right)
            #expect(alone.model == loaded.model)
        }
    }

    @Test func storesAreTemplates() throws {
        try withTemporaryFolder { folder in
            let store = try Samples.makeStore(at: folder.appendingPathComponent("a.sqlite"))
            let loaded = try load(store.description, folder)
            #expect(loaded.model.entities.keys.sorted() == ["Car", "Person", "SportCar"])
            #expect(loaded.framework == .newestVerified)
            #expect(loaded.storedHashes == VersionHashes(loaded.model).entities)
            let destination = try loaded.destination()
            #expect(destination.templateFramework == .newestVerified)
            #expect(destination.modelCache == loaded.modelCache)
        }
    }

    @Test func whatIsNoModelIsRefused() throws {
        try withTemporaryFolder { folder in
            let text = folder.appendingPathComponent("text")
            try Data("no database".utf8).write(to: text)
            let fake = folder.appendingPathComponent("fake.mom")
            try Data("no archive".utf8).write(to: fake)
            #expect(try failure("self", folder).status == .usage)
            #expect(try failure(folder.path, folder).status == .usage)
            #expect(try failure("\(folder.path)/absent.mom", folder).status == .usage)
            #expect(try failure("\(folder.path)/absent.sqlite", folder).status == .usage)
            #expect(try failure(text.path, folder).status == .badData)
            #expect(try failure(fake.path, folder).status == .badData)
            // What was read for a look leaves nothing behind.
            let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(left.sorted() == ["fake.mom", "text"])
        }
    }
}
