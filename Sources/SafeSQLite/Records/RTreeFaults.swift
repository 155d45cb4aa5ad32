/// What is wrong with an R-tree's nodes, so that its queries would miss entries.
///
/// A scan of a tree reads its leaves alone. A query with bounds goes by the boxes of inner nodes,
/// and a change by the tables that say in which node an entry lies.
struct RTreeFaults {
    private let tree: String
    private let connection: Connection
    private let coordinates: Int
    private let isInteger: Bool
    /// Lengths of nodes that the module makes.
    private let lengths: Set<Int>
    private let node: Statement
    private let parent: Statement
    private let place: Statement
    private var nodes: Int64 = 0
    private var entries: Int64 = 0
    private var fault: String?

    /// A node that is to be read: its number, its parent's, and the cell that leads to it.
    private struct Pending {
        let number: Int64
        let parent: Int64?
        let level: Int
        let box: [UInt32]
    }

    /// - Parameters:
    ///   - tree: whose nodes have one parent each.
    ///   - connection: to the file.
    ///   - coordinates: of an entry.
    ///   - isInteger: whether they are integers of 32 bits, and no floats.
    /// - Throws: `StoreError` where its tables cannot be read.
    init(
        _ tree: String, _ connection: Connection, coordinates: Int, isInteger: Bool
    ) throws(StoreError) {
        self.tree = tree
        self.connection = connection
        self.coordinates = coordinates
        self.isInteger = isInteger
        // `getNodeSize` of rtree.c: a page less 64 bytes, or 51 cells (RTREE_MAXCELLS). SQLite
        // counts the cells of a node in 8 bits, and does not end where there are more.
        let most = 4 + 51 * (8 + 4 * coordinates)
        lengths = Set((9...16).map { min((1 << $0) - 64, most) })
        node = try connection.prepare(
            "SELECT data FROM main.\(.quoted(tree + "_node")) WHERE nodeno = ?1")
        parent = try connection.prepare(
            "SELECT parentnode FROM main.\(.quoted(tree + "_parent")) WHERE nodeno = ?1 "
                + "AND typeof(parentnode) = 'integer'")
        place = try connection.prepare(
            "SELECT nodeno FROM main.\(.quoted(tree + "_rowid")) WHERE rowid = ?1 "
                + "AND typeof(nodeno) = 'integer'")
    }

    /// The first fault, in words; nil for a sound tree.
    ///
    /// - Throws: `StoreError` where its tables cannot be read.
    /// - Complexity: reads all nodes, and looks each entry up.
    mutating func first() throws(StoreError) -> String? {
        let wanted = try rows(of: "_node")
        var pending = [Pending(number: 1, parent: nil, level: 0, box: [])]
        var (depth, length) = (0, 0)
        while let next = pending.popLast(), fault == nil {
            guard let bytes = try data(of: next.number) else {
                fault = "a node is missing"
                break
            }
            if next.parent == nil {
                depth = Int(bytes[0]) << 8 | Int(bytes[1])
                length = bytes.count
            }
            guard bytes.count == length, lengths.contains(length) else {
                fault = "a node has an unexpected length"
                break
            }
            guard depth <= RTreeNodes.mostLevels, nodes < wanted else {
                fault = "its nodes refer to more nodes than exist"
                break
            }
            try visit(next, bytes, depth: depth, &pending)
        }
        if fault == nil { try count(nodes: wanted) }
        return fault.map { "R-tree \(tree): \($0)" }
    }

    private func data(of number: Int64) throws(StoreError) -> [UInt8]? {
        try node.bind(number, at: 1)
        defer { node.reset() }
        guard try node.step() else { return nil }
        let bytes = Array(node.bytes(0))
        return bytes.count >= 4 ? bytes : nil
    }

    private mutating func visit(
        _ next: Pending, _ bytes: [UInt8], depth: Int, _ pending: inout [Pending]
    ) throws(StoreError) {
        nodes += 1
        if let expected = next.parent, try number(parent, next.number) != expected {
            fault = "a node has another parent"
            return
        }
        let size = 8 + 4 * coordinates
        let count = Int(bytes[2]) << 8 | Int(bytes[3])
        guard 4 + count * size <= bytes.count else {
            fault = "a node has more entries than fit"
            return
        }
        guard count > 0 || next.level == depth else {
            fault = "an inner node is empty"
            return
        }
        for entry in 0..<count {
            let cell = bytes[(4 + entry * size)..<(4 + (entry + 1) * size)]
            let key = cell.prefix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
            let box = (0..<coordinates).map { coordinate in
                cell.dropFirst(8 + 4 * coordinate).prefix(4).reduce(UInt32(0)) {
                    $0 << 8 | UInt32($1)
                }
            }
            guard isSound(box, within: next.box) else {
                fault = "an entry lies outside of its node's box"
                return
            }
            if next.level < depth {
                pending.append(
                    Pending(number: key, parent: next.number, level: next.level + 1, box: box))
                continue
            }
            entries += 1
            if try number(place, key) != next.number {
                fault = "the table _rowid names another node for an entry"
                return
            }
        }
    }

    private func number(_ statement: Statement, _ key: Int64) throws(StoreError) -> Int64? {
        try statement.bind(key, at: 1)
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) : nil
    }

    /// Whether each range of a box is one, and lies within the outer box's; an empty outer box
    /// bounds nothing.
    private func isSound(_ box: [UInt32], within outer: [UInt32]) -> Bool {
        for low in stride(from: 0, to: box.count - 1, by: 2) {
            guard isOrdered(box[low], box[low + 1]) else { return false }
            guard !outer.isEmpty else { continue }
            guard isOrdered(outer[low], box[low]), isOrdered(box[low + 1], outer[low + 1]) else {
                return false
            }
        }
        return true
    }

    private func isOrdered(_ left: UInt32, _ right: UInt32) -> Bool {
        isInteger
            ? Int32(bitPattern: left) <= Int32(bitPattern: right)
            : Float(bitPattern: left) <= Float(bitPattern: right)
    }

    /// Holds the numbers of rows of the tree's tables against what was met.
    private mutating func count(nodes present: Int64) throws(StoreError) {
        let found = [
            ("_node", present, nodes), ("_parent", try rows(of: "_parent"), nodes - 1),
            ("_rowid", try rows(of: "_rowid"), entries),
        ]
        for (suffix, rows, wanted) in found where rows != wanted {
            fault = fault ?? "its table \(suffix) has \(rows) rows instead of \(wanted)"
        }
    }

    private func rows(of suffix: String) throws(StoreError) -> Int64 {
        try connection.integer("SELECT count(*) FROM main.\(.quoted(tree + suffix))") ?? 0
    }
}
