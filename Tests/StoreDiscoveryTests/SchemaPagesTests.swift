import DurableFiles
import FaultSupport
import Foundation
import SafeSQLite
import TestSupport
import Testing

@testable import StoreDiscovery

/// Core Data's tables are found by the pages of the schema, wherever these lie.
@Suite struct SchemaPagesTests {
    private static let pageSize = 4096
    private let wanted = Array("CREATE TABLE Z_METADATA".utf8)

    /// A database with tables before Core Data's table of metadata.
    private func database(
        tables: Int, columns: Int = 11, metadata: Bool, in folder: URL,
        _ change: (inout [UInt8]) -> Void = { _ in }
    ) throws -> FilePath {
        let path = FilePath(folder.appendingPathComponent("store.sqlite").path)
        let connection = try Connection(path: path, mode: .create)
        let names = (0..<columns).map { "c\($0)" }.joined(separator: ", ")
        try connection.execute("BEGIN")
        for number in 0..<tables {
            try connection.execute("CREATE TABLE t\(number) (\(names))")
        }
        if metadata { try connection.execute("CREATE TABLE Z_METADATA (Z_VERSION INTEGER)") }
        try connection.execute("COMMIT")
        try connection.close()
        var bytes = try DurableFileSystem().contents(of: path, limit: 1 << 24)
        change(&bytes)
        try Data(bytes).write(to: URL(fileURLWithPath: path.description))
        return path
    }

    private func contains(_ path: FilePath) throws -> Bool {
        let file = try DurableFileSystem().openForReading(path)
        let start = try file.read(count: DatabaseHeader.size, at: 0)
        let header = try DatabaseHeader.read(start).get()
        return try SchemaPages(of: file, header).contain(wanted)
    }

    @Test(arguments: [0, 1, 20, 400])
    func theSchemaIsFoundBehindAnyNumberOfTables(tables: Int) throws {
        try withTemporaryFolder { folder in
            let path = try database(tables: tables, metadata: true, in: folder)
            #expect(try contains(path))
        }
    }

    @Test func aTextInARowIsNoDeclaration() throws {
        try withTemporaryFolder { folder in
            let path = try database(tables: 400, metadata: false, in: folder)
            let connection = try Connection(path: path, mode: .readWrite)
            try connection.execute("INSERT INTO t0 (c0) VALUES ('CREATE TABLE Z_METADATA')")
            try connection.close()
            #expect(try !contains(path))
        }
    }

    /// The declaration lies so far behind that only the pages lead to it.
    @Test func theDeclarationOfManyTablesLiesBeyondTheFirstPages() throws {
        try withTemporaryFolder { folder in
            let path = try database(tables: 400, metadata: true, in: folder)
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path.description))
            let hit = try #require(bytes.range(of: Data(wanted), options: .backwards))
            #expect(hit.lowerBound > 1 << 20)
        }
    }

    /// A damaged page ends neither the process nor the search for good.
    @Test(arguments: 0..<200 as Range<UInt64>)
    func damagedPagesEndTheSearch(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        try withTemporaryFolder { folder in
            let path = try database(tables: 60, metadata: false, in: folder) { bytes in
                for _ in 0..<40 {
                    let place = Int.random(in: DatabaseHeader.size..<512, using: &random)
                    bytes[place] = UInt8.random(in: 0...255, using: &random)
                }
                if seed.isMultiple(of: 3) { bytes.removeLast(bytes.count / 2 + 100) }
            }
            #expect(try !contains(path))
        }
    }

    /// Pages that point to one another are read a bounded number of times.
    @Test func pagesThatPointToOneAnotherEndTheSearch() throws {
        try withTemporaryFolder { folder in
            let path = try database(tables: 60, metadata: false, in: folder) { bytes in
                #expect(bytes[DatabaseHeader.size] == 0x05)
                // Page 2 becomes an interior page of which both children are page 2.
                let interior: [UInt8] = [5, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 2, 0, 100]
                let second = Self.pageSize
                bytes.replaceSubrange(second..<second + interior.count, with: interior)
                bytes.replaceSubrange(second + 100..<second + 104, with: [0, 0, 0, 2])
                let last = DatabaseHeader.size + 8
                bytes.replaceSubrange(last..<last + 4, with: [0, 0, 0, 2])
            }
            #expect(try !contains(path))
        }
    }

    /// SQLite finds no table in such a database, and says nothing.
    @Test func aStoreWhoseFirstPageLostItsCellsIsStillFound() throws {
        try withTemporaryFolder { folder in
            // Few pages with long declarations.
            let path = try database(tables: 10, columns: 90, metadata: true, in: folder) { bytes in
                #expect(bytes[DatabaseHeader.size] == 0x05)
                bytes[DatabaseHeader.size + 3] = 0
                bytes[DatabaseHeader.size + 4] = 0
                // The last page of the schema is gone, too.
                let last = DatabaseHeader.size + 8
                bytes.replaceSubrange(last..<last + 4, with: [0, 0, 0, 0])
            }
            #expect(try contains(path))
        }
    }

    @Test func aStoreWhoseSchemaLiesFarBehindIsDiscovered() throws {
        try DiscoveryLab.with { lab in
            for metadata in [true, false] {
                let path = try database(
                    tables: 400, metadata: metadata,
                    in: URL(fileURLWithPath: lab.folder.parent.description))
                let bytes = try DurableFileSystem().contents(of: path, limit: 1 << 24)
                try lab.file(metadata ? "far.sqlite" : "none.sqlite", bytes)
                try FileManager.default.removeItem(atPath: path.description)
            }
            let found = try lab.discover("")
            #expect(found.relatives == ["far.sqlite"])
        }
    }
}
