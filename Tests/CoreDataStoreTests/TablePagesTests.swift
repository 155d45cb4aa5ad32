import DurableFiles
import Foundation
import GRDB
import MigrationPlans
import TestSupport
import Testing

@testable import PageWriting

/// Tables that are written page by page against those that they were read from.
@Suite struct TablePagesTests {
    private static let types = ["INTEGER", "VARCHAR", "FLOAT", "BLOB", "TIMESTAMP"]
    private static let affinities: [RecordProgram.Affinity] = [
        .integer, .text, .real, .blob, .numeric,
    ]

    private func value(_ type: Int, using random: inout SeededGenerator) -> DatabaseValue {
        if Int.random(in: 0..<5, using: &random) == 0 { return .null }
        let isLong = Int.random(in: 0..<40, using: &random) == 0
        switch type {
        case 1:
            let count = Int.random(in: 0...(isLong ? 5_000 : 20), using: &random)
            return String(repeating: "\u{E4}b", count: count).databaseValue
        case 3:
            let count = Int.random(in: 0...(isLong ? 200_000 : 16), using: &random)
            return Data(repeating: UInt8(count & 0xFF), count: count).databaseValue
        case 2, 4:
            return (Double(Int.random(in: -400...400, using: &random)) / 8).databaseValue
        default:
            let bits = Int.random(in: 0..<64, using: &random)
            return (Int64(bitPattern: random.next()) >> Int64(bits)).databaseValue
        }
    }

    private struct Shape {
        let pageSize: Int
        let vacuum: Int
        let types: [Int]

        var sql: String {
            let columns = types.enumerated().map {
                ", c\($0.offset) \(TablePagesTests.types[$0.element])"
            }
            return "PRAGMA page_size = \(pageSize); PRAGMA auto_vacuum = \(vacuum); VACUUM; "
                + "CREATE TABLE before (a); "
                + "CREATE TABLE t (k INTEGER PRIMARY KEY\(columns.joined()))"
        }

        static let indexes = [
            "CREATE INDEX i0 ON t (c0)", "CREATE UNIQUE INDEX i1 ON t (k)",
            "CREATE INDEX i2 ON t (c1 DESC, c0)",
        ]
    }

    private func root(_ name: String, _ database: Database) throws -> UInt32 {
        try UInt32.fetchOne(
            database, sql: "SELECT rootpage FROM sqlite_master WHERE name = ?", arguments: [name])
            ?? 0
    }

    @Test(arguments: UInt64(1)...24)
    func writtenTablesAreThoseThatWereRead(seed: UInt64) throws {
        try withTemporaryFolder { folder in
            var random = SeededGenerator(seed: seed)
            let shape = Shape(
                pageSize: [512, 1024, 4096, 65536][Int.random(in: 0..<4, using: &random)],
                vacuum: Int.random(in: 0...2, using: &random),
                types: (0..<4).map { _ in Int.random(in: 0..<Self.types.count, using: &random) })
            let count = [0, 1, 90, 3_000, 40_000][Int(seed % 5)]
            let (from, to) = (
                folder.appendingPathComponent("from.sqlite"),
                folder.appendingPathComponent("to.sqlite")
            )
            let source = try fill(from, shape, count, using: &random)
            let offset: Int64 = Bool.random(using: &random) ? 0 : 1 << 33
            try rebuild(
                FilePath(to.path), shape, from: FilePath(from.path), source, offset: offset,
                threads: Int.random(in: 1...3, using: &random),
                // The largest are not made in memory.
                isInMemory: Bool.random(using: &random) && count < 40_000)
            let result = try DatabaseQueue(path: to.path)
            try result.writeWithoutTransaction { database in
                #expect(
                    try String.fetchAll(database, sql: "PRAGMA integrity_check(3)") == ["ok"])
                try database.execute(sql: "ATTACH ? AS source", arguments: [from.path])
                let list = "c0, c1, c2, c3"
                let own = "SELECT k - \(offset), \(list) FROM main.t"
                let other = "SELECT k, \(list) FROM source.t"
                for (left, right) in [(own, other), (other, own)] {
                    let differences = try Int.fetchOne(
                        database, sql: "SELECT count(*) FROM (\(left) EXCEPT \(right))")
                    #expect(differences == 0)
                }
                // What SQLite does with the pages later: the pointer map and the root serve it.
                try database.execute(
                    sql: "DELETE FROM t WHERE k % 3 = 0; PRAGMA incremental_vacuum(20); "
                        + "INSERT INTO before SELECT c0 FROM t; UPDATE t SET c1 = c0; "
                        + "PRAGMA incremental_vacuum")
                #expect(
                    try String.fetchAll(database, sql: "PRAGMA integrity_check(3)") == ["ok"])
            }
        }
    }

    /// Makes the table that is read; returns its root page.
    private func fill(
        _ url: URL, _ shape: Shape, _ count: Int, using random: inout SeededGenerator
    ) throws -> UInt32 {
        let queue = try DatabaseQueue(path: url.path)
        var key: Int64 = 0
        let root = try queue.writeWithoutTransaction { database in
            try database.execute(sql: shape.sql + "; BEGIN")
            let insert = try database.makeStatement(sql: "INSERT INTO t VALUES (?, ?, ?, ?, ?)")
            for _ in 0..<count {
                key += Int64.random(in: 1...3, using: &random)
                let values = shape.types.map { value($0, using: &random) }
                try insert.execute(arguments: StatementArguments([key.databaseValue] + values))
            }
            try database.execute(sql: "COMMIT")
            return try self.root("t", database)
        }
        try queue.close()
        return root
    }

    private func rebuild(
        _ path: FilePath, _ shape: Shape, from: FilePath, _ source: UInt32, offset: Int64,
        threads: Int, isInMemory: Bool
    ) throws {
        let files = DurableFileSystem()
        let queue = try DatabaseQueue(path: try #require(path.string))
        let roots = try queue.writeWithoutTransaction { database in
            try database.execute(
                sql: shape.sql + "; " + Shape.indexes.joined(separator: "; "))
            return try ["t", "i0", "i1", "i2"].map { try root($0, database) }
        }
        try queue.close()
        let read =
            isInMemory
            ? try PageImage(contentOf: from, limit: 1 << 30, files)
            : try PageImage(reading: from, files)
        let bytes = try files.contents(of: path, limit: 1 << 30)
        let image =
            isInMemory
            ? try PageImage(bytes, room: 0, named: path) : try PageImage(path, files)
        let pages = PageAppender(image)
        let table = try TableRebuild(
            pages, root: roots[0],
            indexes: [
                .init(root: roots[1], columns: [1], descending: [false], isUnique: false),
                .init(root: roots[2], columns: [nil], descending: [false], isUnique: true),
                .init(
                    root: roots[3], columns: [2, 1], descending: [true, false], isUnique: false),
            ],
            TableRebuild.Settings(
                budget: 60_000, threads: threads, least: 1, longest: .max,
                scratch: path.adding(suffix: "-run"), files: files))
        let columns = shape.types.enumerated().map { place, type in
            RecordProgram.Column(
                .copy(.init(place: place + 1, isReal: type == 2), orElse: nil),
                Self.affinities[type])
        }
        // As of two tables that become one.
        for keys in [Int64.min...5_000, 5_001...Int64.max] {
            let rows = TableRebuild.Rows(
                root: source, keys: keys,
                programs: .same(RecordProgram([.init(.constant(.null), .blob)] + columns)),
                offset: offset, needed: [], leavesOut: false)
            #expect(try table.copy(rows, from: read) != nil)
        }
        #expect(try table.finish())
        try pages.finish()
        if isInMemory {
            try files.unlink(path)
            let made = try files.create(path)
            try made.write(image.bytes)
            try made.close()
        }
    }

    /// Rows that come a second time are out of reach, also those whose pages were written before
    /// that was seen; so are entries of an index that are too long to be merged.
    @Test(arguments: [1 << 10, 1 << 21])
    func rowsOutOfOrderAndLongEntriesAreOutOfReach(longest: Int) throws {
        try withTemporaryFolder { folder in
            let files = DurableFileSystem()
            let paths = ["from", "to"].map { folder.appendingPathComponent($0).path }
            var roots: [UInt32] = []
            for path in paths {
                let queue = try DatabaseQueue(path: path)
                roots = try queue.writeWithoutTransaction { database in
                    try database.execute(
                        sql: "CREATE TABLE t (k INTEGER PRIMARY KEY, c BLOB); "
                            + "CREATE INDEX i ON t (c)")
                    if path == paths[0] {
                        try database.execute(
                            sql: "INSERT INTO t VALUES (1, zeroblob(700000)), (2, x'00')")
                    }
                    return try ["t", "i"].map { try root($0, database) }
                }
                try queue.close()
            }
            let pages = PageAppender(try PageImage(FilePath(paths[1]), files))
            let table = try TableRebuild(
                pages, root: roots[0],
                indexes: [
                    .init(root: roots[1], columns: [1], descending: [false], isUnique: false)
                ],
                TableRebuild.Settings(
                    budget: 1 << 22, longest: longest, scratch: FilePath(paths[1] + "-run"),
                    files: files))
            let rows = TableRebuild.Rows(
                root: roots[0], keys: 1...2,
                programs: .same(
                    RecordProgram([
                        .init(.constant(.null), .blob),
                        .init(.copy(.init(place: 1, isReal: false), orElse: nil), .blob),
                    ])), offset: 0, needed: [], leavesOut: false)
            let read = try PageImage(reading: FilePath(paths[0]), files)
            #expect(try table.copy(rows, from: read) == (longest > 700_000 ? 2 : nil))
            #expect(try table.copy(rows, from: read) == nil)
        }
    }
}
