import CoreDataStore
import Foundation
import GRDB
import ModelFiles
import TestSupport
import Testing

@testable import GodwitCommands

/// Options of the built program that cannot be: the status, and whether the text says what to do.
@Suite struct MistakeTests {
    private func prepare(_ folder: URL) throws {
        let place = { (name: String) in folder.appendingPathComponent(name) }
        for name in ["a.sqlite", "other", "modelless"] {
            _ = try Samples.makeStore(at: place(name))
        }
        for (name, table) in [("other", "Z_METADATA"), ("modelless", "Z_MODELCACHE")] {
            let queue = try DatabaseQueue(path: place(name).path)
            try queue.inDatabase { try $0.execute(sql: "DROP TABLE \(table)") }
            try queue.close()
        }
        try Data(String(repeating: "text", count: 50).utf8).write(to: place("text"))
        try Data("no archive".utf8).write(to: place("fake.mom"))
        try Data(ModelArchive.write(Samples.newGarage())).write(to: place("New.mom"))
        try FileManager.default.createSymbolicLink(
            atPath: place("loop").path, withDestinationPath: "loop")
    }

    private func expect(
        _ cases: [(words: [String], status: Int32, log: [String])]
    ) throws {
        try withTemporaryFolder { folder in
            try prepare(folder)
            let before = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            for one in cases {
                let ended = try ProcessTests().run(one.words, in: folder)
                #expect(ended.status == one.status, "\(one.words): \(ended.log)")
                for words in one.log { #expect(ended.log.contains(words), "\(ended.log)") }
            }
            let after = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(after.sorted() == before.sorted())
        }
    }

    @Test func pathsOfModelsAreNamedWithTheirOption() throws {
        let plan = ["plan", "a.sqlite", "--to"]
        try expect([
            (plan + ["absent.mom"], 64, ["--to absent.mom does not exist"]),
            (plan + ["absent"], 64, ["--to absent does not exist"]),
            (plan + ["."], 64, ["--to . is not a model", ".momd[:VERSION]"]),
            (plan + ["loop"], 64, ["--to loop cannot be read", "ELOOP"]),
            (plan + ["text/x.mom"], 64, ["--to text/x.mom cannot be read", "ENOTDIR"]),
            (plan + ["self", "--from", "absent"], 64, ["--from absent does not exist"]),
            (["inspect", "a.sqlite", "--from", "absent"], 64, ["--from absent does not exist"]),
            (["verify", "a.sqlite", "other", "--to", "absent"], 64, ["--to absent does not"]),
            (["verify", "a.sqlite", "other", "--from", "absent"], 64, ["--from absent does"]),
            (["model", "show", "absent"], 64, ["absent does not exist"]),
        ])
    }

    @Test func reportsFilesThatAreNotModels() throws {
        let plan = ["plan", "a.sqlite", "--to"]
        try expect([
            (
                plan + ["text"], 65,
                ["no model can be read from --to text: ", "not an SQLite", ".momd[:VERSION]"]
            ),
            (plan + ["other"], 65, ["no model can be read from --to other: ", "Z_METADATA"]),
            (plan + ["modelless"], 65, ["--to modelless is a store that holds no model"]),
            (plan + ["fake.mom"], 65, ["--to fake.mom: "]),
        ])
    }

    @Test func modelsOfAnotherVersionNameTheirOption() throws {
        try expect([
            (
                ["plan", "a.sqlite", "--to", "self", "--from", "New.mom"], 65,
                ["of another version than the source model given", "Person", "--from"]
            ),
            (
                ["inspect", "a.sqlite", "--from", "New.mom"], 65,
                ["of another version than the source model given", "--from"]
            ),
            (
                ["verify", "a.sqlite", "a.sqlite", "--to", "New.mom"], 65,
                ["does not have the destination model's version", "Person", "--to"]
            ),
            (
                ["verify", "a.sqlite", "modelless"], 65,
                ["give its model as the destination", "--to"]
            ),
            (["verify", "modelless", "a.sqlite"], 65, ["give the model that wrote it", "--from"]),
        ])
    }

    @Test func foldersThatAreFilesAreUsageErrors() throws {
        let words = ["a.sqlite", "--to", "self"]
        try expect([
            (["migrate"] + words + ["--output", "text"], 64, ["--output text", "a regular file"]),
            (["migrate"] + words + ["--output", "text/a/b"], 64, ["--output text/a/b: text is"]),
            (["migrate"] + words + ["--output", "b", "--state", "text"], 64, ["--state text"]),
            (["plan"] + words + ["--state", "text"], 64, ["--state text: text is a regular"]),
        ])
    }

    @Test func chunksAreAtLeastAPage() throws {
        let words = ["plan", "a.sqlite", "--to", "self", "--allow-missing-external"]
        try expect([
            (words + ["--chunk-bytes", "4095"], 64, ["--chunk-bytes must be at least 4096"]),
            (words + ["--chunk-bytes", "4096"], 0, []),
        ])
    }

    @Test func theVersionIsTheChangelogs() throws {
        try withTemporaryFolder { folder in
            let ended = try ProcessTests().run(["--version"], in: folder)
            #expect(ended.status == 0)
            #expect(ended.output == "godwit \(godwitVersion)\n")
        }
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let changelog = String(
            decoding: try Data(contentsOf: root.appendingPathComponent("docs/changelog.md")),
            as: UTF8.self)
        let newest = changelog.split(separator: "\n").first { $0.hasPrefix("## ") }
        #expect(newest == "## \(godwitVersion)")
    }
}
