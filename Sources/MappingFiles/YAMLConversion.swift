import ManagedObjectModel
import MappingExpressions
package import MappingModel
import Yams

/// A value of an attribute with the key `convert`: `{convert: $source.born, format: dd.MM.yyyy,
/// failing: drop}`.
enum YAMLConversion {
    /// The keys that a value may have because of it; `failing` also without `convert`.
    static let keys = ["convert", "format", "zone", "json", "plist", "text", "failing"]

    // MARK: - Reading

    /// - Throws: `MappingMistake` for values that the keys cannot have.
    static func read(
        _ fields: YAMLFields, _ node: Node
    ) throws(MappingMistake) -> StatedConversion {
        for key in ["constant", "value", "table", "otherwise"] where fields[key] != nil {
            throw node.malformed("convert cannot be combined with \(key)")
        }
        var conversion = StatedConversion(failing: try failing(fields))
        if let stated = fields["convert"] {
            switch try YAMLMappingReader.scalar(stated) {
            case .automatic: break
            case .expression(let expression): conversion.value = expression
            case .unset, .converted:
                throw stated.malformed("an expression or the word automatic belongs here")
            }
        }
        conversion.field = try field(fields, node)
        if let steps = fields["text"] { conversion.steps = try self.steps(steps) }
        conversion.format = try format(fields, node)
        if let missing = fields["default"] {
            guard case .constant(let constant) = try missing.constant() else {
                throw missing.malformed("default must be a value, not null")
            }
            conversion.missing = constant
        }
        return conversion
    }

    /// Refuses what needs the key `convert`, where that is absent.
    static func refuseAlone(_ fields: YAMLFields, _ node: Node) throws(MappingMistake) {
        for key in keys where key != "failing" && fields[key] != nil {
            throw node.malformed("\(key) needs convert: write convert instead of value")
        }
    }

    /// What becomes of values that cannot be computed.
    static func failing(
        _ fields: YAMLFields
    ) throws(MappingMistake) -> StatedConversion.Failing {
        guard let node = fields["failing"] else { return .refuse }
        guard node.mapping != nil else {
            switch try node.text() {
            case "refuse": return .refuse
            case "drop": return .drop
            default:
                throw node.malformed("failing must be refuse, drop, or {constant: VALUE}")
            }
        }
        let fields = try YAMLFields(node, of: "failing", keys: ["constant"])
        guard let value = fields["constant"], case .constant(let constant) = try value.constant()
        else { throw node.malformed("failing must be refuse, drop, or {constant: VALUE}") }
        return .constant(constant)
    }

    private static func field(
        _ fields: YAMLFields, _ node: Node
    ) throws(MappingMistake) -> DocumentField? {
        let given = DocumentField.Form.allCases.filter { fields[$0.rawValue] != nil }
        guard let form = given.first, let path = fields[form.rawValue] else { return nil }
        guard given.count == 1 else { throw node.malformed("use json or plist, not both") }
        var keys: [String] = []
        if path.scalar != nil {
            keys = try path.text().split(separator: ".", omittingEmptySubsequences: false)
                .map { String($0) }
        } else {
            for key in try path.elements() { keys.append(try key.text()) }
        }
        guard !keys.isEmpty, !keys.contains("") else {
            throw path.malformed(
                "\(form.rawValue) must be a path of keys such as address.city, or a list of keys")
        }
        return DocumentField(form: form, path: keys)
    }

    private static func steps(_ node: Node) throws(MappingMistake) -> [TextStep] {
        let words = node.scalar != nil ? [node] : try node.elements()
        var steps: [TextStep] = []
        for word in words {
            guard let step = TextStep(rawValue: try word.text()) else {
                let known = TextStep.allCases.map(\.rawValue).joined(separator: ", ")
                throw word.malformed("unknown text step. Known steps: \(known)")
            }
            steps.append(step)
        }
        guard !steps.isEmpty else { throw node.malformed("text has no steps") }
        return steps
    }

    private static func format(
        _ fields: YAMLFields, _ node: Node
    ) throws(MappingMistake) -> DateFormat? {
        guard let pattern = fields["format"] else {
            guard let zone = fields["zone"] else { return nil }
            throw zone.malformed("zone needs format beside it")
        }
        var offset = 0
        if let zone = fields["zone"] {
            guard let found = DateFormat.offset(try zone.text()) else {
                throw zone.malformed("zone must be UTC or an offset such as \"+02:00\"")
            }
            offset = found
        }
        return try pattern.parsing { text throws(ExpressionError) in
            try DateFormat(text, offset: offset)
        }
    }

    // MARK: - Writing

    /// The text that is read as a conversion.
    static func text(_ conversion: StatedConversion) -> String {
        guard conversion != StatedConversion() else { return "convert" }
        var parts = ["convert: " + (conversion.value.map { word($0.text) } ?? "automatic")]
        if let field = conversion.field {
            parts.append("\(field.form.rawValue): \(list(field.path))")
        }
        if !conversion.steps.isEmpty {
            parts.append("text: \(list(conversion.steps.map(\.rawValue)))")
        }
        if let format = conversion.format {
            parts.append("format: \(YAMLLines.quoted(format.pattern))")
            if format.offset != 0 {
                parts.append("zone: \(YAMLLines.quoted(DateFormat.zone(format.offset)))")
            }
        }
        if let missing = conversion.missing { parts.append("default: \(constant(missing))") }
        switch conversion.failing {
        case .refuse: break
        case .drop: parts.append("failing: drop")
        case .constant(let value): parts.append("failing: {constant: \(constant(value))}")
        }
        return "{\(parts.joined(separator: ", "))}"
    }

    private static func list(_ words: [String]) -> String {
        "[\(words.map(word).joined(separator: ", "))]"
    }

    private static func word(_ text: String) -> String { YAMLLines.scalar(text) }

    /// A constant as it is read; constants of files in YAML are texts, numbers and truth values.
    private static func constant(_ value: DefaultValue) -> String {
        switch value {
        case .text(let text), .decimal(let text), .uri(let text): YAMLLines.quoted(text)
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .boolean(let flag): "\(flag)"
        case .date, .data, .uuid: YAMLLines.quoted(MappingExpression.constant(value).text)
        }
    }
}

extension StatedConversion {
    /// The conversion as a mapping file in YAML states it.
    package var text: String { YAMLConversion.text(self) }
}
