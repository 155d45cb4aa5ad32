import CSQLite
import DurableFiles
import Foundation
import GRDB
import TestSupport
import Testing

@testable import SafeSQLite

/// What a stranger's file has SQLite do comes to an end, and takes no more memory than fits.
@Suite("Bounds on strangers' files") struct BoundsTests {
    /// Also where another library has used SQLite first, as tests do.
    @Test func sqliteHasItsSettings() {
        #expect(Connection.isConfigured)
    }

    private func refusal(_ connection: Connection, _ sql: SQLText) throws -> String {
        let error = #expect(throws: StoreError.self) { try connection.integer(sql) }
        return "\(try #require(error))"
    }

    @Test func aStatementWithoutAnEndIsInterrupted() throws {
        let connection = try Connection(path: "bounds", mode: .memory)
        godwit_sqlite_budget_set(connection.budget, connection.handle, 50)
        let text = try refusal(
            connection,
            "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c")
        #expect(text.contains("busy for too long"), "\(text)")
    }

    @Test func aValueIsNotLongerThanItsFile() throws {
        try withTemporaryFolder { url in
            let folder = try #require(FilePath(url))
            let path = folder.appending("small.sqlite")
            let queue = try DatabaseQueue(path: path.description)
            try queue.inDatabase { try $0.execute(sql: "CREATE TABLE t (x)") }
            try queue.close()
            let connection = try Connection(path: path, mode: .immutable)
            #expect(try connection.integer("SELECT length(hex(zeroblob(500000)))") == 1_000_000)
            let text = try refusal(connection, "SELECT length(zeroblob(60000000))")
            #expect(text.contains("too big"), "\(text)")
            let written = try Connection(path: folder.appending("new"), mode: .create)
            let other = try written.bounded(by: path) {
                try refusal(written, "SELECT length(zeroblob(60000000))")
            }
            #expect(other.contains("too big"), "\(other)")
            #expect(try written.integer("SELECT length(zeroblob(60000000))") == 60_000_000)
        }
    }

    /// Values that the functions differ on if they differ anywhere: text of every width, text that
    /// is none, blobs, numbers, nothing.
    private static func value(_ generator: inout SeededGenerator) -> String {
        let pieces = [
            "'a'", "'ab'", "'ä'", "'€'", "'😀'", "' '", "x'C3'", "x'80'", "x'E282'", "x'61'",
        ]
        func piece(_ generator: inout SeededGenerator) -> String {
            let one = pieces[Int(generator.next() % UInt64(pieces.count))]
            return one.hasPrefix("x") ? "CAST(\(one) AS TEXT)" : one
        }
        switch generator.next() % 8 {
        case 0: return "NULL"
        case 1: return "\(Int64(bitPattern: generator.next()) % 100)"
        case 2: return "x'6180E282AC'"
        case 3: return "''"
        case 4: return "x''"
        default:
            let count = 1 + generator.next() % 5
            let all = (0..<count).map { _ in piece(&generator) }.joined(separator: " || ")
            return generator.next() % 4 == 0 ? "CAST(\(all) AS BLOB)" : "(\(all))"
        }
    }

    /// A pattern of a few wildcards and characters.
    private static func pattern(_ generator: inout SeededGenerator) -> String {
        let pieces = ["%", "_", "*", "?", "[a-z]", "[", "a", "B", "ä", "€", "%", "*", "]", "^"]
        let count = 1 + generator.next() % 5
        let all = (0..<count).map { _ in pieces[Int(generator.next() % UInt64(pieces.count))] }
        return "'\(all.joined())'"
    }

    /// The functions that replace SQLite's have its results.
    @Test(arguments: [UInt64(1), 2, 3, 4])
    func functionsAreThoseOfSQLite(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let own = try Connection(path: "functions", mode: .memory)
        let standard = try DatabaseQueue()
        let calls = [
            "instr(X, Y)", "replace(X, Y, Z)", "trim(X)", "trim(X, Y)", "ltrim(X)", "ltrim(X, Y)",
            "rtrim(X)", "rtrim(X, Y)", "X LIKE Y", "X GLOB Y", "X LIKE Q", "X GLOB Q",
            "X LIKE Q ESCAPE 'ä'",
        ]
        for _ in 0..<500 {
            let call = calls[Int(generator.next() % UInt64(calls.count))]
            var sql = call
            for name in ["X", "Y", "Z"] {
                sql = sql.replacing(name, with: Self.value(&generator))
            }
            sql = sql.replacing("Q", with: Self.pattern(&generator))
            sql = "SELECT typeof(v) || ' ' || ifnull(hex(v), '') FROM (SELECT \(sql) AS v)"
            let expected = try standard.inDatabase { try String.fetchOne($0, sql: sql) }
            let found = try own.queue.inDatabase { try String.fetchOne($0, sql: sql) }
            #expect(found == expected, "\(sql)")
        }
    }

    /// Between the checks of one row there is no jump at which SQLite would look.
    @Test func patternsOfOneRowComeToAnEnd() throws {
        let connection = try Connection(path: "patterns", mode: .memory)
        godwit_sqlite_budget_set(connection.budget, connection.handle, 50)
        // All different: SQLite computes equal ones once.
        let calls = (0..<900).map { number -> SQLText in
            "(hex(zeroblob(500000)) LIKE '%' || hex(zeroblob(200)) || \(number))"
        }
        let text = try refusal(connection, "SELECT \(calls.joined(separator: " + "))")
        #expect(text.contains("busy for too long"), "\(text)")
    }

    @Test func longArgumentsTakeNoLongerThanTheyAre() throws {
        let connection = try Connection(path: "long", mode: .memory)
        let sql: SQLText =
            "SELECT instr(zeroblob(1000000), zeroblob(500000) || x'01') "
            + "+ length(replace(hex(zeroblob(500000)), hex(zeroblob(250000)) || 'x', ''))"
        #expect(try connection.integer(sql) == 1_000_000)
    }
}
