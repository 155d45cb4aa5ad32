package import ManagedObjectModel

/// Values as attributes of another type hold them, exactly or not at all.
///
/// | from | to |
/// | --- | --- |
/// | number | text; decimal; date (seconds since 2001); another number that is equal |
/// | text | number, decimal; boolean (`true`, `yes`, `1`, …); date; UUID; URI; its UTF-8 |
/// | date | text; number of seconds since 2001 |
/// | UUID | text; URI (`urn:uuid:…`); its 16 bytes |
/// | URI | text; UUID, of `urn:uuid:…` |
/// | bytes | text, of UTF-8; UUID, of 16 bytes |
package enum TypeConversion {
    /// The value in the type.
    ///
    /// - Throws: `ExpressionError` for a value that has no equal there; its message names the
    ///   kinds, never the value.
    package static func value(
        of scalar: DefaultValue, as type: AttributeType, _ format: DateFormat?
    ) throws(ExpressionError) -> DefaultValue {
        let found: DefaultValue? =
            switch type {
            case .integer16, .integer32, .integer64: integer(scalar, type).map { .integer($0) }
            case .double: real(scalar).map { .real($0) }
            case .float: real(scalar).flatMap { isHeldByFloat($0) ? .real($0) : nil }
            case .decimal: decimal(scalar)
            case .boolean: boolean(scalar).map { .boolean($0) }
            case .date: date(scalar, format).map { .date($0) }
            case .string: text(scalar, format).map { .text($0) }
            case .uuid: uuid(scalar).map { .uuid($0) }
            case .uri: uri(scalar).map { .uri($0) }
            case .binary: data(scalar).map { .data($0) }
            case .transformable, .undefined, .objectID, .composite: nil
            }
        guard let found else {
            throw ExpressionError(
                .evaluation, "\(scalar.kindName) cannot be converted to \(type)")
        }
        return found
    }

    // MARK: - Numbers

    private static func integer(_ scalar: DefaultValue, _ type: AttributeType) -> Int64? {
        let whole: Int64? =
            switch scalar {
            case .integer(let number): number
            case .boolean(let flag): flag ? 1 : 0
            case .real(let number), .date(let number): Int64(exactly: number)
            case .decimal(let text): whole(text)
            case .text(let text): LiteralText.isDecimal(text) ? Int64(text) ?? whole(text) : nil
            case .data, .uuid, .uri: nil
            }
        guard let whole, type.integerRange?.contains(whole) != false else { return nil }
        return whole
    }

    /// The integer that a decimal number is.
    private static func whole(_ text: String) -> Int64? {
        DecimalNumber(text).flatMap { Int64($0.text) }
    }

    private static func real(_ scalar: DefaultValue) -> Double? {
        let number: Double? =
            switch scalar {
            case .integer(let number): Double(exactly: number)
            case .boolean(let flag): flag ? 1 : 0
            case .real(let number), .date(let number): number
            case .decimal(let text): real(text)
            case .text(let text): LiteralText.isDecimal(text) ? real(text) : nil
            case .data, .uuid, .uri: nil
            }
        return number.flatMap { $0.isFinite ? $0 : nil }
    }

    /// The real number that a text is, if its shortest text is the same number: a text with more
    /// digits than a real number has is none.
    private static func real(_ text: String) -> Double? {
        guard let number = Double(text), number.isFinite else { return nil }
        if let wanted = DecimalNumber(text) {
            return DecimalNumber("\(number)") == wanted ? number : nil
        }
        // Beyond the exponents of decimal numbers; nothing becomes zero.
        let digits = text.prefix { $0 != "e" && $0 != "E" }.count { $0.isNumber }
        return number != 0 && digits <= 15 ? number : nil
    }

    /// Whole numbers up to 2²⁴ are told apart; of others, the digits of the real number stay in
    /// the store.
    private static func isHeldByFloat(_ number: Double) -> Bool {
        if number == number.rounded(), number.magnitude < 1e15 {
            return number.magnitude <= 16_777_216
        }
        return number.magnitude <= Double(Float.greatestFiniteMagnitude)
    }

    /// A store holds decimals as integers and real numbers.
    private static func decimal(_ scalar: DefaultValue) -> DefaultValue? {
        let text: String
        switch scalar {
        case .integer, .boolean: return integer(scalar, .integer64).map { .integer($0) }
        case .real(let number), .date(let number): text = "\(number)"
        case .decimal(let digits), .text(let digits): text = digits
        case .data, .uuid, .uri: return nil
        }
        guard let number = DecimalNumber(text) else { return nil }
        if let whole = Int64(number.text) { return .integer(whole) }
        return real(number.text) == nil ? nil : .decimal(number.text)
    }

    private static func boolean(_ scalar: DefaultValue) -> Bool? {
        switch scalar {
        case .boolean(let flag): return flag
        case .integer(let number): return number == 0 ? false : number == 1 ? true : nil
        case .real(let number): return number == 0 ? false : number == 1 ? true : nil
        case .decimal(let text):
            return DecimalNumber(text).flatMap { ["0": false, "1": true][$0.text] }
        case .text(let text):
            let words = [
                "true": true, "yes": true, "1": true, "false": false, "no": false, "0": false,
            ]
            return words[text.lowercased()]
        case .date, .data, .uuid, .uri: return nil
        }
    }

    // MARK: - Others

    private static func date(_ scalar: DefaultValue, _ format: DateFormat?) -> Double? {
        switch scalar {
        case .date(let seconds): seconds
        case .integer, .real, .decimal: real(scalar)
        case .text(let text):
            if let format { DateText.seconds(text, format) } else { DateText.seconds(text) }
        case .boolean, .data, .uuid, .uri: nil
        }
    }

    private static func text(_ scalar: DefaultValue, _ format: DateFormat?) -> String? {
        switch scalar {
        case .date(let seconds):
            DateFormat.utf8(seconds, format).map { String(decoding: $0, as: UTF8.self) }
        case .data(let bytes): String(validating: bytes, as: UTF8.self)
        case .real(let number) where !number.isFinite: nil
        case .uuid(let bytes) where bytes.count != 16: nil
        default: scalar.stringValue
        }
    }

    private static let urn = "urn:uuid:"

    private static func uuid(_ scalar: DefaultValue) -> [UInt8]? {
        switch scalar {
        case .uuid(let bytes), .data(let bytes): return bytes.count == 16 ? bytes : nil
        case .text(let text): return LiteralText.uuid(text)
        case .uri(let text):
            guard text.lowercased().hasPrefix(urn) else { return nil }
            return LiteralText.uuid(String(text.dropFirst(urn.count)))
        default: return nil
        }
    }

    private static func uri(_ scalar: DefaultValue) -> String? {
        switch scalar {
        case .uri(let text): return text
        case .uuid(let bytes): return bytes.count == 16 ? urn + LiteralText.uuidText(bytes) : nil
        case .text(let text):
            let isWhole = text.unicodeScalars.allSatisfy {
                $0.value > 0x20 && !(0x7F...0xA0).contains($0.value)
                    && !"<>\"".unicodeScalars.contains($0)
            }
            return isWhole && !text.isEmpty ? text : nil
        default: return nil
        }
    }

    private static func data(_ scalar: DefaultValue) -> [UInt8]? {
        switch scalar {
        case .data(let bytes), .uuid(let bytes): bytes
        case .text(let text): Array(text.utf8)
        default: nil
        }
    }
}
