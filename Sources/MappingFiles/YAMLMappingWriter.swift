import Foundation
package import ManagedObjectModel
import MappingExpressions
import MappingInference
package import MappingModel

/// Writes mapping files in YAML.
///
/// The text is made here and not by a general writer, because comments belong into it.
package enum YAMLMappingWriter {
    /// The text of a mapping.
    ///
    /// - Parameters:
    ///   - definition: of any file.
    ///   - comments: lines for its head.
    /// - Returns: a text from which the same mapping is read.
    /// - Complexity: O(property mappings).
    package static func text(_ definition: MappingDefinition, comments: [String] = []) -> String {
        var lines = YAMLLines(comments: comments)
        if !definition.infersRest { lines.add("unmentioned: unset") }
        guard !definition.entityMappings.isEmpty else { return lines.text }
        lines.add("entities:")
        for mapping in definition.entityMappings { lines.add(mapping) }
        return lines.text
    }

    /// A mapping to start from: everything that can be inferred between two models, stated, and
    /// everything that cannot as a comment.
    ///
    /// - Parameters:
    ///   - source: the model of the stores as they are.
    ///   - destination: the model that they are to have.
    ///   - comments: lines for its head.
    ///   - hasHashes: whether it names the entities' version hashes, so that it fits these two
    ///     versions alone.
    /// - Returns: a text that reads as a mapping which gives the same migration as inference, where
    ///   inference succeeds.
    /// - Complexity: that of `Inference`.
    package static func scaffold(
        from source: Model, to destination: Model, comments: [String], hasHashes: Bool = false
    ) -> String {
        let hashes = hasHashes ? (VersionHashes(source), VersionHashes(destination)) : nil
        let (inference, refusals) = Inference.partial(from: source, to: destination)
        var lines = YAMLLines(comments: comments)
        lines.add("entities:")
        for mapping in inference.mapping.entityMappings {
            let changes = TypeChanges(from: source, to: destination, mapping)
            lines.add(
                mapping, refusals.filter { concerns($0, mapping, destination, changes) },
                changes: changes.expressions)
            if let hash = mapping.source.flatMap({ hashes?.0.entities[$0] }) {
                lines.add("sourceHash: \(YAMLLines.base64(hash))", at: 2)
            }
            if let hash = mapping.destination.flatMap({ hashes?.1.entities[$0] }) {
                lines.add("destinationHash: \(YAMLLines.base64(hash))", at: 2)
            }
            let dropped = mapping.dropped(of: source, besides: changes)
            if !dropped.isEmpty {
                lines.comment("dropped: \(dropped.joined(separator: ", "))", at: 2)
            }
        }
        let known = Set(inference.mapping.entityMappings.compactMap(\.destination))
        for refusal in refusals where !known.contains(refusal.entity) {
            lines.comment("\(refusal)", at: 1)
        }
        return lines.text
    }

    /// Whether a refusal is about an entity mapping: an attribute whose type changes must be stated
    /// for each entity that inherits it.
    private static func concerns(
        _ refusal: Refusal, _ mapping: EntityMapping, _ destination: Model, _ changes: TypeChanges
    ) -> Bool {
        guard let entity = mapping.destination, refusal.entity != entity else {
            return refusal.entity == mapping.destination
        }
        return refusal.rule == .attributeTypeChanged
            && changes.expressions[refusal.property ?? ""] != nil
            && destination.isKind(entity, of: refusal.entity)
    }
}

/// Lines of a mapping file.
struct YAMLLines {
    private var lines: [String] = []

    var text: String { lines.joined(separator: "\n") + "\n" }

    init(comments: [String]) {
        for line in comments { comment(line, at: 0) }
        add("godwit-mapping: \(YAMLMappingReader.version)")
    }

    mutating func add(_ line: String, at depth: Int = 0) {
        lines.append(String(repeating: "  ", count: depth) + line)
    }

    mutating func comment(_ text: String, at depth: Int) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            add(line.isEmpty ? "#" : "# \(line)", at: depth)
        }
    }

    // MARK: - Stated mappings

    mutating func add(_ mapping: EntityMappingDefinition) {
        add(ends(mapping.source, mapping.destination), at: 1)
        if let name = mapping.name { add("name: \(Self.scalar(name))", at: 2) }
        if let type = mapping.type { add("type: \(type)", at: 2) }
        if let filter = mapping.filter { add("filter: \(Self.scalar(filter.text))", at: 2) }
        if let policy = mapping.policy { add("policy: \(Self.scalar(policy))", at: 2) }
        if let hash = mapping.sourceHash { add("sourceHash: \(Self.base64(hash))", at: 2) }
        if let hash = mapping.destinationHash {
            add("destinationHash: \(Self.base64(hash))", at: 2)
        }
        add("attributes:", mapping.attributes) { Self.value($0) }
        add("relationships:", mapping.relationships) { Self.links($0) }
    }

    private mutating func add(
        _ title: String, _ properties: [PropertyMappingDefinition],
        _ text: (PropertyMappingDefinition.Value) -> String
    ) {
        guard !properties.isEmpty else { return }
        add(title, at: 2)
        for property in properties {
            add("\(Self.scalar(property.destination)): \(text(property.value))", at: 3)
        }
    }

    /// The first line of an entity mapping; two of its keys, where both ends differ.
    private func ends(_ source: String?, _ destination: String?) -> String {
        switch (source, destination) {
        case (let from?, let to?) where from == to: return "- entity: \(Self.scalar(from))"
        case (let from?, let to?):
            return "- source: \(Self.scalar(from))\n    destination: \(Self.scalar(to))"
        case (nil, let to?): return "- add: \(Self.scalar(to))"
        case (let from?, nil): return "- remove: \(Self.scalar(from))"
        case (nil, nil): return "- {}"
        }
    }

    private static func value(_ value: PropertyMappingDefinition.Value) -> String {
        switch value {
        case .automatic: return "automatic"
        case .unset: return "unset"
        case .converted(let conversion): return YAMLConversion.text(conversion)
        case .expression(.constant(.text(let text))): return "{constant: \(quoted(text))}"
        case .expression(.null): return "null"
        case .expression(let expression): return scalar(expression.text)
        }
    }

    private static func links(_ value: PropertyMappingDefinition.Value) -> String {
        guard case .expression(let expression) = value, let call = ManagerCall(expression) else {
            return self.value(value)
        }
        switch call {
        case .relationship(let name, let instances) where instances.sourceKeys?.last == name:
            return scalar(instances.text)
        case .relationship: return scalar(expression.text)
        case .entityMapping(let name, let instances):
            return "{source: \(quotedIfNeeded(instances.text)), mapping: \(quotedIfNeeded(name))}"
        }
    }

    // MARK: - Scaffolds

    /// - Parameters:
    ///   - mapping: as far as it is inferred.
    ///   - refusals: of its properties.
    ///   - changes: what carries values into attributes of another type.
    mutating func add(
        _ mapping: EntityMapping, _ refusals: [Refusal], changes: [String: MappingExpression]
    ) {
        add(ends(mapping.source, mapping.destination), at: 1)
        for refusal in refusals where refusal.property == nil { comment("\(refusal)", at: 2) }
        guard mapping.source != nil, mapping.destination != nil else { return }
        let refused = refusals.filter { $0.property != nil }
        let attributes = mapping.attributes.filter { !$0.destination.contains(".") }
        if !attributes.isEmpty || !refused.isEmpty {
            let changed = refused.contains { changes[$0.property ?? ""] != nil }
            let stated = changed || attributes.contains { $0.value.scaffold != nil }
            if stated { add("attributes:", at: 2) }
            for attribute in attributes { add(attribute) }
            for refusal in refused {
                let name = refusal.property ?? ""
                if changes[name] != nil, refusal.rule == .attributeTypeChanged {
                    comment(refusal.explanation, at: 3)
                    add(
                        "\(Self.scalar(name)): \(Self.value(.converted(StatedConversion())))", at: 3
                    )
                } else {
                    comment("\(Self.scalar(name)): ?   \(refusal)", at: 3)
                }
            }
        }
        if !mapping.relationships.isEmpty { add("relationships:", at: 2) }
        for relationship in mapping.relationships {
            let name = Self.scalar(relationship.destination)
            let path = relationship.source.map { Self.scalar(MappingExpression.source($0).text) }
            add("\(name): \(path ?? "unset")", at: 3)
        }
    }

    private mutating func add(_ attribute: AttributeMapping) {
        let name = Self.scalar(attribute.destination)
        if let value = attribute.value.scaffold {
            add("\(name): \(Self.value(value))", at: 3)
        } else {
            comment("\(name): inferred: \(attribute.value.text)", at: 3)
        }
    }

    // MARK: - Scalars

    /// A text as YAML reads it back.
    static func scalar(_ text: String) -> String {
        isPlain(text) ? text : quoted(text)
    }

    /// As `scalar`, for text inside braces.
    private static func quotedIfNeeded(_ text: String) -> String { scalar(text) }

    private static let reserved: Set<String> = [
        "true", "false", "yes", "no", "on", "off", "null", "y", "n", "automatic", "unset",
        "convert",
    ]

    /// Whether a text needs no quotation marks, inside braces neither.
    private static func isPlain(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, !reserved.contains(text.lowercased()) else {
            return false
        }
        let isWord = { (scalar: Unicode.Scalar) in
            ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
                || ("0"..."9").contains(scalar) || "_.$@()".unicodeScalars.contains(scalar)
        }
        guard isWord(first), first != "@", first != "(", first != ")", first != "." else {
            return false
        }
        return text.unicodeScalars.allSatisfy(isWord)
    }

    /// A text in quotation marks: single ones where it has double ones alone.
    static func quoted(_ text: String) -> String {
        let isPrintable = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value < 0x7F }
        if isPrintable, text.contains("\""), !text.contains("'") { return "'\(text)'" }
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case let scalar where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value):
                result += "\\x" + hexadecimal(scalar.value, digits: 2)
            case "\u{2028}", "\u{2029}", "\u{FEFF}":
                result += "\\u" + hexadecimal(scalar.value, digits: 4)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    private static func hexadecimal(_ value: UInt32, digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    static func base64(_ bytes: [UInt8]) -> String {
        "\"\(Data(bytes).base64EncodedString())\""
    }
}

extension ValueExpression {
    /// What a scaffold states; nil for what only inference gives.
    fileprivate var scaffold: PropertyMappingDefinition.Value? {
        switch self {
        case .source(let name): .expression(.source(name))
        case .sourceOrDefault, .policy(nil): nil
        case .constant: .unset
        case .expression(let expression), .policy(let expression?): .expression(expression)
        case .null: .unset
        }
    }
}
