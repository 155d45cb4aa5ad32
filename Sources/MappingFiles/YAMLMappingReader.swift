import MappingExpressions
import MappingModel
import Yams

/// Reads mapping files in YAML, as `docs/reference/mapping.schema.json` describes them.
struct YAMLMappingReader {
    /// The version of the form.
    static let version = 1
    /// The most values of a file; aliases count each time.
    private static let nodeLimit = 200_000

    /// Reads the bytes of a YAML file.
    ///
    /// - Throws: `MappingFileError.malformed` with line and column for anything that the form
    ///   does not have.
    static func read(_ bytes: [UInt8]) throws(MappingFileError) -> MappingFile.Content {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .malformed("the file is not UTF-8")
        }
        if let line = anchorLine(bytes) {
            throw .malformed("line \(line): anchors (&name) are not supported")
        }
        var reader = YAMLMappingReader()
        let definition = try reader.definition(try document(text))
        return MappingFile.Content(definition: definition, embedded: nil, warnings: [])
    }

    /// The first line with an anchor; without anchors there are no aliases, by which a short file
    /// could stand for one without end.
    private static func anchorLine(_ bytes: [UInt8]) -> Int? {
        var line = 1
        // Whether a node can begin here: at the start of a line and behind a sign of structure.
        var isStart = true
        for (place, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "\n"):
                line += 1
                isStart = true
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): continue
            case UInt8(ascii: "&") where isStart:
                let next = place + 1 < bytes.count ? bytes[place + 1] : 0
                if next > 0x20, next != UInt8(ascii: "&") { return line }
                isStart = false
            default: isStart = "-:[{,?".utf8.contains(byte)
            }
        }
        return nil
    }

    private static func document(_ text: String) throws(MappingFileError) -> Node {
        do {
            guard let node = try Yams.compose(yaml: text, .default, .default, .utf8) else {
                throw MappingFileError.malformed("the file is empty")
            }
            return node
        } catch let error as MappingFileError {
            throw error
        } catch let error as YamlError {
            throw .malformed(error.place)
        } catch {
            throw .malformed("\(error)")
        }
    }

    private var nodes = 0

    private mutating func definition(_ root: Node) throws(MappingFileError) -> MappingDefinition {
        let fields = try YAMLFields(
            root, of: "a mapping file", keys: ["godwit-mapping", "unmentioned", "entities"])
        guard let version = fields["godwit-mapping"] else {
            throw .malformed(
                "the file has no key godwit-mapping; its first line must be "
                    + "\"godwit-mapping: \(Self.version)\"")
        }
        guard version.scalar?.string == String(Self.version) else {
            throw version.malformed("only format version \(Self.version) is supported")
        }
        var infersRest = true
        if let word = fields["unmentioned"] {
            switch try word.text() {
            case "inferred": infersRest = true
            case "unset": infersRest = false
            default: throw word.malformed("unmentioned is neither inferred nor unset")
            }
        }
        var mappings: [EntityMappingDefinition] = []
        for node in try fields["entities"].map({ node throws(MappingFileError) in
            try node.elements()
        }) ?? [] {
            mappings.append(try entityMapping(node))
        }
        return MappingDefinition(entityMappings: mappings, infersRest: infersRest)
    }

    // MARK: - Entities

    private static let entityKeys = [
        "entity", "source", "destination", "add", "remove", "name", "type", "filter", "policy",
        "attributes", "relationships", "sourceHash", "destinationHash",
    ]

    private mutating func entityMapping(
        _ node: Node
    ) throws(MappingFileError) -> EntityMappingDefinition {
        try count(node)
        let fields = try YAMLFields(node, of: "an entity mapping", keys: Self.entityKeys)
        let (source, destination) = try ends(fields, node)
        var mapping = EntityMappingDefinition(
            name: try fields.text("name"), source: source, destination: destination,
            policy: try fields.text("policy"),
            sourceHash: try fields.hash("sourceHash"),
            destinationHash: try fields.hash("destinationHash"), position: node.position)
        if let word = fields["type"] {
            let text = try word.text()
            guard let type = EntityMappingType.allCases.first(where: { "\($0)" == text }) else {
                throw word.malformed("unknown entity mapping type \(text)")
            }
            mapping.type = type
        }
        if let filter = fields["filter"] {
            mapping.filter = try filter.parsing { text throws(ExpressionError) in
                try ExpressionParser.predicate(text)
            }
        }
        mapping.attributes = try properties(fields["attributes"]) { node throws(MappingFileError) in
            try Self.value(node)
        }
        mapping.relationships = try properties(fields["relationships"]) {
            node throws(MappingFileError) in
            try Self.links(node)
        }
        return mapping
    }

    private func ends(
        _ fields: YAMLFields, _ node: Node
    ) throws(MappingFileError) -> (source: String?, destination: String?) {
        let given = ["entity", "source", "destination", "add", "remove"].filter {
            fields[$0] != nil
        }
        switch given {
        case ["entity"]:
            let name = try fields.text("entity")
            return (name, name)
        case ["source", "destination"]:
            return (try fields.text("source"), try fields.text("destination"))
        case ["add"]: return (nil, try fields.text("add"))
        case ["remove"]: return (try fields.text("remove"), nil)
        case ["source"]:
            throw node.malformed(
                "an entity mapping has a source and no destination: to drop its objects, write "
                    + "remove instead of source")
        case ["destination"]:
            throw node.malformed(
                "an entity mapping has a destination and no source: if no object comes from the "
                    + "source, write add instead of destination")
        default:
            throw node.malformed(
                "an entity mapping needs entity, source and destination, add, or remove; it has "
                    + (given.isEmpty ? "none of them" : given.joined(separator: " and ")))
        }
    }

    // MARK: - Properties

    private mutating func properties(
        _ node: Node?, _ read: (Node) throws(MappingFileError) -> PropertyMappingDefinition.Value
    ) throws(MappingFileError) -> [PropertyMappingDefinition] {
        guard let node else { return [] }
        var found: [PropertyMappingDefinition] = []
        for (key, value) in try node.pairs() {
            try count(value)
            let name = try key.text()
            do throws(MappingFileError) {
                found.append(
                    PropertyMappingDefinition(
                        destination: name, value: try read(value), position: value.position))
            } catch {
                throw error
            }
        }
        return found.sorted { $0.destination < $1.destination }
    }

    private static func value(
        _ node: Node
    ) throws(MappingFileError) -> PropertyMappingDefinition.Value {
        guard node.mapping != nil else { return try scalar(node) }
        let fields = try YAMLFields(
            node, of: "a value",
            keys: ["constant", "value", "default", "table", "otherwise"] + YAMLConversion.keys)
        if fields["convert"] != nil { return .converted(try YAMLConversion.read(fields, node)) }
        if let constant = fields["constant"] {
            guard fields.count == 1 else {
                throw node.malformed("constant cannot be combined with other keys")
            }
            return .expression(try constant.constant())
        }
        guard let value = fields["value"] else {
            throw node.malformed(
                "a value needs an expression, or the key constant, value or convert")
        }
        guard case .expression(let expression) = try scalar(value) else {
            throw value.malformed("an expression belongs here")
        }
        try YAMLConversion.refuseAlone(fields, node)
        let failing = try YAMLConversion.failing(fields)
        let hasTable = fields.count > (fields["failing"] == nil ? 1 : 2)
        let table =
            hasTable
            ? try YAMLValueTable(fields, node).expression(over: expression) : expression
        guard hasTable || failing != .refuse || fields["failing"] != nil else {
            throw node.malformed(
                "value needs default, table and otherwise, or failing beside it")
        }
        return .expression(failing.guarding(table))
    }

    private static func links(
        _ node: Node
    ) throws(MappingFileError) -> PropertyMappingDefinition.Value {
        guard node.mapping != nil else {
            let value = try scalar(node)
            guard case .expression(let expression) = value,
                let keys = expression.sourceKeys
            else { return value }
            guard keys.count == 1 else {
                throw node.malformed(
                    "a path of several keys needs the entity mapping that made the objects: "
                        + "{source: \(expression.text), mapping: NAME}")
            }
            return .expression(ManagerCall.relationship(keys[0], expression).expression)
        }
        let fields = try YAMLFields(node, of: "a relationship", keys: ["source", "mapping"])
        guard let source = fields["source"], let mapping = try fields.text("mapping") else {
            throw node.malformed("a relationship needs an expression, or source and mapping")
        }
        let instances = try source.parsing { text throws(ExpressionError) in
            try ExpressionParser.expression(text)
        }
        return .expression(ManagerCall.entityMapping(mapping, instances).expression)
    }

    /// What a single value states.
    static func scalar(
        _ node: Node
    ) throws(MappingFileError) -> PropertyMappingDefinition.Value {
        switch try node.text() {
        case "automatic": return .automatic
        case "unset": return .unset
        case "convert": return .converted(StatedConversion())
        case "": throw node.malformed("a value is missing: write null for no value, or unset")
        case "~": return .expression(.null)
        default: break
        }
        let expression = try node.parsing { text throws(ExpressionError) in
            try ExpressionParser.expression(text)
        }
        if case .keyPath(.evaluatedObject, let keys) = expression {
            let path = keys.joined(separator: ".")
            throw node.malformed(
                "\(path) names no value: write $source.\(path) for a property of the source "
                    + "object, or {constant: \(path)} for this text")
        }
        return .expression(expression)
    }

    private mutating func count(_ node: Node) throws(MappingFileError) {
        nodes += 1
        guard nodes <= Self.nodeLimit else {
            throw node.malformed("the file has more than \(Self.nodeLimit) values")
        }
    }
}
