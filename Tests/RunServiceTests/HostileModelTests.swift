import CoreDataStore
import DurableFiles
import Foundation
import GRDB
import GodwitCommands
import ManagedObjectModel
import MigrationPlans
import ModelFiles
import RunReports
import StoreForge
import StoreRuns
import Testing

@testable import RunService

/// Stores whose model is missing, damaged, or not the one of their rows.
@Suite struct HostileModelTests {
    private func refused(
        to version: Int = 2, from: Model? = nil, saying words: [String],
        _ damage: (StoreLab) throws -> Void
    ) throws {
        try StoreLab.run { lab in
            try lab.forge(try StoreLab.recipe(notes: 20))
            try damage(lab)
            let refused = try lab.expectRefusal(from: from, saying: words)
            #expect(refused?.status == .badData)
        }
    }

    private func setCache(_ lab: StoreLab, _ bytes: [UInt8]) throws {
        try lab.raw { database in
            try database.execute(
                sql: "UPDATE Z_MODELCACHE SET Z_CONTENT = ?", arguments: [Data(bytes)])
        }
    }

    @Test func noModel() throws {
        for sql in [
            "DROP TABLE Z_MODELCACHE", "DELETE FROM Z_MODELCACHE",
            "UPDATE Z_MODELCACHE SET Z_CONTENT = NULL",
            "UPDATE Z_MODELCACHE SET Z_CONTENT = x''",
            "ALTER TABLE Z_MODELCACHE RENAME TO c; "
                + "CREATE VIEW Z_MODELCACHE AS SELECT * FROM c",
        ] {
            try refused(saying: ["give the model that wrote it"]) { try $0.damage(sql) }
        }
    }

    @Test func modelOfAnotherVersion() throws {
        let second = try ForgeModels.notes(version: 2)
        try refused(from: second, saying: ["another version", "Note"]) { _ in }
        try refused(from: second, saying: ["another version"]) {
            try $0.damage("DROP TABLE Z_MODELCACHE")
        }
        try refused(saying: ["another version", "model that wrote it"]) { lab in
            try setCache(lab, Deflate.compress(ModelArchive.write(second)))
        }
    }

    @Test func garbageForAModel() throws {
        let archive = try ModelArchive.write(ForgeModels.notes(version: 1))
        var generator = SeededBytes(seed: 3)
        let garbage = (0..<5000).map { _ in generator.next() }
        for bytes in [
            garbage, try Array(Deflate.compress(archive).prefix(200)),
            try Deflate.compress(garbage),
            try Deflate.compress(Array(archive.prefix(archive.count / 2))),
            // A deflated gigabyte would be a bomb; half of it must not be inflated either.
            try Deflate.compress([UInt8](repeating: 0, count: 300_000_000)),
        ] {
            try refused(saying: ["model"]) { try setCache($0, bytes) }
        }
    }

    /// Every hundredth byte of the archive changed: never a trap, never a wrong model.
    @Test func flippedBytesInAModel() throws {
        let archive = try ModelArchive.write(ForgeModels.notes(version: 1))
        let hashes = VersionHashes(try ForgeModels.notes(version: 1)).entities
        var generator = SeededBytes(seed: 5)
        for place in stride(from: 8, to: archive.count, by: 13) {
            var bytes = archive
            bytes[place] ^= generator.next() | 1
            do throws(ModelError) {
                // What is still a model either has other hashes or means the same.
                let model = try ModelArchive.read(bytes)
                let differing = VersionHashes(model).differences(from: hashes)
                if differing.isEmpty {
                    #expect(Set(model.entities.keys) == Set(hashes.keys))
                }
            } catch {
                #expect(!error.description.isEmpty)
            }
        }
    }

    @Test func unknownAttributeType() throws {
        let archive = try ModelArchive.write(ForgeModels.notes(version: 1))
        let list = try BinaryPropertyList.read(archive)
        let strange = list.replacing(.integer(700), with: .integer(7777))
        #expect(strange != list)
        try refused(saying: ["model", "7777"]) {
            try setCache($0, Deflate.compress(BinaryPropertyList.write(strange)))
        }
    }

    @Test func noWayToTheDestination() throws {
        let original = try ForgeModels.notes(version: 1)
        let entities = original.numberedEntities.map { entity in
            var copy = entity
            if entity.name == "Note" {
                copy.attributes = entity.attributes.map { attribute in
                    attribute.name == "title"
                        ? Attribute(name: "title", type: .integer32) : attribute
                }
            }
            return copy
        }
        let other = try Model(entities: entities, versionIdentifiers: ["other"])
        try StoreLab.run { lab in
            try lab.forge(try StoreLab.recipe(notes: 20))
            let refused = try lab.expectRefusal(
                to: .model(try DestinationModel(model: other)), namesStore: false,
                saying: ["Note.title", "attribute type changed"])
            #expect(refused?.status == .badData)
        }
    }

    @Test func filesThatAreMissing() throws {
        try StoreLab.run { lab in
            try lab.forge(try StoreLab.recipe())
            let folder = lab.originals.appendingPathComponent(".store_SUPPORT")
            #expect(FileManager.default.fileExists(atPath: folder.path))
            try FileManager.default.removeItem(at: folder)
            let refused = try lab.expectRefusal(saying: ["keep the references"])
            #expect(refused?.status == .badData)
        }
    }

    @Test func filesThatAreLinks() throws {
        try StoreLab.run { lab in
            try lab.forge(try StoreLab.recipe())
            let folder = lab.originals.appendingPathComponent(".store_SUPPORT/_EXTERNAL_DATA")
            let name = try #require(
                FileManager.default.contentsOfDirectory(atPath: folder.path).min())
            let file = folder.appendingPathComponent(name)
            try FileManager.default.removeItem(at: file)
            try FileManager.default.createSymbolicLink(
                atPath: file.path, withDestinationPath: "/etc/passwd")
            for allows in [false, true] {
                let refused = try lab.expectRefusal(
                    options: PlanOptions(allowsMissingExternalData: allows),
                    saying: ["symbolic link"])
                #expect(refused?.status == .badData)
            }
        }
    }
}

/// Bytes from a seed.
struct SeededBytes {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt8 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return UInt8(truncatingIfNeeded: state >> 24)
    }

    mutating func below(_ limit: Int) -> Int {
        (0..<4).reduce(0) { sum, _ in sum << 8 | Int(next()) } % max(1, limit)
    }
}

extension PropertyList {
    /// The same list with every value that equals one replaced.
    func replacing(_ value: PropertyList, with other: PropertyList) -> PropertyList {
        if self == value { return other }
        switch self {
        case .array(let values):
            return .array(values.map { $0.replacing(value, with: other) })
        case .dictionary(let entries):
            return .dictionary(
                entries.map { Entry($0.key, $0.value.replacing(value, with: other)) })
        default: return self
        }
    }
}
