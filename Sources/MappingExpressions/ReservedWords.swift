/// The words of the predicate language that have a meaning of their own, in lower case.
enum ReservedWords {
    /// Words that need a `#` before them to be a key at the start of a path.
    static let all: Set<String> = [
        "and", "or", "in", "not", "all", "any", "some", "none", "like", "caseinsensitive", "ci",
        "matches", "contains", "beginswith", "endswith", "between", "null", "nil", "self", "true",
        "yes", "false", "no", "first", "last", "size", "anykey", "subquery", "fetch", "cast",
        "truepredicate", "falsepredicate",
    ]

    /// Words that are keys where a value is expected, and which the printer escapes all the same.
    static let contextual: Set<String> = [
        "union", "intersect", "minus", "ternary", "function", "convert", "field", "normalize",
        "attempt",
    ]

    /// Words that stand between values or predicates.
    static let infix = [
        "AND", "OR", "IN", "LIKE", "MATCHES", "CONTAINS", "BEGINSWITH", "ENDSWITH", "BETWEEN",
        "UNION", "INTERSECT", "MINUS",
    ]

    /// Operators of collections, which are keys of a path.
    static let collectionOperators = [
        "@count", "@sum", "@min", "@max", "@avg", "@unionOfObjects", "@unionOfArrays",
        "@unionOfSets", "@distinctUnionOfObjects", "@distinctUnionOfArrays",
        "@distinctUnionOfSets",
    ]

    /// The word in lower case if all its letters are of ASCII.
    ///
    /// Full lower casing would make a keyword of other letters, such as the Kelvin sign.
    static func folded(_ word: String) -> String? {
        guard word.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        return word.lowercased()
    }

    /// Whether the printer must escape a key.
    static func needEscape(_ word: String) -> Bool {
        guard let folded = folded(word) else { return false }
        return all.contains(folded) || contextual.contains(folded)
    }

    /// Whether a text is an identifier: letters, digits and underscores, no digit at its start.
    static func isIdentifier(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, isStart(first) else { return false }
        return text.unicodeScalars.allSatisfy(isPart)
    }

    /// Whether a scalar may start an identifier.
    static func isStart(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar.properties.isXIDStart
    }

    /// Whether a scalar may continue an identifier.
    static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isXIDContinue
    }
}
