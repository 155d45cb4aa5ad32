import CoreDataStore
import Foundation
import GRDB
import ManagedObjectModel
import MigrationPlans
import MigrationValidation
import StateFolders
import StoreForge
import StoreRuns
import TestSupport
import Testing

/// Cells of other storage classes than Core Data writes, and texts that are no UTF-8, in values
/// that SQL computes and in those that Swift does.
@Suite("Computed values of cells that apps never write") struct OddCellTests {
    private static func model(isNew: Bool) throws -> Model {
        let old = [
            Attribute(name: "a", type: .string), Attribute(name: "b", type: .string),
            Attribute(name: "u", type: .uri), Attribute(name: "n", type: .integer64),
            Attribute(name: "r", type: .double), Attribute(name: "f", type: .boolean),
        ]
        let new = [
            Attribute(name: "text", type: .string), Attribute(name: "uri", type: .uri),
            Attribute(name: "whole", type: .integer64), Attribute(name: "real", type: .double),
        ]
        return try Model(entities: [
            Entity(
                name: "Item", attributes: isNew ? old + new : old,
                relationships: [
                    Relationship(
                        name: "items", destination: "Item", inverse: "owner", maximumCount: 0),
                    Relationship(name: "owner", destination: "Item", inverse: "items"),
                ])
        ])
    }

    /// What the first of four items gets.
    private static func first(
        _ edits: String, _ value: String, _ column: String
    ) throws -> String? {
        var found: String?
        try StoreLab.run { lab in
            var recipe = ForgeRecipe(model: try model(isNew: false), seed: 8)
            recipe.rows = ["Item": 4]
            try lab.forge(recipe)
            try lab.damage("UPDATE ZITEM SET ZN = 1, ZR = 0.5, ZOWNER = 1; \(edits)")
            let lines = "godwit-mapping: 1\nentities:\n  - entity: Item\n    attributes:\n      "
            let options = try PolicyLab.options(.whole, mapping: lines + value)
            let outcome = try lab.migrate(
                to: .model(DestinationModel(model: model(isNew: true))), options: options)
            #expect(outcome.validation.isEqual, "\(outcome.validation.lines)")
            found = try lab.raw(lab.output) {
                try String.fetchOne($0, sql: "SELECT \(column) FROM ZITEM WHERE Z_PK = 1")
            }
        }
        return found
    }

    private static let texts =
        "UPDATE ZITEM SET ZA = CAST(x'FF' AS TEXT), ZB = CAST(x'FE' AS TEXT), "
        + "ZU = CAST(x'FF61' AS TEXT)"

    @Test(arguments: [
        ("text: 'TERNARY($source.a LIKE \"q\", $source.a, $source.b)'", "hex(ZTEXT)", "FE"),
        ("text: 'TERNARY($source.n == 1, $source.b, $source.a)'", "hex(ZTEXT)", "FE"),
        (
            "text: 'ATTEMPT(TERNARY(7 / ($source.n - 1) == 1, $source.a, $source.a), $source.b)'",
            "hex(ZTEXT)", "FE"
        ),
        // Several objects are read as one text, which Swift takes apart.
        (
            "text: 'TERNARY(ANY $source.items.b == \"q\", \"x\", $source.owner.b)'",
            "hex(ZTEXT)", "FE"
        ),
        ("text: uppercase($source.b)", "hex(ZTEXT)", "FE"),
        ("text: 'FUNCTION($source.b, \"stringByAppendingString:\", \"q\")'", "hex(ZTEXT)", "FE71"),
        ("uri: 'TERNARY($source.n == 1, $source.u, nil)'", "hex(ZURI)", "FF61"),
        ("uri: 'TERNARY($source.a LIKE \"q\", nil, $source.u)'", "hex(ZURI)", "FF61"),
    ])
    func textsKeepTheirBytes(value: String, column: String, expected: String) throws {
        #expect(try Self.first(Self.texts, value, column) == expected)
    }

    @Test func aReplacementCharacterIsACharacter() throws {
        let value = "text: 'TERNARY($source.a LIKE \"q\", $source.a, $source.b)'"
        let edits = Self.texts + "; UPDATE ZITEM SET ZB = CAST(x'EFBFBD' AS TEXT)"
        #expect(try Self.first(edits, value, "hex(ZTEXT)") == "EFBFBD")
    }

    @Test(arguments: ["0.5", "'x'", "x'00'", "7", "1"])
    func everythingButZeroIsTrue(cell: String) throws {
        for value in [
            "whole: 'TERNARY($source.f == YES, 1, 0)'",
            "whole: 'TERNARY($source.a LIKE \"q\", 2, TERNARY($source.f == YES, 1, 0))'",
        ] {
            let found = try Self.first("UPDATE ZITEM SET ZF = \(cell), ZA = 'a'", value, "ZWHOLE")
            #expect(found == "1", "\(value)")
        }
    }

    /// A sum is exact as long as its result has 64 bits.
    @Test func sumsAreExact() throws {
        let edits =
            "UPDATE ZITEM SET ZN = CASE Z_PK WHEN 1 THEN 9223372036854775807 WHEN 2 THEN 1 "
            + "WHEN 3 THEN -5 END"
        #expect(
            try Self.first(edits, "whole: $source.items.@sum.n", "ZWHOLE") == "9223372036854775803")
    }

    @Test(arguments: [
        (
            "UPDATE ZITEM SET ZN = 9223372036854775807", "whole: $source.items.@sum.n",
            "Item.whole of"
        ),
        ("UPDATE ZITEM SET ZR = 1.7e308", "real: $source.items.@sum.r", "Item.real of"),
        ("UPDATE ZITEM SET ZR = 9e999", "real: $source.items.@max.r", "Item.real of"),
        (
            "UPDATE ZITEM SET ZR = 9e999", "real: 'TERNARY($source.n > 0, $source.r, nil)'",
            "Item.real of"
        ),
    ])
    func numbersBeyondBoundsNameTheirObject(edits: String, value: String, text: String) throws {
        let error = try #require(throws: (any Error).self) {
            try Self.first(edits, value, "ZWHOLE")
        }
        #expect("\(error)".contains(text), "\(error)")
        #expect("\(error)".contains("/Item/p1 cannot be computed"), "\(error)")
        let dropped =
            value.replacing("real: ", with: "real: {failing: drop, value: ")
            .replacing("whole: ", with: "whole: {failing: drop, value: ") + "}"
        #expect(try Self.first(edits, dropped, "ifnull(ZREAL, ZWHOLE)") == nil)
    }

    @Test(arguments: ["real", "whole"])
    func aDecimalBeyondAllNumbersIsAMistake(name: String) throws {
        let error = try #require(throws: (any Error).self) {
            try Self.first("", "\(name): 'CAST(\"1e400\", \"NSDecimalNumber\")'", "ZREAL")
        }
        #expect("\(error)".contains("line 5"), "\(error)")
    }
}
