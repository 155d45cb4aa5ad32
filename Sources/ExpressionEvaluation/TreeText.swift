package import MappingExpressions

/// Reads the text in which a query gives an object with all that its tree asks for.
///
/// SQL has no nested values, so that the query joins them to a text without separators to escape:
///
/// - A cell is a letter with what follows up to a blank: `n` for NULL, `i` and `r` with a number,
///   `t` and `b` with the bytes of a text or a blob as hexadecimal digits.
/// - The text begins with the object: its key as a cell, then the fields of its tree.
/// - Then come the branches of the tree, each before its own branches. A branch has the objects
///   that the whole path from `$source` leads to, in any order, and ends with a semicolon. An
///   object has the key of the one that leads to it, its place in an ordered relationship, its own
///   key and its fields.
///
/// A query for each branch keeps SQL flat, because SQLite's parser has a bound on what is nested,
/// and its rows are links: their number does not grow with the paths that lead to an object.
package struct TreeText {
    /// The objects of one branch.
    private final class Rows {
        struct Row {
            let place: Int64
            let key: Int64
            let values: [StoredCell?]
        }

        /// An object and one that leads to it.
        struct Link: Hashable {
            let owner: Int64
            let target: Int64
        }

        /// By the keys of the objects that lead to them.
        var rows: [Int64: [Row]] = [:]
        /// Of the tree behind the branch.
        var branches: [Rows] = []
        /// Those that were made, by their keys: many paths may lead to one.
        var objects: [Int64: TreeObject] = [:]
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
    /// - Complexity: O(n log n) in the bytes, which have each link that leads to an object.
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
            let objects = rows.map { row -> ExpressionValue<TreeObject> in
                if let known = found.objects[row.key] { return .object(known) }
                let made = object(row.key, row.values, branch.tree, found.branches)
                found.objects[row.key] = made
                return .object(made)
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
            let rows = Rows()
            var known: Set<Rows.Link> = []
            while bytes[place...].first != Self.end {
                let owner = try key()
                let order = branch.isOrdered ? try cell() : nil
                let own = try key()
                let values = try cells(branch.tree)
                guard known.insert(Rows.Link(owner: owner, target: own)).inserted else { continue }
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
        switch letter {
        case UInt8(ascii: "n"): return nil
        case UInt8(ascii: "i"):
            guard let number = Self.integer(content) else { break }
            return .integer(number)
        case UInt8(ascii: "r"):
            guard let number = Double(String(decoding: content, as: UTF8.self)) else { break }
            return .real(number)
        case UInt8(ascii: "t"):
            guard let bytes = StoredCell.bytes(content) else { break }
            return .text(StoredText.string(bytes))
        case UInt8(ascii: "b"):
            guard let bytes = StoredCell.bytes(content) else { break }
            return .blob(bytes)
        default: break
        }
        throw Self.malformed
    }

    private static func integer(_ digits: ArraySlice<UInt8>) -> Int64? {
        var rest = digits
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative { rest = rest.dropFirst() }
        guard !rest.isEmpty else { return nil }
        // The smallest integer has no positive counterpart.
        var number: Int64 = 0
        for digit in rest {
            guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
            let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflows) = tens.subtractingReportingOverflow(
                Int64(digit - UInt8(ascii: "0")))
            guard !isTooLarge, !overflows else { return nil }
            number = sum
        }
        if isNegative { return number }
        return number == .min ? nil : -number
    }
}
