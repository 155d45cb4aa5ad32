import CoreDataStore
import DurableFiles
import Foundation
import GRDB
@testable import ModelCommands
import StoreForge
import TestSupport
import Testing

@testable import CommandSupport
@testable import RunCommands

/// Chains with a step that needs what a version in between alone has.
@Suite("Chains that write stores on the way") struct WrittenStepTests {
    private let program = ProcessTests()

    private static let modes: [[String]] = [
        ["--in-process"], ["--workers", "2"],
        ["--in-process", "--strategy", "partitioned", "--chunk-bytes", "65536"],
        ["--workers", "2", "--strategy", "partitioned", "--partition", "entity"],
    ]

    @Test("the result is that of one step after the other", arguments: modes)
    func equal(mode: [String]) throws {
        try withTemporaryFolder { folder in
            let bundle = try NumberBundle(folder)
            let store = try bundle.makeStore("a.sqlite", notes: 900)
            let before = try Data(contentsOf: URL(fileURLWithPath: store))
            for arguments in [
                [
                    "a.sqlite", "--to", "\(bundle.path):M 2", "--output", "one", "--mapping",
                    bundle.mapping,
                ], ["one/a.sqlite", "--to", bundle.path, "--output", "two"],
            ] {
                let step = try program.run(["migrate"] + arguments, in: folder)
                try #require(step.status == 0, "\(step.log)")
            }
            let ended = try program.run(
                ["migrate", "a.sqlite", "--output", "out"] + bundle.way + mode, in: folder)
            try #require(ended.status == 0, "\(ended.log)")
            #expect(try bundle.rows("out/a.sqlite") == bundle.rows("two/a.sqlite"))
            #expect(try bundle.rows("out/a.sqlite").count == 900)
            #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
            let left = try FileManager.default.contentsOfDirectory(
                atPath: folder.appendingPathComponent("out").path)
            #expect(left.sorted() == [".godwit", "a.sqlite"])
            let report = try String(
                contentsOf: folder.appendingPathComponent("out/.godwit/runs/r1/report.json"),
                encoding: .utf8)
            #expect(report.contains("\"writtenSteps\""), "\(report)")
            #expect(report.contains("\"Tag\""), "the loss of the last step: \(report)")
            let verified = try program.run(
                ["verify", "a.sqlite", "out/a.sqlite"] + bundle.way, in: folder)
            #expect(verified.status == 0, "\(verified.output)\(verified.log)")
        }
    }

    @Test("plan names the store that is written, and why")
    func planned() throws {
        try withTemporaryFolder { folder in
            let bundle = try NumberBundle(folder)
            _ = try bundle.makeStore("a.sqlite", notes: 30)
            let plan = try program.run(["plan", "a.sqlite"] + bundle.way, in: folder)
            #expect(plan.status == 0, "\(plan.log)")
            #expect(plan.output.contains("through    M 2; writes a store of M 2"))
            #expect(plan.output.contains("a store of M 2 is written on the way: step M 2 → M 3"))
            #expect(plan.output.contains("Tag: 7 objects"), "\(plan.output)")
            let checked = try program.run(
                ["model", "check", "\(bundle.path):M", bundle.path, "--via", "M 2"]
                    + ["--mapping", bundle.mapping], in: folder)
            #expect(checked.status == 0)
            #expect(checked.output.contains("- Tag"), "\(checked.output)")
            #expect(checked.output.contains("every Note.n must be computable"))
            let strict = try program.run(
                ["model", "check", "\(bundle.path):M", bundle.path, "--via", "M 2"]
                    + ["--mapping", bundle.mapping, "--data", "refuse"], in: folder)
            #expect(strict.status == 65)
        }
    }

    @Test("what a version in between adds and a later one drops is no loss")
    func losses() throws {
        try withTemporaryFolder { folder in
            let bundle = try NumberBundle(folder)
            _ = try bundle.makeStore("a.sqlite", notes: 30)
            for (accepted, status) in [(["Tag"], 65), (["Tag", "Note.old"], 0)]
                as [([String], Int32)]
            {
                let arguments =
                    ["--losses", "refuse"] + accepted.flatMap { ["--accept-loss", $0] }
                let planned = try program.run(
                    ["plan", "a.sqlite", "--json"] + bundle.way + arguments, in: folder)
                #expect(planned.status == status, "\(planned.output)\(planned.log)")
                let ended = try program.run(
                    ["migrate", "a.sqlite", "--output", "o\(status)"] + bundle.way + arguments,
                    in: folder)
                #expect(ended.status == status, "\(ended.log)")
                #expect(!"\(ended.output)\(ended.log)".contains("flag"))
                #expect(!planned.output.contains("\"property\" : \"flag\""))
            }
            let report = try String(
                contentsOf: folder.appendingPathComponent("o0/.godwit/runs/r1/report.json"),
                encoding: .utf8)
            // An index that the first step has no place for is still named.
            #expect(report.contains("index app"), "\(report)")
            #expect(report.contains("\"old\""))
        }
    }

    @Test("a step that fails names itself, and the store can be replayed")
    func failed() throws {
        try withTemporaryFolder { folder in
            let bundle = try NumberBundle(folder)
            _ = try bundle.makeStore("a.sqlite", notes: 30)
            try bundle.write("a.sqlite", "UPDATE ZNOTE SET ZN = NULL WHERE Z_PK = 17")
            let arguments = ["migrate", "a.sqlite", "--in-process"] + bundle.way
            let failed = try program.run(arguments, in: folder)
            #expect(failed.status != 0)
            #expect(failed.log.contains("step M → M 2: "), "\(failed.log)")
            #expect(failed.log.contains("/Note/p17"), "\(failed.log)")
            try bundle.write("a.sqlite", "UPDATE ZNOTE SET ZN = 5 WHERE Z_PK = 17")
            let replayed = try program.run(["replay", "--state", ".godwit"], in: folder)
            #expect(replayed.status == 0, "\(replayed.log)")
            #expect(try bundle.rows("a.sqlite").count == 30)
        }
    }
}
