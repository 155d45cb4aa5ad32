import CoreDataStore
import Foundation
import GRDB
import Godwit
import ManagedObjectModel
import MigrationEngine
import MigrationPlans
import MigrationValidation
import StoreForge
import StoreRuns
import TestSupport
import Testing

/// Policies that set many-to-many links and places in lists.
@Suite("Links that policies set in join tables and lists") struct PolicyLinkTests {
    static func link(
        _ name: String, _ destination: String, _ inverse: String?, isOrdered: Bool = false,
        most: Int32 = 0
    ) -> Relationship {
        Relationship(
            name: name, destination: destination, inverse: inverse, maximumCount: most,
            isOrdered: isOrdered)
    }

    /// Notes with up to four tag names in one text, by name known tags, and lines.
    static func model(isNew: Bool) throws -> Model {
        let body = Attribute(name: "body", type: .string)
        let uid = Attribute(name: "uid", type: .uuid)
        let tagNames = Attribute(name: "tagNames", type: .string)
        let name = Attribute(name: "name", type: .string)
        let tag = Entity(
            name: "Tag", attributes: [name],
            relationships: isNew
                ? [link("notes", "Note", "tags"), link("labels", "Label", "tags")] : [])
        let previous = link("previous", "Note", nil, most: 1)
        let note = Entity(
            name: "Note", attributes: isNew ? [body, uid] : [body, tagNames, uid],
            relationships: isNew
                ? [
                    previous, link("tags", "Tag", "notes", isOrdered: true),
                    link("lines", "Line", "note", isOrdered: true),
                    link("related", "Note", "related"),
                ] : [previous])
        let special = Entity(name: "SpecialNote", parent: "Note")
        guard isNew else { return try Model(entities: [note, special, tag]) }
        let line = Entity(
            name: "Line", attributes: [Attribute(name: "text", type: .string)],
            relationships: [link("note", "Note", "lines", most: 1)])
        let label = Entity(
            name: "Label", attributes: [Attribute(name: "text", type: .string)],
            relationships: [link("tags", "Tag", "labels")])
        return try Model(entities: [label, line, note, special, tag])
    }

    static let mapping = """
        godwit-mapping: 1
        entities:
          - entity: Note
            policy: LinkingPolicy
          - entity: SpecialNote
            policy: LinkingPolicy
        """

    static func forge(_ lab: StoreLab, seed: UInt64) throws {
        var recipe = ForgeRecipe(model: try model(isNew: false), seed: seed)
        recipe.rows = ["Note": 150, "SpecialNote": 50, "Tag": 5]
        try lab.forge(recipe)
        // The tags of a note: n, n * 3, n * 7 of 17, some of them the same one.
        try lab.damage(
            "UPDATE ZNOTE SET ZTAGNAMES = 't' || (Z_PK % 17) || ',t' || (Z_PK * 3 % 17) || ',t' "
                + "|| (Z_PK * 7 % 17); UPDATE ZNOTE SET ZTAGNAMES = NULL WHERE Z_PK % 9 = 0; "
                + "UPDATE ZTAG SET ZNAME = 't' || (Z_PK * 2); UPDATE ZNOTE SET "
                + "ZPREVIOUS = nullif(Z_PK - 1, 0), Z1_PREVIOUS = "
                + "(SELECT Z_ENT FROM ZNOTE o WHERE o.Z_PK = ZNOTE.Z_PK - 1)")
    }

    private static func rows(_ lab: StoreLab) throws -> [[DatabaseValue]] {
        try lab.raw(lab.output) { database in
            let tables = try String.fetchAll(
                database,
                sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND (name GLOB 'Z_[0-9]*'"
                    + " OR name IN ('ZNOTE', 'ZTAG', 'ZLINE', 'ZLABEL', 'Z_PRIMARYKEY'))"
                    + " ORDER BY name")
            return try tables.flatMap { table in
                try Row.fetchAll(database, sql: "SELECT * FROM \(table) ORDER BY 1, 2").map {
                    Array($0.databaseValues)
                }
            }
        }
    }

    @Test("every way to cut a store gives the same links and places", arguments: [1, 2])
    func sameInEveryMode(seed: UInt64) throws {
        let modes: [(MigrationPlans.Strategy, PartitionMode)] = [
            (.whole, .auto), (.partitioned, .key), (.partitioned, .entity),
            (.partitioned, .uuid([PropertyKey("Note", "uid")])),
        ]
        var first: [[DatabaseValue]]?
        for (strategy, partition) in modes {
            try StoreLab.run { lab in
                try Self.forge(lab, seed: seed)
                let outcome = try lab.migrate(
                    to: .model(DestinationModel(model: Self.model(isNew: true))),
                    options: PolicyLab.options(
                        strategy, partition, mapping: Self.mapping, chunkBytes: 2048),
                    policies: [LinkingPolicy.self])
                #expect(outcome.validation.isEqual, "\(outcome.validation.lines)")
                if strategy == .partitioned { #expect(outcome.plan.chunks.count > 4) }
                #expect(try Self.mistakes(lab, outcome.plan) == Array(repeating: 0, count: 9))
                let rows = try Self.rows(lab)
                if let first { #expect(rows == first, "\(strategy) \(partition)") }
                first = first ?? rows
            }
        }
    }

    /// What in the result is not as the policy asks for: one number for each rule.
    private static func mistakes(_ lab: StoreLab, _ plan: MigrationPlan) throws -> [Int?] {
        let layout = try StoreLayout(model: try model(isNew: true), framework: plan.framework)
        let tags = try #require(layout.joinTable(of: PropertyKey("Note", "tags")))
        let isNaming = tags.naming.entity == "Note"
        let note = isNaming ? tags.namingColumn : tags.inverseColumn
        let tag = isNaming ? tags.inverseColumn : tags.namingColumn
        let order = try #require(isNaming ? tags.inverseOrder : tags.namingOrder)
        let labels = try #require(layout.joinTable(of: PropertyKey("Label", "tags")))
        let related = try #require(layout.joinTable(of: PropertyKey("Note", "related")))
        let store = lab.store.path
        return try lab.raw(lab.output) { database in
            try database.execute(sql: "ATTACH '\(store)' AS old")
            try database.execute(
                sql: """
                    CREATE TEMP TABLE wanted AS
                    SELECT Z_PK AS note, 1 AS place, 't' || (Z_PK % 17) AS name FROM old.ZNOTE
                    WHERE ZTAGNAMES IS NOT NULL UNION ALL
                    SELECT Z_PK, 2, 't' || (Z_PK * 3 % 17) FROM old.ZNOTE
                    WHERE ZTAGNAMES IS NOT NULL UNION ALL
                    SELECT Z_PK, 3, 't' || (Z_PK * 7 % 17) FROM old.ZNOTE
                    WHERE ZTAGNAMES IS NOT NULL;
                    """)
            let links = "SELECT note, name, min(place) AS place FROM wanted GROUP BY note, name"
            let found =
                "SELECT \(note) AS note, t.ZNAME AS name, \(order) AS place FROM \(tags.name) j "
                + "JOIN ZTAG t ON t.Z_PK = j.\(tag)"
            return try [
                // The links are those of the names, each once.
                "SELECT count(*) FROM (SELECT note, name FROM (\(links)) "
                    + "EXCEPT SELECT note, name FROM (\(found)))",
                "SELECT count(*) FROM (SELECT note, name FROM (\(found)) "
                    + "EXCEPT SELECT note, name FROM (\(links)))",
                "SELECT count(*) - count(DISTINCT ZNAME) FROM ZTAG",
                // Places are in the order of the names, from 2048 on in steps of 1024.
                """
                SELECT count(*) FROM (\(found)) f JOIN (SELECT note, name, 1024 + 1024 *
                row_number() OVER (PARTITION BY note ORDER BY place) AS place FROM (\(links))) w
                USING (note, name) WHERE f.place <> w.place
                """,
                // Every note with tags has as many lines as names, in their order.
                """
                SELECT count(*) FROM wanted w LEFT JOIN (SELECT ZNOTE AS note, ZTEXT AS name,
                row_number() OVER (PARTITION BY ZNOTE ORDER BY Z_FOK_NOTE) AS place FROM ZLINE) l
                USING (note, place) WHERE l.name IS NOT w.name
                """,
                "SELECT count(*) FROM ZLINE WHERE Z_FOK_NOTE % 1024 <> 0 OR Z_FOK_NOTE < 2048",
                // Each such note has a label with the tag of its first name.
                """
                SELECT count(*) <> (SELECT count(DISTINCT note) FROM wanted) FROM ZLABEL l
                JOIN \(labels.name) j ON j.\(labels.namingColumn) = l.Z_PK
                JOIN ZTAG t ON t.Z_PK = j.\(labels.inverseColumn)
                AND t.ZNAME = substr(l.ZTEXT, 1 + instr(l.ZTEXT, ' '))
                """,
                // Notes are related to the one before, which may be a special one.
                """
                SELECT count(*) FROM \(related.name)
                WHERE \(related.namingColumn) <> \(related.inverseColumn) + 1
                """,
                "SELECT count(*) <> (SELECT count(*) FROM ZNOTE WHERE Z_PK > 1) "
                    + "FROM \(related.name)",
            ].map { try Int.fetchOne(database, sql: $0) }
        }
    }

    @Test("the validation finds links and places that are not the policy's")
    func seededMistakes() throws {
        try StoreLab.run { lab in
            try Self.forge(lab, seed: 3)
            let outcome = try lab.migrate(
                to: .model(DestinationModel(model: Self.model(isNew: true))),
                options: PolicyLab.options(.partitioned, mapping: Self.mapping),
                policies: [LinkingPolicy.self])
            let layout = try StoreLayout(
                model: try Self.model(isNew: true), framework: outcome.plan.framework)
            let result = lab.folder.appendingPathComponent("result.sqlite")
            for join in layout.joinTables {
                let (table, naming, inverse) = (join.name, join.namingColumn, join.inverseColumn)
                let row = "WHERE rowid = (SELECT max(rowid) / 2 FROM \(table))"
                var mistakes = [
                    "SELECT 1", "DELETE FROM \(table) \(row)", "DELETE FROM \(table)",
                    "UPDATE \(table) SET \(inverse) = 3 \(row) AND \(inverse) <> 3",
                    "UPDATE \(table) SET \(naming) = \(naming) + 1000 \(row)",
                    "UPDATE \(table) SET \(naming) = NULL \(row)",
                    "INSERT INTO \(table) (\(naming), \(inverse)) SELECT 2, min(k) FROM "
                        + "(SELECT \(inverse) AS k FROM \(table)) WHERE k NOT IN "
                        + "(SELECT \(inverse) FROM \(table) WHERE \(naming) = 2)",
                ]
                for order in [join.namingOrder, join.inverseOrder].compactMap({ $0 }) {
                    mistakes.append("UPDATE \(table) SET \(order) = \(order) + 1 \(row)")
                }
                for (number, mistake) in mistakes.enumerated() {
                    if FileManager.default.fileExists(atPath: result.path) {
                        try FileManager.default.removeItem(at: result)
                    }
                    try FileManager.default.copyItem(at: lab.output, to: result)
                    try lab.raw(result) { try $0.execute(sql: mistake) }
                    #expect(try lab.isEqual(result, to: outcome) == (number == 0), "\(mistake)")
                }
            }
        }
    }
}

/// Links notes with tags that it finds, lines that it inserts, and the note before.
private struct LinkingPolicy: MigrationPolicy {
    static let effects = PolicyEffects(
        sets: ["related", "tags"],
        creates: [
            .found("Tag", by: ["name"], atMost: 3), .inserted("Line", atMost: 3),
            .inserted("Label"),
        ], carries: ["tagNames"])

    func createDestinationInstances(
        for source: SourceObject, destination: DestinationObject, in context: MigrationContext
    ) throws {
        if let previous = try source.object("previous") {
            let other = try context.destinationObjects(for: previous).first
            try destination.associate("related", with: other)
            // Once more: links form a set.
            try destination.associate("related", with: other)
        }
        guard let names = try source.string("tagNames") else { return }
        for (place, name) in names.split(separator: ",").enumerated() {
            let tag = try context.findOrInsert("Tag", key: ["name": .string(String(name))])
            try destination.associate("tags", with: tag)
            let line = try context.insert("Line")
            try line.set("text", to: .string(String(name)))
            // From either side.
            if place == 1 {
                try line.associate("note", with: destination)
            } else {
                try destination.associate("lines", with: line)
            }
            guard place == 0 else { continue }
            let label = try context.insert("Label")
            try label.set("text", to: .string("label \(name)"))
            try tag.associate("labels", with: label)
        }
    }
}
