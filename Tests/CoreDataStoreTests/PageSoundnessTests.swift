import DurableFiles
import Foundation
import GRDB
import SafeSQLite
import StorePages
import TestSupport
import Testing

/// The check of a file's pages against SQLite's own.
@Suite struct PageSoundnessTests {
    /// Tables and indexes of random rows, some of them deleted again, so that there are free
    /// pages, free blocks and fragments.
    private func database(
        _ url: URL, _ generator: inout SeededGenerator, vacuum: Int, pageSize: Int
    ) throws {
        let queue = try DatabaseQueue(path: url.path)
        try queue.writeWithoutTransaction { database in
            try database.execute(
                sql: "PRAGMA page_size = \(pageSize); PRAGMA auto_vacuum = \(vacuum); VACUUM; "
                    + "CREATE TABLE a (k INTEGER PRIMARY KEY, t VARCHAR, b BLOB, n); "
                    + "CREATE INDEX a_t ON a (t, n); CREATE TABLE b (x, y, PRIMARY KEY (x, y)); "
                    + "CREATE TABLE gone (x); CREATE INDEX b_y ON b (y COLLATE BINARY)")
        }
        try queue.write { database in
            let rows = Int.random(in: 0...600, using: &generator)
            for row in 0..<rows {
                let spread = Int.random(in: 1...3, using: &generator)
                let key = Int64(row) * Int64(spread) - 40
                let text = String(
                    repeating: "x\(row % 37)", count: Int.random(in: 0...30, using: &generator))
                let isLarge = Int.random(in: 0..<20, using: &generator) == 0
                let blob = Data(
                    repeating: 7,
                    count: Int.random(in: 0...(isLarge ? 9000 : 40), using: &generator))
                try database.execute(
                    sql: "INSERT OR REPLACE INTO a VALUES (?, ?, ?, ?)",
                    arguments: [key, text, blob, Double(row) / 3])
                try database.execute(
                    sql: "INSERT OR IGNORE INTO b VALUES (?, ?)",
                    arguments: [row % 11, Int64.random(in: 0...500, using: &generator)])
                try database.execute(sql: "INSERT INTO gone VALUES (zeroblob(300))")
            }
        }
        try queue.write { database in
            let rest = Int.random(in: 2...9, using: &generator)
            try database.execute(sql: "DELETE FROM a WHERE k % \(rest) = 0")
            try database.execute(sql: "UPDATE a SET t = t || 'longer' WHERE k % 5 = 1")
            try database.execute(sql: "DELETE FROM b WHERE y % \(rest) = 1")
            if rest % 2 == 0 { try database.execute(sql: "DELETE FROM gone") }
            if rest % 3 == 0 { try database.execute(sql: "DROP TABLE gone") }
        }
        if vacuum == 2 {
            try queue.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA incremental_vacuum(3)")
            }
        }
        try queue.close()
    }

    private func walk(_ path: FilePath, _ trees: [PageWalk.Tree]) -> Bool {
        soundness { () throws(StoreError) in
            try PageWalk(path, DurableFileSystem()).isSound(trees)
        }
    }

    /// Pages that cannot be read are not sound.
    private func soundness(_ body: () throws(StoreError) -> Bool) -> Bool {
        do throws(StoreError) { return try body() } catch { return false }
    }

    private func trees(_ path: FilePath) throws -> [PageWalk.Tree] {
        let connection = try Connection(path: path, mode: .immutable)
        defer { withExtendedLifetime(connection) {} }
        return PageWalk.trees(
            try StoreSchema.read(connection), try PageWalk.SchemaFacts(connection))
    }

    /// What this check says of a file, and what SQLite finds wrong with its pages; nil where
    /// SQLite cannot read its schema.
    private func verdicts(_ path: FilePath) -> (isSound: Bool, findings: [String])? {
        do {
            let connection = try Connection(path: path, mode: .immutable)
            let schema = try StoreSchema.read(connection)
            let facts = try PageWalk.SchemaFacts(connection)
            let isSound = soundness {
                () throws(StoreError) in
                try PageWalk(path, DurableFileSystem()).isSound(schema, facts)
            }
            do {
                // Newer versions of SQLite look at types of values, too.
                return (
                    isSound,
                    try connection.checkPages().filter {
                        $0 != "ok" && !$0.contains(" value in ")
                    }
                )
            } catch {
                return (isSound, ["\(error)"])
            }
        } catch {
            return nil
        }
    }

    /// What SQLite writes needs no second check.
    @Test(arguments: UInt64(1)...24)
    func whatSQLiteWritesIsSound(seed: UInt64) throws {
        try withTemporaryFolder { folder in
            var generator = SeededGenerator(seed: seed)
            let url = folder.appendingPathComponent("a.sqlite")
            try database(
                url, &generator, vacuum: Int(seed % 3),
                pageSize: [512, 1024, 4096][Int(seed / 3 % 3)])
            let path = FilePath(url.path)
            #expect(walk(path, try trees(path)), "seed \(seed)")
        }
    }

    /// Whatever is damaged: a file is sound only if SQLite finds nothing either.
    @Test(arguments: UInt64(1)...24)
    func whatIsSoundPassesTheCheckOfSQLite(seed: UInt64) throws {
        try withTemporaryFolder { folder in
            var generator = SeededGenerator(seed: 1000 + seed)
            let url = folder.appendingPathComponent("a.sqlite")
            let pageSize = [512, 1024, 4096][Int(seed / 3 % 3)]
            try database(url, &generator, vacuum: Int(seed % 3), pageSize: pageSize)
            let whole = try [UInt8](Data(contentsOf: url))
            let copy = folder.appendingPathComponent("damaged")
            let path = FilePath(copy.path)
            var (sound, fine) = (0, 0)
            for round in 0..<250 {
                var bytes = whole
                for _ in 0..<(round % 3 == 0 ? 2 : 1) {
                    let place = Self.place(in: bytes.count, pageSize, &generator)
                    bytes[place] =
                        [
                            0, 1, 0xFF, bytes[place] &+ 1, bytes[place] &- 1,
                            UInt8.random(in: 0...255, using: &generator),
                        ][Int.random(in: 0...5, using: &generator)]
                }
                try Data(bytes).write(to: copy)
                guard let (isSound, findings) = verdicts(path) else { continue }
                sound += isSound ? 1 : 0
                fine += findings.isEmpty ? 1 : 0
                #expect(
                    !isSound || findings.isEmpty, "seed \(seed), round \(round): \(findings)")
            }
            #expect(fine > 20 && sound * 10 >= fine * 8, "\(sound) of \(fine)")
        }
    }

    /// Any place, more often one that says how a page is built.
    private static func place(
        in count: Int, _ pageSize: Int, _ generator: inout SeededGenerator
    ) -> Int {
        let page = Int.random(in: 0..<(count / pageSize), using: &generator) * pageSize
        let start = page == 0 ? 100 : page
        switch Int.random(in: 0...3, using: &generator) {
        case 0: return start + Int.random(in: 0..<12, using: &generator)
        case 1: return start + Int.random(in: 8..<60, using: &generator)
        case 2: return Int.random(in: 24..<100, using: &generator)
        default: return page + Int.random(in: 100..<pageSize, using: &generator)
        }
    }

    /// A page with two places, and one without any.
    @Test func eachPageHasOnePlace() throws {
        try withTemporaryFolder { folder in
            var generator = SeededGenerator(seed: 77)
            let url = folder.appendingPathComponent("a.sqlite")
            try database(url, &generator, vacuum: 0, pageSize: 1024)
            let path = FilePath(url.path)
            var trees = try trees(path)
            #expect(walk(path, trees))
            trees.append(trees[1])
            #expect(!walk(path, trees))
            trees.removeLast(2)
            #expect(!walk(path, trees))
        }
    }

    /// What passes for sound pages at first sight, and SQLite does not read.
    enum Forgery: String, CaseIterable {
        case lengthOfNineBytes, emptyLeaf, innerWithoutCells, tableIsIndex, noRootPage, lostIndex

        /// Forges a file of two tables, the second of several levels.
        func apply(to url: URL) throws {
            let queue = try DatabaseQueue(path: url.path)
            try queue.writeWithoutTransaction { database in
                try database.execute(
                    sql: "PRAGMA page_size = 512; CREATE TABLE one (a BLOB); "
                        + "CREATE TABLE many (k INTEGER PRIMARY KEY, a); "
                        + "CREATE TABLE pair (x, y, PRIMARY KEY (x, y)); "
                        + "CREATE INDEX i ON one (a); INSERT INTO one VALUES (zeroblob(170)); "
                        + "WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n "
                        + "WHERE v < 400) INSERT INTO many SELECT v * 10, v FROM n")
                if let change {
                    try database.execute(
                        sql: "PRAGMA writable_schema = ON; \(change); PRAGMA writable_schema = OFF")
                }
            }
            try queue.close()
            guard change == nil else { return }
            var bytes = try [UInt8](Data(contentsOf: url))
            forge(&bytes)
            try Data(bytes).write(to: url)
        }

        private var change: String? {
            switch self {
            case .lengthOfNineBytes, .emptyLeaf, .innerWithoutCells: nil
            case .tableIsIndex:
                "UPDATE sqlite_master SET rootpage = (SELECT sum(rootpage) FROM sqlite_master "
                    + "WHERE name IN ('pair', 'sqlite_autoindex_pair_1')) - rootpage "
                    + "WHERE name IN ('pair', 'sqlite_autoindex_pair_1')"
            case .noRootPage: "UPDATE sqlite_master SET rootpage = 0 WHERE name = 'i'"
            case .lostIndex: "DELETE FROM sqlite_master WHERE name = 'sqlite_autoindex_pair_1'"
            }
        }

        private func forge(_ bytes: inout [UInt8]) {
            func short(_ place: Int) -> Int { Int(bytes[place]) << 8 | Int(bytes[place + 1]) }
            func put(_ value: Int, at place: Int) {
                bytes[place] = UInt8(value >> 8)
                bytes[place + 1] = UInt8(value & 0xFF)
            }
            switch self {
            case .lengthOfNineBytes:
                // The page of `one` with its only cell: 173 bytes, or 45 to SQLite.
                let page = 512
                let cell = short(page + 8)
                bytes.replaceSubrange(
                    (page + cell - 7)..<(page + cell + 2),
                    with: [UInt8](repeating: 0x80, count: 8) + [173])
                put(cell - 7, at: page + 8)
                put(cell - 7, at: page + 5)
            case .emptyLeaf:
                // A leaf in the middle of `many`.
                let pages = stride(from: 512, to: bytes.count, by: 512).filter {
                    bytes[$0] == 13 && short($0 + 3) > 20
                }
                let page = pages[pages.count / 2]
                put(0, at: page + 3)
                put(512, at: page + 5)
                bytes[page + 7] = 0
            case .innerWithoutCells:
                let root = stride(from: 512, to: bytes.count, by: 512).first { bytes[$0] == 5 }
                guard let root else { return }
                put(0, at: root + 3)
                put(512, at: root + 5)
                bytes[root + 7] = 0
            case .tableIsIndex, .noRootPage, .lostIndex: return
            }
        }
    }

    @Test(arguments: Forgery.allCases)
    func forgedPagesAreLeftToSQLite(forgery: Forgery) throws {
        try withTemporaryFolder { folder in
            let url = folder.appendingPathComponent("a.sqlite")
            try forgery.apply(to: url)
            let (isSound, findings) = try #require(verdicts(FilePath(url.path)))
            #expect(!isSound)
            #expect(!findings.isEmpty, "SQLite finds nothing")
        }
    }

    @Test func pagesThatAllLeadToOnePageAreUnsound() throws {
        try withTemporaryFolder { folder in
            let url = folder.appendingPathComponent("a.sqlite")
            var generator = SeededGenerator(seed: 5)
            try database(url, &generator, vacuum: 0, pageSize: 4096)
            let path = FilePath(url.path)
            let trees = try trees(path)
            var bytes = try [UInt8](Data(contentsOf: url))
            // Every page is an inner page of a table whose cells have one place.
            for page in stride(from: 4096, to: bytes.count, by: 4096) {
                let cells = (4096 - 12) / 2 - 8
                bytes.replaceSubrange(
                    page..<(page + 12),
                    with: [
                        5, 0, 0, UInt8(cells >> 8), UInt8(cells & 0xFF), 0x0F, 0xF0, 0, 0, 0, 0, 2,
                    ])
                for cell in 0..<cells {
                    bytes[page + 12 + 2 * cell] = 0x0F
                    bytes[page + 13 + 2 * cell] = 0xF4
                }
            }
            try Data(bytes).write(to: url)
            let walk = try PageWalk(path, DurableFileSystem())
            #expect(try !walk.isSound(trees))
        }
    }
}
