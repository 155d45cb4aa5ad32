/// Why an expression or a predicate could not be read or evaluated.
///
/// Messages quote the text of expressions, never values of rows.
package struct ExpressionError: Error, Hashable, Sendable {
    /// What kind of mistake it is.
    package enum Reason: Hashable, Sendable {
        /// The text does not follow the grammar.
        case syntax
        /// A name is none that the language has.
        case unknownName
        /// Apple's language has it, but it has no meaning here.
        case unsupported
        /// The text or the tree is larger than allowed.
        case limit
        /// The values do not fit what is asked of them.
        case evaluation
    }

    package var reason: Reason
    /// What is wrong, without the column and the suggestion.
    package var message: String
    /// The character of the text where it is, counted from 1; nil without a text.
    package var column: Int?
    /// The nearest valid name.
    package var suggestion: String?

    package init(
        _ reason: Reason, _ message: String, column: Int? = nil, suggestion: String? = nil
    ) {
        self.reason = reason
        self.message = message
        self.column = column
        self.suggestion = suggestion
    }
}

extension ExpressionError: CustomStringConvertible {
    package var description: String {
        let place = column.map { "column \($0): " } ?? ""
        let hint = suggestion.map { "; did you mean \($0)?" } ?? ""
        return place + message + hint
    }
}

/// How large texts and trees of expressions may be.
package enum ExpressionLimits {
    /// Levels of a tree, and brackets within each other.
    package static let depth = 64
    /// Bytes of one text in UTF-8.
    package static let length = 65_536
    /// Bytes of a text that is computed; SQLite holds none that is longer.
    package static let value = 1_000_000_000
}
