package import ManagedObjectModel

extension DefaultValue {
    /// The text of the value, as `stringValue` of its class gives it; nil for dates and bytes.
    ///
    /// Whole real numbers have no fraction in their text, as `NSNumber` gives it.
    package var stringValue: String? {
        switch self {
        case .text(let text), .uri(let text): text
        case .integer(let value): "\(value)"
        case .boolean(let value): value ? "1" : "0"
        case .real(let value):
            if let whole = Int64(exactly: value), whole.magnitude < 1 << 53 {
                "\(whole)"
            } else {
                "\(value)"
            }
        case .decimal(let text): DecimalNumber(text)?.text
        case .uuid(let bytes): LiteralText.uuidText(bytes)
        case .date, .data: nil
        }
    }

    /// What messages call a value of this kind.
    package var kindName: String {
        switch self {
        case .integer, .real, .decimal: "a number"
        case .boolean: "a boolean"
        case .text: "a text"
        case .date: "a date"
        case .data: "bytes"
        case .uuid: "a UUID"
        case .uri: "a URI"
        }
    }
}
