import Foundation
import ManagedObjectModel
import MappingExpressions
import MappingModel
import ModelFiles
import Yams

/// The keys of one YAML mapping, all of them known.
struct YAMLFields {
    private let values: [String: Node]
    /// Keys that do not belong there, each with the nearest one that does.
    let mistakes: [MappingMistake]

    /// - Throws: `MappingMistake` for what is no mapping, and for a key that does not belong there.
    init(_ node: Node, of subject: String, keys: [String]) throws(MappingMistake) {
        try self.init(collecting: node, of: subject, keys: keys)
        if let mistake = mistakes.first { throw mistake }
    }

    /// Leaves out keys that do not belong there.
    ///
    /// - Throws: `MappingMistake` for what is no mapping.
    init(collecting node: Node, of subject: String, keys: [String]) throws(MappingMistake) {
        guard node.mapping != nil else { throw node.malformed("\(subject) has no keys") }
        var values: [String: Node] = [:]
        var mistakes: [MappingMistake] = []
        for (key, value) in try node.pairs() {
            let name = try key.text()
            guard !keys.contains(name) else {
                values[name] = value
                continue
            }
            let nearest = NameSuggestion.nearest(to: name, among: keys)
            // Within braces, a comma of an expression ends it for YAML.
            let hint =
                !nearest.isEmpty
                ? "Did you mean \(nearest.joined(separator: " or "))?"
                : value.isEmpty
                    ? "If an expression goes on here, \(YAMLQuoting.advice)"
                    : "Known keys: \(keys.joined(separator: ", "))"
            mistakes.append(key.malformed("\(subject) has no key \(name). \(hint)"))
        }
        self.values = values
        self.mistakes = mistakes
    }

    subscript(key: String) -> Node? { values[key] }

    /// The text of the first of some keys that has one; nil where none has.
    func anyText(_ keys: [String]) -> String? {
        keys.lazy.compactMap { values[$0]?.scalar?.string }.first
    }

    /// How many keys there are.
    var count: Int { values.count }

    /// The text of a key; nil where it is absent.
    func text(_ key: String) throws(MappingMistake) -> String? {
        guard let node = values[key] else { return nil }
        let text = try node.text()
        guard !text.isEmpty else { throw node.malformed("\(key) is empty") }
        return text
    }

    /// The version hash of a key; nil where it is absent.
    func hash(_ key: String) throws(MappingMistake) -> [UInt8]? {
        guard let text = try text(key), let node = values[key] else { return nil }
        guard let bytes = Data(base64Encoded: text), bytes.count == 32 else {
            throw node.malformed("\(key) is not a version hash (32 bytes in base64)")
        }
        return [UInt8](bytes)
    }
}

extension Node {
    var position: FilePosition? {
        mark.map { FilePosition(line: $0.line, column: $0.column) }
    }

    /// An error at this place.
    func malformed(_ text: String) -> MappingMistake {
        MappingMistake(position: position, text: text)
    }

    /// The text of a scalar.
    func text() throws(MappingMistake) -> String {
        guard let scalar else { throw malformed("a single value belongs here") }
        return scalar.string
    }

    func elements() throws(MappingMistake) -> [Node] {
        guard let sequence else { throw malformed("a list belongs here") }
        return Array(sequence)
    }

    func pairs() throws(MappingMistake) -> [(key: Node, value: Node)] {
        guard let mapping else { throw malformed("keys with values belong here") }
        return Array(mapping)
    }

    /// Parses the text of a scalar; errors name the place in the file.
    func parsing<Value>(
        _ body: (String) throws(ExpressionError) -> Value
    ) throws(MappingMistake) -> Value {
        try refuseSigns()
        let text = try text()
        do throws(ExpressionError) {
            return try body(text)
        } catch {
            throw malformed("in \"\(text.prefix(80))\": \(error)")
        }
    }

    /// The scalar as a constant: a quoted one is text, others are what they look like.
    func constant() throws(MappingMistake) -> MappingExpression {
        let text = try text()
        guard case .scalar(let scalar) = self, scalar.style == .plain else {
            return .constant(.text(text))
        }
        switch text {
        case "true": return .constant(.boolean(true))
        case "false": return .constant(.boolean(false))
        case "", "~", "null": return .null
        default: break
        }
        if let number = Int64(text) { return .constant(.integer(number)) }
        let isNumber = text.utf8.allSatisfy { "0123456789.eE+-".utf8.contains($0) }
        if isNumber, let number = Double(text), number.isFinite { return .constant(.real(number)) }
        if text.hasPrefix("$source") {
            throw malformed(
                "a constant is taken as it is, and \(text.prefix(80)) looks like an expression: "
                    + "write the expression as the value, or put quotation marks around the text")
        }
        return .constant(.text(text))
    }
}

extension YamlError {
    /// What is wrong and where, without the text around it.
    var mistake: MappingMistake {
        switch self {
        case .scanner(let context, let problem, let mark, let yaml):
            // A text in quotation marks that does not end is wrong where it begins.
            let place = context?.mark ?? mark
            return Self.mistake(problem, at: place.line > 0 ? place : mark, of: yaml)
        case .parser(_, let problem, let mark, let yaml),
            .composer(_, let problem, let mark, let yaml):
            return Self.mistake(problem, at: mark, of: yaml)
        case .reader(let problem, _, _, _): return MappingMistake(text: problem)
        case .duplicatedKeysInMapping(let duplicates, let context):
            return MappingMistake(
                position: FilePosition(line: context.mark.line, column: context.mark.column),
                text: "key \(duplicates.joined(separator: ", ")) occurs twice")
        default: return MappingMistake(text: "the file is not YAML")
        }
    }

    private static func mistake(_ problem: String, at mark: Mark, of yaml: String) -> MappingMistake
    {
        let hint = YAMLQuoting.hint(line: mark.line, of: yaml).map { ". \($0)" } ?? ""
        return MappingMistake(
            position: FilePosition(line: mark.line, column: mark.column), text: problem + hint)
    }
}
