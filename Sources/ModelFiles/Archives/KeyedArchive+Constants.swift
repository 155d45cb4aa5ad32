package import ManagedObjectModel

/// Constants: numbers, texts, dates and the like.
extension KeyedArchive {
    /// A value by what it is in the archive; nil for an unknown class.
    ///
    /// - Throws: `ModelError.malformed` for a broken value of a known class.
    package mutating func constant(_ value: PropertyList) throws(ModelError) -> DefaultValue? {
        switch value {
        case .boolean(let flag): return .boolean(flag)
        case .integer:
            guard let number = value.integer64 else {
                throw .malformed("the archive has a number beyond 64 bits")
            }
            return .integer(number)
        case .real(let number): return .real(number)
        case .shortReal(let number): return .real(Double(number))
        case .date(let seconds): return .date(seconds)
        default: break
        }
        if let text = try textOrNil(value) { return .text(text) }
        if let bytes = try dataOrNil(value) { return .data(bytes) }
        guard let object = try objectOrNil(value) else { return nil }
        switch object.className {
        case "NSDate":
            guard let time = try self.value(object["NS.time"]) else { return nil }
            switch time {
            case .real(let seconds): return .date(seconds)
            case .shortReal(let seconds): return .date(Double(seconds))
            case .integer(let seconds): return .date(Double(seconds))
            default: return nil
            }
        case "NSUUID":
            guard let bytes = try self.value(object["NS.uuidbytes"])?.bytes,
                bytes.count == 16
            else { throw .malformed("the archive has a UUID that is not 16 bytes long") }
            return .uuid(bytes)
        case "NSURL":
            return try text(object["NS.relative"]).map { .uri($0) }
        case "NSDecimalNumber":
            return .decimal(try decimal(object))
        default:
            return nil
        }
    }

    private func decimal(_ object: ArchivedObject) throws(ModelError) -> String {
        guard let exponent = try integer(object["NS.exponent"]),
            let length = try integer(object["NS.length"]),
            let mantissa = try value(object["NS.mantissa"])?.bytes,
            mantissa.count == 16, (0...8).contains(length), (-128...127).contains(exponent)
        else { throw .malformed("the archive has a broken decimal number") }
        let isBigEndian = try integer(object["NS.mantissa.bo"]) == 2
        let isNegative = try flag(object["NS.negative"])
        var digits: UInt128 = 0
        for word in (0..<Int(length)).reversed() {
            let (first, second) = (UInt128(mantissa[2 * word]), UInt128(mantissa[2 * word + 1]))
            digits = digits << 16 | (isBigEndian ? first << 8 | second : second << 8 | first)
        }
        let number = DecimalNumber(
            isNegative: isNegative, digits: digits, exponent: Int(exponent))
        return number.text
    }
}
