import CoreDataStore
import DurableFiles
import FaultSupport
import Foundation
import ManagedObjectModel
import RunReports
import SafeSQLite
import TestSupport
import Testing

@testable import GodwitCommands

/// Runs the built program as a user does.
@Suite struct ProcessTests {
    /// What a process left behind.
    struct Ended {
        let status: Int32
        let output: String
        let log: String
    }

    /// The program lies beside the tests.
    static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("godwit")

    private func run(_ arguments: String..., in folder: URL) throws -> Ended {
        try run(arguments, in: folder)
    }

    /// Runs the program; `openFiles` is the most files that it may open, nil for this process's.
    ///
    /// `changes`: options of `env`, which becomes the program then.
    func run(
        _ arguments: [String], in folder: URL, openFiles: Int? = nil,
        with changes: [String] = []
    ) throws -> Ended {
        let process = Process()
        process.executableURL = Self.program
        process.arguments = arguments
        if !changes.isEmpty {
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = changes + [Self.program.path] + arguments
        }
        if let openFiles {
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            let script = "ulimit -n \(openFiles) && exec \"$0\" \"$@\""
            process.arguments = ["-c", script, Self.program.path] + arguments
        }
        process.currentDirectoryURL = folder
        var environment = ProcessInfo.processInfo.environment
        environment["TMPDIR"] = folder.path
        process.environment = environment
        // Files, not pipes: a pipe that no process empties would stop a talkative process.
        let (output, log) = (
            folder.appendingPathComponent("out.txt"), folder.appendingPathComponent("log.txt")
        )
        for file in [output, log] { try Data().write(to: file) }
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: log)
        try process.runBounded()
        process.waitUntilExit()
        let texts = try [output, log].map {
            String(decoding: try Data(contentsOf: $0), as: UTF8.self)
        }
        for file in [output, log] { try FileManager.default.removeItem(at: file) }
        return Ended(status: process.terminationStatus, output: texts[0], log: texts[1])
    }

    private func names(in folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test func modelsOfAStoreAreShown() throws {
        try withTemporaryFolder { folder in
            _ = try Samples.makeStore(at: folder.appendingPathComponent("a.sqlite"))
            let show = try run("model", "show", "a.sqlite", in: folder)
            #expect(show.status == 0)
            #expect(show.log.isEmpty)
            #expect(show.output.contains("2  SportCar : Car\n"))
            let hash = try run("model", "hash", "a.sqlite", "--json", in: folder)
            let read = try JSONDecoder().decode(VersionHashes.self, from: Data(hash.output.utf8))
            #expect(read == VersionHashes(try Samples.garage()))
            let same = try run("model", "diff", "a.sqlite", "a.sqlite", in: folder)
            #expect(same.status == 0)
            #expect(same.output == "no differences\n")
            #expect(try names(in: folder) == ["a.sqlite"])
        }
    }

    @Test func inspectionLeavesNothingBehind() throws {
        try withTemporaryFolder { folder in
            _ = try Samples.makeStore(at: folder.appendingPathComponent("a.sqlite"))
            let before = try Data(contentsOf: folder.appendingPathComponent("a.sqlite"))
            let ended = try run("inspect", "a.sqlite", "--json", in: folder)
            #expect(ended.status == 0)
            let read = try JSONDecoder().decode(
                StoreInspection.self, from: Data(ended.output.utf8))
            #expect(read.entities.map(\.rows) == [2, 1, 2])
            #expect(try names(in: folder) == ["a.sqlite"])
            #expect(try Data(contentsOf: folder.appendingPathComponent("a.sqlite")) == before)
        }
    }

    @Test func mistakesHaveTheirStatus() throws {
        try withTemporaryFolder { folder in
            _ = try Samples.makeStore(at: folder.appendingPathComponent("a.sqlite"))
            try Data(String(repeating: "text", count: 50).utf8)
                .write(to: folder.appendingPathComponent("text"))
            let other = folder.appendingPathComponent("other")
            try FileManager.default.createDirectory(at: other, withIntermediateDirectories: false)
            _ = try Samples.makeStore(at: other.appendingPathComponent("a.sqlite"))
            let cases: [(words: [String], status: Int32, log: String)] = [
                (["--help"], 0, ""),
                (["bogus"], 64, "bogus"),
                (["inspect", "absent"], 64, "absent does not exist"),
                (["inspect", "."], 64, "is a folder"),
                (["inspect", "text"], 65, "not an SQLite database"),
                (["model", "show", "text"], 65, "not an SQLite database"),
                (["model", "hash", "self"], 64, "not self"),
                (["plan", "a.sqlite", "--to", "self", "--strategy", "evolve"], 64, "evolve"),
                (["migrate", "a.sqlite", "--to", "self", "--output", "."], 64, "original"),
                (
                    ["migrate", "a.sqlite", "other/a.sqlite", "--to", "self", "--output", "b"],
                    64, "same"
                ),
                (
                    ["migrate", "a.sqlite", "--to", "self", "--output", "b", "--defer-swap"], 64,
                    "--defer-swap"
                ),
                (["rollback"], 64, "--state"), (["replay", "--state", "none"], 64, "--state"),
                (["prune", "r1", "--older-than", "soon"], 64, "older-than"),
            ]
            for one in cases {
                let ended = try run(one.words, in: folder)
                #expect(ended.status == one.status, "\(one.words): \(ended.log)")
                #expect(one.log.isEmpty || ended.log.contains(one.log), "\(ended.log)")
                #expect(one.log.isEmpty || ended.output.isEmpty)
            }
            #expect(try names(in: folder) == ["a.sqlite", "other", "text"])
        }
    }

    @Test func storesAreMigratedBesideTheOriginal() throws {
        try withTemporaryFolder { folder in
            let store = folder.appendingPathComponent("a.sqlite")
            _ = try Samples.makeStore(at: store)
            let before = try Data(contentsOf: store)
            let words = ["a.sqlite", "--to", "self", "--framework", "1600"]
            // The sample refers to a file that is not there.
            let refused = try run(["migrate"] + words + ["--output", "b"], in: folder)
            #expect(refused.status == 65)
            #expect(refused.log.contains("--allow-missing-external"))

            let plan = try run(
                ["plan"] + words + ["--allow-missing-external", "--json"], in: folder)
            #expect(plan.status == 0)
            #expect(plan.output.contains("\"sourceFramework\" : 1522"))
            #expect(plan.output.contains("\"framework\" : 1600"))

            let done = try run(
                ["migrate"] + words + ["--output", "b", "--allow-missing-external"], in: folder)
            #expect(done.status == 0, "\(done.log)")
            #expect(done.output.contains("/b/a.sqlite\nmigrated "))
            #expect(!done.log.contains("joined"))
            #expect(!done.log.contains("\u{1B}"))
            let inspected = try run("inspect", "b/a.sqlite", in: folder)
            #expect(inspected.output.contains("framework  1600\n"))
            #expect(inspected.output.contains("1  Car                2  ZCAR\n"))

            let verified = try run("verify", "a.sqlite", "b/a.sqlite", "--json", in: folder)
            #expect(verified.status == 0, "\(verified.log)")
            #expect(verified.output.contains("\"isEqual\" : true"))
            let connection = try Connection(
                path: FilePath(folder.appendingPathComponent("b/a.sqlite").path), mode: .create)
            try connection.execute("UPDATE ZCAR SET ZPLATE = 'secret' WHERE Z_PK = 2")
            try connection.close()
            let differing = try run("verify", "a.sqlite", "b/a.sqlite", in: folder)
            #expect(differing.status == 1)
            #expect(differing.output.contains("/Car/p2 plate"))
            #expect(!differing.output.contains("secret"))

            let again = try run(
                ["migrate"] + words + ["--output", "b", "--allow-missing-external"], in: folder)
            #expect(again.status == 64)
            #expect(again.log.contains("exists already"))
            #expect(try names(in: folder) == ["a.sqlite", "b"])
            #expect(try Data(contentsOf: store) == before)
        }
    }

    @Test func oneStoresFailureDoesNotStopTheOthers() throws {
        try withTemporaryFolder { folder in
            _ = try Samples.makeStore(at: folder.appendingPathComponent("a.sqlite"))
            try Data(String(repeating: "text", count: 50).utf8)
                .write(to: folder.appendingPathComponent("0"))
            let ended = try run(
                "migrate", "0", "a.sqlite", "--to", "self", "--output", "b", "--json",
                "--allow-missing-external", in: folder)
            #expect(ended.status == 75)
            #expect(ended.log.contains("1 of 2 stores failed"))
            struct Report: Codable { var stores: [StoreReport] }
            let json = try JSONDecoder().decode(Report.self, from: Data(ended.output.utf8))
            #expect(json.stores.map(\.outcome) == [.failed, .done])
            #expect(json.stores.map { $0.result?.hasSuffix("/b/a.sqlite") } == [nil, true])
            #expect(json.stores.map(\.failure?.status) == [65, nil])
        }
    }

    @Test(.enabled(if: Fixtures.available, Fixtures.absence))
    func compiledModelsHashAsTheirCompilerDid() throws {
        let models = "alemar11-CoreDataPlus/Tests/Resources/SampleModel/Fixtures"
        let bundle = try Fixtures.url("\(models)/SampleModel.momd").path
        let store = try Fixtures.url("\(models)/SampleModel_V2.sqlite").path
        try withTemporaryFolder { folder in
            let compiled = try run("model", "hash", "\(bundle):SampleModel2", in: folder)
            let held = try run("model", "hash", store, in: folder)
            #expect(compiled.status == 0)
            #expect(compiled.log.isEmpty)
            #expect(compiled.output == held.output)
            let diff = try run("model", "diff", bundle, "\(bundle):SampleModel2", in: folder)
            #expect(diff.output.contains("Car"))
            #expect(try names(in: folder).isEmpty)
        }
    }

    @Test(.enabled(if: Fixtures.available, Fixtures.absence))
    func storesWithoutModelAskForOne() throws {
        let store = try Fixtures.url(
            "magicalpanda-MagicalRecord/Samples/iOS/Resources/RecipeData/Recipes.sqlite")
        try withTemporaryFolder { folder in
            let ended = try run("inspect", store.path, in: folder)
            #expect(ended.status == 65)
            #expect(ended.log.contains("--from"))
        }
    }
}
