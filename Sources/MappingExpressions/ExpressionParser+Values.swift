import ManagedObjectModel

/// Comparisons, paths, literals.
extension ExpressionParser {
    /// A comparison whose words of quantity come next.
    mutating func quantified(
        _ quantifier: PredicateComparison.Quantifier
    ) throws(PlacedError) -> ParsedOperand {
        advance()
        let left = try nested { parser throws(PlacedError) in
            try parser.operand(atLeast: Precedence.set)
        }
        guard case .comparison = InfixOperator(current) else {
            throw unexpected(wanted: "a comparison")
        }
        return try comparison(left, quantifier: quantifier)
    }

    /// A comparison whose left side is read already; stands at its operator.
    mutating func comparison(
        _ left: ParsedOperand, quantifier: PredicateComparison.Quantifier
    ) throws(PlacedError) -> ParsedOperand {
        guard case .comparison(let relation) = InfixOperator(current) else {
            throw unexpected(wanted: "a comparison")
        }
        advance()
        let options = try options()
        let right = try operand(atLeast: Precedence.set)
        let comparison = PredicateComparison(
            try left.expression(), relation, try right.expression(), quantifier: quantifier,
            options: options)
        return try ParsedOperand(.comparison(comparison), over: [left, right], at: left.position)
    }

    /// The letters in square brackets after an operator.
    private mutating func options() throws(PlacedError) -> PredicateComparison.Options {
        guard accept("[") else { return [] }
        let start = position
        guard case .word(let letters) = current else {
            throw unexpected(wanted: "c, d, cd, n or cdn")
        }
        advance()
        var options: PredicateComparison.Options = []
        for letter in letters.unicodeScalars {
            switch letter {
            case "c", "C": options.insert(.caseInsensitive)
            case "d", "D": options.insert(.diacriticInsensitive)
            case "n", "N": options.insert(.normalized)
            case "l", "L":
                throw PlacedError(
                    .unsupported, "the option l depends on a locale, and a migration has none",
                    start)
            default:
                throw PlacedError(
                    .unknownName, "unknown option \(letter); there are c, d and n", start)
            }
        }
        try expect("]")
        return options
    }

    /// A value with the keys and indexes after it.
    mutating func postfixed() throws(PlacedError) -> ParsedOperand {
        var value = try primary()
        while true {
            if current == .symbol(".") {
                let keys = try keys()
                value = try ParsedOperand(
                    .keyPath(try value.expression(), keys), over: [value], at: value.position)
            } else if accept("[") {
                value = try nested { parser throws(PlacedError) in try parser.element(of: value) }
            } else {
                return value
            }
        }
    }

    /// Keys after dots; stands at the first dot.
    private mutating func keys() throws(PlacedError) -> [String] {
        var keys: [String] = []
        while accept(".") { keys.append(try key()) }
        return keys
    }

    /// One key, which may be a reserved word here.
    private mutating func key() throws(PlacedError) -> String {
        switch current {
        case .word(let name) where !name.contains(":") && following != .symbol("("):
            advance()
            return name
        case .key(let name), .collectionOperator(let name):
            advance()
            return name
        default: throw unexpected(wanted: "a key")
        }
    }

    /// The rest of an element: an index and the closing bracket.
    private mutating func element(of value: ParsedOperand) throws(PlacedError) -> ParsedOperand {
        let collection = try value.expression()
        if case .word(let word) = current, following == .symbol("]"),
            let index = Self.index(word)
        {
            advance()
            try expect("]")
            return try ParsedOperand(
                .element(collection, at: index), over: [value], at: value.position)
        }
        let index = try operand(atLeast: Precedence.or)
        try expect("]")
        return try ParsedOperand(
            .element(collection, at: .at(try index.expression())), over: [value, index],
            at: value.position)
    }

    private static func index(_ word: String) -> MappingExpression.ElementIndex? {
        switch ReservedWords.folded(word) {
        case "first": .first
        case "last": .last
        case "size": .size
        default: nil
        }
    }

    /// A literal, a variable, a path, a call, a list, or what stands in brackets.
    private mutating func primary() throws(PlacedError) -> ParsedOperand {
        let start = position
        switch current {
        case .integer, .real:
            return try ParsedOperand(
                .constant(try number(isNegative: false)), over: [], at: start)
        case .string(let text):
            advance()
            return try ParsedOperand(.constant(.text(text)), over: [], at: start)
        case .variable(let name):
            advance()
            return try ParsedOperand(.variable(name), over: [], at: start)
        case .key, .collectionOperator: return try path()
        case .word(let word): return try self.word(word)
        case .symbol("("):
            return try nested { parser throws(PlacedError) in
                parser.advance()
                let inner = try parser.operand(atLeast: Precedence.or)
                try parser.expect(")")
                return inner
            }
        case .symbol("{"):
            let parts = try list(from: "{", to: "}")
            return try ParsedOperand(
                .list(try Self.expressions(parts)), over: parts, at: start)
        case .symbol, .end: throw unexpected(wanted: "a value")
        }
    }

    /// A path of keys of the evaluated object; stands at its first key.
    private mutating func path() throws(PlacedError) -> ParsedOperand {
        let start = position
        var keys = [try key()]
        if current == .symbol(".") { keys += try self.keys() }
        let object = try ParsedOperand(.evaluatedObject, over: [], at: start)
        return try ParsedOperand(.keyPath(.evaluatedObject, keys), over: [object], at: start)
    }

    /// What a word starts where a value is expected.
    private mutating func word(_ word: String) throws(PlacedError) -> ParsedOperand {
        let start = position
        if let literal = Self.literal(word) {
            advance()
            return try ParsedOperand(literal, over: [], at: start)
        }
        switch ReservedWords.folded(word) {
        case "truepredicate", "falsepredicate":
            advance()
            let value = ReservedWords.folded(word) == "truepredicate"
            return try ParsedOperand(MappingPredicate.constant(value), over: [], at: start)
        case _ where following == .symbol("(") || word.contains(":"): return try call(word)
        case "caseinsensitive", "ci", "anykey", "fetch":
            throw PlacedError(.unsupported, "\(word) is not supported", start)
        case let folded? where ReservedWords.all.contains(folded):
            throw PlacedError(
                .syntax, "\(word) is a reserved word; as a key it is written #\(word)", start)
        default: return try path()
        }
    }

    private static func literal(_ word: String) -> MappingExpression? {
        switch ReservedWords.folded(word) {
        case "null", "nil": .null
        case "true", "yes": .constant(.boolean(true))
        case "false", "no": .constant(.boolean(false))
        case "self": .evaluatedObject
        default: nil
        }
    }

    /// The number that comes next.
    mutating func number(isNegative: Bool) throws(PlacedError) -> DefaultValue {
        let start = position
        defer { advance() }
        if case .real(let value) = current { return .real(isNegative ? -value : value) }
        guard case .integer(let magnitude) = current else {
            throw unexpected(wanted: "a number")
        }
        if isNegative, magnitude == Int64.min.magnitude { return .integer(.min) }
        guard let value = Int64(exactly: magnitude) else {
            throw PlacedError(.limit, "the integer \(magnitude) is too large", start)
        }
        return .integer(isNegative ? -value : value)
    }

    /// The expressions of operands.
    static func expressions(
        _ operands: [ParsedOperand]
    ) throws(PlacedError) -> [MappingExpression] {
        var expressions: [MappingExpression] = []
        for operand in operands { expressions.append(try operand.expression()) }
        return expressions
    }
}
