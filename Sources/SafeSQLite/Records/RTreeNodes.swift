import GRDBSQLite

/// The nodes of an R-tree, as SQLite's module keeps them in a table (rtree.c, "Database Format of
/// R-Tree Tables").
///
/// The module follows whatever its nodes say, and one that refers to the same nodes again and again
/// would be read without an end. No limit of SQLite reaches into it.
package enum RTreeNodes {
    /// The most levels that the module takes (RTREE_MAX_DEPTH).
    static let mostLevels = 40

    /// Checks that every node of a tree has one parent.
    ///
    /// - Parameters:
    ///   - tree: the virtual table.
    ///   - connection: to the file.
    /// - Throws: `StoreError.notAStore` where a node is referred to twice.
    /// - Complexity: reads the tree's inner nodes.
    package static func check(
        _ tree: String, _ connection: Connection
    ) throws(StoreError) {
        let coordinates = try coordinates(of: tree, connection)
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

    /// What is wrong with a tree, beside what `check` refuses; empty for a sound one.
    ///
    /// - Parameters:
    ///   - tree: the virtual table.
    ///   - isInteger: whether its coordinates are integers.
    ///   - connection: to the file.
    /// - Returns: the first fault, in words.
    /// - Throws: `StoreError.notAStore` as `check`.
    /// - Complexity: reads all nodes, and looks each entry up.
    package static func faults(
        in tree: String, isInteger: Bool, _ connection: Connection
    ) throws(StoreError) -> [String] {
        try check(tree, connection)
        var faults = try RTreeFaults(
            tree, connection, coordinates: coordinates(of: tree, connection),
            isInteger: isInteger)
        return try faults.first().map { [$0] } ?? []
    }

    /// The columns of a tree that are coordinates.
    ///
    /// The module declares its key and them with a type, and auxiliary columns without one. The
    /// statement that made the tree is not read: SQLite alone knows what of it is a name.
    private static func coordinates(
        of tree: String, _ connection: Connection
    ) throws(StoreError) -> Int {
        let columns = try connection.prepare(
            "SELECT count(*) FROM pragma_table_xinfo(?1) WHERE type <> ''")
        try columns.bind(tree, at: 1)
        return try columns.step() ? max(0, Int(columns.integer(0)) - 1) : 0
    }
}
