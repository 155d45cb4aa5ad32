import CoreDataStore
import Foundation
import GRDB
import ManagedObjectModel
import MappingExpressions
import MappingFiles
import MappingModel
import MigrationPlans
import MigrationValidation
import StoreForge
import StoreRuns
import TestSupport
import Testing

@testable import RunCommands

/// Migrations by a mapping file, read as a user writes it.
@Suite("Mapped migrations") struct MappedMigrationTests {
    private static let strategies: [MigrationPlans.Strategy] = [.whole, .partitioned]

    /// A store of notes that count their words.
    private func recipe() throws -> ForgeRecipe {
        var recipe = try StoreLab.recipe()
        recipe.model = try Model(entities: notes())
        return recipe
    }

    private func notes(_ added: [Attribute] = []) throws -> [Entity] {
        var entities = try ForgeModels.notes(version: 1).numberedEntities
        let place = try #require(entities.firstIndex { $0.name == "Note" })
        entities[place].attributes +=
            [
                Attribute(name: "wordCount", type: .integer32),
                Attribute(name: "modifiedAt", type: .date),
            ] + added
        return entities
    }

    /// The notes with attributes that the mappings of these tests compute.
    private func destination() throws -> DestinationChoice {
        let entities = try notes([
            Attribute(name: "shout", type: .string), Attribute(name: "half", type: .double),
            Attribute(name: "rank", type: .integer32), Attribute(name: "seen", type: .date),
            Attribute(name: "place", type: .string), Attribute(name: "files", type: .integer64),
            Attribute(name: "isOld", type: .boolean),
        ])
        return .model(try DestinationModel(model: Model(entities: entities)))
    }

    private func options(
        _ strategy: MigrationPlans.Strategy, _ yaml: String
    ) throws -> PlanOptions {
        let file = try MappingFile(path: "m.yaml", form: .yaml, bytes: Array(yaml.utf8))
        var options = PlanOptions(strategy: strategy, chunkBytes: 8192)
        options.mappings = [MappingChoice(name: "m.yaml", definition: file.definition)]
        options.now = 700_000_000
        return options
    }

    private static let yaml = """
        godwit-mapping: 1
        entities:
          - entity: Note
            attributes:
              shout: FUNCTION(uppercase($source.title), "stringByAppendingString:", "!")
              half: $source.wordCount / 2
              rank: TERNARY($source.isPinned == YES, 1, $source.wordCount * 2 + 1)
              seen: now()
              place: $source.folder.name
              files: $source.attachments.@count
              isOld: TERNARY($source.createdAt < $source.modifiedAt, YES, NO)
        """

    @Test(arguments: strategies)
    func valuesAreComputed(strategy: MigrationPlans.Strategy) throws {
        try StoreLab.run { lab in
            try lab.forge(try recipe())
            try lab.damage(
                "UPDATE ZNOTE SET ZTITLE = iif(Z_PK % 2, 'stra\u{df}e ', 'road ') || Z_PK; "
                    + "UPDATE ZNOTE SET ZTITLE = NULL, ZFOLDER = NULL WHERE Z_PK % 7 = 0; "
                    + "UPDATE ZNOTE SET ZMODIFIEDAT = NULL WHERE Z_PK % 5 = 0")
            let outcome = try lab.migrate(
                to: destination(), options: options(strategy, Self.yaml))
            #expect(outcome.validation.isEqual)
            let report = PlanReport(outcome.plan, store: lab.name, oddities: []).text
            #expect(report.ranges(of: "rank = ").count == 1, "\(report)")
            try compare(lab)
        }
    }

    /// What plain SQL on source and result says of the expressions.
    private func compare(_ lab: StoreLab) throws {
        let source = try lab.raw { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT n.Z_PK, n.ZTITLE, n.ZWORDCOUNT, n.ZISPINNED, n.ZCREATEDAT, n.ZMODIFIEDAT,
                      f.ZNAME AS folder,
                      (SELECT count(*) FROM ZATTACHMENT a WHERE a.ZNOTE = n.Z_PK) AS files
                    FROM ZNOTE n LEFT JOIN ZFOLDER f ON f.Z_PK = n.ZFOLDER ORDER BY 1
                    """)
        }
        let result = try lab.raw(lab.output) {
            try Row.fetchAll($0, sql: "SELECT * FROM ZNOTE ORDER BY Z_PK")
        }
        #expect(source.count == result.count && source.count > 20)
        for (before, after) in zip(source, result) {
            let words: Int64? = before["ZWORDCOUNT"]
            let isPinned: Bool = before["ZISPINNED"] ?? false
            let (created, modified): (Double?, Double?) = (
                before["ZCREATEDAT"], before["ZMODIFIEDAT"]
            )
            let isOld = created.flatMap { created in modified.map { created < $0 } } ?? false
            #expect(after["Z_PK"] as Int64? == before["Z_PK"])
            #expect(
                after["ZSHOUT"] as String?
                    == (before["ZTITLE"] as String?).map { $0.uppercased() + "!" })
            #expect(after["ZHALF"] as Double? == words.map { Double($0 / 2) })
            #expect(after["ZRANK"] as Int64? == (isPinned ? 1 : words.map { $0 * 2 + 1 }))
            #expect(after["ZSEEN"] as Double? == 700_000_000)
            #expect(after["ZPLACE"] as String? == before["folder"])
            #expect(after["ZFILES"] as Int64? == before["files"])
            #expect(after["ZISOLD"] as Bool? == isOld)
        }
    }

    @Test(arguments: strategies)
    func valuesChangeTheirType(strategy: MigrationPlans.Strategy) throws {
        try StoreLab.run { lab in
            try lab.forge(try recipe())
            try lab.damage(
                "UPDATE ZNOTE SET ZTITLE = CASE Z_PK % 3 WHEN 0 THEN '12' WHEN 1 THEN '-7' END, "
                    + "ZWORDCOUNT = CASE Z_PK % 4 WHEN 0 THEN NULL ELSE Z_PK % 4 END")
            var entities = try notes([Attribute(name: "state", type: .string)])
            let place = try #require(entities.firstIndex { $0.name == "Note" })
            for index in entities[place].attributes.indices {
                switch entities[place].attributes[index].name {
                case "title": entities[place].attributes[index].type = .integer32
                case "wordCount": entities[place].attributes[index].isOptional = false
                default: break
                }
            }
            let yaml = """
                godwit-mapping: 1
                entities:
                  - entity: Note
                    attributes:
                      title: convert
                      wordCount: {value: $source.wordCount, default: 9}
                      state: {value: $source.wordCount, table: {1: one, 2: two}, otherwise: many}
                """
            let outcome = try lab.migrate(
                to: .model(DestinationModel(model: Model(entities: entities))),
                options: options(strategy, yaml))
            #expect(outcome.validation.isEqual)
            let rows = try lab.raw(lab.output) {
                try Row.fetchAll(
                    $0, sql: "SELECT Z_PK, ZTITLE, ZWORDCOUNT, ZSTATE FROM ZNOTE ORDER BY 1")
            }
            #expect(rows.count > 20)
            for row in rows {
                let key: Int64 = row[0]
                #expect(row[1] as Int64? == [12, -7, nil][Int(key % 3)])
                #expect(row[2] as Int64? == [9, 1, 2, 3][Int(key % 4)])
                #expect(row[3] as String? == [nil, "one", "two", "many"][Int(key % 4)])
            }
        }
    }

    @Test func anErrorNamesPropertyAndObject() throws {
        try StoreLab.run { lab in
            try lab.forge(try recipe())
            try lab.damage("UPDATE ZNOTE SET ZWORDCOUNT = 0 WHERE Z_PK = 3")
            let yaml = """
                godwit-mapping: 1
                entities:
                  - entity: Note
                    attributes:
                      rank: 100 / $source.wordCount
                """
            try lab.expectRefusal(
                to: destination(), options: options(.whole, yaml),
                saying: ["Note.rank", "/Note/p3 ", "divides by zero"])
        }
    }

    @Test func mistakesAreToldBeforeAnythingIsWritten() throws {
        try StoreLab.run { lab in
            try lab.forge(try recipe())
            let yaml = """
                godwit-mapping: 1
                entities:
                  - entity: Note
                    attributes:
                      rank: $source.wordcount
                      shout: $source.createdAt
                      nothing: 1
                """
            try lab.expectRefusal(
                to: destination(), options: options(.whole, yaml), namesStore: false,
                saying: [
                    "m.yaml", "line 5", "Did you mean wordCount?", "a date",
                    "Note has no attribute nothing",
                ])
        }
    }

    @Test func twoMappingsThatFitAreRefused() throws {
        try StoreLab.run { lab in
            try lab.forge(try recipe())
            var options = try options(.whole, Self.yaml)
            options.mappings.append(
                MappingChoice(name: "n.yaml", definition: options.mappings[0].definition))
            try lab.expectRefusal(
                to: destination(), options: options, namesStore: false,
                saying: ["m.yaml, n.yaml"])
        }
    }

    /// A file for other versions is not for this store: its mapping is inferred.
    @Test func aMappingForOtherVersionsIsLeftAside() throws {
        try StoreLab.run { lab in
            try lab.forge(try recipe())
            var options = try options(.whole, Self.yaml)
            options.mappings[0].definition.entityMappings[0].sourceHash = [UInt8](
                repeating: 7, count: 32)
            let outcome = try lab.migrate(to: destination(), options: options)
            #expect(outcome.validation.isEqual)
            let shouts = try lab.raw(lab.output) {
                try Int.fetchOne($0, sql: "SELECT count(ZSHOUT) FROM ZNOTE")
            }
            #expect(shouts == 0)
        }
    }

    /// One source row becomes rows of two entities.
    @Test(arguments: strategies)
    func oneEntityIsMappedTwice(strategy: MigrationPlans.Strategy) throws {
        try StoreLab.run { lab in
            try lab.forge(try recipe())
            var entities = try notes()
            entities.append(
                Entity(
                    name: "Stamp",
                    attributes: [
                        Attribute(name: "at", type: .date),
                        Attribute(name: "words", type: .integer64),
                    ]))
            let yaml = """
                godwit-mapping: 1
                entities:
                  - entity: Note
                  - source: Note
                    destination: Stamp
                    attributes:
                      at: $source.createdAt
                      words: $source.wordCount + 0
                """
            let outcome = try lab.migrate(
                to: .model(DestinationModel(model: Model(entities: entities))),
                options: options(strategy, yaml))
            #expect(outcome.validation.isEqual)
            let notes = try lab.raw {
                try Row.fetchAll($0, sql: "SELECT Z_PK, ZCREATEDAT, ZWORDCOUNT FROM ZNOTE")
            }
            let stamps = try lab.raw(lab.output) {
                try Row.fetchAll($0, sql: "SELECT Z_PK, ZAT, ZWORDS FROM ZSTAMP")
            }
            #expect(notes.count > 20)
            #expect(
                notes.map { Array($0.databaseValues) } == stamps.map { Array($0.databaseValues) })
        }
    }
}

/// Values that the destination does not take.
extension MappedMigrationTests {
    private func destination(_ change: (inout Attribute) -> Void) throws -> DestinationChoice {
        var rank = Attribute(name: "rank", type: .integer32)
        change(&rank)
        return .model(try DestinationModel(model: Model(entities: notes([rank]))))
    }

    @Test(arguments: ["$source.wordCount * 2", "length($source.title)"])
    func aMissingRequiredValueIsRefused(expression: String) throws {
        try StoreLab.run { lab in
            try lab.forge(try recipe())
            try lab.damage(
                "UPDATE ZNOTE SET ZWORDCOUNT = 5, ZTITLE = 'a'; "
                    + "UPDATE ZNOTE SET ZWORDCOUNT = NULL, ZTITLE = NULL WHERE Z_PK = 4")
            let yaml = """
                godwit-mapping: 1
                entities:
                  - entity: Note
                    attributes:
                      rank: \(expression)
                """
            let to = try destination { $0.isOptional = false }
            try lab.expectRefusal(
                to: to, options: options(.whole, yaml),
                saying: ["Note.rank", "/Note/p4 ", "required"])
            try lab.damage("UPDATE ZNOTE SET ZWORDCOUNT = 5, ZTITLE = 'a'")
            #expect(try lab.migrate(to: to, options: options(.whole, yaml)).validation.isEqual)
        }
    }

    /// SQLite would join NULL to NULL, and Foundation raises an exception.
    @Test(arguments: strategies)
    func aTextIsNotJoinedToNone(strategy: MigrationPlans.Strategy) throws {
        try StoreLab.run { lab in
            try lab.forge(try recipe())
            try lab.damage(
                "UPDATE ZNOTE SET ZTITLE = 'b'; UPDATE ZNOTE SET ZTITLE = NULL WHERE Z_PK = 4")
            let yaml = { (failing: String) in
                """
                godwit-mapping: 1
                entities:
                  - entity: Note
                    attributes:
                      rank:
                        value: length(FUNCTION("a", "stringByAppendingString:", $source.title))
                        failing: \(failing)
                """
            }
            try lab.expectRefusal(
                to: destination { _ in }, options: options(strategy, yaml("refuse")),
                namesStore: strategy == .whole, saying: ["Note.rank", "/Note/p4 ", "two texts"])
            let outcome = try lab.migrate(
                to: destination { _ in }, options: options(strategy, yaml("drop")))
            #expect(outcome.validation.isEqual)
        }
    }

    /// SQLite would go on with a real number.
    @Test(arguments: [
        ("$source.wordCount + 1", "64-bit"),
        ("($source.wordCount + 1) - $source.wordCount", "out of range"),
    ])
    func anIntegerBeyond64BitsIsRefused(expression: String, words: String) throws {
        try StoreLab.run { lab in
            try lab.forge(try recipe())
            try lab.damage(
                "UPDATE ZNOTE SET ZWORDCOUNT = 1; "
                    + "UPDATE ZNOTE SET ZWORDCOUNT = 9223372036854775807 WHERE Z_PK = 5")
            let yaml = """
                godwit-mapping: 1
                entities:
                  - entity: Note
                    attributes:
                      rank: \(expression)
                """
            for strategy in [MigrationPlans.Strategy.whole, .partitioned] {
                try lab.expectRefusal(
                    to: destination { _ in }, options: options(strategy, yaml),
                    namesStore: strategy == .whole,
                    saying: [
                        "Note.rank", "/Note/p5 ", words, "correct the expression in the mapping",
                    ])
            }
        }
    }
}
