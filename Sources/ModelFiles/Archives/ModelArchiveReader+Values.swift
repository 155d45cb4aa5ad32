import ManagedObjectModel

/// Default values.
extension ModelArchiveReader {
    /// A default value in the kind that the attribute's type asks for.
    ///
    /// Archives hold 0 and 1 for most booleans; a whole number may stand for a real. The value of a
    /// class of the app's own is nil, as it is not known what it becomes.
    mutating func defaultValue(
        _ value: PropertyList, type: AttributeType, place: String
    ) throws(ModelError) -> DefaultValue? {
        guard let constant = try archive.constant(value) else { return nil }
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
}
