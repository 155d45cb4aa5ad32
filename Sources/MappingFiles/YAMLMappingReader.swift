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
    /// - Throws: `MappingFileError.malformed` with every mistake, and line and column of each.
    static func read(_ bytes: [UInt8]) throws(MappingFileError) -> MappingFile.Content {
        var reader = YAMLMappingReader()
        var definition: MappingDefinition?
        do throws(MappingMistake) {
            definition = try reader.definition(try YAMLDocument.root(bytes))
        } catch {
            reader.mistakes.append(error)
        }
        guard let definition, reader.mistakes.isEmpty else { throw .mistakes(reader.mistakes) }
        return MappingFile.Content(definition: definition, embedded: nil, warnings: [])
    }

    private var nodes = 0
    /// All but one that ended the reading.
    private var mistakes: [MappingMistake] = []

    /// Reads a part; a mistake in it does not end the reading of the others.
    ///
    /// - Parameters:
    ///   - mapping: the entity mapping that it belongs to.
    ///   - property: the one whose value it is; nil for the entity mapping itself.
    ///   - read: gets the part.
    /// - Returns: nil after a mistake.
    @discardableResult
    private mutating func collecting<Part>(
        in mapping: EntityMappingDefinition, at property: String? = nil,
        _ read: () throws(MappingMistake) -> Part
    ) -> Part? {
        do throws(MappingMistake) {
            return try read()
        } catch {
            note(error, in: mapping, at: property)
            return nil
        }
    }

    private mutating func note(
        _ mistake: MappingMistake, in mapping: EntityMappingDefinition, at property: String? = nil
    ) {
        let name = mapping.effectiveName
        var mistake = mistake
        mistake.entityMapping = name.isEmpty ? nil : name
        mistake.property = property
        mistakes.append(mistake)
    }

    private mutating func definition(_ root: Node) throws(MappingMistake) -> MappingDefinition {
        let fields = try YAMLFields(
            collecting: root, of: "a mapping file",
            keys: ["godwit-mapping", "unmentioned", "entities"])
        mistakes += fields.mistakes
        guard let version = fields["godwit-mapping"] else {
            throw MappingMistake(
                text: "the file has no key godwit-mapping; its first line must be "
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
            default:
                mistakes.append(word.malformed("unmentioned is neither inferred nor unset"))
            }
        }
        var mappings: [EntityMappingDefinition] = []
        for node in try fields["entities"].map({ node throws(MappingMistake) in
            try node.elements()
        }) ?? [] {
            do throws(MappingMistake) {
                mappings.append(try entityMapping(node))
            } catch {
                mistakes.append(error)
                if nodes > Self.nodeLimit { break }
            }
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
    ) throws(MappingMistake) -> EntityMappingDefinition {
        try count(node)
        let fields = try YAMLFields(
            collecting: node, of: "an entity mapping", keys: Self.entityKeys)
        var mapping = EntityMappingDefinition(
            source: nil, destination: nil, position: node.position)
        var wrong = fields.mistakes
        do throws(MappingMistake) {
            mapping.name = try fields.text("name")
            (mapping.source, mapping.destination) = try ends(fields, node)
        } catch {
            wrong.append(error)
            mapping.destination = fields.anyText(["entity", "source", "destination"])
        }
        for mistake in wrong { note(mistake, in: mapping) }
        collecting(in: mapping) { () throws(MappingMistake) in
            mapping.policy = try fields.text("policy")
        }
        collecting(in: mapping) { () throws(MappingMistake) in
            mapping.sourceHash = try fields.hash("sourceHash")
        }
        collecting(in: mapping) { () throws(MappingMistake) in
            mapping.destinationHash = try fields.hash("destinationHash")
        }
        if let word = fields["type"] {
            mapping.type = collecting(in: mapping) { () throws(MappingMistake) in
                try Self.type(word)
            }
        }
        if let filter = fields["filter"] {
            mapping.filterPosition = filter.position
            mapping.filter = collecting(in: mapping) { () throws(MappingMistake) in
                try Self.filter(filter)
            }
        }
        mapping.attributes = try properties(fields["attributes"], of: mapping, Self.value)
        mapping.relationships = try properties(fields["relationships"], of: mapping, Self.links)
        return mapping
    }

    private static func type(_ word: Node) throws(MappingMistake) -> EntityMappingType {
        let text = try word.text()
        guard let type = EntityMappingType.allCases.first(where: { "\($0)" == text }) else {
            throw word.malformed("unknown entity mapping type \(text)")
        }
        return type
    }

    private static func filter(_ node: Node) throws(MappingMistake) -> MappingPredicate {
        do throws(MappingMistake) {
            return try node.parsing { text throws(ExpressionError) in
                try ExpressionParser.predicate(text)
            }
        } catch {
            throw node.malformed("filter: \(error.text)")
        }
    }

    private func ends(
        _ fields: YAMLFields, _ node: Node
    ) throws(MappingMistake) -> (source: String?, destination: String?) {
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
        _ node: Node?, of mapping: EntityMappingDefinition,
        _ read: (Node) throws(MappingMistake) -> PropertyMappingDefinition.Value
    ) throws(MappingMistake) -> [PropertyMappingDefinition] {
        guard let node else { return [] }
        let pairs = collecting(in: mapping) { () throws(MappingMistake) in try node.pairs() } ?? []
        var found: [PropertyMappingDefinition] = []
        for (key, node) in pairs {
            try count(node)
            let name = key.scalar?.string
            let property = collecting(in: mapping, at: name) { () throws(MappingMistake) in
                PropertyMappingDefinition(
                    destination: try key.text(), value: try read(node), position: node.position)
            }
            if let property { found.append(property) }
        }
        return found.sorted { $0.destination < $1.destination }
    }

    private static func value(
        _ node: Node
    ) throws(MappingMistake) -> PropertyMappingDefinition.Value {
        guard let pairs = node.mapping else { return try scalar(node) }
        let keys = ["constant", "value", "default", "table", "otherwise"] + YAMLConversion.keys
        if !pairs.keys.contains(where: { keys.contains($0.scalar?.string ?? "") }) {
            try node.refuseSigns()
        }
        let fields = try YAMLFields(node, of: "a value", keys: keys)
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
    ) throws(MappingMistake) -> PropertyMappingDefinition.Value {
        guard node.mapping != nil else {
            let value = try scalar(node)
            guard case .expression(let expression) = value,
                let last = expression.sourceKeys?.last
            else { return value }
            return .expression(ManagerCall.relationship(last, expression).expression)
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
    ) throws(MappingMistake) -> PropertyMappingDefinition.Value {
        try node.refuseSigns()
        switch try node.text() {
        case "automatic": return .automatic
        case "unset": return .unset
        case "convert": return .converted(StatedConversion())
        case "": throw node.malformed("a value is missing: write null for no value, or unset")
        case "~": return .expression(.null)
        default: break
        }
        let expression = try self.expression(node)
        if case .keyPath(.evaluatedObject, let keys) = expression {
            let path = keys.joined(separator: ".")
            throw node.malformed(
                "\(path) names no value: write $source.\(path) for a property of the source "
                    + "object, or {constant: \(path)} for this text")
        }
        return .expression(expression)
    }

    /// The expression of a value; the error of words says how a text is written.
    private static func expression(
        _ node: Node
    ) throws(MappingMistake) -> MappingExpression {
        do throws(MappingMistake) {
            return try node.parsing { text throws(ExpressionError) in
                try ExpressionParser.expression(text)
            }
        } catch {
            let text = try node.text()
            let signs = "$()[]{}\"'@#=<>+*/&|"
            guard text.utf8.count <= 80, !text.contains(where: signs.contains) else { throw error }
            var mistake = error
            mistake.text += ". For this text, write {constant: \(YAMLLines.scalar(text))}"
            throw mistake
        }
    }

    private mutating func count(_ node: Node) throws(MappingMistake) {
        nodes += 1
        guard nodes <= Self.nodeLimit else {
            throw node.malformed("the file has more than \(Self.nodeLimit) values")
        }
    }
}
