import CoreDataStore
import Foundation
import GRDB
import ManagedObjectModel
import MappingFiles
import MigrationPlans
import MigrationValidation
import ModelFiles
import StoreRuns
import TestSupport
import Testing

/// Stores that Core Data itself migrated by mapping models: results must hold the same.
@Suite("Migrations of Moody by mapping models", .enabled(if: Fixtures.available, Fixtures.absence))
struct MoodyMigrationTests {
    private static let folder = "objcio-core-data/Migrations"

    /// One row for each object, by natural keys, in an order of its own: Core Data gave new keys.
    private static let queries: [Int: [String]] = [
        3: [
            """
            SELECT m.ZREMOTEID, m.ZMARKEDFORREMOTEDELETION, m.ZRATING, m.ZDATE, m.ZLATITUDE,
              m.ZLONGITUDE, m.ZMARKEDFORDELETIONDATE, m.ZCREATORID, hex(m.ZCOLORS),
              c.ZNUMERICISO3166CODE, k.ZNUMERICISO3166CODE
            FROM ZMOOD m LEFT JOIN ZGEOGRAPHICREGION c ON c.Z_PK = m.ZCOUNTRY
              LEFT JOIN ZGEOGRAPHICREGION k ON k.Z_PK = m.ZCONTINENT ORDER BY 1, 9
            """,
            """
            SELECT r.Z_ENT, r.ZNUMERICISO3166CODE, r.ZNUMBEROFMOODS, r.ZUNIQUENESSDUMMY,
              r.ZNUMBEROFCOUNTRIES, r.ZMARKEDFORDELETIONDATE, r.ZUPDATEDAT, k.ZNUMERICISO3166CODE
            FROM ZGEOGRAPHICREGION r LEFT JOIN ZGEOGRAPHICREGION k ON k.Z_PK = r.ZCONTINENT
            ORDER BY 1, 2
            """,
        ],
        4: [
            """
            SELECT m.ZREMOTEID, m.ZRATING, m.ZDATE, m.ZCREATORID, hex(m.ZCOLORS),
              c.ZNUMERICISO3166CODE, k.ZNUMERICISO3166CODE
            FROM ZMOOD m LEFT JOIN ZCOUNTRY c ON c.Z_PK = m.ZCOUNTRY
              LEFT JOIN ZCONTINENT k ON k.Z_PK = m.ZCONTINENT ORDER BY 1, 5
            """,
            """
            SELECT c.ZNUMERICISO3166CODE, c.ZNUMBEROFMOODS, c.ZUPDATEDAT, k.ZNUMERICISO3166CODE
            FROM ZCOUNTRY c LEFT JOIN ZCONTINENT k ON k.Z_PK = c.ZCONTINENT ORDER BY 1
            """,
            "SELECT ZNUMERICISO3166CODE, ZNUMBEROFMOODS, ZNUMBEROFCOUNTRIES FROM ZCONTINENT "
                + "ORDER BY 1",
        ],
        5: [
            """
            SELECT m.ZREMOTEID, m.ZRATING, m.ZDATE, m.ZCREATORID, hex(m.ZCOLORS),
              c.ZNUMERICISO3166CODE
            FROM ZMOOD m LEFT JOIN ZCOUNTRY c ON c.Z_PK = m.ZCOUNTRY ORDER BY 1, 5
            """,
            "SELECT ZNUMERICISO3166CODE, ZISOCONTINENT, ZNUMBEROFMOODS, ZUPDATEDAT FROM ZCOUNTRY "
                + "ORDER BY 1",
        ],
    ]

    private func copy(_ version: Int, to url: URL) throws {
        let source = try Fixtures.url("\(Self.folder)/MigrationsTests/Moody \(version).moody")
        try FileManager.default.copyItem(at: source, to: url)
        let log = source.path + "-wal"
        if FileManager.default.fileExists(atPath: log) {
            try FileManager.default.copyItem(atPath: log, toPath: url.path + "-wal")
        }
    }

    private func rows(_ lab: StoreLab, _ url: URL, version: Int) throws -> [[DatabaseValue]] {
        try lab.raw(url) { database in
            try (Self.queries[version] ?? []).flatMap { sql in
                try Row.fetchAll(database, sql: sql).map { Array($0.databaseValues) }
            }
        }
    }

    @Test("as Core Data migrated it, whole and in chunks of two rows", arguments: [2, 3, 4])
    func migrated(version: Int) throws {
        for strategy in [MigrationPlans.Strategy.whole, .partitioned] {
            try StoreLab.run(name: "Moody.moody") { lab in
                try copy(version, to: lab.store)
                let next = version + 1
                let bundle = try Fixtures.url("\(Self.folder)/Migrations/Moody.xcdatamodeld")
                let mapping = try Fixtures.url(
                    "\(Self.folder)/Migrations/Moody \(version)-Moody \(next).xcmappingmodel")
                var options = PlanOptions(strategy: strategy, chunkBytes: 1)
                options.mappings = [
                    MappingChoice(
                        name: "m", definition: try MappingFile(path: mapping.path).definition)
                ]
                let outcome = try lab.migrate(
                    to: .model(
                        DestinationModel(
                            model: ModelBundle.read(bundle, version: "Moody \(next)"))),
                    options: options)
                #expect(outcome.validation.isEqual)
                let oracle = lab.folder.appendingPathComponent("oracle.moody")
                try copy(next, to: oracle)
                let expected = try rows(lab, oracle, version: next)
                #expect(expected.count >= 7)
                #expect(try rows(lab, lab.output, version: next) == expected)
            }
        }
    }
}
