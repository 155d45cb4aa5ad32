import CSQLite
import DurableFiles
import Foundation
import GRDBSQLite
import SafeSQLite
import TestSupport
import Testing

/// SQLite in a confined process, among files that other users put beside a database.
///
/// Each in a process of its own, because a confinement does not end.
@Suite struct ConfinementTests {
    @Test func aSuperJournalIsNeitherReadNorRemoved() async {
        await #expect(processExitsWith: .success) {
            try ConfinementTests.withDatabase { folder, database in
                let victim = folder.appending("victim")
                try DurableFileSystem().publish(Array("precious".utf8), to: victim)
                try ConfinementTests.writeJournal(of: database, superJournal: victim)
                // It is hot: SQLite would roll it back, and remove the file that it names.
                #expect(throws: StoreError.self) {
                    let connection = try Connection(path: database, mode: .readWrite)
                    _ = try connection.texts("SELECT count(*) FROM t")
                }
                #expect(try DurableFileSystem().contents(of: victim, limit: 100).count == 8)
            }
        }
    }

    @Test func otherFilesAreNotOpened() async {
        await #expect(processExitsWith: .success) {
            try ConfinementTests.withDatabase { folder, database in
                var handle: OpaquePointer?
                #expect(sqlite3_open(database.description, &handle) == SQLITE_CANTOPEN)
                sqlite3_close(handle)
                let connection = try Connection(path: database, mode: .readWrite)
                #expect(try connection.texts("SELECT count(*) FROM t") == ["1"])
                try connection.execute("INSERT INTO t VALUES (2)")
                try connection.close()
                // A temporary file.
                let again = try Connection(path: database, mode: .create)
                try again.rebuild(pageSize: 8192)
                try again.close()
            }
        }
    }

    @Test(arguments: ["", "-wal"]) func linksAreNotFollowed(suffix: String) async {
        await #expect(processExitsWith: .success) { [suffix] in
            try ConfinementTests.withDatabase { folder, database in
                let other = folder.appending("other.sqlite")
                _ = try DurableFileSystem().clone(from: database, to: other)
                let name = suffix.isEmpty ? folder.appending("link.sqlite") : database
                try FileManager.default.createSymbolicLink(
                    atPath: name.adding(suffix: suffix).description,
                    withDestinationPath: other.description)
                #expect(throws: StoreError.self) {
                    let connection = try Connection(path: name, mode: .readWrite)
                    _ = try connection.texts("SELECT count(*) FROM t")
                }
            }
        }
    }

    /// Opening a pipe would wait for a writer.
    @Test func aPipeIsRefusedAtOnce() async {
        await #expect(processExitsWith: .success) {
            try ConfinementTests.withDatabase { folder, _ in
                let pipe = folder.appending("pipe.sqlite")
                #expect(mkfifo(pipe.description, 0o600) == 0)
                for mode in [Connection.Mode.immutable, .readWrite, .create] {
                    #expect(throws: StoreError.self) {
                        let connection = try Connection(path: pipe, mode: mode)
                        _ = try connection.texts("SELECT 1 FROM sqlite_master")
                    }
                }
            }
        }
    }

    /// A confined process with a database of one table and one row.
    static func withDatabase(_ body: (FilePath, FilePath) throws -> Void) throws {
        try withTemporaryFolder { url in
            let files = DurableFileSystem(links: .followed)
            let folder = try files.resolve(try #require(FilePath(url)))
            let database = folder.appending("own.sqlite")
            SQLiteConfinement.begin()
            let made = try Connection(path: database, mode: .create)
            try made.create(SchemaDefinition(.table, "t", sql: "CREATE TABLE t (x)"))
            try made.execute("INSERT INTO t VALUES (1)")
            try made.close()
            try body(folder, database)
        }
    }

    /// A journal with one page, which ends with the name of a super-journal (file format §3).
    static func writeJournal(of database: FilePath, superJournal: FilePath) throws {
        let files = DurableFileSystem()
        let bytes = try files.contents(of: database, limit: 1 << 24)
        let pageSize = 4096
        func word(_ value: UInt32) -> [UInt8] {
            [
                UInt8(value >> 24), UInt8(value >> 16 & 255), UInt8(value >> 8 & 255),
                UInt8(value & 255),
            ]
        }
        let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
        var journal = magic + word(1) + word(0) + word(UInt32(bytes.count / pageSize))
        journal += word(512) + word(UInt32(pageSize))
        journal += [UInt8](repeating: 0, count: 512 - journal.count)
        let page = Array(bytes[..<pageSize])
        // Every 200th byte from the end, as SQLite sums a page.
        let sum = stride(from: pageSize - 200, to: 0, by: -200).reduce(UInt32(0)) {
            $0 &+ UInt32(page[$1])
        }
        journal += word(1) + page + word(sum)
        let name = superJournal.bytes
        let lockPage = UInt32(0x4000_0000 / pageSize + 1)
        journal += word(lockPage) + name + word(UInt32(name.count))
        journal += word(
            name.reduce(UInt32(0)) { $0 &+ UInt32(bitPattern: Int32(Int8(bitPattern: $1))) })
        try files.publish(journal + magic, to: database.adding(suffix: "-journal"))
    }
}
