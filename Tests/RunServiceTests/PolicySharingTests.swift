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

/// Two policies that find objects of one entity, some of which come from the source, in tables of
/// several entities.
@Suite("Policies that share objects") struct PolicySharingTests {
    private static func model(isNew: Bool) throws -> Model {
        let link = Relationship(name: "tag", destination: "Tag", inverse: "items")
        let item = Entity(
            name: "Item", isAbstract: true,
            attributes: isNew ? [] : [Attribute(name: "tagName", type: .string)],
            relationships: isNew ? [link] : [])
        let note = Entity(
            name: "Note", parent: "Item", attributes: [Attribute(name: "body", type: .string)])
        let task = Entity(
            name: "Task", parent: "Item",
            attributes: [Attribute(name: "isDone", type: .boolean)])
        let plain = Entity(name: "Plain", parent: "Item")
        let items = Relationship(
            name: "items", destination: "Item", inverse: "tag", maximumCount: 0)
        let tag = Entity(
            name: "Tag", attributes: [Attribute(name: "name", type: .string)],
            relationships: isNew ? [items] : [])
        let special = Entity(
            name: "SpecialTag", parent: "Tag",
            attributes: [Attribute(name: "color", type: .string)])
        return try Model(entities: [item, note, plain, special, tag, task])
    }

    private static let mapping = """
        godwit-mapping: 1
        entities:
          - entity: Note
            policy: TaggingPolicy
            filter: body != nil
          - entity: Task
            policy: TaggingPolicy
        """

    @Test("one object for each key, the source's before new ones", arguments: [1, 2, 3])
    func shared(seed: UInt64) throws {
        var first: [[DatabaseValue]]?
        for strategy in [MigrationPlans.Strategy.whole, .partitioned] {
            for partition in [PartitionMode.key, .entity] {
                try StoreLab.run { lab in
                    var recipe = ForgeRecipe(model: try Self.model(isNew: false), seed: seed)
                    recipe.rows = [
                        "Note": 150, "Task": 90, "Plain": 30, "Tag": 6, "SpecialTag": 4,
                    ]
                    try lab.forge(recipe)
                    try lab.damage(
                        "UPDATE ZITEM SET ZTAGNAME = 't' || (Z_PK * \(seed * 13) % 17); "
                            + "UPDATE ZITEM SET ZTAGNAME = NULL WHERE Z_PK % 9 = 0; "
                            + "UPDATE ZITEM SET ZBODY = NULL WHERE Z_PK % 5 = 0; "
                            + "UPDATE ZTAG SET ZNAME = 't' || (Z_PK * 2)")
                    let options = try PolicyLab.options(
                        strategy, partition, mapping: Self.mapping)
                    let outcome = try lab.migrate(
                        to: .model(DestinationModel(model: Self.model(isNew: true))),
                        options: options, policies: [TaggingPolicy.self])
                    #expect(outcome.validation.isEqual, "\(outcome.validation.lines)")
                    try check(lab)
                    let rows = try ["ZITEM", "ZTAG", "Z_PRIMARYKEY"].flatMap { table in
                        try lab.raw(lab.output) { database in
                            try Row.fetchAll(database, sql: "SELECT * FROM \(table) ORDER BY 1")
                                .map { Array($0.databaseValues) }
                        }
                    }
                    if let first { #expect(rows == first, "\(strategy) \(partition)") }
                    first = first ?? rows
                }
            }
        }
    }

    private func check(_ lab: StoreLab) throws {
        let store = lab.store.path
        let wrong = try lab.raw(lab.output) { database in
            try database.execute(sql: "ATTACH '\(store)' AS old")
            func entity(_ name: String) -> String {
                "(SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = '\(name)')"
            }
            let column = try #require(
                try String.fetchOne(
                    database,
                    sql: "SELECT name FROM pragma_table_info('ZITEM') "
                        + "WHERE name GLOB 'Z[0-9]*TAG'"))
            let tags = "FROM ZTAG WHERE Z_ENT = \(entity("Tag"))"
            return try [
                "SELECT count(*) - count(DISTINCT ZNAME) \(tags)",
                // What came from the source is as it was.
                "SELECT count(*) FROM old.ZTAG o LEFT JOIN ZTAG t USING (Z_PK) "
                    + "WHERE t.ZNAME IS NOT o.ZNAME",
                // Every object leads to the tag of its name; those without a policy to none.
                """
                SELECT count(*) FROM ZITEM i JOIN old.ZITEM o USING (Z_PK)
                LEFT JOIN ZTAG t ON t.Z_PK = i.ZTAG WHERE t.ZNAME IS NOT
                CASE WHEN i.Z_ENT <> \(entity("Plain")) THEN o.ZTAGNAME END
                """,
                // The tag's entity stands beside its key.
                "SELECT count(*) FROM ZITEM i LEFT JOIN ZTAG t ON t.Z_PK = i.ZTAG "
                    + "WHERE i.\(column) IS NOT t.Z_ENT",
                // No tag without a name that an object has, or the source.
                """
                SELECT count(*) \(tags) AND Z_PK NOT IN (SELECT Z_PK FROM old.ZTAG)
                AND ZNAME NOT IN (SELECT ZTAGNAME FROM old.ZITEM WHERE ZTAGNAME IS NOT NULL)
                """,
            ].map { try Int.fetchOne(database, sql: $0) }
        }
        #expect(wrong.allSatisfy { $0 == 0 }, "\(wrong)")
    }
}

private struct TaggingPolicy: MigrationPolicy {
    static let effects = PolicyEffects(
        sets: ["tag"], creates: [.found("Tag", by: ["name"])], carries: ["tagName"])

    func createRelationships(
        for source: SourceObject, destination: DestinationObject, in context: MigrationContext
    ) throws {
        guard let name = try source.value("tagName") else { return }
        try destination.associate(
            "tag", with: try context.findOrInsert("Tag", key: ["name": name]))
    }
}

/// Policies that find objects of several entities, each in a table of its own.
@Suite("Policies that find several entities") struct SeveralFoundEntitiesTests {
    private static func model(isNew: Bool) throws -> Model {
        let city = Entity(
            name: "City",
            attributes: [
                Attribute(name: "country", type: .integer32),
                Attribute(name: "region", type: .integer32),
            ].filter { _ in !isNew },
            relationships: isNew
                ? [
                    Relationship(name: "country", destination: "Country", inverse: "cities"),
                    Relationship(name: "region", destination: "Region", inverse: "cities"),
                ] : [])
        let found = ["Country", "Region"].map { name in
            Entity(
                name: name, attributes: [Attribute(name: "code", type: .integer32)],
                relationships: [
                    Relationship(
                        name: "cities", destination: "City", inverse: name.lowercased(),
                        maximumCount: 0)
                ])
        }
        return try Model(entities: isNew ? [city] + found : [city])
    }

    @Test("equal keys of two entities are different objects")
    func equalKeys() throws {
        for strategy in [MigrationPlans.Strategy.whole, .partitioned] {
            try StoreLab.run { lab in
                var recipe = ForgeRecipe(model: try Self.model(isNew: false), seed: 5)
                recipe.rows = ["City": 200]
                try lab.forge(recipe)
                try lab.damage("UPDATE ZCITY SET ZCOUNTRY = Z_PK % 7, ZREGION = Z_PK % 11")
                let mapping = """
                    godwit-mapping: 1
                    entities:
                      - entity: City
                        policy: CityPolicy
                    """
                let outcome = try lab.migrate(
                    to: .model(DestinationModel(model: Self.model(isNew: true))),
                    options: PolicyLab.options(strategy, mapping: mapping, chunkBytes: 1024),
                    policies: [CityPolicy.self])
                #expect(outcome.validation.isEqual)
                let store = lab.store.path
                let wrong = try lab.raw(lab.output) { database in
                    try database.execute(sql: "ATTACH '\(store)' AS old")
                    return try [
                        "SELECT count(*) <> 7 FROM ZCOUNTRY", "SELECT count(*) <> 11 FROM ZREGION",
                        """
                        SELECT count(*) FROM ZCITY c JOIN old.ZCITY o USING (Z_PK)
                        JOIN ZCOUNTRY l ON l.Z_PK = c.ZCOUNTRY JOIN ZREGION r
                        ON r.Z_PK = c.ZREGION WHERE l.ZCODE <> o.ZCOUNTRY OR r.ZCODE <> o.ZREGION
                        """,
                    ].map { try Int.fetchOne(database, sql: $0) }
                }
                #expect(wrong == [0, 0, 0])
            }
        }
    }
}

private struct CityPolicy: MigrationPolicy {
    static let effects = PolicyEffects(
        sets: ["country", "region"],
        creates: [.found("Country", by: ["code"]), .found("Region", by: ["code"])],
        carries: ["country", "region"])

    func createDestinationInstances(
        for source: SourceObject, destination: DestinationObject, in context: MigrationContext
    ) throws {
        for (name, entity) in [("country", "Country"), ("region", "Region")] {
            let code = try source.value(name)
            try destination.associate(
                name, with: try context.findOrInsert(entity, key: ["code": code]))
        }
    }
}

/// What is known of one store of an app must not bound another one.
@Suite("Policies over a fleet") struct PolicyFleetTests {
    private static func model(isNew: Bool) throws -> Model {
        let tag = Relationship(name: "tag", destination: "Tag", inverse: "notes")
        let other = Relationship(name: "other", destination: "Tag", inverse: "others")
        let notes = Relationship(
            name: "notes", destination: "Note", inverse: "tag", maximumCount: 0)
        let others = Relationship(
            name: "others", destination: "Note", inverse: "other", maximumCount: 0)
        return try Model(entities: [
            Entity(
                name: "Note", attributes: [Attribute(name: "body", type: .string)],
                relationships: isNew ? [other, tag] : [tag]),
            Entity(
                name: "Tag", attributes: [Attribute(name: "name", type: .string)],
                relationships: isNew ? [notes, others] : [notes]),
        ])
    }

    @Test("links to objects with keys beyond those of an earlier store stay")
    func laterStoreHasMore() throws {
        let cache = MigrationCache()
        for tags in [5, 60] {
            try StoreLab.run { lab in
                var recipe = ForgeRecipe(model: try Self.model(isNew: false), seed: 11)
                recipe.rows = ["Note": 120, "Tag": tags]
                try lab.forge(recipe)
                try lab.damage("UPDATE ZNOTE SET ZTAG = \(tags) WHERE Z_PK = 1")
                let library = PolicyLibrary([OtherPolicy.entry])
                var options = try PolicyLab.options(
                    .whole,
                    mapping: """
                        godwit-mapping: 1
                        entities:
                          - entity: Note
                            policy: OtherPolicy
                        """)
                options.policies = library.declarations
                var request = try lab.request(
                    to: .model(DestinationModel(model: Self.model(isNew: true))),
                    options: options)
                request.cache = cache
                let outcome = try EngineMigration(request, policies: library).run()
                #expect(outcome.validation.isEqual)
                let tag = try lab.raw(lab.output) {
                    try Int.fetchOne($0, sql: "SELECT ZTAG FROM ZNOTE WHERE Z_PK = 1")
                }
                #expect(tag == tags)
            }
        }
    }
}

private struct OtherPolicy: MigrationPolicy {
    static let effects = PolicyEffects(
        sets: ["other"], creates: [.found("Tag", by: ["name"])])

    func createDestinationInstances(
        for source: SourceObject, destination: DestinationObject, in context: MigrationContext
    ) throws {
        let tag = try context.findOrInsert("Tag", key: ["name": "all"])
        try destination.associate("other", with: tag)
    }
}

/// What a policy says that it carries is not reported as lost.
@Suite("Properties that policies carry") struct CarriedPropertyTests {
    private static func model(isNew: Bool) throws -> Model {
        let labels = Relationship(
            name: "labels", destination: "Label", inverse: "notes", maximumCount: 0)
        let notes = Relationship(
            name: "notes", destination: "Note", inverse: "labels", maximumCount: 0)
        return try Model(entities: [
            Entity(
                name: "Label", attributes: [Attribute(name: "name", type: .string)],
                relationships: isNew ? [] : [notes]),
            Entity(
                name: "Note",
                attributes: [Attribute(name: isNew ? "text" : "body", type: .string)],
                relationships: isNew ? [] : [labels]),
        ])
    }

    @Test("values and many-to-many links") func carried() throws {
        try StoreLab.run { lab in
            var recipe = ForgeRecipe(model: try Self.model(isNew: false), seed: 2)
            recipe.rows = ["Note": 40, "Label": 8]
            try lab.forge(recipe)
            let mapping = """
                godwit-mapping: 1
                entities:
                  - entity: Note
                    policy: CarryingPolicy
                """
            let outcome = try lab.migrate(
                to: .model(DestinationModel(model: Self.model(isNew: true))),
                options: PolicyLab.options(.whole, mapping: mapping),
                policies: [CarryingPolicy.self])
            #expect(outcome.validation.isEqual)
            #expect(outcome.validation.losses.isEmpty, "\(outcome.validation.losses)")
            let wrong = try lab.raw(lab.output) {
                try Int.fetchOne(
                    $0, sql: "SELECT count(*) FROM ZNOTE WHERE ZTEXT NOT GLOB '[0-9]*'")
            }
            #expect(wrong == 0)
        }
    }
}

private struct CarryingPolicy: MigrationPolicy {
    static let effects = PolicyEffects(sets: ["text"], carries: ["body", "labels"])

    func createDestinationInstances(
        for source: SourceObject, destination: DestinationObject, in context: MigrationContext
    ) throws {
        try destination.set("text", to: .string("\(try source.count("labels"))"))
    }
}
