import CoreDataStore
import Foundation
import GRDB
import Godwit
import ManagedObjectModel
import MigrationPlans
import MigrationValidation
import StateFolders
import StoreForge
import StoreRuns
import TestSupport
import Testing

/// Values that a policy reads piece by piece.
@Suite("Policies that read parts of values") struct PolicyPiecesTests {
    private static func model(_ added: [Attribute] = []) throws -> Model {
        try Model(entities: [
            Entity(
                name: "Photo",
                attributes: [
                    Attribute(name: "caption", type: .string),
                    Attribute(name: "raw", type: .binary),
                    Attribute(
                        name: "scan", type: .binary, allowsExternalBinaryDataStorage: true),
                    Attribute(name: "width", type: .integer32),
                ] + added)
        ])
    }

    private static let mapping = """
        godwit-mapping: 1
        entities:
          - entity: Photo
            policy: PiecesPolicy
        """

    @Test(arguments: [MigrationPlans.Strategy.whole, .partitioned])
    func piecesAreTheValue(strategy: MigrationPlans.Strategy) throws {
        try StoreLab.run { lab in
            var recipe = ForgeRecipe(model: try Self.model(), seed: 4)
            recipe.rows = ["Photo": 60]
            recipe.blobBytes = 0...60_000
            recipe.externalThreshold = 20_000
            try lab.forge(recipe)
            try lab.damage("UPDATE ZPHOTO SET ZCAPTION = 'caf\u{E9} ' || Z_PK WHERE Z_PK % 3 > 0")
            let outcome = try lab.migrate(
                to: .model(
                    DestinationModel(
                        model: Self.model([Attribute(name: "wrong", type: .integer32)]))),
                options: PolicyLab.options(strategy, mapping: Self.mapping),
                policies: [PiecesPolicy.self])
            #expect(outcome.validation.isEqual)
            let wrong = try lab.raw(lab.output) {
                try Int.fetchAll($0, sql: "SELECT DISTINCT ZWRONG FROM ZPHOTO")
            }
            #expect(wrong == [0])
            // Values in the row, in files and missing ones were all there.
            let kinds = try lab.raw {
                try Int.fetchOne(
                    $0,
                    sql: "SELECT count(DISTINCT ifnull(hex(substr(ZSCAN, 1, 1)), '')) "
                        + "FROM ZPHOTO")
            }
            #expect(kinds == 3)
        }
    }
}

/// Values that a policy gives to attributes that can use external storage: they lie in the row,
/// behind a prefix byte, as Core Data writes small ones.
@Suite("Policies that set external binary data") struct PolicyExternalDataTests {
    private static func model(isNew: Bool) throws -> Model {
        let scan = Attribute(name: "scan", type: .binary, allowsExternalBinaryDataStorage: true)
        let end = Attribute(
            name: "end", type: .binary, allowsExternalBinaryDataStorage: true,
            defaultValue: .data([7, 8]))
        let photo = Entity(
            name: "Photo", attributes: isNew ? [end, scan] : [scan],
            relationships: isNew
                ? [
                    Relationship(
                        name: "parts", destination: "Part", inverse: "photo", maximumCount: 0)
                ]
                : [])
        let part = Entity(
            name: "Part", attributes: [end, Attribute(name: "size", type: .integer32)],
            relationships: [Relationship(name: "photo", destination: "Photo", inverse: "parts")])
        return try Model(entities: isNew ? [part, photo] : [photo])
    }

    @Test("a value of the destination that lies in a file is not its name")
    func fileOfTheDestination() throws {
        try StoreLab.run { lab in
            var recipe = ForgeRecipe(model: try Self.model(isNew: false), seed: 9)
            recipe.rows = ["Photo": 20]
            recipe.blobBytes = 500...900
            recipe.externalThreshold = 100
            recipe.nullShare = 0
            try lab.forge(recipe)
            let mapping =
                "godwit-mapping: 1\nentities:\n  - entity: Photo\n    policy: FileReadingPolicy"
            let error = try #require(throws: RunError.self) {
                try lab.migrate(
                    to: .model(DestinationModel(model: Self.model(isNew: true))),
                    options: PolicyLab.options(.whole, mapping: mapping),
                    policies: [FileReadingPolicy.self])
            }
            #expect("\(error)".contains("the value of Photo.scan lies in a file"))
        }
    }

    @Test(arguments: [MigrationPlans.Strategy.whole, .partitioned])
    func valuesLieInTheRow(strategy: MigrationPlans.Strategy) throws {
        try StoreLab.run { lab in
            var recipe = ForgeRecipe(model: try Self.model(isNew: false), seed: 9)
            recipe.rows = ["Photo": 50]
            recipe.blobBytes = 1...40_000
            recipe.externalThreshold = 20_000
            try lab.forge(recipe)
            let outcome = try lab.migrate(
                to: .model(DestinationModel(model: Self.model(isNew: true))),
                options: PolicyLab.options(
                    strategy,
                    mapping: """
                        godwit-mapping: 1
                        entities:
                          - entity: Photo
                            policy: EndPolicy
                        """), policies: [EndPolicy.self])
            #expect(outcome.validation.isEqual)
            let found = try lab.raw(lab.output) { database in
                try [
                    // The last bytes of values in rows, and those that a file holds.
                    "SELECT count(*) FROM ZPHOTO WHERE hex(substr(ZSCAN, 1, 1)) = '01' "
                        + "AND hex(ZEND) <> '01' || hex(substr(ZSCAN, max(2, length(ZSCAN) - 2)))",
                    "SELECT count(*) FROM ZPHOTO WHERE hex(substr(ZSCAN, 1, 1)) = '02' "
                        + "AND (hex(substr(ZEND, 1, 1)) <> '01' OR length(ZEND) <> 4)",
                    // A new object has the default value, or what the policy read and set again.
                    "SELECT count(*) FROM ZPART WHERE ZEND <> "
                        + "CASE ZSIZE WHEN 2 THEN x'010708' ELSE x'01070809' END",
                    "SELECT count(DISTINCT ZSIZE) <> 2 FROM ZPART",
                ].map { try Int.fetchOne(database, sql: $0) }
            }
            #expect(found == [0, 0, 0, 0])
        }
    }
}

private struct FileReadingPolicy: MigrationPolicy {
    static let effects = PolicyEffects(sets: ["end"])

    func createDestinationInstances(
        for source: SourceObject, destination: DestinationObject, in context: MigrationContext
    ) throws {
        try destination.set("end", to: try destination.value("scan"))
    }
}

private struct EndPolicy: MigrationPolicy {
    static let effects = PolicyEffects(sets: ["end"], creates: [.inserted("Part")])

    func createDestinationInstances(
        for source: SourceObject, destination: DestinationObject, in context: MigrationContext
    ) throws {
        let scan = try source.data("scan") ?? Data()
        // A value of the destination is the same, unless it lies in a file.
        if scan.count < 20_000, try destination.value("scan") != source.value("scan") {
            throw PolicyRefusal("the destination's value is another one")
        }
        try destination.set("end", to: .data(scan.suffix(3)))
        let part = try context.insert("Part")
        try part.associate("photo", with: destination)
        guard case .data(var end)? = try part.value("end") else { return }
        if source.key % 2 == 0 { end.append(9) }
        try part.set("end", to: .data(end))
        try part.set("size", to: .integer(Int64(end.count)))
    }
}

/// Counts the values whose parts are not the whole.
struct PiecesPolicy: MigrationPolicy {
    static let effects = PolicyEffects(sets: ["wrong"])

    func createDestinationInstances(
        for source: SourceObject, destination: DestinationObject, in context: MigrationContext
    ) throws {
        var wrong: Int64 = 0
        for name in ["scan", "raw", "caption"] {
            let whole =
                name == "caption"
                ? try source.string(name).map { Data($0.utf8) } : try source.data(name)
            var found: Data?
            while let piece = try source.bytes(name, from: Int64(found?.count ?? 0), count: 7_000) {
                found = (found ?? Data()) + piece
                if piece.isEmpty { break }
            }
            if found != whole { wrong += 1 }
            guard let whole else { continue }
            let end = Int64(whole.count)
            let last = try source.bytes(name, from: max(0, end - 3), count: .max)
            if last != whole.suffix(3) { wrong += 1 }
            for offset in [end, end + 1, Int64.max] {
                if try source.bytes(name, from: offset, count: 9) != Data() { wrong += 1 }
            }
            if try source.bytes(name, from: -5, count: -1) != Data() { wrong += 1 }
        }
        try destination.set("wrong", to: .integer(wrong))
    }
}
