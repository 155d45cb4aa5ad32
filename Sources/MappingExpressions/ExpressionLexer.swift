import ManagedObjectModel

/// Cuts predicate-format text into tokens.
struct ExpressionLexer {
    private static let symbols: Set<String> = [
        "==", "<=", "=<", ">=", "=>", "<>", "!=", "&&", "||", "**", "<<", ">>", ":=", "=", "<",
        ">", "!", "(", ")", "{", "}", "[", "]", ",", ".", "+", "-", "*", "/", "&", "|", "^", "~",
    ]

    private let scalars: [Unicode.Scalar]
    private var position = 0

    private init(_ text: String) { scalars = Array(text.unicodeScalars) }

    /// The tokens of a text, `end` as the last of them.
    ///
    /// - Throws: `ExpressionError` for text that is too long or has what is no token.
    /// - Complexity: O(n).
    static func tokens(_ text: String) throws(ExpressionError) -> [ExpressionToken] {
        guard text.utf8.count <= ExpressionLimits.length else {
            throw ExpressionError(
                .limit,
                "the text has \(text.utf8.count) bytes, more than \(ExpressionLimits.length)")
        }
        var lexer = ExpressionLexer(text)
        var tokens: [ExpressionToken] = []
        do throws(PlacedError) {
            while let token = try lexer.next() { tokens.append(token) }
        } catch {
            throw error.error(column: column(of: error.position, in: text))
        }
        tokens.append(ExpressionToken(kind: .end, position: lexer.scalars.count))
        return tokens
    }

    /// The character, counted from 1, in which a scalar stands.
    static func column(of position: Int, in text: String) -> Int {
        let start = text.unicodeScalars.startIndex
        let end = text.unicodeScalars.endIndex
        let index = text.unicodeScalars.index(start, offsetBy: position, limitedBy: end) ?? end
        return text[..<index].count + 1
    }

    private var current: Unicode.Scalar? {
        position < scalars.count ? scalars[position] : nil
    }

    private mutating func next() throws(PlacedError) -> ExpressionToken? {
        while let scalar = current, scalar.properties.isWhitespace { position += 1 }
        guard let scalar = current else { return nil }
        let start = position
        let kind: ExpressionToken.Kind
        switch scalar {
        case "\"", "'": kind = .string(try string())
        case "0"..."9": kind = try number()
        case "#":
            position += 1
            kind = .key(try name(after: "#", allowsText: true, start))
        case "$":
            position += 1
            let isQuoted = scalars[position...].starts(with: ["#", "\""])
            if isQuoted { position += 1 }
            kind = .variable(try name(after: "$", allowsText: isQuoted, start))
        case "@":
            position += 1
            kind = .collectionOperator(try collectionOperator(start))
        case "%":
            throw PlacedError(
                .unsupported, "format specifiers such as %@ and %K have no arguments here", start)
        case "?":
            throw PlacedError(.syntax, "? is not a token of predicates", start)
        case _ where ReservedWords.isStart(scalar): kind = .word(word())
        default:
            guard let symbol = symbol() else {
                throw PlacedError(.syntax, "unexpected character \(scalar)", start)
            }
            position += symbol.unicodeScalars.count
            kind = .symbol(symbol)
        }
        return ExpressionToken(kind: kind, position: start)
    }

    /// The longest symbol that comes next.
    private func symbol() -> String? {
        for count in [2, 1] where position + count <= scalars.count {
            let text = String(String.UnicodeScalarView(scalars[position..<position + count]))
            if Self.symbols.contains(text) { return text }
        }
        return nil
    }

    private mutating func take(while condition: (Unicode.Scalar) -> Bool) -> String {
        var result = String.UnicodeScalarView()
        while let scalar = current, condition(scalar) {
            result.append(scalar)
            position += 1
        }
        return String(result)
    }

    /// A word with the colons of a function's name, or a type test of `UTI`.
    private mutating func word() -> String {
        var result = take(while: ReservedWords.isPart)
        if result.lowercased() == "uti" {
            for rest in ["-conforms-to", "-equals"] {
                let end = min(position + rest.unicodeScalars.count, scalars.count)
                let found = String(String.UnicodeScalarView(scalars[position..<end]))
                guard found.lowercased() == rest else { continue }
                position = end
                return result + found
            }
        }
        while current == ":" {
            if position + 1 < scalars.count, scalars[position + 1] == "=" { break }
            position += 1
            result += ":" + take(while: ReservedWords.isPart)
        }
        return result
    }

    /// An identifier, or any text in quotation marks: the form for names that are none.
    private mutating func name(
        after mark: String, allowsText: Bool, _ start: Int
    ) throws(PlacedError) -> String {
        if allowsText, current == "\"" || current == "'" { return try string() }
        guard let first = current, ReservedWords.isStart(first) else {
            throw PlacedError(.syntax, "a name must follow \(mark)", start)
        }
        return take(while: ReservedWords.isPart)
    }

    private mutating func collectionOperator(_ start: Int) throws(PlacedError) -> String {
        let name = "@" + take(while: ReservedWords.isPart)
        guard !ReservedWords.collectionOperators.contains(name) else { return name }
        throw PlacedError(
            .unknownName, "unknown collection operator \(name)", start,
            suggestion: NameSuggestion.nearest(
                to: name, among: ReservedWords.collectionOperators
            ).first)
    }

    private mutating func number() throws(PlacedError) -> ExpressionToken.Kind {
        let start = position
        var text = take { ("0"..."9").contains($0) }
        if text == "0", let mark = current, let radix = Self.radix(mark) {
            position += 1
            return try integer(take(while: ReservedWords.isPart), radix: radix, start)
        }
        var isReal = false
        if current == "." {
            position += 1
            let digits = take { ("0"..."9").contains($0) }
            guard !digits.isEmpty else {
                throw PlacedError(.syntax, "digits must follow the point of a number", start)
            }
            text += "." + digits
            isReal = true
        }
        if current == "e" || current == "E" {
            position += 1
            text += "e"
            if let sign = current, sign == "+" || sign == "-" {
                position += 1
                text.unicodeScalars.append(sign)
            }
            text += take { ("0"..."9").contains($0) }
            isReal = true
        }
        if let scalar = current, ReservedWords.isPart(scalar) {
            throw PlacedError(.syntax, "a number is followed by \(scalar)", start)
        }
        guard isReal else { return try integer(text, radix: 10, start) }
        guard let value = Double(text) else {
            throw PlacedError(.syntax, "malformed number \(text)", start)
        }
        guard value.isFinite else {
            throw PlacedError(.limit, "the number \(text) is too large", start)
        }
        return .real(value)
    }

    private static func radix(_ mark: Unicode.Scalar) -> Int? {
        switch mark {
        case "x", "X": 16
        case "o", "O": 8
        case "b", "B": 2
        default: nil
        }
    }

    private func integer(
        _ digits: String, radix: Int, _ start: Int
    ) throws(PlacedError) -> ExpressionToken.Kind {
        let isValid =
            !digits.isEmpty
            && digits.unicodeScalars.allSatisfy { $0.isASCII && Character($0).isHexDigit }
            && digits.allSatisfy { ($0.hexDigitValue ?? radix) < radix }
        guard isValid else {
            throw PlacedError(.syntax, "malformed number of base \(radix)", start)
        }
        guard let value = UInt64(digits, radix: radix) else {
            throw PlacedError(.limit, "the integer \(digits) is too large", start)
        }
        return .integer(value)
    }

    /// A text in either kind of quotation marks.
    private mutating func string() throws(PlacedError) -> String {
        let start = position
        let mark = scalars[position]
        position += 1
        var content = String.UnicodeScalarView()
        while let scalar = current, scalar != mark {
            if scalar == "\\" {
                content.append(try escape())
            } else {
                content.append(scalar)
                position += 1
            }
        }
        guard current != nil else {
            throw PlacedError(.syntax, "the text does not end with \(mark)", start)
        }
        position += 1
        return String(content)
    }

    /// The scalar that an escape stands for; stands at the backslash.
    private mutating func escape() throws(PlacedError) -> Unicode.Scalar {
        let start = position
        position += 1
        guard let scalar = current else {
            throw PlacedError(.syntax, "the text ends within an escape", start)
        }
        position += 1
        switch scalar {
        case "\\", "\"", "'", "/": return scalar
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "b": return "\u{8}"
        case "f": return "\u{C}"
        case "u": return try unicodeEscape(start)
        default:
            throw PlacedError(
                .syntax, "unknown escape \\\(scalar); a backslash itself is \\\\", start)
        }
    }

    /// Four hexadecimal digits, or two such units of UTF-16 that are one scalar.
    private mutating func unicodeEscape(_ start: Int) throws(PlacedError) -> Unicode.Scalar {
        var units = [try unit(start)]
        if UTF16.isLeadSurrogate(units[0]), scalars[position...].starts(with: "\\u".unicodeScalars)
        {
            position += 2
            units.append(try unit(start))
        }
        guard let text = String(validating: units, as: UTF16.self),
            let scalar = text.unicodeScalars.first
        else { throw PlacedError(.syntax, "an escape is not a Unicode scalar", start) }
        return scalar
    }

    private mutating func unit(_ start: Int) throws(PlacedError) -> UInt16 {
        let end = position + 4
        guard end <= scalars.count else {
            throw PlacedError(.syntax, "four hexadecimal digits must follow \\u", start)
        }
        let digits = String(String.UnicodeScalarView(scalars[position..<end]))
        guard digits.utf8.count == 4, digits.first != "+", digits.first != "-",
            let value = UInt16(digits, radix: 16)
        else {
            throw PlacedError(.syntax, "four hexadecimal digits must follow \\u", start)
        }
        position = end
        return value
    }
}
