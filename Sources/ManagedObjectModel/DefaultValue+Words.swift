extension DefaultValue {
    /// The value in words for people: text in quotation marks, bytes by their number.
    package var words: String {
        switch self {
        case .integer(let value): "\(value)"
        case .real(let value): "\(value)"
        case .decimal(let text): text
        case .boolean(let value): value ? "YES" : "NO"
        case .text(let text), .uri(let text): Predicate.quoted(text)
        case .date(let seconds): "\(seconds) s after 2001-01-01"
        case .data(let bytes): "\(bytes.count) bytes"
        case .uuid(let bytes): Self.hexadecimal(bytes)
        }
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
