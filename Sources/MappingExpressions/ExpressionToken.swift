/// A token of predicate-format text with the place where it starts.
struct ExpressionToken {
    /// What it is.
    enum Kind: Equatable {
        /// A keyword, a key or the name of a function, which may have colons.
        case word(String)
        /// A key after `#`, which is never a keyword.
        case key(String)
        /// A collection operator with its `@`.
        case collectionOperator(String)
        /// A name after `$`.
        case variable(String)
        /// The magnitude of an integer; a minus before it is a token of its own.
        case integer(UInt64)
        case real(Double)
        case string(String)
        /// An operator or a bracket.
        case symbol(String)
        case end
    }

    let kind: Kind
    /// The index of its first Unicode scalar.
    let position: Int

    /// The token as messages quote it.
    var quoted: String {
        switch kind {
        case .word(let text), .symbol(let text), .collectionOperator(let text): text
        case .key(let text): "#" + text
        case .variable(let text): "$" + text
        case .integer(let value): "\(value)"
        case .real(let value): "\(value)"
        case .string: "a text"
        case .end: "end"
        }
    }

    /// Whether a path may consist of it and others: a variable, keys and dots.
    var isPartOfPath: Bool {
        switch kind {
        case .word, .key, .variable, .symbol("."): true
        default: false
        }
    }
}
