import MappingExpressions

/// A regular expression as a tree.
indirect enum PatternNode {
    case empty
    case scalar(Unicode.Scalar, ignoresCase: Bool)
    case any(matchesLineEnds: Bool)
    case set(PatternSet)
    case assertion(PatternAssertion)
    case sequence([PatternNode])
    case choice([PatternNode])
    /// No maximum means any number.
    case repetition(PatternNode, minimum: Int, maximum: Int?)
}

/// What holds at a place of the text without taking a scalar.
enum PatternAssertion: Sendable {
    /// `^` and `\A`.
    case textStart
    /// `^` under `(?m)`.
    case lineStart
    /// `\z`.
    case textEnd
    /// `$` and `\Z`: the end, or the line end that is the last of the text.
    case lastLineEnd
    /// `$` under `(?m)`.
    case lineEnd
    /// `\b`.
    case wordBoundary
    /// `\B`.
    case noWordBoundary
}

/// The options that `(?ims)` switches.
struct PatternFlags {
    var ignoresCase = false
    /// `(?m)`: anchors stand at lines.
    var anchorsLines = false
    /// `(?s)`: a dot takes line ends, too.
    var dotTakesLineEnds = false
}

/// An error within a pattern.
///
/// A pattern may be a value of a row, so that messages quote nothing of it.
enum PatternError {
    static func make(
        _ reason: ExpressionError.Reason, _ message: String, at position: Int,
        suggestion: String? = nil
    ) -> ExpressionError {
        ExpressionError(
            reason, "character \(position + 1) of the pattern: \(message)",
            suggestion: suggestion)
    }
}
