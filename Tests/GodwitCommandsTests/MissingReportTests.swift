import DurableFiles
import Foundation
import StoreForge
import TestSupport
import Testing

/// Commands that were killed between the end of their run and its report.
@Suite struct MissingReportTests {
    private let program = ProcessTests()

    private func prepare(_ folder: URL) throws {
        let path = FilePath(folder.path)
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("data"), withIntermediateDirectories: false)
        for (number, name) in ["a", "b"].enumerated() {
            try ForgedStore.notes(
                at: path.appending(FilePath("data/\(name).sqlite")), version: 1, notes: 40,
                seed: UInt64(number))
        }
        try ForgedStore.notes(at: path.appending("t.sqlite"), version: 2, notes: 1, seed: 9)
    }

    private func removeReports(_ folder: URL) throws {
        for name in ["report.txt", "report.html", "report.json"] {
            try FileManager.default.removeItem(
                at: folder.appendingPathComponent("state/runs/r1/\(name)"))
        }
    }

    private func hasReport(_ folder: URL) -> Bool {
        FileManager.default.fileExists(
            atPath: folder.appendingPathComponent("state/runs/r1/report.json").path)
    }

    /// A run that ended, without the reports that its command had not written yet.
    private func withKilledRun(
        over stores: String, _ options: [String] = [], _ body: (URL, [String]) throws -> Void
    ) throws {
        try withTemporaryFolder { folder in
            try prepare(folder)
            let command = ["migrate", stores, "--to", "t.sqlite", "--state", "state"] + options
            #expect(try program.run(command, in: folder).status == 0)
            try removeReports(folder)
            try body(folder, command)
            #expect(hasReport(folder))
        }
    }

    private func hasSecondRun(_ folder: URL) -> Bool {
        FileManager.default.fileExists(
            atPath: folder.appendingPathComponent("state/runs/r2").path)
    }

    /// In place, another run finds nothing to do; the first one's report says what was done.
    @Test func inPlaceTheReportIsWritten() throws {
        try withKilledRun(over: "data") { folder, command in
            let again = try program.run(command, in: folder)
            #expect(again.status == 0, "\(again.log)")
            #expect(again.log.contains("the command of run r1 was killed"), "\(again.log)")
        }
    }

    /// A result that was removed since is made again.
    @Test func aResultThatIsGoneIsMadeAgain() throws {
        try withKilledRun(over: "data/a.sqlite", ["--output", "out"]) { folder, command in
            let output = folder.appendingPathComponent("out")
            try FileManager.default.removeItem(at: output)
            let again = try program.run(command, in: folder)
            #expect(again.status == 0, "\(again.log)")
            let result = output.appendingPathComponent("a.sqlite").path
            #expect(FileManager.default.fileExists(atPath: result))
        }
    }

    /// The same command finds the results, and those of new stores are made beside them.
    @Test(arguments: [false, true]) func theSameCommandFindsTheResults(hasNew: Bool) throws {
        try withKilledRun(over: "data", ["--output", "out"]) { folder, command in
            if hasNew {
                try ForgedStore.notes(
                    at: FilePath(folder.path).appending("data/c.sqlite"), version: 1, notes: 40,
                    seed: 7)
            }
            let again = try program.run(command, in: folder)
            #expect(again.status == 0, "\(again.log)")
            #expect(
                again.output.contains("All \(hasNew ? 3 : 2) stores migrated"),
                "\(again.output)")
            #expect(again.log.contains("the command of run r1 was killed"), "\(again.log)")
        }
    }

    /// A result that is not the one that was made is in the way, and nothing says that all is well.
    @Test func anotherFileIsNotTakenForTheResult() throws {
        try withKilledRun(over: "data/a.sqlite", ["--output", "out"]) { folder, command in
            let result = folder.appendingPathComponent("out/a.sqlite")
            try FileManager.default.removeItem(at: result)
            try Data("something else".utf8).write(to: result)
            let again = try program.run(command, in: folder)
            #expect(again.status == 64, "\(again.output)")
            #expect(again.log.contains("exists already"), "\(again.log)")
            #expect(try Data(contentsOf: result) == Data("something else".utf8))
        }
    }

    /// Another request does not hide it.
    @Test func anotherCommandWritesTheReport() throws {
        try withKilledRun(over: "data/a.sqlite") { folder, _ in
            let other = try program.run(
                ["migrate", "data/b.sqlite", "--to", "t.sqlite", "--state", "state"], in: folder)
            #expect(other.status == 0, "\(other.log)")
        }
    }

    /// A swap that was deferred ends the run, and the report says so.
    @Test func aSwapWritesTheReportAgain() throws {
        try withTemporaryFolder { folder in
            try prepare(folder)
            let command = [
                "migrate", "data", "--to", "t.sqlite", "--state", "state", "--defer-swap",
            ]
            #expect(try program.run(command, in: folder).status == 0)
            let report = folder.appendingPathComponent("state/runs/r1/report.json")
            let before = try Data(contentsOf: report)
            #expect(try program.run(["swap", "--state", "state"], in: folder).status == 0)
            #expect(try Data(contentsOf: report) != before)
            // The next command begins a run of its own.
            let next = try program.run(command, in: folder)
            #expect(next.status == 0, "\(next.log)")
            #expect(hasSecondRun(folder))
        }
    }
}
