import DurableFiles
import Foundation
import GRDB
import ManagedObjectModel
import ModelFiles
import SafeSQLite
import StoreForge
import TestSupport
import Testing

/// Every command of the built program, given stores, models, files and runs whose names are
/// statements, beside a database that must not change.
@Suite struct HostileNamesProcessTests {
    private let program = ProcessTests()

    /// Statuses that the program documents for bad input, differences and failed stores.
    private static let known: Set<Int32> = [0, 1, 64, 65, 74, 75]

    /// A folder with a canary, in which commands run.
    private struct Lab {
        let folder: URL
        let canary: URL
        let program: ProcessTests
        let seed: UInt64
        /// Statuses, by command.
        var statuses: [String: Int32] = [:]

        func place(_ name: String) -> URL { folder.appendingPathComponent(name) }

        /// Runs a command; its status is a documented one, and it says nothing that a terminal
        /// would obey.
        @discardableResult
        mutating func run(_ arguments: String...) throws -> Int32 {
            let ended = try program.run(arguments, in: folder)
            let command = arguments.prefix(2).joined(separator: " ")
            #expect(
                HostileNamesProcessTests.known.contains(ended.status),
                "seed \(seed), \(command): \(ended.status) \(ended.log)")
            let scalars = (ended.output + ended.log).unicodeScalars
            #expect(
                scalars.allSatisfy { $0.value >= 0x20 || $0 == "\n" },
                "seed \(seed), \(command): a control character is printed")
            statuses[command] = ended.status
            return ended.status
        }
    }

    private func withLab(seed: UInt64, _ body: (inout Lab, inout SeededGenerator) throws -> Void)
        throws
    {
        try withTemporaryFolder { folder in
            let canary = folder.appendingPathComponent("canary.sqlite")
            let queue = try DatabaseQueue(path: canary.path)
            try queue.write { database in
                try database.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
                try database.execute(sql: "CREATE TABLE ZNOTE (a); INSERT INTO ZNOTE VALUES (1)")
            }
            try queue.close()
            let before = try Data(contentsOf: canary)
            var generator = SeededGenerator(seed: seed)
            var lab = Lab(folder: folder, canary: canary, program: program, seed: seed)
            try body(&lab, &generator)
            #expect(try Data(contentsOf: canary) == before, "seed \(seed): the canary changed")
        }
    }

    /// A model whose names are hostile, one of its entities' or of its properties'.
    private func model(_ lab: Lab, _ generator: inout SeededGenerator) throws -> Model {
        let make = { (generator: inout SeededGenerator, usual: String) -> String in
            Bool.random(using: &generator)
                ? HostileNames.make(using: &generator, canary: lab.canary.path) : usual
        }
        let (note, tag) = (make(&generator, "Note"), make(&generator, "Tag"))
        return try Model(
            entities: [
                Entity(
                    name: note,
                    attributes: [Attribute(name: make(&generator, "text"), type: .string)],
                    relationships: [
                        Relationship(
                            name: "tags", destination: tag, inverse: "note", maximumCount: 0)
                    ]),
                Entity(
                    name: tag + (tag == note ? "2" : ""),
                    attributes: [
                        Attribute(
                            name: HostileNames.make(using: &generator, canary: lab.canary.path),
                            type: .integer32)
                    ],
                    relationships: [
                        Relationship(name: "note", destination: note, inverse: "tags")
                    ]),
            ],
            versionIdentifiers: [HostileNames.make(using: &generator, canary: lab.canary.path)])
    }

    private func xml(_ model: Model) -> String {
        let escaped = { (name: String) in
            name.replacingOccurrences(of: "&", with: "&amp;")
                .replacingOccurrences(of: "<", with: "&lt;")
                .replacingOccurrences(of: "\"", with: "&quot;")
                .replacingOccurrences(of: "\n", with: "&#10;")
                .replacingOccurrences(of: "\r", with: "&#13;")
                .replacingOccurrences(of: "\t", with: "&#9;")
                .replacingOccurrences(of: "\0", with: "&#0;")
        }
        let entities = model.numberedEntities.map { entity in
            "<entity name=\"\(escaped(entity.name))\">"
                + entity.attributes.map {
                    "<attribute name=\"\(escaped($0.name))\" optional=\"YES\" "
                        + "attributeType=\"String\"/>"
                }.joined() + "</entity>"
        }
        return "<?xml version=\"1.0\"?><model type=\"com.apple.IDECoreDataModeler.DataModel\" "
            + "documentVersion=\"1.0\">\(entities.joined())</model>"
    }

    /// The model of a store, and one that is given.
    @Test(arguments: 1...6 as ClosedRange<UInt64>) func namesOfModels(seed: UInt64) throws {
        try withLab(seed: seed) { lab, generator in
            let model: Model
            do {
                model = try self.model(lab, &generator)
            } catch is ModelError {
                return
            }
            let names = model.numberedEntities.flatMap { [$0.name] + $0.attributes.map(\.name) }
            // Names that Core Data could have are no reason to refuse a model.
            guard !names.allSatisfy(HostileNames.isOrdinary) else { return }
            var recipe = ForgeRecipe(model: model, seed: seed)
            recipe.defaultRows = 2
            do {
                _ = try Forge(recipe).write(to: FilePath(lab.place("hostile.sqlite").path))
            } catch is ForgeError {
                return
            }
            let source = lab.place("Hostile.xcdatamodel")
            try FileManager.default.createDirectory(at: source, withIntermediateDirectories: true)
            try Data(xml(model).utf8).write(to: source.appendingPathComponent("contents"))
            try Data(ModelArchive.write(model)).write(to: lab.place("Hostile.mom"))
            try ForgedStore.notes(at: FilePath(lab.place("good.sqlite").path), notes: 5, seed: seed)
            let good = try Data(contentsOf: lab.place("good.sqlite"))
            for name in ["hostile.sqlite", "Hostile.xcdatamodel", "Hostile.mom"] {
                try lab.run("model", "show", name)
                try lab.run("model", "hash", name, "--json")
                try lab.run("model", "diff", name, "good.sqlite")
                for to in [name, "self"] {
                    try lab.run("plan", "hostile.sqlite", "--to", to)
                    try lab.run("plan", "hostile.sqlite", "--from", name, "--to", to)
                    try lab.run("migrate", "hostile.sqlite", "--from", name, "--to", to)
                }
                #expect(try lab.run("plan", "good.sqlite", "--to", name) == 65)
                #expect(try lab.run("migrate", "good.sqlite", "--to", name, "--workers", "1") != 0)
                try lab.run("verify", "good.sqlite", "hostile.sqlite", "--to", name)
            }
            try lab.run("inspect", "hostile.sqlite")
            try lab.run("inspect", "hostile.sqlite", "--json")
            for command in ["status", "replay", "swap", "rollback", "cancel"] {
                try lab.run(command, "hostile.sqlite")
            }
            try lab.run("prune", "hostile.sqlite", "--yes")
            #expect(try Data(contentsOf: lab.place("good.sqlite")) == good)
        }
    }

    /// The names of files, tables of the app, states and runs: a migration with all that follows.
    @Test(arguments: 1...4 as ClosedRange<UInt64>) func namesOfFilesAndTables(seed: UInt64) throws {
        try withLab(seed: seed) { lab, generator in
            let name = { [canary = lab.canary.path] (generator: inout SeededGenerator) -> String in
                HostileNames.make(using: &generator, canary: canary)
                    .replacingOccurrences(of: "/", with: ":")
                    .replacingOccurrences(of: "\0", with: "")
            }
            let (data, results) = ("in" + name(&generator), "out" + name(&generator))
            try FileManager.default.createDirectory(
                at: lab.place(data), withIntermediateDirectories: true)
            let store = "\(data)/x\(name(&generator)).sqlite"
            try ForgedStore.notes(at: FilePath(lab.place(store).path), notes: 20, seed: seed)
            let queue = try DatabaseQueue(path: lab.place(store).path)
            try queue.inDatabase { database in
                for table in Set([name(&generator), name(&generator)].map { "own" + $0 }) {
                    let quoted = SQLText.quoted(table).description
                    try database.execute(
                        sql: "CREATE TABLE \(quoted) (\(quoted) TEXT); "
                            + "INSERT INTO \(quoted) VALUES ('a'); "
                            + "CREATE INDEX \(SQLText.quoted(table + "i")) ON \(quoted) (\(quoted))"
                    )
                }
            }
            try queue.close()
            try ForgedStore.notes(
                at: FilePath(lab.place("template.sqlite").path), version: 2, notes: 1)
            let output = ["--to", "template.sqlite", "--output", results]
            try lab.run("plan", data, "--to", "template.sqlite")
            #expect(try lab.run("migrate", store, output[0], output[1], output[2], output[3]) == 0)
            let result = "\(results)/\(lab.place(store).lastPathComponent)"
            #expect(try lab.run("verify", store, result) == 0)
            #expect(
                try lab.run("migrate", data, "--to", "template.sqlite", "--workers", "1") == 0)
            #expect(try lab.run("status", store) == 0)
            #expect(try lab.run("rollback", store) == 0)
            #expect(
                try lab.run("migrate", data, "--to", "template.sqlite", "--defer-swap") == 0)
            #expect(try lab.run("swap", store) == 0)
            #expect(try lab.run("inspect", store) == 0)
            try lab.run("replay", store)
            #expect(try lab.run("prune", store, "--yes") == 0)
            try lab.run("status", name(&generator), "--state", name(&generator))
        }
    }
}
