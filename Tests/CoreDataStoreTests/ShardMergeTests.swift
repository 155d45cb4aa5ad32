import DurableFiles
import Foundation
import GRDB
import MigrationPlans
import SafeSQLite
import TestSupport
import Testing

@testable import ShardPages

/// Shards that are merged page by page against the rows that were put into them.
@Suite struct ShardMergeTests {
    private struct Row: Hashable {
        let key: Int64
        let text: String?
        let data: Data?
    }

    private static let table: SchemaDefinition = SchemaDefinition(
        .table, "ZROW", sql: "CREATE TABLE ZROW (Z_PK INTEGER PRIMARY KEY, A VARCHAR, B BLOB)")
    private static let link = SchemaDefinition(
        .table, "Z_1LINKS", sql: "CREATE TABLE Z_1LINKS (A INTEGER, B INTEGER)")

    private func rows(_ count: Int, using random: inout SeededGenerator) -> [Row] {
        var key = Int64.random(in: 0...300, using: &random)
        return (0..<count).map { place in
            let isLast = place == count - 1
            key += Int64.random(in: 1...3, using: &random)
            // The varint of such a key has nine bytes.
            if isLast, Bool.random(using: &random) { key += 1 << 60 }
            let isLong = Int.random(in: 0..<60, using: &random) == 0
            return Row(
                key: key,
                text: Bool.random(using: &random)
                    ? nil : String(repeating: "é", count: Int(key % 40)),
                data: isLong ? Data(repeating: UInt8(key & 0xFF), count: Int(key % 30_000)) : nil)
        }
    }

    private func write(_ rows: [Row], to path: FilePath) throws {
        let queue = try DatabaseQueue(path: path.description)
        try queue.writeWithoutTransaction { database in
            // Another table first, so that root pages differ.
            try database.execute(sql: "CREATE TABLE \"other\" (a); \(Self.table.sql); BEGIN")
            let insert = try database.makeStatement(sql: "INSERT INTO ZROW VALUES (?, ?, ?)")
            for row in rows {
                try insert.execute(arguments: [row.key, row.text, row.data])
            }
            try database.execute(sql: "COMMIT")
        }
        try queue.close()
    }

    private func read(_ path: FilePath) throws -> [Row] {
        let queue = try DatabaseQueue(path: path.description)
        return try queue.read { database in
            #expect(try String.fetchAll(database, sql: "PRAGMA integrity_check(3)") == ["ok"])
            return try GRDB.Row.fetchAll(database, sql: "SELECT * FROM ZROW").map {
                Row(key: $0[0], text: $0[1], data: $0[2])
            }
        }
    }

    @Test(arguments: UInt64(1)...12)
    func piecesHoldTheRowsOfAllShardsInOrder(seed: UInt64) throws {
        try withTemporaryFolder { folder in
            let folder = FilePath(folder.path)
            var random = SeededGenerator(seed: seed)
            let all = rows([0, 1, 200, 9_000][Int(seed % 4)], using: &random)
            let count = [1, 3, 40][Int(seed % 3)]
            var parts = [[Row]](repeating: [], count: count)
            for row in all { parts[Int.random(in: 0..<count, using: &random)].append(row) }
            var shards: [FilePath] = []
            for (number, part) in parts.enumerated() {
                shards.append(folder.appending("shard-\(number)"))
                try write(part, to: shards[number])
            }
            let cut = all.isEmpty ? 7 : all[Int.random(in: 0..<all.count, using: &random)].key
            let merge = ShardMerge(Self.table, isKeyed: true, files: DurableFileSystem())
            var found: [Row] = []
            for (number, range) in [KeyRange(upper: cut), KeyRange(lower: cut + 1)].enumerated() {
                let path = folder.appending("piece-\(number)")
                try merge.write(range, of: shards, to: path)
                let piece = try read(path)
                #expect(piece.allSatisfy { range.contains($0.key) })
                found += piece
            }
            #expect(found == all)
        }
    }

    @Test func aKeyInTwoShardsIsRefused() throws {
        try withTemporaryFolder { folder in
            let folder = FilePath(folder.path)
            let row = Row(key: 7, text: nil, data: nil)
            let shards = [folder.appending("a"), folder.appending("b")]
            for shard in shards { try write([row], to: shard) }
            let merge = ShardMerge(Self.table, isKeyed: true, files: DurableFileSystem())
            let error = #expect(throws: EngineError.self) {
                try merge.write(.all, of: shards, to: folder.appending("piece"))
            }
            // A worker's fault, and not ours.
            guard case .wrongPlan = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test func aShardWithoutTheTableOrWithDamageIsRefused() throws {
        try withTemporaryFolder { folder in
            let folder = FilePath(folder.path)
            var random = SeededGenerator(seed: 5)
            let shard = folder.appending("shard")
            try write(rows(3_000, using: &random), to: shard)
            let whole = try Data(contentsOf: URL(fileURLWithPath: shard.description))
            let files = DurableFileSystem()
            let other = ShardMerge(Self.link, isKeyed: false, files: files)
            #expect(throws: EngineError.self) {
                try other.write(.all, of: [shard], to: folder.appending("piece"))
            }
            // Whatever stands in a page, reading it ends.
            for number in 0..<200 {
                var bytes = whole
                for _ in 0..<8 {
                    let place = Int.random(in: 100..<bytes.count, using: &random)
                    bytes[place] = UInt8.random(in: 0...255, using: &random)
                }
                let damaged = folder.appending("damaged")
                try bytes.write(to: URL(fileURLWithPath: damaged.description))
                let merge = ShardMerge(Self.table, isKeyed: true, files: files)
                do {
                    try merge.write(.all, of: [damaged], to: folder.appending("out-\(number)"))
                } catch is EngineError {
                    continue
                }
            }
        }
    }

    /// Long records are in memory one at a time, whatever the number of shards.
    @Test func longRecordsOfManyShardsAreMerged() throws {
        try withTemporaryFolder { folder in
            let folder = FilePath(folder.path)
            var shards: [FilePath] = []
            var all: [Row] = []
            for number in 0..<300 {
                let row = Row(
                    key: Int64(number), text: nil,
                    data: Data(repeating: UInt8(number & 0xFF), count: 200_000))
                shards.append(folder.appending("shard-\(number)"))
                try write([row], to: shards[number])
                all.append(row)
            }
            let path = folder.appending("piece")
            try ShardMerge(Self.table, isKeyed: true, files: DurableFileSystem())
                .write(.all, of: shards.reversed(), to: path)
            #expect(try read(path) == all)
        }
    }

    @Test func linksAreNumberedShardByShard() throws {
        try withTemporaryFolder { folder in
            let folder = FilePath(folder.path)
            var shards: [FilePath] = []
            for number in 0..<3 {
                let shard = folder.appending("shard-\(number)")
                let queue = try DatabaseQueue(path: shard.description)
                try queue.write { database in
                    // As workers make it, with the index of its primary key.
                    try database.execute(
                        sql: "CREATE TABLE Z_1LINKS (A INTEGER, B INTEGER, PRIMARY KEY (A, B))")
                    for row in 0..<700 {
                        try database.execute(
                            sql: "INSERT INTO Z_1LINKS VALUES (?, ?)", arguments: [row, number])
                    }
                }
                try queue.close()
                shards.append(shard)
            }
            let path = folder.appending("piece")
            try ShardMerge(Self.link, isKeyed: false, files: DurableFileSystem())
                .write(.all, of: shards, to: path)
            let queue = try DatabaseQueue(path: path.description)
            try queue.read { database in
                #expect(try String.fetchAll(database, sql: "PRAGMA integrity_check") == ["ok"])
                let found = try Int.fetchAll(
                    database, sql: "SELECT B * 1000 + A FROM Z_1LINKS ORDER BY rowid")
                #expect(found == (0..<3).flatMap { shard in (0..<700).map { shard * 1000 + $0 } })
            }
        }
    }
}
