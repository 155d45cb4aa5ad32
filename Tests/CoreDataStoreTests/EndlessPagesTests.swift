import CSQLite
import DurableFiles
import Foundation
import GRDB
import TestSupport
import Testing

@testable import SafeSQLite

/// Pages that lead to themselves: SQLite reads a schema before a connection could be told anything.
@Suite struct EndlessPagesTests {
    private static let levels = 16
    private static let children = 300

    private static func big(_ value: Int, _ bytes: Int) -> [UInt8] {
        (0..<bytes).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static func number(_ bytes: [UInt8], _ place: Int, _ count: Int) -> Int {
        bytes[place..<place + count].reduce(0) { $0 << 8 | Int($1) }
    }

    /// An inner page of a table all of whose cells lead to one child.
    private static func inner(size: Int, child: Int) -> [UInt8] {
        var page = [UInt8](repeating: 0, count: size)
        let cell = big(child, 4) + [0x87, 0x68]
        for place in 0..<children {
            let start = size - (place + 1) * cell.count
            page.replaceSubrange(start..<start + cell.count, with: cell)
            page.replaceSubrange(12 + 2 * place..<14 + 2 * place, with: big(start, 2))
        }
        let head =
            [5, 0, 0] + big(children, 2) + big(size - children * cell.count, 2) + [0]
            + big(child, 4)
        page.replaceSubrange(0..<12, with: head)
        return page
    }

    /// A database one of whose tables has 300^16 rows, in 17 more pages: the schema itself, or an
    /// empty table.
    private static func forge(_ path: FilePath, isSchema: Bool) throws {
        let queue = try DatabaseQueue(path: path.description)
        let root = try queue.inDatabase { database in
            let names = (0..<60).map { "column_with_a_long_name_\($0)" }.joined(separator: ", ")
            for table in 0..<12 { try database.execute(sql: "CREATE TABLE t\(table) (\(names))") }
            return try Int.fetchOne(
                database, sql: "SELECT rootpage FROM sqlite_master WHERE name = 't0'")
        }
        try queue.close()
        let file = URL(filePath: path.description)
        var bytes = [UInt8](try Data(contentsOf: file))
        let size = number(bytes, 16, 2)
        let pages = bytes.count / size
        // The first page is an inner one: its last child is the first of the chain.
        try #require(bytes[100] == 5)
        let table = try #require(root)
        let last = isSchema ? number(bytes, 108, 4) : pages + levels + 1
        if isSchema {
            bytes.replaceSubrange(108..<112, with: big(pages + 1, 4))
        } else {
            let start = (table - 1) * size
            bytes.replaceSubrange(start..<start + size, with: inner(size: size, child: pages + 1))
        }
        for level in 1...levels {
            bytes += inner(size: size, child: level < levels ? pages + level + 1 : last)
        }
        // A leaf with one row of one NULL.
        let row: [UInt8] = [2, 0x87, 0x68, 2, 0]
        let head = [13, 0, 0, 0, 1] + big(size - row.count, 2) + [0] + big(size - row.count, 2)
        bytes += head + [UInt8](repeating: 0, count: size - head.count - row.count) + row
        bytes.replaceSubrange(28..<32, with: big(bytes.count / size, 4))
        bytes.replaceSubrange(92..<96, with: bytes[24..<28])
        try Data(bytes).write(to: file)
    }

    @Test(arguments: [Connection.Mode.immutable, .readWrite])
    func openingComesToAnEnd(mode: Connection.Mode) throws {
        try withTemporaryFolder { url in
            let path = try #require(FilePath(url)).appending("schema.sqlite")
            try Self.forge(path, isSchema: true)
            let error = #expect(throws: StoreError.self) {
                try Connection(path: path, mode: mode, patience: 50)
            }
            let text = "\(try #require(error))"
            #expect(text.contains("busy for too long"), "\(text)")
        }
    }

    /// SQLite counts rows without one look at how long that takes.
    @Test func countingComesToAnEnd() throws {
        try withTemporaryFolder { url in
            let path = try #require(FilePath(url)).appending("table.sqlite")
            try Self.forge(path, isSchema: false)
            let connection = try Connection(path: path, mode: .immutable, patience: 50)
            let error = #expect(throws: StoreError.self) {
                try connection.integer("SELECT count(*) FROM t0")
            }
            let text = "\(try #require(error))"
            #expect(text.contains("busy for too long"), "\(text)")
            #expect(throws: StoreError.self) { try connection.integer("SELECT count(*) FROM t0") }
        }
    }

    /// What another connection of the thread runs afterwards has no bound of an opening.
    @Test func anOpeningEndsWithItself() throws {
        try withTemporaryFolder { url in
            let folder = try #require(FilePath(url))
            let path = folder.appending("store.sqlite")
            let queue = try DatabaseQueue(path: path.description)
            try queue.inDatabase { try $0.execute(sql: "CREATE TABLE t (x)") }
            for mode in [Connection.Mode.immutable, .readWrite] {
                let connection = try Connection(path: path, mode: mode)
                let limit = godwit_sqlite_budget_limit(connection.budget)
                #expect((limit > 0) == (mode == .immutable))
                try connection.close()
            }
            let made = try Connection(path: folder.appending("made"), mode: .create)
            #expect(godwit_sqlite_budget_limit(made.budget) == 0)
        }
    }
}
