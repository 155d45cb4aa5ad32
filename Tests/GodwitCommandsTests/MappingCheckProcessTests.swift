import Foundation
import TestSupport
import Testing

/// Mapping files that are for other versions, or give nothing where something is needed.
@Suite("Mapping files for other versions") struct MappingCheckProcessTests {
    private let program = ProcessTests()

    @Test("check compares the hashes in a file with those of the models")
    func hashes() throws {
        try withTemporaryFolder { folder in
            let bundle = try NumberBundle(folder)
            let (one, two) = ("\(bundle.path):M 2", "\(bundle.path):M 3")
            let made = try program.run(
                ["mapping", "scaffold", one, two, "--hashes"], in: folder)
            try #require(made.status == 0, "\(made.log)")
            try Data(made.output.utf8).write(to: folder.appendingPathComponent("h.yaml"))
            let right = try program.run(["mapping", "check", "h.yaml", one, two], in: folder)
            #expect(right.status == 0, "\(right.output)")
            let turned = try program.run(["mapping", "check", "h.yaml", two, one], in: folder)
            #expect(turned.status == 65)
            #expect(turned.output.contains("the other way round"), "\(turned.output)")
            let other = try program.run(
                ["mapping", "check", "h.yaml", "\(bundle.path):M", two], in: folder)
            #expect(other.status == 65)
            #expect(
                other.output.contains("NoteToNote: the mapping is for other versions"),
                "\(other.output)")
        }
    }

    @Test("null for a required attribute is told as what it is")
    func statedNull() throws {
        try withTemporaryFolder { folder in
            let bundle = try NumberBundle(folder)
            _ = try bundle.makeStore("a.sqlite", notes: 3)
            try Data(
                "godwit-mapping: 1\nentities:\n  - entity: Note\n    attributes: {n: null}\n".utf8
            ).write(to: folder.appendingPathComponent("null.yaml"))
            let plan = try program.run(
                ["plan", "a.sqlite", "--to", "\(bundle.path):M 2", "--mapping", "null.yaml"],
                in: folder)
            #expect(plan.status == 65)
            #expect(
                plan.log.contains("Note.n is required and the mapping gives it null"),
                "\(plan.log)")
        }
    }

    @Test("a mapping file that no step takes is named in the report")
    func unused() throws {
        try withTemporaryFolder { folder in
            let bundle = try NumberBundle(folder)
            _ = try bundle.makeStore("a.sqlite", notes: 3)
            let lines = [
                "godwit-mapping: 1", "entities:", "  - entity: Note",
                "    attributes: {n: '7', title: null}", "",
            ]
            try Data(lines.joined(separator: "\n").utf8).write(
                to: folder.appendingPathComponent("other.yaml"))
            try Data(
                "godwit-steps: 1\nsteps:\n  - {version: M 2, mapping: numbers.yaml}\n".utf8
            ).write(to: folder.appendingPathComponent("steps.yaml"))
            let ended = try program.run(
                ["migrate", "a.sqlite", "--output", "out", "--to", "\(bundle.path):M 2"]
                    + ["--via", "steps.yaml", "--mapping", "other.yaml", "--in-process"],
                in: folder)
            try #require(ended.status == 0, "\(ended.log)")
            let report = try String(
                contentsOf: folder.appendingPathComponent("out/.godwit/runs/r1/report.json"),
                encoding: .utf8)
            #expect(report.contains("other.yaml is not used"), "\(report)")
        }
    }
}
