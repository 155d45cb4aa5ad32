import CoreDataStore
import Foundation
import GRDB
import Godwit
import ManagedObjectModel
import MigrationPlans
import MigrationValidation
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
