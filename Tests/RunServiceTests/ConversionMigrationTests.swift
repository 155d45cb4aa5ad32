import CoreDataStore
import DurableFiles
import Foundation
import GRDB
import ManagedObjectModel
import MappingFiles
import MappingModel
import MigrationEngine
import MigrationPlans
import MigrationValidation
import RunService
import StoreForge
import StateFolders
import StoreRuns
import TestSupport
import Testing

/// Attributes that a mapping file turns into other types and forms.
@Suite("Conversions of attributes") struct ConversionMigrationTests {
    private static let strategies: [MigrationPlans.Strategy] = [.whole, .partitioned]

    private func model(_ attributes: [Attribute]) throws -> Model {
        var entities = try ForgeModels.notes(version: 1).numberedEntities
        let place = try #require(entities.firstIndex { $0.name == "Note" })
        let names = Set(attributes.map(\.name))
        entities[place].attributes.removeAll { names.contains($0.name) }
        entities[place].attributes += attributes
        return try Model(entities: entities)
    }

    /// Notes with texts and a document.
    private func forge(_ lab: StoreLab) throws {
        var recipe = try StoreLab.recipe()
        recipe.model = try model([
            Attribute(name: "born", type: .string), Attribute(name: "count", type: .string),
            Attribute(name: "payload", type: .binary), Attribute(name: "label", type: .string),
        ])
        try lab.forge(recipe)
        try lab.damage(
            """
            UPDATE ZNOTE SET ZBORN = printf('%02d.03.2020 %02d:30', 1 + Z_PK % 28, Z_PK % 24),
              ZCOUNT = CAST(Z_PK AS TEXT), ZLABEL = '  e' || char(769) || '  ' || Z_PK || ' ',
              ZPAYLOAD = CAST('{"address": {"city": "C' || Z_PK || '"}}' AS BLOB);
            """)
    }

    private func destination(isRequired: Bool = false) throws -> DestinationChoice {
        .model(
            try DestinationModel(
                model: model([
                    Attribute(name: "born", type: .date),
                    Attribute(name: "count", type: .integer16, isOptional: !isRequired),
                    Attribute(name: "label", type: .string),
                    Attribute(name: "city", type: .string), Attribute(name: "day", type: .string),
                ])))
    }

    private func options(
        _ strategy: MigrationPlans.Strategy, _ lines: String, losses: LossPolicy = .report
    ) throws -> PlanOptions {
        let yaml =
            "godwit-mapping: 1\nentities:\n  - entity: Note\n    attributes:\n"
            + lines.split(separator: "\n").map { "      \($0)\n" }.joined()
        let file = try MappingFile(path: "m.yaml", form: .yaml, bytes: Array(yaml.utf8))
        var options = PlanOptions(strategy: strategy, chunkBytes: 8192, losses: losses)
        options.mappings = [MappingChoice(name: "m.yaml", definition: file.definition)]
        options.now = 700_000_000
        return options
    }

    private static let lines = """
        born: {convert: automatic, format: 'dd.MM.yyyy HH:mm', zone: '+01:00', failing: drop}
        count: {convert: automatic, failing: {constant: -1}}
        label: {convert: automatic, text: [trim, collapse, nfc]}
        city: {convert: $source.payload, json: address.city, default: none}
        day: {convert: $source.createdAt, format: yyyy-MM-dd}
        """

    @Test(arguments: strategies)
    func valuesAreConverted(strategy: MigrationPlans.Strategy) throws {
        try StoreLab.run { lab in
            try forge(lab)
            try lab.damage(
                """
                UPDATE ZNOTE SET ZBORN = '31.04.2020 10:00' WHERE Z_PK % 5 = 0;
                UPDATE ZNOTE SET ZBORN = NULL WHERE Z_PK % 5 = 1;
                UPDATE ZNOTE SET ZCOUNT = '40000' WHERE Z_PK % 7 = 0;
                UPDATE ZNOTE SET ZCOUNT = '12' || char(0) || 'x' WHERE Z_PK = 14;
                UPDATE ZNOTE SET ZPAYLOAD = NULL WHERE Z_PK % 3 = 0;
                """)
            let outcome = try lab.migrate(
                to: destination(), options: options(strategy, Self.lines))
            #expect(outcome.validation.isEqual)
            let rows = try lab.raw(lab.output) {
                try Row.fetchAll($0, sql: "SELECT * FROM ZNOTE ORDER BY Z_PK")
            }
            #expect(rows.count > 20)
            let formatter = ISO8601DateFormatter()
            for row in rows {
                let key: Int64 = row["Z_PK"]
                let born = String(
                    format: "2020-03-%02lldT%02lld:30:00+01:00", 1 + key % 28, key % 24)
                let seconds = try #require(formatter.date(from: born))
                    .timeIntervalSinceReferenceDate
                #expect(row["ZBORN"] as Double? == (key % 5 < 2 ? nil : seconds))
                #expect(row["ZCOUNT"] as Int64? == (key % 7 == 0 ? -1 : key))
                #expect(row["ZLABEL"] as String? == "\u{E9} \(key)")
                #expect(row["ZCITY"] as String? == (key % 3 == 0 ? "none" : "C\(key)"))
                let created: Double? = row["ZCREATEDAT"]
                let day = created.map {
                    formatter.string(from: Date(timeIntervalSinceReferenceDate: $0)).prefix(10)
                }
                #expect(row["ZDAY"] as String? == day.map { String($0) })
            }
            let keys: [Int64] = rows.map { $0["Z_PK"] }
            let lost = outcome.validation.losses.filter { $0.subject.kind == .conversion }
            let expected = [
                "Note.born": keys.count { $0 % 5 == 0 }, "Note.count": keys.count { $0 % 7 == 0 },
            ]
            #expect(
                Dictionary(uniqueKeysWithValues: lost.map { ($0.subject.name, Int($0.count)) })
                    == expected)
        }
    }

    @Test(arguments: strategies)
    func replacedValuesAreLosses(strategy: MigrationPlans.Strategy) throws {
        try StoreLab.run { lab in
            try forge(lab)
            try lab.damage("UPDATE ZNOTE SET ZBORN = 'soon' WHERE Z_PK = 3")
            // The payload goes as well: nothing of it but the city stays.
            let refused = try options(
                strategy, Self.lines, losses: .refuse(accepted: ["Note.payload"]))
            let said = try lab.expectRefusal(
                to: destination(), options: refused,
                saying: ["Note.born (1 value that could not be computed)"])
            #expect(said?.text.contains("Note.count") == false)
            #expect(said?.text.contains("soon") == false)
            let accepted = try options(
                strategy, Self.lines, losses: .refuse(accepted: ["Note.payload", "Note.born"]))
            #expect(
                try lab.migrate(to: destination(), options: accepted).validation.isEqual)
        }
    }

    @Test(arguments: strategies)
    func aValueWithoutAFormIsRefused(strategy: MigrationPlans.Strategy) throws {
        try StoreLab.run { lab in
            try forge(lab)
            try lab.damage("UPDATE ZNOTE SET ZCOUNT = 'secret' WHERE Z_PK = 11")
            let uuid = try #require(
                try lab.raw { try String.fetchOne($0, sql: "SELECT Z_UUID FROM Z_METADATA") })
            let plain = try options(
                strategy, "count: convert\nborn: {convert: automatic, format: 'dd.MM.yyyy HH:mm'}")
            let said = try lab.expectRefusal(
                to: destination(), options: plain, namesStore: strategy == .whole,
                saying: ["Note.count of x-coredata://\(uuid)/Note/p11 cannot be computed"])
            #expect(said?.text.contains("secret") == false)
            // A plan computes the values as well, and says the same.
            let request = try lab.request(to: destination(), options: plain)
            let error = try #require(throws: RunError.self) {
                try StorePlanning(request).plan()
            }
            #expect(error.description.contains("/Note/p11 cannot be computed"))
        }
    }

    @Test(arguments: [
        ("count: {convert: automatic, failing: drop}", "count is required"),
        ("count: {convert: automatic, failing: {constant: many}}", "a text"),
        ("count: {convert: automatic, failing: {constant: 40000}}", "does not fit the type"),
        ("born: {convert: automatic, format: yy-MM-dd}", "century"),
        ("count: {convert: automatic, format: yyyy-MM-dd}", "a format is for dates"),
        ("label: {convert: $source.payload, text: trim}", "NORMALIZE needs a text"),
        ("count: {convert: $source.isPinned, json: a}", "FIELD needs a text or binary data"),
        ("city: convert", "the source has no attribute of this name"),
        ("count: ATTEMPT(1 / 0, 0) + 1", "ATTEMPT must be the whole value"),
    ])
    func mistakesAreTold(line: String, text: String) throws {
        try StoreLab.run { lab in
            try forge(lab)
            try lab.expectRefusal(
                to: destination(isRequired: true), options: options(.whole, line),
                namesStore: false, saying: ["m.yaml", "line 5", text])
        }
    }

    /// A value that should have been replaced, and one that should not, in the result.
    @Test(arguments: [
        "UPDATE ZNOTE SET ZCOUNT = 0 WHERE Z_PK = 7", "UPDATE ZNOTE SET ZCOUNT = -1 WHERE Z_PK = 8",
        "UPDATE ZNOTE SET ZBORN = NULL WHERE Z_PK = 8",
        "UPDATE ZNOTE SET ZCITY = 'x' WHERE Z_PK = 8",
        "UPDATE ZNOTE SET ZBORN = ZBORN + 3600 WHERE Z_PK = 8",
    ])
    func theValidationFindsWrongValues(sql: String) throws {
        try StoreLab.run { lab in
            try forge(lab)
            try lab.damage("UPDATE ZNOTE SET ZCOUNT = 'x' WHERE Z_PK = 7")
            let options = try options(.whole, Self.lines)
            _ = try lab.migrate(to: destination(), options: options)
            #expect(try verify(lab, options).isEqual)
            try lab.raw(lab.output) { try $0.execute(sql: sql) }
            let report = try verify(lab, options)
            #expect(!report.isEqual)
            #expect(report.lines.contains { $0.contains("Note.") }, "\(report.lines)")
        }
    }

    private func verify(_ lab: StoreLab, _ options: PlanOptions) throws -> ValidationReport {
        try withTemporaryFolder { folder in
            try LocalVerification(
                source: lab.path(lab.store), destination: lab.path(lab.output),
                mappings: options.mappings
            ).run(scratch: lab.path(folder))
        }
    }

    @Test("what a value leaves of others is counted", arguments: strategies)
    func lossesOfComputedValues(strategy: MigrationPlans.Strategy) throws {
        try StoreLab.run { lab in
            var recipe = try StoreLab.recipe()
            recipe.model = try model([
                Attribute(name: "mail", type: .string), Attribute(name: "score", type: .double),
                Attribute(name: "state", type: .integer16),
            ])
            try lab.forge(recipe)
            try lab.damage(
                "UPDATE ZNOTE SET ZMAIL = 'm', ZSCORE = Z_PK / 2.0, ZSTATE = Z_PK % 3")
            let destination = try DestinationModel(
                model: model([
                    Attribute(name: "hasMail", type: .boolean),
                    Attribute(name: "whole", type: .integer32),
                    Attribute(name: "flag", type: .boolean),
                    Attribute(name: "word", type: .string),
                    Attribute(name: "part", type: .integer32),
                ]))
            let lines = """
                hasMail: TERNARY($source.mail == nil, NO, YES)
                whole: $source.score
                flag: $source.state
                word: {value: $source.state, table: {0: none, 1: one}, otherwise: more}
                part: {value: $source.score / 4.0, failing: drop}
                """
            let outcome = try lab.migrate(
                to: .model(destination), options: options(strategy, lines))
            #expect(outcome.validation.isEqual)
            let keys = try lab.raw(lab.output) {
                try Int64.fetchAll($0, sql: "SELECT Z_PK FROM ZNOTE")
            }
            let lost = outcome.validation.losses.filter {
                ["mail", "whole", "flag", "score", "state", "part"].contains($0.subject.property)
            }
            let expected = [
                "Note.mail": keys.count, "Note.whole": keys.count { $0 % 2 == 1 },
                "Note.flag": keys.count { $0 % 3 == 2 },
            ]
            #expect(
                Dictionary(uniqueKeysWithValues: lost.map { ($0.subject.name, Int($0.count)) })
                    == expected)
        }
    }

    /// Statements write the store that is cut into chunks.
    @Test("a small store is built from pages and holds what statements write")
    func builtFromPages() throws {
        try StoreLab.run { lab in
            try forge(lab)
            try lab.damage("UPDATE ZNOTE SET ZCOUNT = '40000' WHERE Z_PK % 7 = 0")
            let request = try lab.request(
                to: destination(), options: options(.whole, Self.lines))
            let planned = try EngineMigration(request).plan()
            let rebuild = try #require(
                StoreRebuild(
                    planned.laidOut, source: planned.source, files: DurableFileSystem()))
            let paged = lab.output.deletingLastPathComponent()
                .appendingPathComponent("Paged.sqlite")
            let path = FilePath(paged.path)
            #expect(try rebuild.run(to: path, planned.destination, scratch: path.parent))
            try lab.migrate(to: destination(), options: options(.partitioned, Self.lines))
            let rows = try [paged, lab.output].map { store in
                try lab.raw(store) {
                    try Row.fetchAll($0, sql: "SELECT * FROM ZNOTE ORDER BY Z_PK")
                }
            }
            #expect(rows[0].count > 20 && rows[0] == rows[1])
        }
    }
}
