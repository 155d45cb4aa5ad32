import DurableFiles
import ManagedObjectModel
import SafeSQLite

/// A line as it stands, before it is held against a model.
struct ParsedLine: Sendable {
    /// A property with what the line gives it.
    struct Property: Sendable {
        let name: String
        let isList: Bool
        /// One value of a property that is no list; nil for null.
        var values: [DefaultValue?]
    }

    var entity: String?
    var attributes: [Property] = []
    var relationships: [Property] = []
}

/// Reads lines of JSON with SQLite's functions, which are several times faster than those of
/// Foundation.
final class LineParser {
    private let connection: Connection
    private let tree: Statement
    private let number: Statement
    private let check: Statement

    /// Numbers of the line that are no 64-bit integers: each is looked for in the whole line.
    private var long = 0
    private static let longLimit = 1000

    static let fields = ["entity", "attributes", "relationships"]
    private static let shape = ObjectFault.object("it is not an object of the documented form")
    private static let malformed = ObjectFault.object("it is not valid JSON")

    /// - Throws: `StoreError` with SQLite's reason.
    init() throws(StoreError) {
        connection = try Connection(path: FilePath("lines"), mode: .functions)
        tree = try connection.prepare(
            "SELECT id, parent, key, type, atom, CASE WHEN type IN ('real', 'integer') "
                + "AND typeof(atom) <> 'integer' THEN fullkey END FROM json_tree(?1)")
        number = try connection.prepare("SELECT ?1 -> ?2")
        check = try connection.prepare("SELECT json_valid(?1)")
    }

    /// Reads a line.
    ///
    /// - Throws: `ObjectFault.object` for a line that is no JSON object of the documented shape.
    func parse(_ line: [UInt8]) throws(ObjectFault) -> ParsedLine {
        guard let text = String(validating: line, as: UTF8.self) else {
            throw .object("it is not UTF-8")
        }
        guard !line.contains(0), !Self.escapesZero(line) else {
            throw .object("it has the character U+0000")
        }
        defer { tree.reset() }
        var walk = Walk()
        long = 0
        try reading(text) { () throws(StoreError) in try tree.bind(text, at: 1) }
        while try reading(text, { () throws(StoreError) in try tree.step() }) {
            try walk.visit(try node(text))
        }
        return walk.line
    }

    /// Whether a text has U+0000 as an escape: SQLite would take the text before it for the whole.
    private static func escapesZero(_ line: [UInt8]) -> Bool {
        let escape = Array("u0000".utf8)
        var place = 0
        while let found = line[place...].firstIndex(of: UInt8(ascii: "\\")) {
            if line[(found + 1)...].starts(with: escape) { return true }
            // The character behind a backslash begins no escape.
            place = min(found + 2, line.count)
        }
        return false
    }

    private func reading<Result>(
        _ line: String, _ body: () throws(StoreError) -> Result
    ) throws(ObjectFault) -> Result {
        do throws(StoreError) {
            return try body()
        } catch {
            throw isJSON(line) ? .store(error) : Self.malformed
        }
    }

    private func isJSON(_ line: String) -> Bool {
        do throws(StoreError) {
            defer { check.reset() }
            try check.bind(line, at: 1)
            return try check.step() && check.integer(0) == 1
        } catch {
            return true
        }
    }

    private func node(_ line: String) throws(ObjectFault) -> Node {
        let kind = tree.text(3) ?? ""
        var node = Node(
            id: tree.integer(0), parent: tree.isNull(1) ? nil : tree.integer(1),
            key: tree.isNull(2) || tree.storageClass(2) == 1 ? nil : tree.text(2), kind: kind)
        switch kind {
        case "true": node.value = .boolean(true)
        case "false": node.value = .boolean(false)
        case "text":
            let bytes = tree.bytes(4)
            guard let text = String(validating: bytes, as: UTF8.self) else { throw Self.shape }
            node.value = .text(text)
        case "integer" where tree.isNull(5): node.value = .integer(tree.integer(4))
        case "integer", "real": node.value = .decimal(try digits(line))
        default: break
        }
        return node
    }

    /// A number with all its digits: what SQLite makes of it may have fewer.
    private func digits(_ line: String) throws(ObjectFault) -> String {
        long += 1
        guard long <= Self.longLimit else {
            throw .object("it has more than \(Self.longLimit) numbers that are not integers")
        }
        let place = tree.text(5) ?? ""
        return try reading(line) { () throws(StoreError) in
            defer { number.reset() }
            try number.bind(line, at: 1)
            try number.bind(place, at: 2)
            return try number.step() ? number.text(0) ?? "" : ""
        }
    }

    // MARK: - Nodes

    private struct Node {
        let id: Int64
        let parent: Int64?
        /// Of a member of an object; nil for elements of lists.
        let key: String?
        let kind: String
        var value: DefaultValue?

        var isContainer: Bool { kind == "object" || kind == "array" }
    }

    /// Puts the nodes of a line, which come depth first, into their places.
    private struct Walk {
        var line = ParsedLine()
        private var root: Int64?
        private var attributes: Int64?
        private var relationships: Int64?
        /// The list whose elements come now.
        private var list: Int64?

        mutating func visit(_ node: Node) throws(ObjectFault) {
            guard let parent = node.parent else {
                guard node.kind == "object" else { throw shape }
                root = node.id
                return
            }
            switch parent {
            case root: try visitField(node)
            case attributes:
                guard let name = node.key, !node.isContainer else { throw shape }
                line.attributes.append(.init(name: name, isList: false, values: [node.value]))
            case relationships: try visitRelationship(node)
            case list:
                guard !node.isContainer, !line.relationships.isEmpty else { throw shape }
                line.relationships[line.relationships.count - 1].values.append(node.value)
            default: throw shape
            }
        }

        private mutating func visitField(_ node: Node) throws(ObjectFault) {
            switch node.key {
            case "entity":
                guard line.entity == nil, case .text(let name) = node.value else { throw shape }
                line.entity = name
            case "attributes":
                guard attributes == nil, node.kind == "object" else { throw shape }
                attributes = node.id
            case "relationships":
                guard relationships == nil, node.kind == "object" else { throw shape }
                relationships = node.id
            default:
                throw .object(
                    "a line can have only entity, attributes and relationships"
                        + ImportSchemaBuilder.hint(node.key ?? "", among: fields))
            }
        }

        private mutating func visitRelationship(_ node: Node) throws(ObjectFault) {
            guard let name = node.key, node.kind != "object" else { throw shape }
            let isList = node.kind == "array"
            if isList { list = node.id }
            line.relationships.append(
                .init(name: name, isList: isList, values: isList ? [] : [node.value]))
        }
    }
}
