import CoreDataStore
import Foundation
import GRDB
import Godwit
import ManagedObjectModel
import MappingFiles
import MigrationPlans
import StoreForge
import TestSupport

/// Notes with tags in one text become notes with one main tag, found by its name, and with up to
/// three lines, inserted.
struct PolicyLab {
    static let note = Entity(
        name: "Note",
        attributes: [
            Attribute(name: "body", type: .string), Attribute(name: "score", type: .integer32),
            Attribute(name: "tag", type: .string), Attribute(name: "uid", type: .uuid),
        ],
        relationships: [
            Relationship(name: "author", destination: "Person", inverse: "notes")
        ])
    static let person = Entity(
        name: "Person", attributes: [Attribute(name: "name", type: .string)],
        relationships: [
            Relationship(name: "notes", destination: "Note", inverse: "author", maximumCount: 0)
        ])

    static func source() throws -> Model { try Model(entities: [note, person]) }

    static func destination() throws -> Model {
        var note = note
        note.attributes = [
            Attribute(name: "body", type: .string), Attribute(name: "score", type: .integer32),
            Attribute(name: "summary", type: .string), Attribute(name: "uid", type: .uuid),
        ]
        note.relationships += [
            Relationship(name: "lines", destination: "Line", inverse: "note", maximumCount: 0),
            Relationship(name: "tag", destination: "Tag", inverse: "notes"),
        ]
        let line = Entity(
            name: "Line",
            attributes: [
                Attribute(name: "kind", type: .string, defaultValue: .text("plain")),
                Attribute(name: "place", type: .integer16),
            ],
            relationships: [
                Relationship(name: "note", destination: "Note", inverse: "lines"),
                Relationship(name: "writer", destination: "Person"),
            ])
        let tag = Entity(
            name: "Tag",
            attributes: [
                Attribute(name: "firstScore", type: .integer64),
                Attribute(name: "name", type: .string),
            ],
            relationships: [
                Relationship(name: "notes", destination: "Note", inverse: "tag", maximumCount: 0)
            ])
        return try Model(entities: [line, note, person, tag])
    }

    static let mapping = """
        godwit-mapping: 1
        entities:
          - entity: Note
            policy: NotePolicy
            attributes:
              summary: FUNCTION($entityPolicy, "summary:score:", $source.body, $source.score)
        """

    /// 300 notes with 23 tags, some without one.
    static func forge(_ lab: StoreLab, notes: Int = 300) throws {
        var recipe = ForgeRecipe(model: try source(), seed: 3)
        recipe.rows = ["Note": notes, "Person": 9]
        try lab.forge(recipe)
        try lab.damage(
            "UPDATE ZNOTE SET ZSCORE = (Z_PK * 37) % 101, ZTAG = 'tag ' || (Z_PK * 7 % 23); "
                + "UPDATE ZNOTE SET ZTAG = NULL WHERE Z_PK % 10 = 0")
    }

    static func options(
        _ strategy: MigrationPlans.Strategy, _ partition: PartitionMode = .auto,
        mapping: String = PolicyLab.mapping, chunkBytes: Int64 = 4096
    ) throws -> PlanOptions {
        let file = try MappingFile(path: "m.yaml", form: .yaml, bytes: Array(mapping.utf8))
        var options = PlanOptions(
            strategy: strategy, partition: partition, chunkBytes: chunkBytes)
        options.mappings = [MappingChoice(name: "m.yaml", definition: file.definition)]
        return options
    }

    /// Every row of the tables that policies write to.
    static func rows(_ lab: StoreLab) throws -> [[DatabaseValue]] {
        try lab.raw(lab.output) { database in
            try ["ZNOTE", "ZLINE", "ZTAG", "Z_PRIMARYKEY"].flatMap { table in
                try Row.fetchAll(database, sql: "SELECT * FROM \(table) ORDER BY 1").map {
                    Array($0.databaseValues)
                }
            }
        }
    }
}

/// The policy of the mapping above.
struct NotePolicy: MigrationPolicy {
    static let effects = PolicyEffects(
        sets: ["tag"],
        creates: [.found("Tag", by: ["name"]), .inserted("Line", atMost: 3)],
        carries: ["tag"], answers: ["summary:score:"])

    func createDestinationInstances(
        for source: SourceObject, destination: DestinationObject, in context: MigrationContext
    ) throws {
        guard let name = try source.string("tag") else { return }
        let score = try source.integer("score") ?? 0
        let tag = try context.findOrInsert("Tag", key: ["name": .string(name)]) { tag in
            try tag.set("firstScore", to: .integer(score))
        }
        try destination.associate("tag", with: tag)
        for place in 0..<(score % 3) {
            let line = try context.insert("Line")
            try line.set("place", to: .integer(place))
            try line.associate("note", with: destination)
        }
    }

    func createRelationships(
        for source: SourceObject, destination: DestinationObject, in context: MigrationContext
    ) throws {
        guard try source.integer("score") == 50, let author = try source.object("author") else {
            return
        }
        let line = try context.insert("Line")
        try line.associate("writer", with: try context.destinationObjects(for: author).first)
        try destination.associate("lines", with: line)
    }

    func value(for selector: String, arguments: [Value?]) throws -> Value? {
        guard case .integer(let score)? = arguments.last ?? nil else { return nil }
        guard case .string(let body)? = arguments.first ?? nil else { return nil }
        return .string("\(score): \(body.unicodeScalars.count)")
    }
}
