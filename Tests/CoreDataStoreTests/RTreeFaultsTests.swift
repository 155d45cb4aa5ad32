import DurableFiles
import FaultSupport
import Foundation
import SafeSQLite
import TestSupport
import Testing

/// What an R-tree's tables may say that no query with bounds survives.
@Suite struct RTreeFaultsTests {
    /// Makes a tree of 600 entries, changes it, and looks at it.
    private func faults(
        _ change: String, module: String = "rtree", rows: Int = 600
    ) throws -> [String] {
        try withTemporaryFolder { folder in
            let path = try #require(FilePath(folder)).appending("tree.sqlite")
            let connection = try Connection(path: path, mode: .create)
            try connection.execute(
                "CREATE VIRTUAL TABLE T USING \(module) (id, a, b, +note); "
                    + "WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n "
                    + "WHERE v < \(rows)) INSERT INTO T SELECT v, v - 300, v, 'x' FROM n "
                    + "WHERE \(rows) > 0; \(change)")
            let found = try RTreeNodes.faults(
                in: "T", isInteger: module == "rtree_i32", connection)
            try connection.close()
            return found
        }
    }

    @Test(arguments: ["rtree", "rtree_i32"], [0, 1, 20, 600, 5000])
    func aTreeOfSQLiteIsSound(module: String, rows: Int) throws {
        #expect(try faults("", module: module, rows: rows).isEmpty)
        #expect(try faults("DELETE FROM T WHERE id % 3 > 0", module: module, rows: rows).isEmpty)
    }

    @Test(arguments: [
        // The box of the first inner cell.
        (
            "UPDATE T_node SET data = CAST(substr(data, 1, 12) || x'C6000000C5FFFFFF' "
                + "|| substr(data, 21) AS BLOB) WHERE nodeno = 1", "box"
        ),
        ("UPDATE T_parent SET parentnode = 77 WHERE nodeno = 2", "parent"),
        ("UPDATE T_rowid SET nodeno = nodeno + 1 WHERE rowid = 5", "_rowid"),
        ("INSERT INTO T_rowid (rowid, nodeno) VALUES (9999, 2)", "_rowid"),
        ("DELETE FROM T_rowid WHERE rowid = 5", "_rowid"),
        ("UPDATE T_rowid SET nodeno = CAST(nodeno AS TEXT) || ' ' WHERE rowid = 5", "_rowid"),
        // SQLite would go on with more cells than it can count.
        ("UPDATE T_node SET data = data || zeroblob(60000)", "length"),
        ("UPDATE T_node SET data = data || zeroblob(64) WHERE nodeno = 2", "length"),
        ("INSERT INTO T_node SELECT 9999, data FROM T_node WHERE nodeno = 2", "_node"),
        ("DELETE FROM T_node WHERE nodeno = 2", "missing"),
        (
            "UPDATE T_node SET data = CAST(substr(data, 1, 2) || x'0000' || substr(data, 5) "
                + "AS BLOB) WHERE nodeno = 1", "empty"
        ),
    ])
    func aForgedTreeIsFound(change: String, word: String) throws {
        let found = try faults(change)
        #expect(found.count == 1 && found[0].contains(word), "\(found)")
    }

    /// A depth that no tree has is refused before anything follows it.
    @Test func aDepthThatLiesIsRefused() {
        #expect(throws: StoreError.self) {
            try faults(
                "UPDATE T_node SET data = CAST(x'00FF' || substr(data, 3) AS BLOB) "
                    + "WHERE nodeno = 1")
        }
    }
}
