import DurableFiles
import Foundation
import StoreForge
import TestSupport
import Testing

/// A fleet as a user meets it: the built program over a folder, and what comes after.
@Suite struct FleetProcessTests {
    private let program = ProcessTests()

    /// What `status --json` prints of a run.
    private struct Status: Codable, Equatable {
        var run: String
        var state: String
        var stores: [String: Int]
    }

    /// The part of `report.json` that is looked at.
    private struct Report: Codable {
        struct Store: Codable {
            var outcome: String
            var store: String
        }
        var stores: [Store]
    }

    private func forge(_ url: URL, version: Int, seed: UInt64) throws {
        try ForgedStore.notes(at: FilePath(url.path), version: version, notes: 40, seed: seed)
    }

    /// Two good stores, a broken one, and a template of the version to go to.
    private func prepare(_ folder: URL) throws -> Data {
        let data = folder.appendingPathComponent("data")
        try FileManager.default.createDirectory(at: data, withIntermediateDirectories: false)
        for (number, name) in ["a", "b", "broken"].enumerated() {
            try forge(
                data.appendingPathComponent("\(name).sqlite"), version: 1, seed: UInt64(number))
        }
        try forge(folder.appendingPathComponent("template.sqlite"), version: 2, seed: 9)
        let broken = data.appendingPathComponent("broken.sqlite")
        let whole = try Data(contentsOf: broken)
        try whole.prefix(whole.count / 2).write(to: broken)
        return whole
    }

    private func status(_ folder: URL) throws -> [Status] {
        let ended = try program.run(["status", "--json"], in: folder)
        #expect(ended.status == 0, "\(ended.log)")
        return try JSONDecoder().decode([Status].self, from: Data(ended.output.utf8))
    }

    /// With too few descriptors libraries abort or wait without end: nothing is begun.
    @Test func tooFewOpenFilesAreRefused() throws {
        try withTemporaryFolder { folder in
            _ = try prepare(folder)
            let before = try contents(folder)
            let command = [
                "migrate", "data/a.sqlite", "--to", "template.sqlite", "--state", "state",
                "--workers", "2",
            ]
            for limit in [32, 48, 80] {
                let refused = try program.run(command, in: folder, openFiles: limit)
                #expect(refused.status == 74, "\(limit): \(refused.log)")
                #expect(refused.log.contains("ulimit -n"), "\(limit): \(refused.log)")
                #expect(try contents(folder) == before)
            }
            let done = try program.run(command, in: folder, openFiles: 128)
            #expect(done.status == 0, "\(done.log)")
        }
    }

    private func contents(_ folder: URL) throws -> [String: Data] {
        var found: [String: Data] = [:]
        let data = folder.appendingPathComponent("data")
        for name in try FileManager.default.contentsOfDirectory(atPath: data.path)
        where !name.hasPrefix(".") {
            found[name] = try Data(contentsOf: data.appendingPathComponent(name))
        }
        return found
    }

    @Test func aFolderWithABrokenStore() throws {
        try withTemporaryFolder { folder in
            let whole = try prepare(folder)
            let before = try contents(folder)
            let migrate = ["migrate", "data", "--to", "template.sqlite"]
            let ended = try program.run(migrate, in: folder)
            #expect(ended.status == 75, "\(ended.log)")
            #expect(ended.output.contains("2 of 3 stores migrated"))
            #expect(ended.log.contains("broken.sqlite") && ended.log.contains("truncated"))
            let reports = folder.appendingPathComponent(".godwit/runs/r1")
            for name in ["report.txt", "report.html"] {
                let text = try String(
                    contentsOf: reports.appendingPathComponent(name), encoding: .utf8)
                #expect(text.contains("broken.sqlite") && text.contains("truncated"))
            }
            let json = try JSONDecoder().decode(
                Report.self, from: Data(contentsOf: reports.appendingPathComponent("report.json")))
            #expect(json.stores.map(\.outcome).sorted() == ["done", "done", "failed"])
            #expect(
                try status(folder)
                    == [Status(run: "r1", state: "ended", stores: ["done": 2, "failed": 1])])
            let migrated = try contents(folder)
            #expect(migrated["broken.sqlite"] == before["broken.sqlite"])
            #expect(migrated["a.sqlite"] != before["a.sqlite"])

            try replayAndRollBack(folder, whole: whole, before: before)
        }
    }

    /// What is no state folder of this user is passed over, whatever its name.
    @Test func anotherThingOfThatNameAboveIsPassedOver() throws {
        try withTemporaryFolder { folder in
            _ = try prepare(folder)
            try Data([1]).write(to: folder.appendingPathComponent(".godwit"))
            let done = try program.run(
                ["migrate", "data/a.sqlite", "--to", "template.sqlite"], in: folder)
            #expect(done.status == 0, "\(done.log)")
            let own = folder.appendingPathComponent("data/.godwit/ledger.sqlite").path
            #expect(FileManager.default.fileExists(atPath: own))
        }
    }

    /// A run of a folder knows the stores in it, also when one of them is named alone.
    @Test func aStoreOfAFolderGoesByTheStateOfTheFolder() throws {
        try withTemporaryFolder { folder in
            _ = try prepare(folder)
            let end = ["--to", "template.sqlite"]
            let first = try program.run(["migrate", "data"] + end, in: folder)
            #expect(first.status == 75, "\(first.log)")
            let second = try program.run(["migrate", "data/a.sqlite"] + end, in: folder)
            #expect(second.status == 0, "\(second.log)")
            let plan = try program.run(["plan", "data/a.sqlite"] + end, in: folder)
            #expect(plan.status == 0, "\(plan.log)")
            #expect(plan.output.contains("already has the destination's model version"))
            let own = folder.appendingPathComponent("data/.godwit").path
            #expect(!FileManager.default.fileExists(atPath: own))
            #expect(try status(folder).map(\.run).sorted() == ["r1", "r2"])
            // What has a state folder of its own keeps it.
            let stated = try program.run(
                ["migrate", "data/b.sqlite", "--state", "data/.godwit"] + end, in: folder)
            #expect(stated.status == 0, "\(stated.log)")
            let nearest = try program.run(
                ["status", "data/b.sqlite", "--json"], in: folder)
            let runs = try JSONDecoder().decode([Status].self, from: Data(nearest.output.utf8))
            #expect(runs.map(\.run) == ["r1"])
        }
    }

    private func replayAndRollBack(_ folder: URL, whole: Data, before: [String: Data]) throws {
        func expect(_ words: String..., status: Int32, saying: String) throws {
            let ended = try program.run(words, in: folder)
            #expect(ended.status == status, "\(words): \(ended.output)\(ended.log)")
            #expect(
                (ended.output + ended.log).contains(saying),
                "\(words): \(ended.output)\(ended.log)")
        }
        // Not repaired yet: the one store's own status.
        try expect("replay", status: 65, saying: "truncated")
        try whole.write(to: folder.appendingPathComponent("data/broken.sqlite"))
        try expect("replay", status: 0, saying: "1 store of run r1 replayed")
        try expect("replay", status: 0, saying: "nothing to replay")
        #expect(try status(folder).map(\.stores) == [["done": 3]])

        try expect("prune", status: 0, saying: "3 kept originals")
        try expect("prune", status: 0, saying: "data/.godwit-backup-")
        try expect("rollback", status: 0, saying: "rolled back")
        var original = before
        original["broken.sqlite"] = whole
        #expect(try contents(folder) == original)
        try expect("rollback", status: 64, saying: "nothing to roll back")

        try expect("migrate", "data", "--to", "template.sqlite", status: 0, saying: "All 3 stores")
        try expect("prune", "r2", "--yes", status: 0, saying: "freed")
        try expect("rollback", "r2", status: 64, saying: "the run r2 was pruned")
        try expect("prune", "--yes", "r1", status: 0, saying: "0 kept originals")
        #expect(
            try status(folder).map(\.stores) == [["pruned": 3], ["pruned": 3]])
        let names = try FileManager.default.contentsOfDirectory(
            atPath: folder.appendingPathComponent("data").path)
        #expect(names.allSatisfy { !$0.hasPrefix(".godwit") }, "\(names)")
    }
}
