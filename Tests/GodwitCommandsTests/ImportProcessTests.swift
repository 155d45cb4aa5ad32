import CoreDataStore
import DurableFiles
import Foundation
import Glibc
import SafeSQLite
import StoreForge
import TestSupport
import Testing

/// `godwit import` as a user runs it, and as a machine kills it.
@Suite("Import: processes")
struct ImportProcessTests {
    private static let parts = 12
    private static let kills = 15

    /// A store without rows that shows the model, and parts of notes with folders and tags.
    private func prepare(_ folder: URL, seed: UInt64) throws {
        var recipe = try ForgeRecipe.notes(version: 3, notes: 0)
        recipe.rows = recipe.rows.mapValues { _ in 0 }
        recipe.defaultRows = 0
        _ = try Forge(recipe).write(
            to: FilePath(folder.appendingPathComponent("model.sqlite").path))
        let parts = folder.appendingPathComponent("parts")
        try FileManager.default.createDirectory(at: parts, withIntermediateDirectories: true)
        var random = SeededGenerator(seed: seed)
        var lines = (0..<9).map {
            #"{"entity": "Folder", "attributes": {"name": "f\#($0)"}}"#
        }
        lines += (0..<7).map { #"{"entity": "Tag", "attributes": {"name": "t\#($0)"}}"# }
        for number in 0..<600 {
            let tags = (0..<Int.random(in: 0..<3, using: &random)).map { _ in
                "\"t\(Int.random(in: 0..<7, using: &random))\""
            }
            lines.append(
                #"{"entity": "Note", "attributes": {"title": "n\#(number)", "createdAt": 1,"#
                    + #" "identifier": "00000000-0000-0000-0000-\#(100_000_000_000 + number)"},"#
                    + #" "relationships": {"folder": "f\#(Int.random(in: 0..<9, using: &random))","#
                    + #" "tags": [\#(tags.joined(separator: ", "))]}}"#)
        }
        lines.shuffle(using: &random)
        let size = (lines.count + Self.parts - 1) / Self.parts
        for part in 0..<Self.parts {
            let text = lines[(part * size)..<min(lines.count, (part + 1) * size)]
                .map { $0 + "\n" }.joined()
            try Data(text.utf8).write(to: parts.appendingPathComponent("\(part + 1).jsonl"))
        }
    }

    private func arguments(_ store: String) -> [String] {
        [
            "import", "parts", "--into", store, "--model", "model.sqlite", "--key", "Folder.name",
            "--batch", "5",
        ]
    }

    /// Every row of the tables of objects, of the join table and of the keys.
    private func rows(_ store: URL) throws -> [String] {
        let connection = try Connection(path: FilePath(store.path), mode: .immutable)
        defer { do { try connection.close() } catch { Issue.record(error) } }
        var rows: [String] = []
        for table in ["ZFOLDER", "ZNOTE", "ZTAG", "Z_5TAGS", "Z_PRIMARYKEY"] {
            let statement = try connection.prepare(
                "SELECT * FROM \(SQLText.quoted(table)) ORDER BY 1, 2")
            while try statement.step() {
                let cells = (0..<statement.columnCount).map { column in
                    "\(statement.storageClass(column)):\(statement.bytes(column).map { $0 })"
                }
                rows.append("\(table) \(cells)")
            }
        }
        return rows
    }

    @Test("killed at any time, an import resumes with every object once", arguments: [1, 2])
    func killed(seed: UInt64) throws {
        try withTemporaryFolder { folder in
            try prepare(folder, seed: seed)
            let whole = try ProcessTests().run(arguments("whole.sqlite"), in: folder)
            #expect(whole.status == 0, "\(whole.log)")
            var random = SeededGenerator(seed: seed)
            var interrupted = 0
            for _ in 0..<Self.kills {
                let process = Process()
                process.executableURL = ProcessTests.program
                process.arguments = arguments("killed.sqlite")
                process.currentDirectoryURL = folder
                process.standardOutput = FileHandle.nullDevice
                process.standardError = FileHandle.nullDevice
                try process.runBounded()
                usleep(UInt32.random(in: 20_000..<120_000, using: &random))
                kill(process.processIdentifier, SIGKILL)
                process.waitUntilExit()
                if process.terminationReason == .uncaughtSignal { interrupted += 1 }
            }
            let last = try ProcessTests().run(
                arguments("killed.sqlite") + ["--json"], in: folder)
            #expect(last.status == 0, "\(last.log)")
            #expect(interrupted > 0)
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(
                files.sorted() == ["killed.sqlite", "model.sqlite", "parts", "whole.sqlite"])
            #expect(
                try rows(folder.appendingPathComponent("killed.sqlite"))
                    == rows(folder.appendingPathComponent("whole.sqlite")))
            let inspected = try ProcessTests().run(["inspect", "killed.sqlite"], in: folder)
            #expect(inspected.status == 0, "\(inspected.log)")
            #expect(!inspected.output.contains("outside the model"))
            #expect(inspected.output.contains("import     finished\n"))
            #expect(!inspected.output.contains("the app's own"))
        }
    }

    @Test("a failure names the line, and the status is that of bad data")
    func failure() throws {
        try withTemporaryFolder { folder in
            try prepare(folder, seed: 3)
            let part = folder.appendingPathComponent("parts/13.jsonl")
            try Data("{\"entity\": \"Nota\"}\n".utf8).write(to: part)
            let failed = try ProcessTests().run(arguments("a.sqlite"), in: folder)
            #expect(failed.status == 65)
            #expect(failed.log.contains("13.jsonl line 1: the model has no entity Nota"))
            try FileManager.default.removeItem(at: part)
            let done = try ProcessTests().run(arguments("a.sqlite"), in: folder)
            #expect(done.status == 0)
            #expect(done.output.contains("parts      12, of which 12 were imported earlier"))
            let missing = try ProcessTests().run(
                ["import", "parts", "--into", "b.sqlite"], in: folder)
            #expect(missing.status == 64)
            #expect(missing.log.contains("Give its model with --model"))
            let nowhere = try ProcessTests().run(
                ["import", "nowhere", "--into", "a.sqlite"], in: folder)
            #expect(nowhere.status == 64)
            #expect(nowhere.log.contains("nowhere does not exist; give the folder"))
            let other = try ProcessTests().run(
                ["import", "parts", "--into", "parts/1.jsonl"], in: folder)
            #expect(other.status == 65)
            #expect(other.log.contains("the file is not an SQLite database. It is unchanged"))
        }
    }
}
