import ManagedObjectModel

/// Functions and the forms that look like functions.
extension ExpressionParser {
    /// Names of Apple's functions that have no meaning in a migration.
    private static let refused: [String: String] = [
        "random": "a repeated migration must give equal values",
        "random:": "a repeated migration must give equal values",
        "randomn": "a repeated migration must give equal values",
        "randomn:": "a repeated migration must give equal values",
        "distanceToLocation:fromLocation:": "stores hold no locations",
    ]

    /// Functions of other languages, by what says the same here.
    private static let foreign: [String: String] = [
        "if": "TERNARY(predicate, value, value)", "iif": "TERNARY(predicate, value, value)",
        "ifnull": "TERNARY(value == nil, other, value)",
        "coalesce": "TERNARY(value == nil, other, value)",
        "concat": "FUNCTION(text, \"stringByAppendingString:\", text)",
        "stringByAppendingString:": "FUNCTION(text, \"stringByAppendingString:\", text)",
        "first": "[FIRST]", "last": "[LAST]", "len": "length",
    ]

    /// What says the same as a function that there is not, or has the nearest name.
    private func suggestion(for name: String) -> String? {
        if let form = Self.foreign[name] ?? ReservedWords.folded(name).flatMap({ Self.foreign[$0] })
        {
            guard form.hasPrefix("[") else { return form }
            let argument = tokens[(index + 2)...].prefix { $0.kind != .symbol(")") }
            let isPath = !argument.isEmpty && argument.allSatisfy(\.isPartOfPath)
            return (isPath ? argument.map(\.quoted).joined() : "collection") + form
        }
        let forms = [
            "CAST", "SUBQUERY", "TERNARY", "CONVERT", "FIELD", "NORMALIZE", "ATTEMPT", "FUNCTION",
        ]
        return NameSuggestion.nearest(
            to: name, among: ExpressionFunction.names.keys.sorted() + forms
        ).first
    }

    /// Operands with commas between them, in brackets; stands at the opening one.
    mutating func list(
        from opening: String, to closing: String
    ) throws(PlacedError) -> [ParsedOperand] {
        try nested { parser throws(PlacedError) in
            try parser.expect(opening)
            var operands: [ParsedOperand] = []
            if parser.accept(closing) { return operands }
            repeat {
                operands.append(try parser.operand(atLeast: Precedence.or))
            } while parser.accept(",")
            try parser.expect(closing)
            return operands
        }
    }

    /// A call of a function; stands at its name.
    mutating func call(_ name: String) throws(PlacedError) -> ParsedOperand {
        let start = position
        guard following == .symbol("(") else {
            throw PlacedError(.syntax, "( must follow the function \(name)", start)
        }
        switch ReservedWords.folded(name) {
        case "cast": return try cast()
        case "subquery": return try subquery()
        case "ternary": return try conditional()
        case "function": return try methodCall()
        case "convert", "field", "normalize": return try conversion(name)
        case "attempt": return try attempt(name)
        case "fetch":
            throw PlacedError(.unsupported, "FETCH is not supported", start)
        default: break
        }
        if name == "castObject:toType:" { return try cast() }
        if let reason = Self.refused[name] {
            throw PlacedError(
                .unsupported, "the function \(name) is not supported: \(reason)", start)
        }
        if name == "objectFrom:withIndex:" { return try indexed(name) }
        guard let function = ExpressionFunction.names[name] else {
            throw PlacedError(
                .unknownName, "unknown function \(name)", start, suggestion: suggestion(for: name))
        }
        advance()
        let arguments = try list(from: "(", to: ")")
        try check(arguments, count: function.argumentCount, of: name, at: start)
        return try ParsedOperand(
            .function(function, try Self.expressions(arguments)), over: arguments, at: start)
    }

    func check(
        _ arguments: [ParsedOperand], count: Int, of name: String, at start: Int
    ) throws(PlacedError) {
        guard arguments.count == count else {
            throw PlacedError(
                .syntax, "\(name) takes \(count) arguments, not \(arguments.count)", start)
        }
    }

    /// `objectFrom:withIndex:(collection, index)`, which is `collection[index]`.
    private mutating func indexed(_ name: String) throws(PlacedError) -> ParsedOperand {
        let start = position
        advance()
        let arguments = try list(from: "(", to: ")")
        try check(arguments, count: 2, of: name, at: start)
        let values = try Self.expressions(arguments)
        return try ParsedOperand(
            .element(values[0], at: .at(values[1])), over: arguments, at: start)
    }

    /// `CAST(value, "NSDate")`; of a literal it may be a constant.
    private mutating func cast() throws(PlacedError) -> ParsedOperand {
        let start = position
        advance()
        return try nested { parser throws(PlacedError) in
            try parser.expect("(")
            let literal = parser.literal()
            let value = try parser.operand(atLeast: Precedence.or)
            try parser.expect(",")
            let place = parser.position
            let name = try parser.text("the name of a class")
            try parser.expect(")")
            if let literal, let constant = LiteralText.constant(literal, target: name) {
                return try ParsedOperand(.constant(constant), over: [], at: start)
            }
            if name == LiteralText.dataTarget {
                throw PlacedError(
                    .unsupported, "only hexadecimal digits can be cast to \(name)", place)
            }
            guard let target = MappingExpression.CastTarget(rawValue: name) else {
                throw PlacedError(
                    .unknownName, "no value can be cast to \(name)", place,
                    suggestion: NameSuggestion.nearest(
                        to: name, among: MappingExpression.CastTarget.allCases.map(\.rawValue)
                    ).first)
            }
            return try ParsedOperand(
                .cast(try value.expression(), to: target), over: [value], at: start)
        }
    }

    /// The literal that comes next, if a comma follows it.
    private func literal() -> LiteralText.Literal? {
        let isNegative = current == .symbol("-")
        let place = isNegative ? index + 1 : index
        guard place + 1 < tokens.count, tokens[place + 1].kind == .symbol(",") else { return nil }
        switch tokens[place].kind {
        case .string(let text) where !isNegative: return .text(text)
        case .real(let value): return .number(isNegative ? -value : value)
        case .integer(let value):
            return .number(isNegative ? -Double(value) : Double(value))
        default: return nil
        }
    }

    /// Takes a text in quotation marks.
    mutating func text(_ meaning: String) throws(PlacedError) -> String {
        guard case .string(let text) = current else { throw unexpected(wanted: meaning) }
        advance()
        return text
    }

    /// `SUBQUERY(collection, $variable, predicate)`.
    private mutating func subquery() throws(PlacedError) -> ParsedOperand {
        let start = position
        advance()
        return try nested { parser throws(PlacedError) in
            try parser.expect("(")
            let collection = try parser.operand(atLeast: Precedence.or)
            try parser.expect(",")
            guard case .variable(let name) = parser.current else {
                throw parser.unexpected(wanted: "a variable")
            }
            parser.advance()
            try parser.expect(",")
            let predicate = try parser.operand(atLeast: Precedence.or)
            try parser.expect(")")
            return try ParsedOperand(
                .subquery(
                    try collection.expression(), variable: name, try predicate.predicate()),
                over: [collection, predicate], at: start)
        }
    }

    /// `TERNARY(predicate, value, value)`.
    private mutating func conditional() throws(PlacedError) -> ParsedOperand {
        let start = position
        advance()
        let parts = try list(from: "(", to: ")")
        try check(parts, count: 3, of: "TERNARY", at: start)
        return try ParsedOperand(
            .conditional(
                try parts[0].predicate(), try parts[1].expression(), try parts[2].expression()),
            over: parts, at: start)
    }

    /// `FUNCTION(receiver, "selector:", argument)`.
    private mutating func methodCall() throws(PlacedError) -> ParsedOperand {
        let start = position
        advance()
        return try nested { parser throws(PlacedError) in
            try parser.expect("(")
            let receiver = try parser.operand(atLeast: Precedence.or)
            try parser.expect(",")
            let place = parser.position
            let selector = try parser.text("a selector")
            var arguments: [ParsedOperand] = []
            while parser.accept(",") {
                arguments.append(try parser.operand(atLeast: Precedence.or))
            }
            try parser.expect(")")
            let count = selector.unicodeScalars.count { $0 == ":" }
            guard arguments.count == count else {
                throw PlacedError(
                    .syntax, "\(selector) takes \(count) arguments, not \(arguments.count)", place)
            }
            return try ParsedOperand(
                .method(
                    selector, of: try receiver.expression(), try Self.expressions(arguments)),
                over: [receiver] + arguments, at: start)
        }
    }
}
