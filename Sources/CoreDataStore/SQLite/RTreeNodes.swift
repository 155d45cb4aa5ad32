import GRDBSQLite

/// The nodes of an R-tree, as SQLite's module keeps them in a table (rtree.c, "Database Format of
/// R-Tree Tables").
///
/// The module follows whatever its nodes say, and one that refers to the same nodes again and again
/// would be read without an end. No limit of SQLite reaches into it.
package enum RTreeNodes {
    /// The most levels that the module takes (RTREE_MAX_DEPTH).
    private static let mostLevels = 40

    /// Checks that every node of a tree has one parent.
    ///
    /// - Parameters:
    ///   - tree: the virtual table.
    ///   - coordinates: columns beside its key that are no auxiliary ones.
    ///   - connection: to the file.
    /// - Throws: `StoreError.notAStore` where a node is referred to twice.
    /// - Complexity: reads the tree's inner nodes.
    package static func check(
        _ tree: String, coordinates: Int, _ connection: Connection
    ) throws(StoreError) {
        let node = try connection.prepare(
            "SELECT data FROM main.\(.quoted(tree + "_node")) WHERE nodeno = ?1")
        let cell = 8 + 4 * coordinates
        var seen: Set<Int64> = [1]
        var level: [Int64] = [1]
        var depth: Int?
        var levels = 0
        while !level.isEmpty, levels < depth ?? 1, levels <= mostLevels {
            var next: [Int64] = []
            for number in level {
                try node.bind(number, at: 1)
                guard try node.step() else {
                    node.reset()
                    continue
                }
                let bytes = Array(node.bytes(0))
                node.reset()
                guard bytes.count >= 4 else { continue }
                if depth == nil { depth = Int(bytes[0]) << 8 | Int(bytes[1]) }
                // A tree of leaves alone.
                guard depth != 0 else { return }
                let count = min(Int(bytes[2]) << 8 | Int(bytes[3]), (bytes.count - 4) / cell)
                for place in 0..<count {
                    let start = 4 + place * cell
                    let child = bytes[start..<start + 8].reduce(Int64(0)) { $0 << 8 | Int64($1) }
                    guard seen.insert(child).inserted else {
                        throw .notAStore(
                            path: connection.path,
                            reason: "the R-tree \(tree) refers to one of its nodes twice")
                    }
                    next.append(child)
                }
            }
            level = next
            levels += 1
        }
    }
}

extension SchemaObject {
    /// The columns of an R-tree that are coordinates.
    package var coordinates: Int {
        guard let sql, let open = sql.firstIndex(of: "("), let close = sql.lastIndex(of: ")")
        else { return 0 }
        let columns = sql[sql.index(after: open)..<close].split(separator: ",")
        let plain = columns.filter { !$0.drop(while: \.isWhitespace).hasPrefix("+") }
        return max(0, plain.count - 1)
    }
}
