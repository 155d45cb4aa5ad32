import MappingModel
import Yams

/// What to do about values that YAML refuses, or takes for something else than a text.
enum YAMLQuoting {
    static let advice = "put the whole expression in single quotes, and double each one within"

    /// The signs at the start of a value that have a meaning of their own in YAML.
    private static let signs: Set<Character> = ["\"", "'", "{", "[", "@", "%", "`", "*", "!", "&"]

    /// A hint for a line that YAML refuses, by its number from 1; nil where none is known.
    static func hint(line: Int, of text: String) -> String? {
        let lines = text.split(separator: "\n", maxSplits: line, omittingEmptySubsequences: false)
        guard line > 0, line <= lines.count else { return nil }
        let indentation = lines[line - 1].prefix { $0 == " " || $0 == "\t" }
        if indentation.contains("\t") { return "Indent with blanks: YAML takes no tabs" }
        if let hint = quotingHint(lines[line - 1]) { return hint }
        let before = lines[..<(line - 1)].last { $0.contains { !$0.isWhitespace } }
        let differs = before.map { $0.prefix { $0 == " " }.count != indentation.count } ?? false
        return differs ? "Check the indentation of this line and of the one before it" : nil
    }

    private static func quotingHint(_ line: Substring) -> String? {
        let parts = line.drop { $0 == " " || $0 == "-" }
        guard let colon = parts.firstRange(of: ": ") else { return nil }
        let value = parts[colon.upperBound...].drop { $0 == " " }
        guard let first = value.first, signs.contains(first) || value.contains(": ") else {
            return nil
        }
        // Keys of the format are meant, with an expression behind one of them.
        let isKeyed = first == "{" && value.contains(": ")
        let sign = !isKeyed && signs.contains(first) ? "\(first)" : "\": \""
        return isKeyed
            ? "If an expression within has signs of YAML, \(advice)"
            : "If the value is an expression, its \(sign) is a sign of YAML: \(advice)"
    }
}

extension Node {
    /// Refuses what YAML takes for a list, for keys or for a tag, although it looks like an
    /// expression: `{1, 2}.@count`, `!(a == 1)`.
    ///
    /// - Throws: `MappingMistake` with what to write.
    func refuseSigns() throws(MappingMistake) {
        switch self {
        case .sequence:
            throw malformed("YAML reads brackets as a list: \(YAMLQuoting.advice)")
        case .mapping(let pairs) where pairs.allSatisfy({ $0.value.isEmpty }):
            throw malformed("YAML reads braces as keys: \(YAMLQuoting.advice)")
        case .scalar(let scalar) where "\(scalar.tag)".hasPrefix("!"):
            throw malformed("YAML reads \(scalar.tag) as a tag: \(YAMLQuoting.advice)")
        default: return
        }
    }

    /// Whether nothing stands there.
    var isEmpty: Bool {
        guard case .scalar(let scalar) = self else { return false }
        return scalar.string.isEmpty && scalar.style == .plain
    }
}
