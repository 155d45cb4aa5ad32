import CoreDataStore
import DurableFiles
import Foundation
import GRDB
import MigrationPlans
import SafeSQLite
import StoreForge
import TestSupport
import Testing

@testable import ShardPages

/// Routing passes over the rows of a store against what SQLite says of them.
@Suite struct RouteRowsTests {
    /// A store of notes, in which some identifiers are something else than 16 bytes.
    private func store(_ notes: Int, in folder: FilePath) throws -> SourceStore {
        let path = folder.appending("store.sqlite")
        _ = try Forge(ForgeRecipe.notes(notes: notes)).write(to: path)
        let queue = try DatabaseQueue(path: path.description)
        try queue.write { database in
            try database.execute(
                sql: """
                    UPDATE ZNOTE SET ZIDENTIFIER = NULL WHERE Z_PK % 7 = 0;
                    UPDATE ZNOTE SET ZIDENTIFIER = x'0102' WHERE Z_PK % 7 = 1;
                    UPDATE ZNOTE SET ZIDENTIFIER = '{' || substr(hex(ZIDENTIFIER), 1, 8) || '-'
                        || lower(substr(hex(ZIDENTIFIER), 9)) || '}' WHERE Z_PK % 7 = 2;
                    UPDATE ZNOTE SET ZIDENTIFIER = 'no UUID' WHERE Z_PK % 7 = 3;
                    UPDATE ZNOTE SET ZIDENTIFIER = 42 WHERE Z_PK % 7 = 4
                    """)
        }
        try queue.close()
        return try StoreOpener().open(StoreLocation(path), scratch: folder)
    }

    private static let plan = RoutePlan(
        attribute: PropertyKey("Note", "identifier"), sourceTable: "ZNOTE", column: "ZIDENTIFIER")

    private func lists(_ path: FilePath, _ count: Int) throws -> [[Int64]] {
        let queue = try DatabaseQueue(path: path.description)
        return try queue.read { database in
            #expect(try String.fetchAll(database, sql: "PRAGMA integrity_check") == ["ok"])
            return try (0..<count).map {
                try Int64.fetchAll(database, sql: "SELECT key FROM \(RouteFile.table(of: $0))")
            }
        }
    }

    /// Of the most notes, points are drawn.
    @Test(arguments: [1, 300, 5_000, 60_000])
    func eachRowIsInTheListOfItsPrefix(notes: Int) throws {
        try withTemporaryFolder { folder in
            let folder = FilePath(folder.path)
            let store = try store(notes, in: folder)
            let rows = RouteRows(Self.plan, of: store, files: DurableFileSystem())
            let profile = try rows.profile()
            let queue = try DatabaseQueue(path: store.database.description)
            let all = try queue.read { database in
                try GRDB.Row.fetchAll(
                    database,
                    sql: """
                        SELECT Z_PK, CASE WHEN Z_PK % 7 = 2
                            THEN upper(replace(trim(ZIDENTIFIER, '{}'), '-', ''))
                            ELSE coalesce(hex(ZIDENTIFIER), '') END,
                            Z_PK % 7 IN (2, 5, 6) FROM ZNOTE ORDER BY Z_PK
                        """
                ).map { (key: $0[0] as Int64, hex: $0[1] as String, isUUID: $0[2] as Bool) }
            }
            let order = all.filter(\.isUUID).sorted { ($0.hex, $0.key) < ($1.hex, $1.key) }
            #expect(profile.rows == Int64(order.count))
            #expect(profile.remainder == Int64(all.count - order.count))
            let drawn = Set(profile.points.map(\.key))
            #expect(profile.points.map(\.key) == order.map(\.key).filter(drawn.contains))
            #expect((drawn.count == order.count) == (notes < 60_000))

            var plan = Self.plan
            let points = stride(from: 40, to: profile.points.count, by: 700).map {
                profile.points[$0]
            }
            let places = Dictionary(
                uniqueKeysWithValues: order.enumerated().map { ($0.element.key, $0.offset) })
            let cuts = points.compactMap { places[$0.key] }
            plan.lists =
                points.map { .points(upTo: $0) }
                + [
                    .points(upTo: nil), .remainder(KeyRange(upper: 100)),
                    .remainder(KeyRange(lower: 101)),
                ]
            let path = folder.appending("lists")
            try RouteRows(plan, of: store, files: DurableFileSystem()).writeLists(to: path)
            var expected: [[Int64]] = []
            for (start, end) in zip([0] + cuts.map { $0 + 1 }, cuts.map { $0 + 1 } + [order.count])
            {
                expected.append(order[start..<end].map(\.key).sorted())
            }
            let others = all.filter { !$0.isUUID }.map(\.key)
            expected += [others.filter { $0 <= 100 }, others.filter { $0 > 100 }]
            #expect(try lists(path, plan.lists.count) == expected)
        }
    }

    @Test func aRowThatIsOutOfOrderIsDamage() throws {
        try withTemporaryFolder { folder in
            let folder = FilePath(folder.path)
            let store = try store(3_000, in: folder)
            let queue = try DatabaseQueue(path: store.database.description)
            let (root, size) = try queue.read { database in
                (
                    try Int.fetchOne(
                        database,
                        sql: "SELECT rootpage FROM sqlite_master WHERE name = 'ZNOTE'") ?? 0,
                    try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 0
                )
            }
            try queue.close()
            // The children of the root change places.
            let url = URL(fileURLWithPath: store.database.description)
            var bytes = try Data(contentsOf: url)
            let page = (root - 1) * size
            #expect(bytes[page] == 5)
            for byte in 0..<2 { bytes.swapAt(page + 12 + byte, page + 14 + byte) }
            try bytes.write(to: url)
            let rows = RouteRows(Self.plan, of: store, files: DurableFileSystem())
            let error = #expect(throws: EngineError.self) { try rows.profile() }
            #expect(error.map { "\($0)" }?.contains("not in the order of their keys") == true)
        }
    }

    @Test func aSampleIsBoundedEvenAndAlwaysTheSame() {
        var samples: [[RoutePoint]] = []
        for _ in 0..<2 {
            var sample = RouteSample()
            for key in Int64(1)...200_000 {
                sample.add(RoutePoint(prefix: key * 1_000, key: key))
            }
            samples.append(sample.sorted())
        }
        #expect(samples[0] == samples[1])
        #expect(samples[0].count > RouteSample.mostPoints / 3)
        #expect(samples[0].count <= RouteSample.mostPoints)
        // A tenth of the rows has about a tenth of the points.
        for tenth in 0..<10 {
            let keys = Int64(tenth) * 20_000 + 1...Int64(tenth + 1) * 20_000
            let share = samples[0].count { keys.contains($0.key) } * 10
            #expect(share > samples[0].count * 8 / 10 && share < samples[0].count * 12 / 10)
        }
    }
}
