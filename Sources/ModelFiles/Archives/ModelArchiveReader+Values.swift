import ManagedObjectModel

/// Default values and constants of predicates.
extension ModelArchiveReader {
    /// A default value in the kind that the attribute's type asks for.
    ///
    /// Archives hold 0 and 1 for most booleans; a whole number may stand for a real. The value of a
    /// class of the app's own is nil, as it is not known what it becomes.
    mutating func defaultValue(
        _ value: PropertyList, type: AttributeType, place: String
    ) throws(ModelError) -> DefaultValue? {
        guard let constant = try constant(value) else { return nil }
        switch (type, constant) {
        case (.boolean, .integer(let number)):
            return .boolean(number != 0)
        case (.integer16, .boolean(let flag)), (.integer32, .boolean(let flag)),
            (.integer64, .boolean(let flag)):
            return .integer(flag ? 1 : 0)
        case (.integer16, .real(let number)), (.integer32, .real(let number)),
            (.integer64, .real(let number)):
            return Int64(exactly: number).map { .integer($0) } ?? constant
        case (.double, .integer(let number)), (.float, .integer(let number)):
            return .real(Double(number))
        case (.decimal, .integer(let number)):
            return .decimal(String(number))
        case (.decimal, .real(let number)) where number.isFinite:
            return .decimal(DecimalNumber.plain("\(number)") ?? "\(number)")
        case (.date, .real(let seconds)):
            return .date(seconds)
        case (.date, .integer(let seconds)):
            return .date(Double(seconds))
        case (.uri, .text(let text)):
            return .uri(text)
        default:
            return constant
        }
    }

    /// A value by what it is in the archive; nil for an unknown class.
    ///
    /// - Throws: `ModelError.malformed` for a broken value of a known class.
    mutating func constant(_ value: PropertyList) throws(ModelError) -> DefaultValue? {
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
        if let text = try archive.textOrNil(value) { return .text(text) }
        if let bytes = try archive.dataOrNil(value) { return .data(bytes) }
        guard let object = try archive.objectOrNil(value) else { return nil }
        switch object.className {
        case "NSDate":
            guard let time = try archive.value(object["NS.time"]) else { return nil }
            switch time {
            case .real(let seconds): return .date(seconds)
            case .shortReal(let seconds): return .date(Double(seconds))
            case .integer(let seconds): return .date(Double(seconds))
            default: return nil
            }
        case "NSUUID":
            guard let bytes = try archive.value(object["NS.uuidbytes"])?.bytes,
                bytes.count == 16
            else { throw .malformed("the archive has a UUID that is not 16 bytes long") }
            return .uuid(bytes)
        case "NSURL":
            return try archive.text(object["NS.relative"]).map { .uri($0) }
        case "NSDecimalNumber":
            return .decimal(try decimal(object))
        default:
            return nil
        }
    }

    private func decimal(_ object: ArchivedObject) throws(ModelError) -> String {
        guard let exponent = try archive.integer(object["NS.exponent"]),
            let length = try archive.integer(object["NS.length"]),
            let mantissa = try archive.value(object["NS.mantissa"])?.bytes,
            mantissa.count == 16, (0...8).contains(length), (-128...127).contains(exponent)
        else { throw .malformed("the archive has a broken decimal number") }
        let isBigEndian = try archive.integer(object["NS.mantissa.bo"]) == 2
        let isNegative = try archive.flag(object["NS.negative"])
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
