import Foundation
import ManagedObjectModel
import MappingExpressions
import MappingModel
import ModelFiles
import Yams

/// The keys of one YAML mapping, all of them known.
struct YAMLFields {
    private let values: [String: Node]

    /// - Throws: `MappingFileError.malformed` for what is no mapping, and for a key that does not
    ///   belong there, with the nearest one that does.
    init(_ node: Node, of subject: String, keys: [String]) throws(MappingFileError) {
        guard node.mapping != nil else { throw node.malformed("\(subject) has no keys") }
        var values: [String: Node] = [:]
        for (key, value) in try node.pairs() {
            let name = try key.text()
            guard keys.contains(name) else {
                let nearest = NameSuggestion.nearest(to: name, among: keys)
                let hint =
                    nearest.isEmpty
                    ? "Known keys: \(keys.joined(separator: ", "))"
                    : "Did you mean \(nearest.joined(separator: " or "))?"
                throw key.malformed("\(subject) has no key \(name). \(hint)")
            }
            values[name] = value
        }
        self.values = values
    }

    subscript(key: String) -> Node? { values[key] }

    /// How many keys there are.
    var count: Int { values.count }

    /// The text of a key; nil where it is absent.
    func text(_ key: String) throws(MappingFileError) -> String? {
        guard let node = values[key] else { return nil }
        let text = try node.text()
        guard !text.isEmpty else { throw node.malformed("\(key) is empty") }
        return text
    }

    /// The version hash of a key; nil where it is absent.
    func hash(_ key: String) throws(MappingFileError) -> [UInt8]? {
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
    func malformed(_ text: String) -> MappingFileError {
        .malformed(position.map { "\($0): \(text)" } ?? text)
    }

    /// The text of a scalar.
    func text() throws(MappingFileError) -> String {
        guard let scalar else { throw malformed("a single value belongs here") }
        return scalar.string
    }

    func elements() throws(MappingFileError) -> [Node] {
        guard let sequence else { throw malformed("a list belongs here") }
        return Array(sequence)
    }

    func pairs() throws(MappingFileError) -> [(key: Node, value: Node)] {
        guard let mapping else { throw malformed("keys with values belong here") }
        return Array(mapping)
    }

    /// Parses the text of a scalar; errors name the place in the file.
    func parsing<Value>(
        _ body: (String) throws(ExpressionError) -> Value
    ) throws(MappingFileError) -> Value {
        let text = try text()
        do throws(ExpressionError) {
            return try body(text)
        } catch {
            throw malformed("in \"\(text.prefix(80))\": \(error)")
        }
    }

    /// The scalar as a constant: a quoted one is text, others are what they look like.
    func constant() throws(MappingFileError) -> MappingExpression {
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
        return .constant(.text(text))
    }
}

extension YamlError {
    /// What is wrong and where, without the text around it.
    var place: String {
        switch self {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            "line \(mark.line), column \(mark.column): \(problem)"
        case .reader(let problem, _, _, _): problem
        case .duplicatedKeysInMapping(let duplicates, let context):
            "line \(context.mark.line), column \(context.mark.column): key "
                + "\(duplicates.joined(separator: ", ")) occurs twice"
        default: "the file is not YAML"
        }
    }
}
