import CoreDataStore
import Foundation
import GRDB
import Godwit
import ManagedObjectModel
import MappingFiles
import MigrationPlans
import MigrationValidation
import ModelFiles
import StoreRuns
import TestSupport
import Testing

/// Migration policies in Swift.
@Suite("Migration policies") struct PolicyMigrationTests {
    private func destination() throws -> DestinationChoice {
        .model(try DestinationModel(model: PolicyLab.destination()))
    }

    @Test("every way to cut a store gives the same objects, keys and links")
    func sameInEveryMode() throws {
        let modes: [(MigrationPlans.Strategy, PartitionMode)] = [
            (.whole, .auto), (.partitioned, .key), (.partitioned, .entity),
            (.partitioned, .uuid([PropertyKey("Note", "uid")])),
        ]
        var first: [[DatabaseValue]]?
        for (strategy, partition) in modes {
            try StoreLab.run { lab in
                try PolicyLab.forge(lab)
                let outcome = try lab.migrate(
                    to: destination(), options: PolicyLab.options(strategy, partition),
                    policies: [NotePolicy.self])
                #expect(outcome.validation.isEqual, "\(outcome.validation.lines)")
                if strategy == .partitioned { #expect(outcome.plan.chunks.count > 5) }
                let rows = try PolicyLab.rows(lab)
                if let first { #expect(rows == first, "\(partition)") }
                first = first ?? rows
            }
        }
    }

    @Test("objects, values and links are those that the policy asks for")
    func asAsked() throws {
        try StoreLab.run { lab in
            try PolicyLab.forge(lab)
            _ = try lab.migrate(
                to: destination(), options: PolicyLab.options(.partitioned),
                policies: [NotePolicy.self])
            let store = lab.store.path
            let wrong = try lab.raw(lab.output) { database in
                try database.execute(sql: "ATTACH '\(store)' AS old")
                return try [
                    // Tags: one for each text, by the lowest note that has it.
                    "SELECT count(*) <> 23 FROM ZTAG",
                    """
                    SELECT count(*) FROM ZNOTE n JOIN old.ZNOTE o USING (Z_PK)
                    LEFT JOIN ZTAG t ON t.Z_PK = n.ZTAG WHERE t.ZNAME IS NOT o.ZTAG
                    """,
                    """
                    SELECT count(*) FROM ZTAG t WHERE ZFIRSTSCORE IS NOT (
                    SELECT ZSCORE FROM old.ZNOTE o WHERE o.ZTAG = t.ZNAME ORDER BY Z_PK LIMIT 1)
                    """,
                    // Lines: as many as the rest says, and one more for a score of 50.
                    """
                    SELECT count(*) FROM old.ZNOTE o WHERE
                    (SELECT count(*) FROM ZLINE l WHERE l.ZNOTE = o.Z_PK) <>
                    CASE WHEN ZTAG IS NULL THEN 0 ELSE ZSCORE % 3 END
                    + (ZSCORE = 50 AND ZAUTHOR IS NOT NULL)
                    """,
                    "SELECT count(*) FROM ZLINE WHERE ZKIND <> 'plain' OR ZNOTE IS NULL",
                    "SELECT count(*) = 0 FROM ZLINE WHERE ZWRITER IS NOT NULL",
                    """
                    SELECT count(*) FROM ZLINE l JOIN old.ZNOTE o ON o.Z_PK = l.ZNOTE
                    WHERE ZWRITER IS NOT NULL AND ZWRITER <> ZAUTHOR
                    """,
                    """
                    SELECT count(*) FROM ZNOTE n WHERE ZSUMMARY IS NOT
                    ZSCORE || ': ' || length(ZBODY)
                    """,
                    "SELECT max(Z_PK) > (SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Line') "
                        + "FROM ZLINE",
                ].map { try Int.fetchOne(database, sql: $0) }
            }
            #expect(wrong.allSatisfy { $0 == 0 }, "\(wrong)")
        }
    }
}

/// The two policies of apps whose stores and mapping models Apple's tools wrote.
@Suite("Policies of apps", .enabled(if: Fixtures.available, Fixtures.absence))
struct AppPolicyTests {
    private func migrate(
        _ store: String, _ bundle: String, _ version: String, _ mapping: String,
        _ strategy: MigrationPlans.Strategy, _ policy: any MigrationPolicy.Type,
        _ check: (Database) throws -> Void
    ) throws {
        try StoreLab.run { lab in
            try FileManager.default.copyItem(at: Fixtures.url(store), to: lab.store)
            var options = PlanOptions(strategy: strategy, chunkBytes: 1)
            options.mappings = [
                MappingChoice(
                    name: "m",
                    definition: try MappingFile(path: Fixtures.url(mapping).path).definition)
            ]
            let model = try ModelBundle.read(Fixtures.url(bundle), version: version)
            let outcome = try lab.migrate(
                to: .model(DestinationModel(model: model)), options: options, policies: [policy])
            #expect(outcome.validation.isEqual)
            #expect(outcome.validation.losses.isEmpty)
            try lab.raw(lab.output, check)
        }
    }

    @Test("Moody 5 to 6: one continent for all countries of it, also in chunks of one country")
    func moody() throws {
        let folder = "objcio-core-data/Migrations"
        for strategy in [MigrationPlans.Strategy.whole, .partitioned] {
            try migrate(
                "\(folder)/MigrationsTests/Moody 5.moody",
                "\(folder)/Migrations/Moody.xcdatamodeld", "Moody 6",
                "\(folder)/Migrations/Moody 5-Moody 6.xcmappingmodel", strategy,
                MoodyCountryPolicy.self
            ) { database in
                let counts = try ["ZMOOD", "ZCOUNTRY", "ZCONTINENT"].map {
                    try Int.fetchOne(database, sql: "SELECT count(*) FROM \($0)")
                }
                #expect(counts == [4, 3, 2])
                let continents = try Row.fetchAll(
                    database,
                    sql: """
                        SELECT c.ZNUMERICISO3166CODE, k.ZNUMERICISO3166CODE FROM ZCOUNTRY c
                        JOIN ZCONTINENT k ON k.Z_PK = c.ZCONTINENT ORDER BY 1
                        """
                ).map { Array($0.databaseValues) }
                #expect(
                    continents
                        == [[231, 10004], [704, 10005], [710, 10004]].map { row in
                            row.map { $0.databaseValue }
                        })
            }
        }
    }

    @Test("wibosco 2 to 3: one section for every post") func wibosco() throws {
        let folder = "wibosco-CoreDataMigrationRevised-Example"
        let data = "\(folder)/CoreDataMigration-Example/CoreData"
        for strategy in [MigrationPlans.Strategy.whole, .partitioned] {
            try migrate(
                "\(folder)/CoreDataMigration-ExampleTests/Resources/SQLite/"
                    + "CoreDataMigration_Example_2.sqlite",
                "\(data)/Model/CoreDataMigration_Example.xcdatamodeld",
                "CoreDataMigration_Example 3",
                "\(data)/Migration/Mappings/Migration2to3ModelMapping.xcmappingmodel", strategy,
                SectionPolicy.self
            ) { database in
                #expect(try Int.fetchOne(database, sql: "SELECT count(*) FROM ZPOST") == 10)
                #expect(try Int.fetchOne(database, sql: "SELECT count(*) FROM ZSECTION") == 10)
                let row = try Row.fetchOne(
                    database,
                    sql: """
                        SELECT ZDATE + 978307200 AS date, ZHEXCOLOR, ZTITLE, ZBODY, ZINDEX
                        FROM ZPOST p JOIN ZSECTION s ON s.ZPOST = p.Z_PK
                        WHERE ZPOSTID = 'FFFECB21-6645-4FDD-B8B0-B960D0E61F5A'
                        """)
                let found = try #require(row)
                #expect(abs(try #require(found["date"] as Double?) - 1547494150.058821) < 1e-4)
                #expect(found["ZHEXCOLOR"] == "1BB732")
                #expect(found["ZTITLE"] == "Test...")
                #expect(found["ZBODY"] == "Test body")
                #expect(found["ZINDEX"] == 0)
            }
        }
    }
}

private struct MoodyCountryPolicy: MigrationPolicy {
    static let className = "Migrations.Country5ToCountry6Policy"
    static let effects = PolicyEffects(
        sets: ["continent"], creates: [.found("Continent", by: ["numericISO3166Code"])],
        carries: ["isoContinent"])

    func createDestinationInstances(
        for source: SourceObject, destination: DestinationObject, in context: MigrationContext
    ) throws {
        guard let code = try source.value("isoContinent") else { return }
        try destination.associate(
            "continent",
            with: try context.findOrInsert("Continent", key: ["numericISO3166Code": code]))
    }
}

private struct SectionPolicy: MigrationPolicy {
    static let className = "CoreDataMigration_Example.Post2ToPost3MigrationPolicy"
    static let effects = PolicyEffects(creates: [.inserted("Section")], carries: ["content"])

    func createDestinationInstances(
        for source: SourceObject, destination: DestinationObject, in context: MigrationContext
    ) throws {
        let content = try source.string("content") ?? ""
        let section = try context.insert("Section")
        try section.set("title", to: .string("\(content.prefix(4))..."))
        try section.set("body", to: .string(content))
        try section.set("index", to: 0)
        try destination.associate("sections", with: section)
    }
}
