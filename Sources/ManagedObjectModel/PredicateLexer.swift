/// A token of predicate-format text.
enum PredicateToken: Equatable {
    /// A name or a keyword.
    case word(String)
    /// A name after `#`, which is never a keyword.
    case name(String)
    case number(String)
    case string(String)
    /// An operator or a bracket, such as `<=`.
    case symbol(String)
}

/// Cuts predicate-format text into tokens.
enum PredicateLexer {
    private static let symbols = [
        "==", "<=", "=<", ">=", "=>", "<>", "!=", "&&", "||", "=", "<", ">", "!", "(", ")", ",",
    ]

    /// The tokens; nil for text with anything that partial indexes do not use.
    ///
    /// - Complexity: O(n).
    static func tokens(_ text: String) -> [PredicateToken]? {
        let bytes = Array(text.utf8)
        var tokens: [PredicateToken] = []
        var position = 0
        while position < bytes.count {
            let byte = bytes[position]
            if byte == 0x20 || (0x09...0x0D).contains(byte) {
                position += 1
            } else if isLetter(byte) {
                tokens.append(.word(take(bytes, &position, while: isNamePart)))
            } else if byte == UInt8(ascii: "#") {
                position += 1
                guard position < bytes.count, isLetter(bytes[position]) else { return nil }
                tokens.append(.name(take(bytes, &position, while: isNamePart)))
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                guard let text = string(bytes, &position) else { return nil }
                tokens.append(.string(text))
            } else if isDigit(byte) || byte == UInt8(ascii: "-") {
                tokens.append(.number(number(bytes, &position)))
            } else if let symbol = symbols.first(where: { bytes[position...].starts(with: $0.utf8) }
            ) {
                tokens.append(.symbol(symbol))
                position += symbol.utf8.count
            } else {
                return nil
            }
            // `a.b` is a key path and `1.` no number: neither has a column.
            if position < bytes.count, bytes[position] == UInt8(ascii: ".") { return nil }
        }
        return tokens
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F || byte >= 0x80
    }

    private static func isNamePart(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) }

    private static func take(
        _ bytes: [UInt8], _ position: inout Int, while condition: (UInt8) -> Bool
    ) -> String {
        let start = position
        while position < bytes.count, condition(bytes[position]) { position += 1 }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    /// Sign, digits, fraction and exponent; the parser decides whether it is a number.
    private static func number(_ bytes: [UInt8], _ position: inout Int) -> String {
        let start = position
        position += 1
        while position < bytes.count {
            let byte = bytes[position]
            let isSign = byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+")
            let followsExponent = bytes[position - 1] | 0x20 == UInt8(ascii: "e")
            guard isNamePart(byte) || byte == UInt8(ascii: ".") || (isSign && followsExponent)
            else { break }
            position += 1
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    /// A string in either kind of quotation marks; nil where it does not end or has an escape
    /// that we do not know.
    private static func string(_ bytes: [UInt8], _ position: inout Int) -> String? {
        let mark = bytes[position]
        position += 1
        var content: [UInt8] = []
        while position < bytes.count, bytes[position] != mark {
            if bytes[position] == UInt8(ascii: "\\") {
                position += 1
                guard position < bytes.count, let byte = escaped(bytes[position]) else {
                    return nil
                }
                content.append(byte)
            } else {
                content.append(bytes[position])
            }
            position += 1
        }
        guard position < bytes.count else { return nil }
        position += 1
        return String(decoding: content, as: UTF8.self)
    }

    private static func escaped(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "'"): byte
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }
}
