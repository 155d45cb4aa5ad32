import DurableFiles
import Foundation
import FoundationXML
import ModelFiles
import StoreForge
import TestSupport
import Testing

/// Commands that gate a build: their exit codes and formats, as a build server sees them.
@Suite struct GateProcessTests {
    private let processes = ProcessTests()

    private func withStores(_ body: (URL) throws -> Void) throws {
        try withTemporaryFolder { folder in
            let stores = folder.appendingPathComponent("stores")
            try FileManager.default.createDirectory(at: stores, withIntermediateDirectories: true)
            let store = stores.appendingPathComponent("a.sqlite")
            _ = try Samples.makeStore(at: store)
            try body(folder)
        }
    }

    private func run(_ words: String, in folder: URL) throws -> ProcessTests.Ended {
        try processes.run(words.split(separator: " ").map(String.init), in: folder)
    }

    private static let options = "--to self --allow-missing-external"

    @Test func aPlanOfAllStoresEndsWithZero() throws {
        try withStores { folder in
            let ended = try run("plan stores \(Self.options)", in: folder)
            #expect(ended.status == 0, "\(ended.log)")
        }
    }

    @Test func aPlanEndsAsAMigrationWould() throws {
        try withStores { folder in
            // A link to nothing may stand for a store, and a list may name one that is gone.
            try FileManager.default.createSymbolicLink(
                atPath: folder.appendingPathComponent("stores/b.sqlite").path,
                withDestinationPath: "gone.sqlite")
            try Data("stores/a.sqlite\nmissing.sqlite\n".utf8)
                .write(to: folder.appendingPathComponent("list.txt"))
            for (number, words) in ["stores", "--stores list.txt"].enumerated() {
                let plan = try run("plan \(words) \(Self.options)", in: folder)
                let migrate = try run(
                    "migrate \(words) \(Self.options) --output out\(number)", in: folder)
                #expect(plan.status == 75, "\(words): \(plan.log)")
                #expect(migrate.status == 75, "\(words): \(migrate.log)")
                let json = try run("plan \(words) \(Self.options) --format json", in: folder)
                #expect(json.status == 75)
                let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8))
                let skipped = (object as? [String: Any])?["skipped"] as? [[String: Any]]
                #expect(skipped?.count == 1)
                #expect((skipped?.first?["reason"] as? String)?.isEmpty == false)
            }
        }
    }

    @Test func plansAreTests() throws {
        try withStores { folder in
            try Data("SQLite format 3\0 and no more".utf8)
                .write(to: folder.appendingPathComponent("stores/b.sqlite"))
            let junit = try run("plan stores \(Self.options) --format junit", in: folder)
            #expect(junit.status == 75)
            #expect(junit.output.contains("tests=\"2\" failures=\"1\""))
            #expect(XMLParser(data: Data(junit.output.utf8)).parse())
            let github = try run("plan stores \(Self.options) --format github", in: folder)
            #expect(github.status == 75)
            #expect(github.output.contains("::error file="))
            #expect(github.output.hasSuffix("godwit plan: 1 of 2 cases passed\n"))
        }
    }

    @Test func modelsAreChecked() throws {
        try withTemporaryFolder { folder in
            let bundle = folder.appendingPathComponent("M.xcdatamodeld")
            for (name, attribute) in [("1", "old"), ("2", "new")] {
                try Samples.makeSource(
                    at: bundle.appendingPathComponent("V\(name).xcdatamodel"),
                    attribute: attribute)
            }
            let check = "model check M.xcdatamodeld:V2"
            #expect(try run(check, in: folder).status == 0)
            #expect(try run("\(check) --losses refuse", in: folder).status == 65)
            let accepted = "\(check) --losses refuse --accept-loss Note.old"
            #expect(try run(accepted, in: folder).status == 0)
            #expect(try run("model check M.xcdatamodeld", in: folder).status == 64)
            #expect(try run("\(check) --json --format junit", in: folder).status == 64)
            let json = try run("\(check) --json", in: folder)
            let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8))
            let versions = try #require(
                (object as? [String: Any])?["versions"] as? [[String: Any]])
            #expect(versions.map { $0["verdict"] as? String } == ["inferred", "same"])
            let losses = try #require(versions[0]["losses"] as? [[String: String]])
            #expect(losses == [["entity": "Note", "property": "old", "kind": "attribute"]])
            let mistyped = try run("model check M.xcdatamodeld:W2 --format github", in: folder)
            #expect(mistyped.status == 64)
            #expect(mistyped.output.hasPrefix("::error title=godwit model check%3A usage::"))
            #expect(mistyped.log.contains("Did you mean V2"))
        }
    }

    /// A command that accepts what an earlier one refused takes over the earlier results; one that
    /// refuses what an earlier one accepted does not.
    @Test func anotherPolicyTakesOverWhatItWouldNotRefuse() throws {
        try withTemporaryFolder { folder in
            let versions = ["old", "new"]
            for name in versions {
                try Samples.makeSource(
                    at: folder.appendingPathComponent("\(name).xcdatamodel"), attribute: name)
            }
            let stores = folder.appendingPathComponent("stores")
            try FileManager.default.createDirectory(at: stores, withIntermediateDirectories: true)
            let model = try XMLModelReader.read(folder.appendingPathComponent("old.xcdatamodel"))
            for (name, rows) in [("empty", 0), ("full", 10)] {
                var recipe = ForgeRecipe(model: model)
                recipe.defaultRows = rows
                let path = stores.appendingPathComponent("\(name).sqlite").path
                _ = try Forge(recipe).write(to: FilePath(path))
            }
            let command = "migrate stores --to new.xcdatamodel --output out"
            let refused = try run("\(command) --losses refuse", in: folder)
            #expect(refused.status == 75)
            #expect(refused.output.contains("1 of 2 stores migrated, 1 failed"))
            // A replay would refuse the same again.
            #expect(!refused.output.contains("godwit replay"))
            let accepted = try run(
                "\(command) --losses refuse --accept-loss Note.*", in: folder)
            #expect(accepted.status == 0, "\(accepted.output)\(accepted.log)")
            #expect(try run(command, in: folder).status == 0)
            let again = try run("\(command) --losses refuse", in: folder)
            #expect(again.status == 75, "\(again.output)\(again.log)")
            #expect(again.output.contains("the result would lack Note.old (9 values)"))
            #expect(again.output.contains("which stays"))
            // A replay without a name does not hide that older runs have failed stores.
            #expect(try run(command, in: folder).status == 0)
            let idle = try run("replay --state out/.godwit", in: folder)
            #expect(idle.status == 75)
            #expect(idle.log.contains("but stores of r4, r1 did"), "\(idle.log)")
        }
    }

    @Test func theNearestCommandIsSuggested() throws {
        try withTemporaryFolder { folder in
            let ended = try run("migrat a --to b", in: folder)
            #expect(ended.status == 64)
            #expect(ended.log.contains("no command godwit migrat. Did you mean migrate?"))
            let far = try run("xyzzy", in: folder)
            #expect(far.status == 64)
            #expect(far.log.contains("godwit --help"))
            let nested = try run("model chekc M.xcdatamodeld", in: folder)
            #expect(nested.log.contains("Did you mean check?"))
        }
    }

    @Test func aPlanNamesWhoHasAStoreOpen() throws {
        try withStores { folder in
            let store = folder.appendingPathComponent("stores/a.sqlite")
            // This process is one: any open file is.
            let client = try FileHandle(forUpdating: store)
            let ended = try run("plan stores \(Self.options)", in: folder)
            #expect(ended.status == 0)
            #expect(ended.output.contains("a program has the store open"), "\(ended.output)")
            try client.close()
            let closed = try run("plan stores \(Self.options)", in: folder)
            #expect(!closed.output.contains("a program has the store open"))
        }
    }

    @Test func modelDifferencesHaveAnExitCode() throws {
        try withTemporaryFolder { folder in
            for (name, attribute) in [("1", "old"), ("2", "new")] {
                try Samples.makeSource(
                    at: folder.appendingPathComponent("V\(name).xcdatamodel"),
                    attribute: attribute)
            }
            let pair = "model diff V1.xcdatamodel V2.xcdatamodel"
            #expect(try run(pair, in: folder).status == 0)
            #expect(try run("\(pair) --exit-code", in: folder).status == 1)
            let same = "model diff V1.xcdatamodel V1.xcdatamodel --exit-code"
            #expect(try run(same, in: folder).status == 0)
        }
    }
}
