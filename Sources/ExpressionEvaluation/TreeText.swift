package import MappingExpressions

/// Reads the text in which a query gives an object with all that its tree asks for.
///
/// SQL has no nested values, so that the query joins them to a text without separators to escape:
///
/// - A cell is a letter with what follows up to a blank: `n` for NULL, `i` and `r` with a number,
///   `t` and `b` with the bytes of a text or a blob as hexadecimal digits.
/// - The text begins with the object: its key as a cell, then the fields of its tree.
/// - Then come the branches of the tree, each before its own branches. A branch has the objects
///   that the whole path from `$source` leads to, in any order, perhaps several times, and ends
///   with a semicolon. An object has the key of the one that leads to it, its place in an ordered
///   relationship, its own key and its fields.
///
/// A query for each branch keeps SQL flat: SQLite's parser has a bound on what is nested.
package struct TreeText {
    /// The objects of one branch.
    private struct Rows {
        struct Row {
            let place: Int64
            let key: Int64
            let values: [StoredCell?]
        }

        /// By the keys of the objects that lead to them.
        var rows: [Int64: [Row]] = [:]
        /// Of the tree behind the branch.
        var branches: [Rows] = []
    }

    private let bytes: [UInt8]
    private var place = 0

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The object of a text.
    ///
    /// - Parameters:
    ///   - bytes: that a query gave.
    ///   - tree: for which it was made.
    /// - Returns: the object with all values that the tree asks for.
    /// - Throws: `ExpressionError` for a text that was made for another tree.
    /// - Complexity: O(n log n) in the bytes, for each path that leads to an object.
    package static func object(
        _ bytes: [UInt8], _ tree: ObjectTree
    ) throws(ExpressionError) -> TreeObject {
        var text = TreeText(bytes)
        let key = try text.key()
        let values = try text.cells(tree)
        let branches = try text.branches(of: tree)
        guard text.place == bytes.count else { throw malformed }
        return object(key, values, tree, branches)
    }

    private static let malformed = ExpressionError(
        .evaluation, "the objects that it needs were not read as it needs them")

    // MARK: - Objects

    private static func object(
        _ key: Int64, _ cells: [StoredCell?], _ tree: ObjectTree, _ branches: [Rows]
    ) -> TreeObject {
        var values: [String: ExpressionValue<TreeObject>] = [:]
        for (field, cell) in zip(tree.fields, cells) {
            let path = field.name.split(separator: ".").map(String.init)
            let value = cell.map { ExpressionValue<TreeObject>.scalar($0.value(field.type)) }
            set(value ?? .null, path[...], of: tree.root, in: &values)
        }
        for (branch, found) in zip(tree.branches, branches) {
            let rows = (found.rows[key] ?? []).sorted { ($0.place, $0.key) < ($1.place, $1.key) }
            let objects = rows.map { row in
                ExpressionValue<TreeObject>.object(
                    object(row.key, row.values, branch.tree, found.branches))
            }
            values[branch.name] =
                branch.isToMany
                ? .collection(objects, branch.isOrdered ? .orderedSet : .set)
                : objects.first ?? .null
        }
        return TreeObject(root: tree.root, key: key, values: values)
    }

    /// Sets a value; elements of a composite attribute become values of an object in its place.
    private static func set(
        _ value: ExpressionValue<TreeObject>, _ path: ArraySlice<String>, of root: String,
        in values: inout [String: ExpressionValue<TreeObject>]
    ) {
        guard let name = path.first else { return }
        guard path.count > 1 else {
            values[name] = value
            return
        }
        var inner: [String: ExpressionValue<TreeObject>] = [:]
        if case .object(let known)? = values[name] { inner = known.values }
        set(value, path.dropFirst(), of: root, in: &inner)
        values[name] = .object(TreeObject(root: "\(root).\(name)", key: 0, values: inner))
    }

    // MARK: - Text

    private mutating func branches(of tree: ObjectTree) throws(ExpressionError) -> [Rows] {
        var found: [Rows] = []
        for branch in tree.branches {
            var rows = Rows()
            var known: Set<[Int64]> = []
            while bytes[place...].first != Self.end {
                let owner = try key()
                let order = branch.isOrdered ? try cell() : nil
                let own = try key()
                let values = try cells(branch.tree)
                guard known.insert([owner, own]).inserted else { continue }
                var position: Int64 = 0
                if case .integer(let number)? = order { position = number }
                rows.rows[owner, default: []].append(
                    Rows.Row(place: position, key: own, values: values))
            }
            place += 1
            rows.branches = try branches(of: branch.tree)
            found.append(rows)
        }
        return found
    }

    private static let end = Character(";").asciiValue

    private mutating func key() throws(ExpressionError) -> Int64 {
        guard case .integer(let key)? = try cell() else { throw Self.malformed }
        return key
    }

    private mutating func cells(_ tree: ObjectTree) throws(ExpressionError) -> [StoredCell?] {
        var cells: [StoredCell?] = []
        for _ in tree.fields { cells.append(try cell()) }
        return cells
    }

    /// The next cell; nil for NULL.
    private mutating func cell() throws(ExpressionError) -> StoredCell? {
        guard place < bytes.count, let end = bytes[place...].firstIndex(of: 32) else {
            throw Self.malformed
        }
        let (letter, content) = (bytes[place], bytes[place..<end].dropFirst())
        place = end + 1
        switch Character(UnicodeScalar(letter)) {
        case "n": return nil
        case "i":
            guard let number = Int64(String(decoding: content, as: UTF8.self)) else { break }
            return .integer(number)
        case "r":
            guard let number = Double(String(decoding: content, as: UTF8.self)) else { break }
            return .real(number)
        case "t":
            guard let bytes = Self.bytes(content) else { break }
            return .text(String(decoding: bytes, as: UTF8.self))
        case "b":
            guard let bytes = Self.bytes(content) else { break }
            return .blob(bytes)
        default: break
        }
        throw Self.malformed
    }

    private static func bytes(_ digits: ArraySlice<UInt8>) -> [UInt8]? {
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        var high: UInt8?
        for digit in digits {
            guard let value = Character(UnicodeScalar(digit)).hexDigitValue else { return nil }
            if let first = high {
                bytes.append(first << 4 | UInt8(value))
                high = nil
            } else {
                high = UInt8(value)
            }
        }
        return bytes
    }
}
