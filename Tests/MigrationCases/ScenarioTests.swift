import CoreDataStore
import DurableFiles
import Foundation
import SafeSQLite
import TestSupport
import Testing

/// The scenarios of `godwit demo`, small: whole and in chunks of every kind, with one and with
/// three workers, the results are the same.
@Suite("Scenarios")
struct ScenarioTests {
    /// A scenario with how its demo calls `migrate`.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let objects: Int
        /// A store, or a folder of them.
        let store: String
        let arguments: [String]
        /// Attributes of UUIDs that it is split by.
        let uuids: [String]
        /// Whether its demo migrates in place, so that the originals are put back first.
        var isInPlace = false
        /// Whether its demo takes an executable with policies.
        var hasPolicies = false

        var testDescription: String { name }
    }

    static let cases = [
        Case(
            name: "class-registration", objects: 2_000, store: "school.sqlite",
            arguments: ["--to", "School.xcdatamodeld", "--mapping", "school.yaml"],
            uuids: ["uuid:Person.identifier", "uuid:Registration.identifier"]),
        Case(
            name: "multi-pass", objects: 2_000, store: "events.sqlite",
            arguments: ["--to", "Events.xcdatamodeld", "--mapping", "ranges.yaml"],
            uuids: ["uuid:Event.identifier"]),
        Case(
            name: "moving-van", objects: 300, store: "inventory.sqlite",
            arguments: ["--to", "Inventory.xcdatamodeld", "--mapping", "moving-van.yaml"],
            uuids: ["uuid:Item.identifier"], hasPolicies: true),
        Case(
            name: "uuid-groups", objects: 2_000, store: "chat.sqlite",
            arguments: ["--to", "Chat.xcdatamodeld"],
            uuids: ["uuid:Message.identifier", "uuid:Author.identifier"]),
        Case(
            name: "resumable-import", objects: 2_000, store: "reader.sqlite",
            arguments: ["--to", "Reader.xcdatamodeld"], uuids: ["uuid:Article.identifier"],
            isInPlace: true),
        Case(
            name: "five-versions", objects: 6, store: "backups",
            arguments: ["--to", "Notes.xcdatamodeld", "--via", "Notes 2,Notes 3,Notes 4"],
            uuids: ["uuid:Note.identifier"], isInPlace: true),
    ]

    private static let programs = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent()

    /// The options for an executable with policies, in a folder with a program that makes photos.
    ///
    /// Neither needs libvips: `.ci/examples` runs the example's own.
    private func policyOptions(in folder: URL) throws -> [String] {
        let carrier = Self.programs.appendingPathComponent("sample-policies").path
        let photos = """
            import struct, sys
            first, count, step = map(int, sys.argv[1:])
            for number in range(first, first + count * step, step):
                photo = b"photo %d " % number * (100 + number)
                sys.stdout.buffer.write(struct.pack("<Q", len(photo)) + photo)
            """
        for (name, text) in [
            ("worker", "#!/bin/sh\nexec '\(carrier)' \"$@\"\n"),
            ("photos", "#!/usr/bin/env python3\n\(photos)\n"),
        ] {
            let path = folder.appendingPathComponent(name).path
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }
        return ["--worker-command", folder.appendingPathComponent("worker").path]
    }

    private func demo(
        _ name: String, _ objects: Int, _ options: [String], in folder: URL
    ) throws -> URL {
        let ended = try run(
            ["demo", "--scenario", name, "--objects", "\(objects)"] + options, in: folder)
        #expect(ended.status == 0, "\(ended.output)")
        return folder.appendingPathComponent("godwit-demo")
    }

    private func run(
        _ arguments: [String], in folder: URL, showsErrors: Bool = true
    ) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = Self.programs.appendingPathComponent("godwit")
        process.arguments = arguments
        process.currentDirectoryURL = folder
        // A file, not a pipe: a pipe that no process empties would stop a talkative process.
        let file = folder.appendingPathComponent("output-\(UUID().uuidString)")
        try Data().write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        process.standardOutput = handle
        process.standardError = showsErrors ? handle : FileHandle.nullDevice
        try process.runBounded()
        process.waitUntilExit()
        let output = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        try FileManager.default.removeItem(at: file)
        return (process.terminationStatus, output)
    }

    /// Every row of the tables that the model demands, of a store or of all stores in a folder.
    private func rows(_ store: URL) throws -> [String] {
        guard store.pathExtension == "sqlite" else {
            let names = try FileManager.default.contentsOfDirectory(atPath: store.path)
            return try names.filter { $0.hasSuffix(".sqlite") }.sorted().flatMap { name in
                try rows(store.appendingPathComponent(name)).map { "\(name) \($0)" }
            }
        }
        return try withTemporaryFolder { scratch in
            let source = try StoreOpener().open(
                StoreLocation(FilePath(store.path)), scratch: FilePath(scratch.path))
            let connection = try source.connect()
            defer { do { try connection.close() } catch { Issue.record(error) } }
            var rows: [String] = []
            let tables = source.layout.tables.map(\.name) + source.layout.joinTables.map(\.name)
            for table in tables {
                let statement = try connection.prepare(
                    "SELECT * FROM \(SQLText.quoted(table)) ORDER BY 1, 2")
                while try statement.step() {
                    let cells = (0..<statement.columnCount).map { column in
                        "\(statement.storageClass(column)):\(Array(statement.bytes(column)))"
                    }
                    rows.append("\(table) \(cells)")
                }
            }
            return rows
        }
    }

    @Test("every way to split gives the same rows", arguments: cases)
    func splits(_ scenario: Case) throws {
        try withTemporaryFolder { folder in
            let options = scenario.hasPolicies ? try policyOptions(in: folder) : []
            let demo = try demo(scenario.name, scenario.objects, options, in: folder)
            if scenario.isInPlace {
                let ended = try run(["rollback"], in: demo)
                #expect(ended.status == 0, "\(ended.output)")
            }
            let partitioned = ["--strategy", "partitioned", "--chunk-bytes", "16KiB"]
            let byUUID = scenario.uuids.flatMap { ["--partition", $0] }
            let ways = [
                ["--strategy", "whole", "--workers", "3"],
                ["--partition", "key", "--workers", "1"] + partitioned,
                ["--partition", "key", "--workers", "3"] + partitioned,
                ["--partition", "entity", "--workers", "3"] + partitioned,
                byUUID + ["--workers", "1"] + partitioned,
                byUUID + ["--workers", "3"] + partitioned,
            ]
            var first: [String] = []
            for (number, way) in ways.enumerated() {
                let output = "way-\(number)"
                let ended = try run(
                    ["migrate", scenario.store] + scenario.arguments + options + way
                        + ["--output", output], in: demo)
                #expect(ended.status == 0, "\(way): \(ended.output)")
                let results = demo.appendingPathComponent(output)
                let isStore = scenario.store.hasSuffix(".sqlite")
                let found = try rows(
                    isStore ? results.appendingPathComponent(scenario.store) : results)
                if number == 0 { first = found }
                #expect(found.count > scenario.objects / 2, "\(way)")
                #expect(found == first, "\(way) gives other rows")
            }
        }
    }

    @Test("commands of a scenario print where the demo prints, in the order of its steps")
    func output() throws {
        try withTemporaryFolder { folder in
            let ended = try run(
                ["demo", "--scenario", "uuid-groups", "--objects", "300"], in: folder,
                showsErrors: false)
            #expect(ended.status == 0)
            let places = ["$ godwit plan", "ZMESSAGE", "$ godwit migrate", "The result matches"]
                .map { ended.output.range(of: $0)?.lowerBound }
            let found = places.compactMap { $0 }
            #expect(found.count == places.count && found == found.sorted(), "\(ended.output)")
        }
    }

    @Test("a scenario with a package of its own says what to build")
    func advice() throws {
        try withTemporaryFolder { folder in
            let ended = try run(["demo", "--scenario", "moving-van"], in: folder)
            #expect(ended.status == 64)
            #expect(ended.output.contains("swift build -c release in docs/examples/moving-van"))
        }
    }

    @Test("a chain of five versions fails in one store, at a named step, and is retried")
    func fiveVersions() throws {
        try withTemporaryFolder { folder in
            let ended = try run(
                ["demo", "--scenario", "five-versions", "--objects", "12"], in: folder)
            #expect(ended.status == 0, "\(ended.output)")
            #expect(ended.output.contains("1 of 12 stores failed"))
            #expect(ended.output.contains("step Notes 3 → Notes 4: Note.title has"))
            #expect(ended.output.contains("The first object is x-coredata://"))
            #expect(ended.output.contains("All 12 stores migrated"))
        }
    }

    /// There are 200 parts, so that with few objects some have none.
    @Test("a killed import resumes, and its store is migrated", arguments: [4000, 300])
    func resumableImport(objects: Int) throws {
        try withTemporaryFolder { folder in
            let ended = try run(
                ["demo", "--scenario", "resumable-import", "--objects", "\(objects)"], in: folder)
            #expect(ended.status == 0, "\(ended.output)")
            #expect(ended.output.contains("\nKilled\n"))
            // The second run finds only what the first one left.
            #expect(!ended.output.contains("parts      200,"))
            #expect(ended.output.contains(objects == 4000 ? "4,050 rows" : "350 rows"))
            let store = folder.appendingPathComponent("godwit-demo/reader.sqlite")
            let rows = try rows(store)
            #expect(rows.count { $0.hasPrefix("ZARTICLE") } == objects)
            #expect(rows.count == objects + 50)
        }
    }
}
