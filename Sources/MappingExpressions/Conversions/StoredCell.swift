package import ManagedObjectModel

/// What a column of an attribute holds, by SQLite's storage classes; nil stands for NULL.
package enum StoredCell: Hashable, Sendable {
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    /// A value in the form that the column of an attribute has.
    ///
    /// - Parameters:
    ///   - value: of an expression or a policy.
    ///   - type: of the attribute.
    /// - Throws: `ExpressionError` for a value that the type cannot hold.
    package init(_ value: DefaultValue, as type: AttributeType) throws(ExpressionError) {
        switch (value, type) {
        case (.integer(let number), .boolean): self = .integer(number != 0 ? 1 : 0)
        case (.real(let number), .boolean): self = .integer(number != 0 ? 1 : 0)
        case (.boolean(let flag), .boolean), (.boolean(let flag), .integer16),
            (.boolean(let flag), .integer32), (.boolean(let flag), .integer64):
            self = .integer(flag ? 1 : 0)
        case (.boolean(let flag), .double), (.boolean(let flag), .float):
            self = .real(flag ? 1 : 0)
        case (.integer(let number), .double), (.integer(let number), .float):
            self = .real(Double(number))
        case (.real(let number), .integer16), (.real(let number), .integer32),
            (.real(let number), .integer64):
            guard let whole = Int64(exactly: number.rounded(.towardZero)) else {
                throw ExpressionError(.evaluation, "the number is not a 64-bit integer")
            }
            self = .integer(try Self.fitting(whole, type))
        case (.integer(let number), .integer16), (.integer(let number), .integer32),
            (.integer(let number), .integer64), (.integer(let number), .decimal):
            self = .integer(try Self.fitting(number, type))
        case (.real(let number), .double), (.real(let number), .float),
            (.real(let number), .decimal):
            guard number.isFinite else { throw ExpressionError(.evaluation, "not a finite number") }
            self = .real(number)
        case (.decimal(let text), .decimal), (.decimal(let text), .double),
            (.decimal(let text), .float):
            guard let number = Double(text), number.isFinite else {
                throw ExpressionError(.evaluation, "the decimal number is too large")
            }
            self = .real(number)
        case (.text(let text), .string), (.uri(let text), .uri): self = .text(text)
        case (.date(let seconds), .date) where seconds.isFinite: self = .real(seconds)
        case (.data(let bytes), .binary), (.data(let bytes), .transformable),
            (.uuid(let bytes), .uuid):
            self = .blob(bytes)
        default:
            throw ExpressionError(.evaluation, "the value is of another type than \(type)")
        }
    }

    /// A whole number that an attribute's type can hold.
    package static func fitting(
        _ number: Int64, _ type: AttributeType
    ) throws(ExpressionError) -> Int64 {
        guard let range = type.integerRange, !range.contains(number) else { return number }
        throw ExpressionError(.evaluation, "the number does not fit the type \(type)")
    }

    /// The value of an attribute of a type.
    package func value(_ type: AttributeType) -> DefaultValue {
        switch (self, type) {
        case (.integer(let number), .boolean): .boolean(number != 0)
        case (.real(let number), .boolean): .boolean(number != 0)
        // Every value but 0 is true, whatever a store holds.
        case (.text, .boolean), (.blob, .boolean): .boolean(true)
        case (.integer(let number), .double), (.integer(let number), .float): .real(Double(number))
        case (.integer(let number), .date): .date(Double(number))
        case (.integer(let number), .decimal): .decimal(String(number))
        case (.integer(let number), _): .integer(number)
        case (.real(let number), .date): .date(number)
        case (.real(let number), .decimal): .decimal("\(number)")
        case (.real(let number), _): .real(number)
        case (.text(let text), .uri): .uri(text)
        case (.text(let text), _): .text(text)
        case (.blob(let bytes), .uuid): .uuid(bytes)
        case (.blob(let bytes), _): .data(bytes)
        }
    }

    /// Bytes of hexadecimal digits; nil for other characters.
    package static func bytes(_ digits: ArraySlice<UInt8>) -> [UInt8]? {
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        var high: UInt8?
        for digit in digits {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = digit - UInt8(ascii: "A") + 10
            default: return nil
            }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return bytes
    }
}
