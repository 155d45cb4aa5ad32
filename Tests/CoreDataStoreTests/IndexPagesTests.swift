import DurableFiles
import Foundation
import GRDB
@testable import PageWriting
import MigrationPlans
import TestSupport
import Testing

/// Indexes that are written page by page against what SQLite makes and checks.
@Suite struct IndexPagesTests {
    /// An index of the table `t`: its columns, and which of them descend.
    private struct Index {
        let name: String
        let columns: [Int]
        let descending: [Bool]

        var sql: String {
            let list = zip(columns, descending).map { "c\($0)\($1 ? " DESC" : "")" }
            return "CREATE INDEX \(name) ON t (\(list.joined(separator: ", ")))"
        }
    }

    private static let types = ["INTEGER", "VARCHAR", "FLOAT", "BLOB", "TIMESTAMP"]

    private func value(_ type: String, using random: inout SeededGenerator) -> DatabaseValue {
        if Int.random(in: 0..<5, using: &random) == 0 { return .null }
        switch type {
        case "VARCHAR":
            let count = Int.random(in: 0..<30, using: &random) == 0 ? 3_000 : 10
            return String(
                repeating: Bool.random(using: &random) ? "same" : "\u{E4}b",
                count: Int.random(in: 0...count, using: &random)
            ).databaseValue
        case "BLOB":
            let count = Int.random(in: 0..<30, using: &random) == 0 ? 9_000 : 16
            return Data(
                (0..<Int.random(in: 0...count, using: &random)).map { _ in
                    UInt8.random(in: 0...3, using: &random)
                }
            ).databaseValue
        case "FLOAT", "TIMESTAMP":
            let whole = Double(Int.random(in: -40...40, using: &random))
            let numbers = [whole, whole / 7, whole * 1e60, whole * 0x1p52, 0x1p63, -0.0]
            return numbers[Int.random(in: 0..<numbers.count, using: &random)].databaseValue
        default:
            let bits = Int.random(in: 0..<64, using: &random)
            return (Int64(bitPattern: random.next()) >> Int64(bits)).databaseValue
        }
    }

    /// Makes a table with rows whose empty indexes no statement knows.
    private func makeTable(
        _ url: URL, rows: Int, pageSize: Int, vacuum: Int, types: [String], indexes: [Index],
        using random: inout SeededGenerator
    ) throws -> (table: UInt32, roots: [UInt32]) {
        let queue = try DatabaseQueue(path: url.path)
        try queue.writeWithoutTransaction { database in
            let columns = types.enumerated().map { ", c\($0.offset) \($0.element)" }
            try database.execute(
                sql: "PRAGMA page_size = \(pageSize); PRAGMA auto_vacuum = \(vacuum); VACUUM; "
                    + "CREATE TABLE before (a); CREATE TABLE t (k INTEGER PRIMARY KEY"
                    + columns.joined() + ")")
            for index in indexes { try database.execute(sql: index.sql) }
        }
        let roots = try queue.read { database in
            try indexes.map { index in
                try UInt32.fetchOne(
                    database, sql: "SELECT rootpage FROM sqlite_master WHERE name = ?",
                    arguments: [index.name]) ?? 0
            }
        }
        let table = try queue.read {
            try UInt32.fetchOne(
                $0, sql: "SELECT rootpage FROM sqlite_master WHERE name = 't'") ?? 0
        }
        try queue.writeWithoutTransaction {
            try $0.execute(
                sql: "PRAGMA writable_schema = ON; DELETE FROM sqlite_master WHERE type = 'index'")
        }
        try queue.close()
        let filling = try DatabaseQueue(path: url.path)
        try filling.write { database in
            for _ in 0..<rows {
                var values = [
                    Int64.random(in: -0xFFFF_FFFF...0xFFFF_FFFF, using: &random).databaseValue
                ]
                values += types.map { value($0, using: &random) }
                try database.execute(
                    sql: "INSERT OR IGNORE INTO t VALUES "
                        + "(\(values.map { _ in "?" }.joined(separator: ", ")))",
                    arguments: StatementArguments(values))
            }
            try database.execute(sql: "INSERT INTO before VALUES (zeroblob(\(rows)))")
        }
        try filling.close()
        return (table, roots)
    }

    private func write(
        _ indexes: [Index], roots: [UInt32], table: UInt32, into path: FilePath, budget: Int
    ) throws {
        let files = DurableFileSystem()
        let pages = PageAppender(try PageImage(path, files))
        for (index, root) in zip(indexes, roots) {
            let order = IndexKeyOrder(descending: index.descending)
            // Rows by turns, as several threads have them.
            let sorters = (0..<1 + Int(root % 3)).map {
                IndexSorter(
                    order, index.columns.map { Optional($0 + 1) }, budget: budget,
                    scratch: path.adding(suffix: "-run-\($0)"), files)
            }
            var row = 0
            let columns = (index.columns.max() ?? 0) + 2
            try TableRecords(pages.image, root: table, columns: columns).forEach {
                record throws(EngineError) in
                row += 1
                return try sorters[row % sorters.count].add(record)
            }
            let isFilled = try IndexTreeWriter(pages, root: root).fill(
                from: sorters, order, isUnique: false)
            #expect(isFilled)
        }
        try pages.finish()
    }

    private func check(_ database: Database) throws -> [String] {
        try String.fetchAll(database, sql: "PRAGMA integrity_check(3)")
    }

    @Test(arguments: UInt64(1)...20)
    func writtenIndexesAreThoseOfSQLite(seed: UInt64) throws {
        try withTemporaryFolder { folder in
            var random = SeededGenerator(seed: seed)
            let url = folder.appendingPathComponent("\(seed).sqlite")
            let types = (0..<4).map { _ in
                Self.types[Int.random(in: 0..<Self.types.count, using: &random)]
            }
            let indexes = (0..<Int.random(in: 1...4, using: &random)).map { number in
                let columns = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                    Int.random(in: 0..<types.count, using: &random)
                }
                return Index(
                    name: "i\(number)", columns: columns,
                    descending: columns.map { _ in Bool.random(using: &random) })
            }
            let made = try makeTable(
                url, rows: [0, 3, 150, 2_000][Int.random(in: 0..<4, using: &random)],
                pageSize: [512, 1024, 4096, 65536][Int.random(in: 0..<4, using: &random)],
                vacuum: Int.random(in: 0...2, using: &random), types: types, indexes: indexes,
                using: &random)
            // In memory at once, and in many runs.
            let budget = Bool.random(using: &random) ? 1 << 20 : 5_000
            let path = FilePath(url.path)
            let pages = try PageImage(path, DurableFileSystem()).pageCount
            try write(indexes, roots: made.roots, table: made.table, into: path, budget: budget)
            if Bool.random(using: &random) {
                // As after a crash: what was written is nothing, and is written again.
                try PageIndexes.restore(
                    Int32(pages), of: path, roots: made.roots.map(Int64.init),
                    DurableFileSystem())
                #expect(try PageImage(path, DurableFileSystem()).pageCount == pages)
                try write(indexes, roots: made.roots, table: made.table, into: path, budget: budget)
            }
            let queue = try DatabaseQueue(path: url.path)
            try queue.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA writable_schema = ON")
                for (index, root) in zip(indexes, made.roots) {
                    try database.execute(
                        sql: "INSERT INTO sqlite_master VALUES ('index', ?, 't', ?, ?)",
                        arguments: [index.name, root, index.sql])
                }
            }
            try queue.close()
            let result = try DatabaseQueue(path: url.path)
            #expect(try result.read { try check($0) } == ["ok"])
            // What SQLite does with the pages later: the pointer map and all roots serve it.
            try result.writeWithoutTransaction { database in
                try database.execute(
                    sql: "CREATE TABLE later (a); DELETE FROM t WHERE k % 3 = 0; "
                        + "PRAGMA incremental_vacuum(20)")
                #expect(try check(database) == ["ok"])
                try database.execute(
                    sql: "DROP TABLE before; INSERT INTO later SELECT c0 FROM t; "
                        + "DROP INDEX i0; UPDATE t SET c1 = c0; PRAGMA incremental_vacuum")
                #expect(try check(database) == ["ok"])
                try database.execute(sql: "VACUUM")
                #expect(try check(database) == ["ok"])
            }
            let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(!left.contains { $0.contains("-run") })
        }
    }

    @Test func entriesFollowEachOtherAsInSQLite() throws {
        try withTemporaryFolder { folder in
            let url = folder.appendingPathComponent("order.sqlite")
            let queue = try DatabaseQueue(path: url.path)
            let values = """
                NULL, 0, 1, -1, 5, 5.5, 5.0, -5.5, 9223372036854775807, 9223372036854774784.0,
                -9223372036854775808, -9.3e18, 9.3e18, 1e300, 9007199254740993, 9007199254740992.0,
                '', 'a', 'ab', 'a' || char(0), 'aaaaaaaaa', 'aaaaaaaab', x'', x'00', x'61', x'6162'
                """
            try queue.write { database in
                try database.execute(sql: "CREATE TABLE t (k INTEGER PRIMARY KEY, a, b)")
                // Rowids from 10 on take one byte each, the last of an entry.
                for (number, value) in values.split(separator: ",").enumerated() {
                    try database.execute(
                        sql: "INSERT INTO t VALUES (\(10 + 2 * number), \(value), 1), "
                            + "(\(11 + 2 * number), \(value), 2)")
                }
                try database.execute(sql: "CREATE INDEX i ON t (a DESC, b)")
            }
            let expected = try queue.read {
                try Int64.fetchAll($0, sql: "SELECT k FROM t ORDER BY a DESC, b, k")
            }
            let root = try queue.read {
                try UInt32.fetchOne(
                    $0, sql: "SELECT rootpage FROM sqlite_master WHERE name = 't'") ?? 0
            }
            try queue.close()
            for budget in [1 << 20, 100] {
                let image = try PageImage(FilePath(url.path), DurableFileSystem())
                let sorter = IndexSorter(
                    IndexKeyOrder(descending: [true, false]), [1, 2], budget: budget,
                    scratch: FilePath(url.path + "-run"), DurableFileSystem())
                try TableRecords(image, root: root, columns: 3).forEach {
                    row throws(EngineError) in
                    try sorter.add(row)
                }
                var found: [Int64] = []
                try IndexSorter.forEach(of: [sorter]) { entry, count throws(EngineError) in
                    found.append(Int64(entry[count - 1]))
                }
                #expect(found == expected)
            }
        }
    }
}
