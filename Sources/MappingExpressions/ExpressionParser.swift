import ManagedObjectModel

/// Reads the text of expressions and predicates as `NSExpression` and `NSPredicate` write it.
///
/// Keywords are in any letter case. `OR` binds loosest, then `AND`, `NOT`, comparisons,
/// `UNION`/`INTERSECT`/`MINUS`, `|`, `^`, `&`, shifts, sums, products, signs and `~`, `**`, and
/// paths tightest; operators of one rank associate to the left. Format specifiers, assignments,
/// `FETCH`, random numbers and locations are refused by name. Three forms are extensions, which
/// only values out of archives need: `#"any text"` as a key, `$#"any text"` as a variable, and
/// `CAST("0A0B", "NSData")` as bytes.
package struct ExpressionParser {
    let tokens: [ExpressionToken]
    var index = 0
    var nesting = 0
    /// Operands that are being read, one within the other.
    private var openOperands = 0

    private init(_ text: String) throws(ExpressionError) {
        tokens = try ExpressionLexer.tokens(text)
    }

    /// The expression that a text stands for.
    ///
    /// - Parameter text: at most 64 KiB, with at most 64 levels.
    /// - Returns: the value whose `text` reads back as itself.
    /// - Throws: `ExpressionError` with the column, what is wrong and the nearest valid name.
    /// - Complexity: O(n).
    package static func expression(_ text: String) throws(ExpressionError) -> MappingExpression {
        try parse(text) { operand throws(PlacedError) in try operand.expression() }
    }

    /// The predicate that a text stands for.
    ///
    /// - Parameter text: at most 64 KiB, with at most 64 levels.
    /// - Returns: the value whose `text` reads back as itself.
    /// - Throws: `ExpressionError` with the column, what is wrong and the nearest valid name.
    /// - Complexity: O(n).
    package static func predicate(_ text: String) throws(ExpressionError) -> MappingPredicate {
        try parse(text) { operand throws(PlacedError) in try operand.predicate() }
    }

    private static func parse<Value>(
        _ text: String, _ content: (ParsedOperand) throws(PlacedError) -> Value
    ) throws(ExpressionError) -> Value {
        var parser = try ExpressionParser(text)
        do throws(PlacedError) {
            let operand = try parser.operand(atLeast: Precedence.or)
            guard parser.current == .end else { throw parser.unexpected() }
            return try content(operand)
        } catch {
            throw error.error(column: ExpressionLexer.column(of: error.position, in: text))
        }
    }

    var current: ExpressionToken.Kind { tokens[index].kind }
    var position: Int { tokens[index].position }

    /// The token after the current one.
    var following: ExpressionToken.Kind { tokens[min(index + 1, tokens.count - 1)].kind }

    mutating func advance() {
        if index + 1 < tokens.count { index += 1 }
    }

    /// Takes the next token if it is this symbol.
    mutating func accept(_ symbol: String) -> Bool {
        guard current == .symbol(symbol) else { return false }
        advance()
        return true
    }

    mutating func expect(_ symbol: String) throws(PlacedError) {
        guard accept(symbol) else { throw unexpected(wanted: symbol) }
    }

    /// The error of a token that does not fit.
    func unexpected(wanted: String? = nil) -> PlacedError {
        if current == .symbol(":=") {
            return PlacedError(.unsupported, "assignments are not supported", position)
        }
        let token = tokens[index].quoted
        let wish = wanted.map { "; expected \($0)" } ?? ""
        guard case .word(let word) = current else {
            return PlacedError(.syntax, "unexpected \(token)" + wish, position)
        }
        let folded = word.lowercased()
        if folded.hasPrefix("uti-") {
            return PlacedError(.unsupported, "\(token) is not supported", position)
        }
        return PlacedError(
            .syntax, "unexpected \(token)" + wish, position,
            suggestion: NameSuggestion.nearest(to: word, among: ReservedWords.infix).first)
    }

    /// Runs what stands within brackets, one level deeper.
    mutating func nested<Value>(
        _ content: (inout ExpressionParser) throws(PlacedError) -> Value
    ) throws(PlacedError) -> Value {
        guard nesting < ExpressionLimits.depth else {
            throw PlacedError(
                .limit, "more than \(ExpressionLimits.depth) nested levels", position)
        }
        nesting += 1
        let value = try content(&self)
        nesting -= 1
        return value
    }

    /// Operands joined by operators that bind at least this tightly.
    mutating func operand(atLeast minimum: Int) throws(PlacedError) -> ParsedOperand {
        // Every level of a tree opens at most two: one behind an operator, one in brackets.
        guard openOperands < 2 * ExpressionLimits.depth + 2 else {
            throw PlacedError(
                .limit, "a tree of more than \(ExpressionLimits.depth) levels", position)
        }
        openOperands += 1
        defer { openOperands -= 1 }
        var left = try prefixed()
        while let infix = InfixOperator(current), infix.precedence >= minimum {
            switch infix {
            case .or: left = try list(left, separator: .or, MappingPredicate.or)
            case .and: left = try list(left, separator: .and, MappingPredicate.and)
            case .comparison: left = try comparison(left, quantifier: .direct)
            case .set(let operation):
                advance()
                let right = try operand(atLeast: infix.precedence + 1)
                let value = MappingExpression.combination(
                    operation, try left.expression(), try right.expression())
                left = try ParsedOperand(value, over: [left, right], at: left.position)
            case .function(let function):
                advance()
                let right = try operand(atLeast: infix.precedence + 1)
                let arguments = [try left.expression(), try right.expression()]
                left = try ParsedOperand(
                    .function(function, arguments), over: [left, right], at: left.position)
            }
        }
        return left
    }

    /// Predicates with one operator between them, of which the first is read already.
    private mutating func list(
        _ first: ParsedOperand, separator: InfixOperator,
        _ join: ([MappingPredicate]) -> MappingPredicate
    ) throws(PlacedError) -> ParsedOperand {
        var operands = [first]
        var parts = [try first.predicate()]
        while InfixOperator(current) == separator {
            advance()
            let next = try operand(atLeast: separator.precedence + 1)
            operands.append(next)
            parts.append(try next.predicate())
        }
        return try ParsedOperand(join(parts), over: operands, at: first.position)
    }

    /// An operand with the signs, negations and quantifiers before it.
    private mutating func prefixed() throws(PlacedError) -> ParsedOperand {
        let start = position
        switch current {
        case .symbol("-"), .symbol("~"): return try signed()
        case .symbol("!"): return try negated()
        case .word(let word):
            switch ReservedWords.folded(word) {
            case "not": return try negated()
            case "any", "some": return try quantified(.any)
            case "all": return try quantified(.all)
            case "none":
                let inner = try quantified(.any)
                return try ParsedOperand(
                    MappingPredicate.not(try inner.predicate()), over: [inner], at: start)
            default: return try postfixed()
            }
        default: return try postfixed()
        }
    }

    /// Negations, which bind looser than comparisons.
    private mutating func negated() throws(PlacedError) -> ParsedOperand {
        var starts: [Int] = []
        while isNegation {
            starts.append(position)
            advance()
        }
        var operand = try nested { parser throws(PlacedError) in
            try parser.operand(atLeast: Precedence.comparison)
        }
        for start in starts.reversed() {
            operand = try ParsedOperand(
                MappingPredicate.not(try operand.predicate()), over: [operand], at: start)
        }
        return operand
    }

    private var isNegation: Bool {
        switch current {
        case .symbol("!"): true
        case .word(let word): ReservedWords.folded(word) == "not"
        default: false
        }
    }

    /// Signs and complements; a minus right before a number belongs to the number.
    private mutating func signed() throws(PlacedError) -> ParsedOperand {
        var signs: [(symbol: ExpressionToken.Kind, position: Int)] = []
        while current == .symbol("-") || current == .symbol("~") {
            signs.append((current, position))
            advance()
        }
        var value: ParsedOperand
        if signs.last?.symbol == .symbol("-"), isPlainNumber, let sign = signs.popLast() {
            value = try ParsedOperand(
                .constant(try number(isNegative: true)), over: [], at: sign.position)
        } else {
            value = try nested { parser throws(PlacedError) in
                try parser.operand(atLeast: Precedence.power)
            }
        }
        for sign in signs.reversed() {
            let argument = try value.expression()
            let expression: MappingExpression =
                sign.symbol == .symbol("~")
                ? .function(.onesComplement, [argument])
                : .function(.subtract, [.constant(.integer(0)), argument])
            value = try ParsedOperand(expression, over: [value], at: sign.position)
        }
        return value
    }

    /// Whether the next token is a number to which neither a power nor a path is applied.
    private var isPlainNumber: Bool {
        switch current {
        case .integer, .real:
            return ![.symbol("**"), .symbol("."), .symbol("[")].contains(following)
        default: return false
        }
    }
}
