/// Reads the predicate-format text of partial indexes.
///
/// Comparisons of a property with a constant, joined by AND, OR and NOT in any case of letters,
/// or by `&&`, `||` and `!`. NOT binds tighter than AND, AND tighter than OR.
package struct PredicateParser {
    /// Brackets and negations that may be nested; real predicates have two.
    private static let depthLimit = 64
    /// Words that cannot be the name of a property, and that this vocabulary does not have.
    private static let reserved: Set<String> = [
        "and", "or", "not", "in", "like", "contains", "beginswith", "endswith", "matches",
        "between", "any", "all", "some", "none", "self", "true", "false", "yes", "no", "nil",
        "null", "cast", "subquery", "first", "last", "size", "truepredicate", "falsepredicate",
    ]

    private let tokens: [PredicateToken]
    private var position = 0

    private init(tokens: [PredicateToken]) { self.tokens = tokens }

    /// The predicate that a text stands for; `unsupported` with the text for any other.
    ///
    /// - Complexity: O(n).
    package static func parse(_ text: String) -> Predicate {
        guard let tokens = PredicateLexer.tokens(text) else { return .unsupported(text) }
        var parser = PredicateParser(tokens: tokens)
        guard let predicate = parser.disjunction(depth: 0), parser.position == tokens.count else {
            return .unsupported(text)
        }
        return predicate
    }

    private mutating func disjunction(depth: Int) -> Predicate? {
        list(separatedBy: ["or", "||"], depth: depth, Predicate.or) { parser, depth in
            parser.conjunction(depth: depth)
        }
    }

    private mutating func conjunction(depth: Int) -> Predicate? {
        list(separatedBy: ["and", "&&"], depth: depth, Predicate.and) { parser, depth in
            parser.negation(depth: depth)
        }
    }

    /// One part, or several with a separator between them.
    private mutating func list(
        separatedBy separators: Set<String>, depth: Int, _ join: ([Predicate]) -> Predicate,
        _ part: (inout PredicateParser, Int) -> Predicate?
    ) -> Predicate? {
        guard let first = part(&self, depth) else { return nil }
        var parts = [first]
        while accept(separators) {
            guard let next = part(&self, depth) else { return nil }
            parts.append(next)
        }
        return parts.count == 1 ? first : join(parts)
    }

    private mutating func negation(depth: Int) -> Predicate? {
        guard depth < Self.depthLimit else { return nil }
        if accept(["not", "!"]) { return negation(depth: depth + 1).map(Predicate.not) }
        if accept(["("]) {
            guard let inner = disjunction(depth: depth + 1), accept([")"]) else { return nil }
            return inner
        }
        return comparison()
    }

    /// Takes the next token if it is one of these symbols or keywords.
    private mutating func accept(_ accepted: Set<String>) -> Bool {
        guard position < tokens.count else { return false }
        switch tokens[position] {
        case .symbol(let symbol) where accepted.contains(symbol): break
        case .word(let word) where accepted.contains(word.lowercased()): break
        default: return false
        }
        position += 1
        return true
    }

    private enum Operand {
        case property(String)
        case constant(DefaultValue?)
    }

    private mutating func comparison() -> Predicate? {
        guard let left = operand(), let comparison = comparator(), let right = operand() else {
            return nil
        }
        switch (left, right) {
        case (.property(let name), .constant(let value)):
            return compare(name, comparison, value)
        case (.constant(let value), .property(let name)):
            return compare(name, comparison.mirrored, value)
        default: return nil
        }
    }

    /// A comparison; order says nothing about the absence of a value.
    private func compare(
        _ name: String, _ comparison: Predicate.Comparison, _ value: DefaultValue?
    ) -> Predicate? {
        guard value != nil || comparison == .equal || comparison == .notEqual else { return nil }
        return .compare(property: name, comparison, value)
    }

    private mutating func comparator() -> Predicate.Comparison? {
        guard position < tokens.count, case .symbol(let symbol) = tokens[position] else {
            return nil
        }
        position += 1
        switch symbol {
        case "=", "==": return .equal
        case "<>", "!=": return .notEqual
        case "<": return .lessThan
        case "<=", "=<": return .lessThanOrEqual
        case ">": return .greaterThan
        case ">=", "=>": return .greaterThanOrEqual
        default: return nil
        }
    }

    private mutating func operand() -> Operand? {
        guard position < tokens.count else { return nil }
        defer { position += 1 }
        switch tokens[position] {
        case .name(let name): return .property(name)
        case .string(let text): return .constant(.text(text))
        case .number(let text): return Self.number(text).map { .constant($0) }
        case .symbol: return nil
        case .word(let word):
            switch word.lowercased() {
            case "yes", "true": return .constant(.boolean(true))
            case "no", "false": return .constant(.boolean(false))
            case "nil", "null": return .constant(nil)
            case "cast": return date().map { .constant($0) }
            case let keyword where Self.reserved.contains(keyword): return nil
            default: return .property(word)
            }
        }
    }

    private static func number(_ text: String) -> DefaultValue? {
        if let whole = Int64(text) { return .integer(whole) }
        guard let real = Double(text), real.isFinite else { return nil }
        return .real(real)
    }

    /// `CAST(seconds, "NSDate")`, the format of a date; stands at `CAST`, ends at the bracket.
    private mutating func date() -> DefaultValue? {
        let end = position + 5
        guard end < tokens.count, tokens[position + 1] == .symbol("("),
            case .number(let text) = tokens[position + 2], tokens[position + 3] == .symbol(","),
            tokens[position + 4] == .string("NSDate"), tokens[end] == .symbol(")"),
            let seconds = Double(text), seconds.isFinite
        else { return nil }
        position = end
        return .date(seconds)
    }
}

extension Predicate.Comparison {
    /// The comparison that says the same with its sides exchanged.
    package var mirrored: Self {
        switch self {
        case .lessThan: .greaterThan
        case .lessThanOrEqual: .greaterThanOrEqual
        case .greaterThan: .lessThan
        case .greaterThanOrEqual: .lessThanOrEqual
        case .equal, .notEqual: self
        }
    }
}

extension Predicate {
    /// The predicate as text that `PredicateParser` reads back, binary constants aside.
    package var text: String {
        switch self {
        case .compare(let property, let comparison, let value):
            return "#\(property) \(comparison.rawValue) \(value.map(Self.constant) ?? "nil")"
        case .and(let parts):
            return parts.map { "(\($0.text))" }.joined(separator: " AND ")
        case .or(let parts):
            return parts.map { "(\($0.text))" }.joined(separator: " OR ")
        case .not(let part): return "NOT (\(part.text))"
        case .unsupported(let text): return text
        }
    }

    private static func constant(_ value: DefaultValue) -> String {
        if case .date(let seconds) = value { return "CAST(\(seconds), \"NSDate\")" }
        return value.words
    }

    /// Text in quotation marks, with the escapes of predicate formats.
    package static func quoted(_ text: String) -> String {
        var result = "\""
        for character in text.unicodeScalars {
            switch character {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default: result.unicodeScalars.append(character)
            }
        }
        return result + "\""
    }
}
