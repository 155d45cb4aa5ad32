import MappingExpressions
import Synchronization

/// Keeps the last patterns of an evaluator, because most come from constants.
final class PatternCache: Sendable {
    private struct Key: Hashable {
        let pattern: String
        let options: PredicateComparison.Options

        /// By scalars: equivalent texts are different patterns.
        static func == (one: Key, other: Key) -> Bool {
            one.options == other.options && one.pattern.utf8.elementsEqual(other.pattern.utf8)
        }
    }

    private static let limit = 32
    private let patterns = Mutex<[Key: TextPattern]>([:])

    /// Whether a whole text matches a pattern.
    ///
    /// `[c]` is `(?i)`; with `[d]`, marks of decompositions count in neither of both.
    func matches(
        _ text: String, _ pattern: String, _ options: PredicateComparison.Options
    ) throws(ExpressionError) -> Bool {
        let isBare = options.contains(.diacriticInsensitive)
        let found = try compiled(pattern, options)
        return found.matches(isBare ? Self.bare(text) : text)
    }

    private func compiled(
        _ pattern: String, _ options: PredicateComparison.Options
    ) throws(ExpressionError) -> TextPattern {
        let key = Key(pattern: pattern, options: options)
        if let known = patterns.withLock({ $0[key] }) { return known }
        let isBare = options.contains(.diacriticInsensitive)
        let compiled = try TextPattern(
            isBare ? Self.bare(pattern) : pattern,
            ignoresCase: options.contains(.caseInsensitive))
        patterns.withLock { patterns in
            if patterns.count >= Self.limit { patterns.removeAll() }
            patterns[key] = compiled
        }
        return compiled
    }

    private static func bare(_ text: String) -> String {
        let comparison = TextComparison(options: .diacriticInsensitive)
        return String(String.UnicodeScalarView(comparison.scalars(text)))
    }
}
