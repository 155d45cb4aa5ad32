import DurableFiles
import Foundation
import GRDB
import SafeSQLite
import StorePages
import TestSupport
import Testing

/// Cursors over pages against what SQLite reads of the same file.
@Suite struct PageCursorTests {
    /// A database of random tables, and what to ask of it.
    private struct Sample {
        let url: URL
        /// Columns of the table `t`: `k` is its rowid.
        let columns: [String]
        let keyPlace: Int
    }

    private static let types = ["INTEGER", "VARCHAR", "FLOAT", "BLOB", "TIMESTAMP", "DECIMAL"]

    private func value(_ type: String, using random: inout SeededGenerator) -> DatabaseValue {
        if Int.random(in: 0..<6, using: &random) == 0 { return .null }
        switch type {
        case "VARCHAR":
            let count = Int.random(in: 0..<4, using: &random) == 0 ? 3_000 : 12
            let length = Int.random(in: 0...count, using: &random)
            let text = (0..<length).map { _ in
                Int.random(in: 0..<9, using: &random) == 0 ? "ü" : "a"
            }
            return text.joined().databaseValue
        case "BLOB":
            let count = Int.random(in: 0..<12, using: &random) == 0 ? 40_000 : 30
            let length = Int.random(in: 0...count, using: &random)
            return Data((0..<length).map { _ in UInt8.random(in: 0...255, using: &random) })
                .databaseValue
        case "FLOAT", "TIMESTAMP":
            let whole = Double(Int.random(in: -300...300, using: &random))
            return (Bool.random(using: &random) ? whole : whole / 7).databaseValue
        default:
            let bits = Int.random(in: 0..<64, using: &random)
            return (Int64(bitPattern: random.next()) >> Int64(bits)).databaseValue
        }
    }

    private func sample(_ seed: UInt64, in folder: URL) throws -> Sample {
        var random = SeededGenerator(seed: seed)
        let url = folder.appendingPathComponent("\(seed).sqlite")
        let pageSize = [512, 1024, 4096, 65536][Int.random(in: 0..<4, using: &random)]
        let vacuum = Int.random(in: 0...2, using: &random)
        let types = (0..<Int.random(in: 1...9, using: &random)).map { _ in
            Self.types[Int.random(in: 0..<Self.types.count, using: &random)]
        }
        let keyPlace = Int.random(in: 0...types.count, using: &random)
        var columns = types.indices.map { "c\($0)" }
        var declared = zip(columns, types).map { "\($0) \($1)" }
        columns.insert("k", at: keyPlace)
        declared.insert("k INTEGER PRIMARY KEY", at: keyPlace)
        let rows = [0, 1, 40, 500][Int.random(in: 0..<4, using: &random)]
        let queue = try DatabaseQueue(path: url.path)
        try queue.writeWithoutTransaction { database in
            try database.execute(
                sql: "PRAGMA page_size = \(pageSize); PRAGMA auto_vacuum = \(vacuum); VACUUM")
            // Rows that are older than their last column.
            let last = columns.last == "k" ? nil : declared.removeLast()
            try database.execute(sql: "CREATE TABLE t (\(declared.joined(separator: ", ")))")
            let first = columns.filter { column in declared.contains { $0.hasPrefix(column + " ") }
            }
            try insert(rows, first, types, into: database, using: &random)
            if let last {
                try database.execute(sql: "ALTER TABLE t ADD COLUMN \(last)")
                try insert(rows / 2, columns, types, into: database, using: &random)
            }
            let direction = Bool.random(using: &random) ? "DESC" : "ASC"
            let one = columns.first { $0 != "k" } ?? "k"
            let other = columns.last { $0 != "k" } ?? "k"
            try database.execute(
                sql: "CREATE INDEX one ON t (\(one) \(direction)); "
                    + "CREATE INDEX two ON t (\(other), \(one))")
            try database.execute(sql: "DELETE FROM t WHERE k % 5 = 0")
            let (table, types) = (columns.filter { $0 != "k" }, types)
            try database.execute(
                sql: "UPDATE t SET \(table[0]) = ? WHERE k % 7 = 0",
                arguments: [value(types[0], using: &random)])
        }
        try queue.close()
        return Sample(url: url, columns: columns, keyPlace: keyPlace)
    }

    private func insert(
        _ rows: Int, _ columns: [String], _ types: [String], into database: Database,
        using random: inout SeededGenerator
    ) throws {
        for _ in 0..<rows {
            var values: [DatabaseValue] = []
            for column in columns {
                guard let place = Int(column.dropFirst()) else {
                    let span = Int64.random(in: 1...5, using: &random)
                    values.append(
                        Int64.random(in: -(1 << (span * 12))...(1 << (span * 12)), using: &random)
                            .databaseValue)
                    continue
                }
                values.append(value(types[place], using: &random))
            }
            try database.execute(
                sql: "INSERT OR IGNORE INTO t (\(columns.joined(separator: ", "))) "
                    + "VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))",
                arguments: StatementArguments(values))
        }
    }

    private func text(_ cell: PageCell) -> String {
        switch cell.storageClass {
        case 1: "1:\(cell.integer)"
        case 2: "2:\(cell.real.bitPattern)"
        case 3, 4: "\(cell.storageClass):\(Array(cell.bytes))"
        default: "\(cell.storageClass):"
        }
    }

    private func text(_ value: DatabaseValue) -> String {
        switch value.storage {
        case .null: "5:"
        case .int64(let number): "1:\(number)"
        case .double(let number): "2:\(number.bitPattern)"
        case .string(let text): "3:\(Array(text.utf8))"
        case .blob(let data): "4:\(Array(data))"
        }
    }

    private func rows(_ sql: String, _ queue: DatabaseQueue) throws -> [[String]] {
        try queue.read { try rows(sql, $0) }
    }

    private func rows(_ sql: String, _ database: Database) throws -> [[String]] {
        try Row.fetchAll(database, sql: sql).map { row in
            row.databaseValues.map { text($0) }
        }
    }

    @Test(arguments: UInt64(1)...18)
    func cursorsReadWhatSQLiteReads(seed: UInt64) throws {
        try withTemporaryFolder { folder in
            let sample = try sample(seed, in: folder)
            let path = FilePath(sample.url.path)
            let queue = try DatabaseQueue(path: sample.url.path)
            let file = try PageFile(path)
            let schema = try StoreSchema.read(Connection(path: path, mode: .immutable))
            let columns = try #require(schema.columns["t"])
            let reals = Set(columns.indices.filter { columns[$0].isReal })
            let root = try #require(schema.object(.table, "t")).rootPage
            var random = SeededGenerator(seed: seed)
            for range in [
                KeyRange.all, KeyRange(lower: -900, upper: 900),
                KeyRange(lower: Int64.random(in: -5000...5000, using: &random)),
                KeyRange(upper: Int64.random(in: -5000...5000, using: &random)),
            ] {
                // Some of the columns, in any order, and one that is tested.
                let wanted = columns.indices.filter { _ in Bool.random(using: &random) }.reversed()
                let tested = columns.indices.filter { $0 != sample.keyPlace }
                let shape = RecordShape(
                    fields: columns.count, keyField: sample.keyPlace, reals: reals,
                    values: [RecordShape.key] + wanted.filter { $0 != sample.keyPlace },
                    tests: tested)
                let cursor = try #require(
                    TableCursor(file, rootPage: root, shape: shape, range: range))
                var found: [[String]] = []
                let count = shape.values.count + shape.tests.count
                while try cursor.step() {
                    found.append((0..<count).map { text(cursor.cells[$0]) })
                }
                let names = ["k"] + shape.values.dropFirst().map { columns[$0].name }
                let bounds =
                    (range.lower.map { " AND k >= \($0)" } ?? "")
                    + (range.upper.map { " AND k <= \($0)" } ?? "")
                let tests = tested.map { "\(columns[$0].name) IS NOT NULL" }
                let all = (names + tests).joined(separator: ", ")
                let expected = try rows(
                    "SELECT \(all) FROM t NOT INDEXED WHERE 1\(bounds) ORDER BY k", queue)
                #expect(found == expected)
            }
            for name in ["one", "two"] {
                let index = try #require(schema.object(.index, name))
                let keys = try rows(
                    "SELECT name, \"desc\" FROM pragma_index_xinfo('\(name)') WHERE key", queue)
                let names = try queue.read {
                    try String.fetchAll($0, sql: "SELECT name FROM pragma_index_info('\(name)')")
                }
                let shape = RecordShape(
                    fields: keys.count + 1, keyField: nil,
                    reals: Set(
                        keys.indices.filter { place in
                            columns.contains { $0.name == names[place] && $0.isReal }
                        }),
                    values: Array(0...keys.count))
                let cursor = try #require(
                    IndexCursor(file, rootPage: index.rootPage, shape: shape))
                var found: [[String]] = []
                while try cursor.step() {
                    found.append((0...keys.count).map { text(cursor.cells[$0]) })
                }
                let list = (names + ["k"]).joined(separator: ", ")
                let order = zip(names, keys).map { $0 + ($1[1] == "1:1" ? " DESC" : "") } + ["k"]
                #expect(
                    found
                        == (try rows(
                            "SELECT \(list) FROM t ORDER BY \(order.joined(separator: ", "))",
                            queue)))
            }
        }
    }

    @Test(arguments: UInt64(1)...12)
    func damagedPagesAreErrors(seed: UInt64) throws {
        try withTemporaryFolder { folder in
            let sample = try sample(seed, in: folder)
            let path = FilePath(sample.url.path)
            let schema = try StoreSchema.read(Connection(path: path, mode: .immutable))
            let columns = try #require(schema.columns["t"])
            let root = try #require(schema.object(.table, "t")).rootPage
            let index = try #require(schema.object(.index, "two")).rootPage
            let bytes = try Data(contentsOf: sample.url)
            var random = SeededGenerator(seed: seed)
            var ends = 0
            for _ in 0..<25 {
                var damaged = bytes
                for _ in 0..<Int.random(in: 1...20, using: &random) {
                    let place = Int.random(in: 100..<damaged.count, using: &random)
                    damaged[place] = UInt8.random(in: 0...255, using: &random)
                }
                if Bool.random(using: &random) {
                    damaged = damaged.prefix(Int.random(in: 100...bytes.count, using: &random))
                }
                try damaged.write(to: sample.url)
                let file = try PageFile(path)
                let shape = RecordShape(
                    fields: columns.count, keyField: sample.keyPlace, reals: [],
                    values: Array(columns.indices))
                let entries = RecordShape(fields: 3, keyField: nil, reals: [], values: [0, 1, 2])
                let table = try #require(TableCursor(file, rootPage: root, shape: shape))
                let order = try #require(IndexCursor(file, rootPage: index, shape: entries))
                // It ends, with an error or without, and every byte that it gives can be read.
                var sum = 0
                do {
                    while try table.step() {
                        for place in columns.indices { sum += text(table.cells[place]).count }
                    }
                    while try order.step() { sum += text(order.cells[0]).count }
                } catch StoreError.notAStore {
                    sum += 1
                }
                ends += sum >= 0 ? 1 : 0
            }
            #expect(ends == 25)
        }
    }

    /// A file whose bytes are changed where some stand for the only time.
    private func tampered(
        _ folder: URL, _ sql: String, _ changes: [([UInt8], [UInt8])]
    ) throws -> FilePath {
        let url = folder.appendingPathComponent("tampered.sqlite")
        let queue = try DatabaseQueue(path: url.path)
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
        var bytes = try Data(contentsOf: url)
        for (from, to) in changes {
            let place = try #require(bytes.range(of: Data(from)))
            #expect(bytes.range(of: Data(from), options: .backwards) == place)
            bytes.replaceSubrange(place, with: to)
        }
        try bytes.write(to: url)
        return FilePath(url.path)
    }

    @Test func whatSQLiteReadsAsNullIsNull() throws {
        try withTemporaryFolder { folder in
            // 1.5 becomes a number that is none; an empty blob gets a type that no file has.
            let path = try tampered(
                folder,
                "CREATE TABLE t (k INTEGER PRIMARY KEY, a REAL, b); "
                    + "INSERT INTO t VALUES (1, 1.5, 'text'), (2, NULL, x'')",
                [
                    ([0x3F, 0xF8, 0, 0, 0, 0, 0, 0], [0x7F, 0xF8, 0, 0, 0, 0, 0, 0]),
                    ([4, 0, 0, 12], [4, 0, 0, 10]),
                ])
            let queue = try DatabaseQueue(path: path.description)
            let expected = try rows(
                "SELECT k, a, b, a IS NOT NULL, b IS NOT NULL FROM t ORDER BY k", queue)
            try queue.close()
            let schema = try StoreSchema.read(Connection(path: path, mode: .immutable))
            let shape = RecordShape(
                fields: 3, keyField: 0, reals: [1], values: [RecordShape.key, 1, 2], tests: [1, 2])
            let root = try #require(schema.object(.table, "t")).rootPage
            let file = try PageFile(path)
            let cursor = try #require(TableCursor(file, rootPage: root, shape: shape))
            var found: [[String]] = []
            while try cursor.step() { found.append((0..<5).map { text(cursor.cells[$0]) }) }
            #expect(found == expected)
            #expect(found.map { $0[3] } == ["1:0", "1:0"])
        }
    }

    @Test func anEntryWithoutARowidIsDamage() throws {
        try withTemporaryFolder { folder in
            let path = try tampered(
                folder,
                "CREATE TABLE t (k INTEGER PRIMARY KEY, a); CREATE INDEX i ON t (a); "
                    + "INSERT INTO t VALUES (0, 77)", [([3, 1, 8, 77], [3, 1, 0, 77])])
            let schema = try StoreSchema.read(Connection(path: path, mode: .immutable))
            let shape = RecordShape(fields: 2, keyField: nil, reals: [], values: [0, 1])
            let root = try #require(schema.object(.index, "i")).rootPage
            let file = try PageFile(path)
            let cursor = try #require(IndexCursor(file, rootPage: root, shape: shape))
            #expect(throws: StoreError.self) { try cursor.step() }
        }
    }

    @Test func namesAndTypesAreBytes() throws {
        try withTemporaryFolder { folder in
            let (composed, decomposed) = ("Aut\u{F6}r", "Auto\u{308}r")
            let path = try tampered(
                folder,
                "CREATE TABLE \"\(decomposed)\" (a, b REAL\u{308}, c \u{FB02}OAT, d DOUBLE); "
                    + "CREATE TABLE \"\(composed)\" (a)", [])
            let schema = try StoreSchema.read(Connection(path: path, mode: .immutable))
            let roots = [composed, decomposed].map { schema.object(.table, $0)?.rootPage }
            #expect(!roots.contains(nil) && roots[0] != roots[1])
            // SQLite looks at the bytes of a type: the second and the fourth are REAL.
            let queue = try DatabaseQueue(path: path.description)
            let reals = try queue.write { database in
                try database.execute(
                    sql: "INSERT INTO \"\(decomposed)\" VALUES (5, 5, 5, 5)")
                return try rows("SELECT * FROM \"\(decomposed)\"", database)
            }
            #expect(reals == [["1:5", "2:\(5.0.bitPattern)", "1:5", "2:\(5.0.bitPattern)"]])
            let columns = ["", "REAL\u{308}", "\u{FB02}OAT", "DOUBLE"].map {
                StoreSchema.Column(name: "x", type: $0, isGenerated: false, hasDefault: false)
            }
            #expect(columns.map(\.isReal) == [false, true, false, true])
        }
    }
}
