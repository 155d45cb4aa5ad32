import DurableFiles
import Foundation
import GRDB
import SafeSQLite
import StorePages
import TestSupport
import Testing

/// Records against the columns of their tables and indexes.
@Suite struct PageWalkTests {
    /// Statements of the kinds of tables and indexes that SQLite has, with rows.
    private static let setup = """
        CREATE TABLE plain (a, b TEXT, c REAL);
        INSERT INTO plain VALUES (1, 'x', 5), (NULL, zeroblob(70000), 1e300), (-3000000000, '', 0);
        CREATE TABLE keyed (id INTEGER PRIMARY KEY AUTOINCREMENT, a UNIQUE, b);
        INSERT INTO keyed (a, b) VALUES ('p', 1), ('q', 2);
        CREATE INDEX keyed_all ON keyed (b, id, a DESC) WHERE b > 0;
        CREATE INDEX keyed_text ON keyed (a || 'x', b COLLATE NOCASE);
        CREATE TABLE first (z INTEGER PRIMARY KEY, a); INSERT INTO first (a) VALUES (1), (2);
        CREATE TABLE late (a, b AS (a * 2), c AS (a || 'y') STORED, k INTEGER PRIMARY KEY);
        INSERT INTO late (a) VALUES (1), (2);
        CREATE TABLE bare (a TEXT, b, c, PRIMARY KEY (b, a)) WITHOUT ROWID;
        INSERT INTO bare VALUES ('a', 1, 2), ('b', 2, zeroblob(9000));
        CREATE INDEX bare_c ON bare (c, b);
        CREATE TABLE redundant (a, b, c, PRIMARY KEY (a, b, a)) WITHOUT ROWID;
        INSERT INTO redundant VALUES (1, 2, 3);
        CREATE INDEX redundant_all ON redundant (a, c, a);
        CREATE TABLE collated (a, b, PRIMARY KEY (a, a COLLATE NOCASE)) WITHOUT ROWID;
        INSERT INTO collated VALUES ('a', 1), ('b', 2);
        CREATE TABLE made (a, b AS (a * 2), c AS (a || 'y') STORED, d);
        INSERT INTO made (a, d) VALUES (1, 2), (3, 4);
        CREATE INDEX made_b ON made (b, c);
        CREATE TABLE grown (a); INSERT INTO grown VALUES (1), (2);
        ALTER TABLE grown ADD COLUMN b DEFAULT 'later'; INSERT INTO grown VALUES (3, 4);
        CREATE TABLE shrunk (a, b, c); INSERT INTO shrunk VALUES (1, 2, 3);
        CREATE INDEX shrunk_c ON shrunk (c); ALTER TABLE shrunk DROP COLUMN b;
        CREATE TABLE shortened (a, b, c, PRIMARY KEY (c)) WITHOUT ROWID;
        INSERT INTO shortened VALUES (1, 2, 3); ALTER TABLE shortened ADD COLUMN d;
        WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 3000)
        INSERT INTO plain SELECT v, 'row ' || v, v / 3.0 FROM n;
        CREATE INDEX plain_ab ON plain (a, b);
        CREATE VIEW seen AS SELECT * FROM plain;
        DELETE FROM plain WHERE a % 3 = 0;
        ANALYZE;
        """

    private static let wide =
        "CREATE TABLE wide (\((0..<2000).map { "c\($0)" }.joined(separator: ", "))); "
        + "INSERT INTO wide (\((0..<2000).map { "c\($0)" }.joined(separator: ", "))) VALUES ("
        + "\((0..<2000).map { $0 % 7 == 0 ? "'text \($0)'" : "\($0)" }.joined(separator: ", ")))"

    private func database(
        _ folder: URL, pageSize: Int, encoding: String = "UTF-8", vacuum: Int = 0
    ) throws -> URL {
        let url = folder.appendingPathComponent("\(pageSize)-\(encoding)-\(vacuum).sqlite")
        let queue = try DatabaseQueue(path: url.path)
        try queue.writeWithoutTransaction { database in
            try database.execute(
                sql: "PRAGMA page_size = \(pageSize); PRAGMA encoding = '\(encoding)'; "
                    + "PRAGMA auto_vacuum = \(vacuum); VACUUM")
            try database.execute(sql: Self.setup)
            try database.execute(sql: Self.wide)
        }
        try queue.close()
        return url
    }

    private func faults(_ url: URL) throws -> [String] {
        let path = FilePath(url.path)
        let connection = try Connection(path: path, mode: .immutable)
        defer { withExtendedLifetime(connection) {} }
        let trees = PageWalk.trees(
            try StoreSchema.read(connection), try PageWalk.SchemaFacts(connection))
        #expect(trees.count >= 20)
        return try PageWalk(path, DurableFileSystem()).faults(in: trees).map(\.tree.name)
    }

    @Test(arguments: [512, 1024, 4096, 65536], ["UTF-8", "UTF-16le"])
    func whatSQLiteWritesIsSound(pageSize: Int, encoding: String) throws {
        try withTemporaryFolder { folder in
            for vacuum in [0, 2] {
                let url = try database(
                    folder, pageSize: pageSize, encoding: encoding, vacuum: vacuum)
                #expect(try faults(url) == [])
            }
        }
    }

    /// Each change writes records by another statement than the one that is there afterwards.
    @Test(arguments: [
        ("plain", "c REAL)", "c REAL, d)", "UPDATE plain SET d = 1 WHERE a = 7", "plain"),
        ("plain_ab", "(a, b)", "(a, b, c)", "REINDEX plain_ab", "plain_ab"),
        ("plain_ab", "(a, b)", "(a)", "REINDEX plain_ab", "plain_ab"),
        ("bare", "c, PRIMARY", "c, d, PRIMARY", "UPDATE bare SET d = 1", "bare"),
        (
            "keyed_all", "(b, id, a DESC)", "(b, id, a DESC, b COLLATE NOCASE)",
            "REINDEX keyed_all",
            "keyed_all"
        ),
        // SQLite reads the rowid in place of the field.
        ("first", "z INTEGER PRIMARY KEY", "z INT", "UPDATE first SET z = 7", "first"),
        (
            "late", "k INTEGER PRIMARY KEY)", "k INT)", "UPDATE late SET k = zeroblob(90)", "late"
        ),
    ])
    func fieldsBehindTheColumnsAreFound(
        name: String, from: String, to: String, write: String, found: String
    ) throws {
        try withTemporaryFolder { folder in
            let url = try database(folder, pageSize: 1024)
            let queue = try DatabaseQueue(path: url.path)
            try queue.writeWithoutTransaction { database in
                for (from, to, write) in [(from, to, write), (to, from, "SELECT 1")] {
                    try database.execute(
                        sql: "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = "
                            + "replace(sql, '\(from)', '\(to)') WHERE name = '\(name)'; "
                            + "PRAGMA writable_schema = RESET; \(write)")
                }
            }
            try queue.close()
            #expect(try faults(url) == [found])
        }
    }

    /// SQLite checks pages before; whatever they hold, the walk ends.
    @Test func damagedPagesEndTheWalk() throws {
        try withTemporaryFolder { folder in
            let url = try database(folder, pageSize: 512)
            let whole = try Data(contentsOf: url)
            let connection = try Connection(path: FilePath(url.path), mode: .immutable)
            let trees = PageWalk.trees(
                try StoreSchema.read(connection), try PageWalk.SchemaFacts(connection))
            var generator = SeededGenerator(seed: 20)
            var found = 0
            for round in 0..<400 {
                var bytes = whole
                for _ in 0..<(round % 9 + 1) {
                    let place = Int.random(in: 100..<bytes.count, using: &generator)
                    bytes[place] =
                        [0, 0xFF, 0x80, UInt8.random(in: 0...255, using: &generator)][
                            Int.random(in: 0...3, using: &generator)]
                }
                if round % 5 == 0 { bytes = bytes.prefix(bytes.count / 2 + 17) }
                let copy = folder.appendingPathComponent("damaged")
                try bytes.write(to: copy)
                let lost =
                    trees + [
                        PageWalk.Tree(name: "zero", rootPage: 0, fields: 1, isIndex: false),
                        PageWalk.Tree(name: "far", rootPage: 1 << 40, fields: 1, isIndex: true),
                    ]
                let faults = try PageWalk(FilePath(copy.path), DurableFileSystem())
                    .faults(in: lost)
                #expect(faults.count >= 2)
                if faults.count > 2 { found += 1 }
            }
            #expect(found > 100)
        }
    }

    /// SQLite takes 32 bits of a payload's length and reads no field behind the columns, so its
    /// check of the pages says nothing of these numbers.
    @Test(
        arguments: [
            [0xC0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x3C], [0x3C],
            [0x8F, 0xFF, 0xFF, 0xFF, 0x7F],
        ] as [[UInt8]])
    func numbersThatSQLiteDoesNotReadAreBounded(payload: [UInt8]) throws {
        try withTemporaryFolder { folder in
            let url = folder.appendingPathComponent("crafted.sqlite")
            let queue = try DatabaseQueue(path: url.path)
            try queue.writeWithoutTransaction { database in
                try database.execute(
                    sql: "PRAGMA page_size = 4096; CREATE TABLE t (a); INSERT INTO t VALUES (7)")
            }
            try queue.close()
            var bytes = try Data(contentsOf: url)
            let root = 4096
            // Half of what an integer holds, three times.
            let half: [UInt8] = [0xBF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE]
            let header = [UInt8(2 + 3 * half.count), 1] + half + half + half
            let cell = payload + [1] + header + [7]
            bytes.replaceSubrange((root + 2000)..<(root + 2000 + cell.count), with: cell)
            bytes.replaceSubrange((root + 8)..<(root + 10), with: [0x07, 0xD0])
            try bytes.write(to: url)
            for fields in [1, 40] {
                let wide = PageWalk.Tree(name: "t", rootPage: 2, fields: fields, isIndex: false)
                let walk = try PageWalk(FilePath(url.path), DurableFileSystem())
                #expect(try walk.faults(in: [wide]).map(\.records) == [1])
            }
        }
    }
}
