import ManagedObjectModel

/// Constants that text writes as casts of a literal, such as `CAST(0.0, "NSDate")`.
package enum LiteralText {
    /// What stands within the brackets of such a cast.
    enum Literal {
        case text(String)
        case number(Double)
    }

    /// The target that only literals of bytes may name.
    static let dataTarget = "NSData"

    private static let special: [String: Double] = [
        "inf": .infinity, "-inf": -.infinity, "nan": .nan,
    ]

    /// The constant that a cast of a literal is; nil where it is no constant of its own.
    static func constant(_ literal: Literal, target: String) -> DefaultValue? {
        switch (literal, target) {
        case (.number(let seconds), "NSDate"): .date(seconds)
        case (.text(let text), "NSDate"): special[text].map { .date($0) }
        case (.text(let text), "NSNumber"): special[text].map { .real($0) }
        case (.text(let text), "NSDecimalNumber"): isDecimal(text) ? .decimal(text) : nil
        case (.text(let text), "NSUUID"): uuid(text).map { .uuid($0) }
        case (.text(let text), "NSURL"): .uri(text)
        case (.text(let text), dataTarget): bytes(text).map { .data($0) }
        default: nil
        }
    }

    /// The text of a constant.
    static func text(_ value: DefaultValue) -> String {
        switch value {
        case .integer(let value): "\(value)"
        case .real(let value):
            value.isFinite
                ? "\(value)" : "CAST(\"\(value.isNaN ? "nan" : "\(value)")\", \"NSNumber\")"
        case .decimal(let text): "CAST(\(quoted(text)), \"NSDecimalNumber\")"
        case .boolean(let value): value ? "TRUE" : "FALSE"
        case .text(let text): quoted(text)
        case .date(let seconds):
            seconds.isFinite
                ? "CAST(\(seconds), \"NSDate\")"
                : "CAST(\"\(seconds.isNaN ? "nan" : "\(seconds)")\", \"NSDate\")"
        case .data(let bytes): "CAST(\"\(hexadecimal(bytes))\", \"\(dataTarget)\")"
        case .uuid(let bytes): "CAST(\"\(uuidText(bytes))\", \"NSUUID\")"
        case .uri(let text): "CAST(\(quoted(text)), \"NSURL\")"
        }
    }

    /// A text in quotation marks with escapes for what could be misread.
    static func quoted(_ text: String) -> String {
        var result = String.UnicodeScalarView("\"".unicodeScalars)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                result.append("\\")
                result.append(scalar)
            case "\n": result.append(contentsOf: "\\n".unicodeScalars)
            case "\r": result.append(contentsOf: "\\r".unicodeScalars)
            case "\t": result.append(contentsOf: "\\t".unicodeScalars)
            case "\0"..."\u{1F}", "\u{7F}":
                let digits = String(scalar.value, radix: 16)
                let padded = String(repeating: "0", count: 4 - digits.count) + digits
                result.append(contentsOf: ("\\u" + padded).unicodeScalars)
            default: result.append(scalar)
            }
        }
        result.append("\"")
        return String(result)
    }

    /// Whether a text is a decimal number: sign, digits, fraction and exponent.
    package static func isDecimal(_ text: String) -> Bool {
        var rest = text.utf8[...]
        if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
            rest.removeFirst()
        }
        let whole = dropDigits(&rest)
        var fraction = 0
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            fraction = dropDigits(&rest)
        }
        guard whole + fraction > 0 else { return false }
        if let mark = rest.first, mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") {
            rest.removeFirst()
            if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
                rest.removeFirst()
            }
            guard (1...4).contains(dropDigits(&rest)) else { return false }
        }
        return rest.isEmpty
    }

    private static func dropDigits(_ rest: inout Substring.UTF8View) -> Int {
        let before = rest.count
        rest = rest.drop { (0x30...0x39).contains($0) }
        return before - rest.count
    }

    /// Pairs of hexadecimal digits.
    static func bytes(_ text: String) -> [UInt8]? { bytes(Array(text.utf8)[...]) }

    private static func bytes(_ digits: ArraySlice<UInt8>) -> [UInt8]? {
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for place in stride(from: digits.startIndex, to: digits.endIndex, by: 2) {
            guard let high = digit(digits[place]), let low = digit(digits[place + 1]) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The bytes of a UUID's text, 8-4-4-4-12 hexadecimal digits; nil for another text.
    package static func uuid(_ text: String) -> [UInt8]? {
        let characters = Array(text.utf8)
        let hyphens = [8, 13, 18, 23]
        guard characters.count == 36,
            hyphens.allSatisfy({ characters[$0] == UInt8(ascii: "-") })
        else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(16)
        for (start, end) in zip([0, 9, 14, 19, 24], hyphens + [36]) {
            guard let group = bytes(characters[start..<end]) else { return nil }
            result += group
        }
        return result
    }

    /// The bytes as hexadecimal digits in upper case.
    static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    /// The text of a UUID.
    static func uuidText(_ bytes: [UInt8]) -> String {
        let digits = hexadecimal(bytes)
        guard bytes.count == 16 else { return digits }
        var rest = digits[...]
        return [8, 4, 4, 4, 12].map { count in
            defer { rest = rest.dropFirst(count) }
            return String(rest.prefix(count))
        }.joined(separator: "-")
    }
}
