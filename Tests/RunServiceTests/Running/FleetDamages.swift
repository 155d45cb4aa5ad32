import CoreDataStore
import Foundation
import GRDB
import Jobs
import ManagedObjectModel
import ModelFiles
import StoreForge
import Testing

/// Stores that are bad as stores, not as files: their models, and what lies beside them.
enum FleetDamages {
    static let all: [Damage] = [
        Damage("no model cache", sql: "DROP TABLE Z_MODELCACHE"),
        Damage("unknown attribute type") { lab in
            let archive = try ModelArchive.write(ForgeModels.notes(version: 1))
            let list = try BinaryPropertyList.read(archive)
            let strange = list.replacing(.integer(700), with: .integer(7777))
            try setModel(lab, BinaryPropertyList.write(strange))
        },
        Damage("garbage for a model") { lab in
            try setModel(lab, Array(repeating: 0x5A, count: 5000))
        },
        Damage("no way to the destination") { lab in
            try FileManager.default.removeItem(at: lab.originals)
            try FileManager.default.createDirectory(
                at: lab.originals, withIntermediateDirectories: false)
            var recipe = try StoreLab.recipe()
            recipe.model = try otherModel()
            try lab.forge(recipe)
        },
        Damage("no external files") { lab in
            let name = lab.store.deletingPathExtension().lastPathComponent
            try FileManager.default.removeItem(
                at: lab.originals.appendingPathComponent(".\(name)_SUPPORT"))
        },
        Damage("log of another store") { lab in
            let other = StoreLab(
                folder: lab.folder.appendingPathComponent("other"), name: "other.sqlite")
            try FileManager.default.createDirectory(
                at: other.originals, withIntermediateDirectories: true)
            var recipe = try StoreLab.recipe(notes: 400, seed: 9)
            recipe.journal = .writeAheadLogWithContent
            try other.forge(recipe)
            try FileManager.default.moveItem(
                atPath: other.store.path + "-wal", toPath: lab.store.path + "-wal")
            try FileManager.default.removeItem(at: other.folder)
        },
    ]

    /// What reports must say about the bad stores that are most common.
    static let causes: [String: FailureCause] = [
        "empty": .damaged, "text": .damaged, "half": .damaged, "UTF-16": .damaged,
        "reserved bytes": .damaged, "without the last page": .damaged,
        "no store at all": .damaged, "salts that do not fit": .damaged,
        "no model cache": .modelMissing, "no way to the destination": .noMapping,
        "no external files": .externalDataMissing, "log of another store": .damaged,
    ]

    private static func setModel(_ lab: StoreLab, _ archive: [UInt8]) throws {
        let content = try Deflate.compress(archive)
        try lab.raw { database in
            try database.execute(
                sql: "UPDATE Z_MODELCACHE SET Z_CONTENT = ?", arguments: [Data(content)])
        }
    }

    /// Notes whose title is a number: no mapping can be inferred.
    private static func otherModel() throws -> Model {
        let entities = try ForgeModels.notes(version: 1).numberedEntities.map { entity in
            var copy = entity
            guard entity.name == "Note" else { return copy }
            copy.attributes = entity.attributes.map { attribute in
                attribute.name == "title"
                    ? Attribute(name: "title", type: .integer32) : attribute
            }
            return copy
        }
        return try Model(entities: entities, versionIdentifiers: ["other"])
    }
}
