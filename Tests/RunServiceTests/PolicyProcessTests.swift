import Foundation
import GRDB
import ManagedObjectModel
import StoreForge
import TestSupport
import Testing

/// Executables that carry policies, as processes.
@Suite("Processes with policies") struct PolicyProcessTests {
    private static let programs = URL(fileURLWithPath: CommandLine.arguments[0])
        .deletingLastPathComponent()
    private static var carrier: URL { programs.appendingPathComponent("sample-policies") }
    private static var plain: URL { programs.appendingPathComponent("godwit") }

    private struct Ended {
        let status: Int32
        let output: String
    }

    /// Runs a program to its end.
    private func run(_ program: URL, _ arguments: [String]) throws -> Ended {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = program
        process.arguments = arguments
        process.standardOutput = pipe
        process.standardError = pipe
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Ended(
            status: process.terminationStatus, output: String(decoding: output, as: UTF8.self))
    }

    private static let mapping = """
        godwit-mapping: 1
        entities:
          - entity: Note
            policy: MisbehavingPolicy
        """

    /// A process in the background.
    private func start(_ program: URL, _ arguments: [String]) throws -> Process {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        return process
    }

    /// Migrates a store whose note 77 says what the policy does.
    private func migrate(
        _ lab: StoreLab, deed: String, by program: URL, _ options: [String]
    ) throws -> Ended {
        try run(
            program,
            ["migrate"] + forge(lab, deed: deed)
                + ["--output", lab.results.path, "--workers", "2"] + options)
    }

    /// Makes a store, and what commands are told about it.
    private func forge(_ lab: StoreLab, deed: String) throws -> [String] {
        try PolicyLab.forge(lab)
        try lab.damage("UPDATE ZNOTE SET ZTAG = '\(deed)' WHERE Z_PK = 77")
        let template = lab.folder.appendingPathComponent("template.sqlite")
        let recipe = ForgeRecipe(model: try PolicyLab.destination(), seed: 1)
        _ = try Forge(recipe).write(to: lab.path(template))
        let mapping = lab.folder.appendingPathComponent("m.yaml")
        try Self.mapping.write(to: mapping, atomically: true, encoding: .utf8)
        return [
            lab.store.path, "--to", template.path, "--mapping", mapping.path,
            "--chunk-bytes", "4096",
        ]
    }

    @Test("a coordinator gives jobs to workers that carry their policies alone")
    func coordinated() throws {
        try StoreLab.run { lab in
            let options = try forge(lab, deed: "")
            let socket = ["--connect", "ipc://\(lab.folder.path)/c", "--plain"]
            let root = ["--root", "lab=\(lab.folder.path)"]
            let coordinator = try start(
                Self.plain,
                ["coordinate", "--listen", socket[1], "--plain", "--state", lab.state.path] + root)
            defer { coordinator.terminate() }
            let idle = try start(Self.plain, ["work", "--slots", "1"] + socket + root)
            defer { idle.terminate() }
            let carrier = try start(Self.carrier, ["work", "--slots", "1"] + socket + root)
            defer { carrier.terminate() }
            let ended = try run(
                Self.carrier,
                ["submit"] + options + ["--output", lab.results.path, "--wait"] + socket + root)
            #expect(ended.status == 0, "\(ended.output)")
            let count = try lab.raw(lab.output) {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM ZNOTE WHERE ZSUMMARY = 'fine'")
            }
            #expect(count == 300)
        }
    }

    @Test("godwit runs the policies of another executable") func workerCommand() throws {
        try StoreLab.run { lab in
            let ended = try migrate(
                lab, deed: "", by: Self.plain, ["--worker-command", Self.carrier.path])
            #expect(ended.status == 0, "\(ended.output)")
            let count = try lab.raw(lab.output) {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM ZNOTE WHERE ZSUMMARY = 'fine'")
            }
            #expect(count == 300)
        }
    }

    @Test("without the executable the mapping is refused at once") func withoutCarrier() throws {
        try StoreLab.run { lab in
            let ended = try migrate(lab, deed: "", by: Self.plain, [])
            #expect(ended.status == 65)
            #expect(ended.output.contains("migration policy MisbehavingPolicy is code of the app"))
            #expect(ended.output.contains("--worker-command"))
            #expect(!FileManager.default.fileExists(atPath: lab.output.path))
        }
    }

    @Test(
        "a policy that traps, hangs or takes all memory costs its chunk, and is named",
        arguments: ["trap", "hang", "exhaust", "refuse"])
    func misbehaves(deed: String) throws {
        try StoreLab.run { lab in
            let ended = try migrate(
                lab, deed: deed, by: Self.carrier,
                ["--worker-timeout", "2", "--worker-memory", "512MiB"])
            #expect(ended.status == (deed == "refuse" ? 65 : 75), "\(ended.output)")
            #expect(ended.output.contains("migration policy MisbehavingPolicy"))
            #expect(ended.output.contains("/Note/p77"), "\(ended.output)")
            #expect(!FileManager.default.fileExists(atPath: lab.output.path))
            // Once the object is put right, replaying does the rest.
            try lab.damage("UPDATE ZNOTE SET ZTAG = 'repaired' WHERE Z_PK = 77")
            let state = lab.results.appendingPathComponent(".godwit").path
            let replayed = try run(Self.carrier, ["replay", "--state", state, "--workers", "2"])
            #expect(replayed.status == 0, "\(replayed.output)")
            #expect(FileManager.default.fileExists(atPath: lab.output.path))
        }
    }

    // MARK: - Chains

    /// A bundle of three versions: the policy leads to the second one, the third has a zone.
    private func makeBundle(_ lab: StoreLab) throws -> String {
        let bundle = lab.folder.appendingPathComponent("M.xcdatamodeld")
        for (name, attributes) in [
            ("1", ["tag"]), ("2", ["summary", "tag"]), ("3", ["summary", "zone"]),
        ] {
            let folder = bundle.appendingPathComponent("M \(name).xcdatamodel")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let lines = attributes.map {
                "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"String\"/>"
            }
            try Data(
                """
                <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
                <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="Note" representedClassName="Note" syncable="YES">
                \(lines.joined())</entity></model>
                """.utf8
            ).write(to: folder.appendingPathComponent("contents"))
        }
        try PropertyListSerialization.data(
            fromPropertyList: ["_XCCurrentVersionName": "M 3.xcdatamodel"], format: .xml,
            options: 0
        ).write(to: bundle.appendingPathComponent(".xccurrentversion"))
        try Self.mapping.write(
            to: lab.folder.appendingPathComponent("m.yaml"), atomically: true, encoding: .utf8)
        var recipe = ForgeRecipe(
            model: try Model(entities: [
                Entity(name: "Note", attributes: [Attribute(name: "tag", type: .string)])
            ]), seed: 5)
        recipe.rows = ["Note": 200]
        try lab.forge(recipe)
        try lab.damage("UPDATE ZNOTE SET ZTAG = 'fine'")
        return bundle.path
    }

    private func way(_ lab: StoreLab, _ bundle: String) -> [String] {
        [
            lab.store.path, "--to", bundle, "--via", "M 2", "--mapping",
            lab.folder.appendingPathComponent("m.yaml").path, "--output", lab.results.path,
        ]
    }

    private func expectAllFine(_ lab: StoreLab) throws {
        let count = try lab.raw(lab.output) {
            try Int.fetchOne(
                $0,
                sql: "SELECT count(*) FROM ZNOTE WHERE ZSUMMARY = 'fine' AND ZZONE IS NULL")
        }
        #expect(count == 200)
    }

    @Test(
        "a policy before other steps runs in a slot, of small and large stores",
        arguments: [
            ["--workers", "2"], ["--in-process"],
            ["--workers", "2", "--strategy", "partitioned"], ["--workers", "1", "--trust-workers"],
        ])
    func policyOnTheWay(options: [String]) throws {
        try StoreLab.run { lab in
            let bundle = try makeBundle(lab)
            let ended = try run(Self.carrier, ["migrate"] + way(lab, bundle) + options)
            try #require(ended.status == 0, "\(ended.output)")
            try expectAllFine(lab)
            let names = try FileManager.default.contentsOfDirectory(atPath: lab.results.path)
            #expect(names.sorted() == [".godwit", lab.output.lastPathComponent].sorted())
        }
    }

    @Test("the coordinator checks the stores on the way, whose policies it does not carry")
    func policyOnTheWayElsewhere() throws {
        try StoreLab.run { lab in
            let bundle = try makeBundle(lab)
            let ended = try run(
                Self.plain,
                ["migrate"] + way(lab, bundle) + ["--worker-command", Self.carrier.path])
            try #require(ended.status == 0, "\(ended.output)")
            try expectAllFine(lab)
        }
    }

    @Test("a policy on the way that traps costs its attempt, and names step and object")
    func trapOnTheWay() throws {
        try StoreLab.run { lab in
            let bundle = try makeBundle(lab)
            try lab.damage("UPDATE ZNOTE SET ZTAG = 'trap' WHERE Z_PK = 77")
            let ended = try run(Self.carrier, ["migrate"] + way(lab, bundle) + ["--workers", "2"])
            #expect(ended.status == 75, "\(ended.output)")
            #expect(ended.output.contains("/Note/p77"), "\(ended.output)")
            try lab.damage("UPDATE ZNOTE SET ZTAG = 'refuse' WHERE Z_PK = 77")
            let state = lab.results.appendingPathComponent(".godwit").path
            let refused = try run(Self.carrier, ["replay", "--state", state, "--workers", "2"])
            #expect(refused.status == 65, "\(refused.output)")
            #expect(refused.output.contains("step M 1 → M 2"), "\(refused.output)")
            try lab.damage("UPDATE ZNOTE SET ZTAG = 'fine' WHERE Z_PK = 77")
            let replayed = try run(Self.carrier, ["replay", "--state", state, "--workers", "2"])
            #expect(replayed.status == 0, "\(replayed.output)")
            try expectAllFine(lab)
        }
    }
}
