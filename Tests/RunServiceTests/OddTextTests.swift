import CoreDataStore
import Foundation
import GRDB
import Godwit
import Jobs
import ManagedObjectModel
import MigrationPlans
import MigrationValidation
import StateFolders
import StoreForge
import StoreRuns
import TestSupport
import Testing

/// Cells that apps rarely write, in computed values: copying and validation see the same in them.
@Suite("Computed values of odd cells") struct OddTextTests {
    private static func model(isNew: Bool) throws -> Model {
        let old = [
            Attribute(name: "name", type: .string), Attribute(name: "number", type: .integer32),
            Attribute(name: "time", type: .date), Attribute(name: "bytes", type: .binary),
        ]
        let new =
            ["carried", "joined", "kept", "upper"].map { Attribute(name: $0, type: .string) }
            + [Attribute(name: "seconds", type: .integer64)]
        return try Model(entities: [
            Entity(name: "Item", attributes: isNew ? old + new : old)
        ])
    }

    @Test(arguments: [MigrationPlans.Strategy.whole, .partitioned])
    func sameOnBothSides(strategy: MigrationPlans.Strategy) throws {
        try StoreLab.run { lab in
            var recipe = ForgeRecipe(model: try Self.model(isNew: false), seed: 2)
            recipe.rows = ["Item": 40]
            try lab.forge(recipe)
            try lab.damage(
                "UPDATE ZITEM SET ZNUMBER = Z_PK, ZNAME = CASE Z_PK % 4 "
                    + "WHEN 0 THEN CAST(x'610062' AS TEXT) WHEN 1 THEN CAST(x'61FF62' AS TEXT) "
                    + "WHEN 2 THEN 'stra\u{DF}e' ELSE 'ab' END, ZTIME = CASE Z_PK % 3 "
                    + "WHEN 0 THEN 9223372036854775807 WHEN 1 THEN 9007199254740993 ELSE 7.5 END")
            let mapping = """
                godwit-mapping: 1
                entities:
                  - entity: Item
                    attributes:
                      carried: 'TERNARY($source.number > 3, $source.name, "x")'
                      kept: 'TERNARY($source.bytes == nil, $source.name, "x")'
                      joined: FUNCTION($source.name, "stringByAppendingString:", "!")
                      upper: {value: uppercase($source.name), failing: drop}
                      seconds: 'ATTEMPT(CONVERT($source.time, "integer64"), -1)'
                """
            let outcome = try lab.migrate(
                to: .model(DestinationModel(model: Self.model(isNew: true))),
                options: PolicyLab.options(strategy, mapping: mapping))
            #expect(outcome.validation.isEqual, "\(outcome.validation.lines)")
            let store = lab.store.path
            let wrong = try lab.raw(lab.output) { database in
                try database.execute(sql: "ATTACH '\(store)' AS old")
                return try [
                    "SELECT count(*) FROM ZITEM i JOIN old.ZITEM o USING (Z_PK) "
                        + "WHERE hex(i.ZCARRIED) <> CASE WHEN Z_PK > 3 THEN hex(o.ZNAME) "
                        + "ELSE '78' END",
                    "SELECT count(*) FROM ZITEM i JOIN old.ZITEM o USING (Z_PK) "
                        + "WHERE hex(i.ZKEPT) <> CASE WHEN o.ZBYTES IS NULL THEN hex(o.ZNAME) "
                        + "ELSE '78' END",
                    "SELECT count(*) FROM ZITEM WHERE Z_PK % 4 = 0 AND hex(ZUPPER) <> '410042'",
                    "SELECT count(*) FROM ZITEM WHERE Z_PK % 4 = 0 AND hex(ZJOINED) <> '61006221'",
                ].map { try Int.fetchOne(database, sql: $0) }
            }
            #expect(wrong == [0, 0, 0, 0])
        }
    }
}

/// A policy that leaves out what its objects need.
@Suite("Policies that leave required values out") struct PolicyOmissionTests {
    private static func model(isNew: Bool) throws -> Model {
        let name = Attribute(name: "name", type: .string)
        let label = Attribute(name: "label", type: .string, isOptional: false)
        return try Model(entities: [
            Entity(name: "Item", attributes: isNew ? [label, name] : [name]),
            Entity(name: "Part", attributes: isNew ? [label] : [name]),
        ])
    }

    @Test("the report names policy, property and object", arguments: ["Item", "Part"])
    func named(entity: String) throws {
        for strategy in [MigrationPlans.Strategy.whole, .partitioned] {
            try StoreLab.run { lab in
                var recipe = ForgeRecipe(model: try Self.model(isNew: false), seed: 2)
                recipe.rows = ["Item": 300]
                try lab.forge(recipe)
                let error = try #require(throws: RunError.self) {
                    try OmittingPolicy.$entity.withValue(entity) {
                        _ = try lab.migrate(
                            to: .model(DestinationModel(model: Self.model(isNew: true))),
                            options: PolicyLab.options(
                                strategy,
                                mapping: """
                                    godwit-mapping: 1
                                    entities:
                                      - entity: Item
                                        policy: OmittingPolicy
                                      - entity: Part
                                        filter: name == "none"
                                        attributes: {label: {constant: x}}
                                    """), policies: [OmittingPolicy.self])
                    }
                }
                #expect(error.cause == .policyFailed)
                #expect("\(error)".contains("/Item/p77: it gave \(entity).label no value"))
            }
        }
    }
}

/// What mapped objects have before and after a policy saw them.
@Suite("Policies beside defaults and other passes") struct PolicyDefaultTests {
    private static func model(isNew: Bool) throws -> Model {
        let number = Attribute(name: "number", type: .integer32)
        let new = [
            Attribute(name: "kind", type: .string, isOptional: false, defaultValue: .text("plain")),
            Attribute(name: "label", type: .string, isOptional: false),
        ]
        return try Model(entities: [
            Entity(
                name: "Base", isAbstract: true, attributes: isNew ? [number] + new : [number]),
            Entity(name: "Item", parent: "Base"), Entity(name: "Other", parent: "Base"),
        ])
    }

    @Test(
        "an object has its defaults, and each pass gives its own",
        arguments: [
            MigrationPlans.Strategy.whole, .partitioned,
        ])
    func defaults(strategy: MigrationPlans.Strategy) throws {
        try StoreLab.run { lab in
            var recipe = ForgeRecipe(model: try Self.model(isNew: false), seed: 6)
            recipe.rows = ["Item": 120, "Other": 60]
            try lab.forge(recipe)
            try lab.damage("UPDATE ZBASE SET ZNUMBER = Z_PK")
            let mapping = """
                godwit-mapping: 1
                entities:
                  - source: Item
                    destination: Item
                    name: Low
                    filter: number <= 50
                    policy: KindPolicy
                  - source: Item
                    destination: Item
                    name: High
                    filter: number > 50
                    policy: KindPolicy
                  - source: Other
                    destination: Item
                    name: Others
                    policy: KindPolicy
                """
            let outcome = try lab.migrate(
                to: .model(DestinationModel(model: Self.model(isNew: true))),
                options: PolicyLab.options(strategy, mapping: mapping, chunkBytes: 2048),
                policies: [KindPolicy.self])
            #expect(outcome.validation.isEqual, "\(outcome.validation.lines)")
            let wrong = try lab.raw(lab.output) {
                try Int.fetchOne(
                    $0,
                    sql: "SELECT count(*) FROM ZBASE WHERE ZLABEL <> 'a' OR ZKIND IS NOT "
                        + "CASE WHEN ZNUMBER % 2 = 1 THEN 'odd' ELSE 'plain' END")
            }
            #expect(wrong == 0)
        }
    }
}

private struct KindPolicy: MigrationPolicy {
    static let effects = PolicyEffects(sets: ["kind", "label"])

    func createDestinationInstances(
        for source: SourceObject, destination: DestinationObject, in context: MigrationContext
    ) throws {
        try destination.set("label", to: "a")
        if try (source.integer("number") ?? 0) % 2 == 1 { try destination.set("kind", to: "odd") }
    }
}

private struct OmittingPolicy: MigrationPolicy {
    @TaskLocal static var entity = ""
    static let effects = PolicyEffects(sets: ["label"], creates: [.inserted("Part", atMost: 2)])

    func createDestinationInstances(
        for source: SourceObject, destination: DestinationObject, in context: MigrationContext
    ) throws {
        let isLeftOut = { (name: String) in source.key == 77 && Self.entity == name }
        if !isLeftOut("Item") { try destination.set("label", to: "a") }
        for _ in 0..<2 {
            let part = try context.insert("Part")
            if !isLeftOut("Part") { try part.set("label", to: "b") }
        }
    }
}
