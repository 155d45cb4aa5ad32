package import ManagedObjectModel

/// Pieces of SQL text.
package enum SQLText {
    /// A name in double quotes, safe for any name.
    package static func quoted(_ name: String) -> String {
        // Hardly any name has one, and looking at bytes is many times cheaper than replacing.
        guard name.utf8.contains(UInt8(ascii: "\"")) else { return "\"\(name)\"" }
        return "\"" + name.replacing("\"", with: "\"\"") + "\""
    }

    /// A text in single quotes.
    package static func text(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "'")) else { return "'\(text)'" }
        return "'" + text.replacing("'", with: "''") + "'"
    }

    /// Bytes as a blob literal.
    package static func blob(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = Array("X'".utf8)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        text.append(UInt8(ascii: "'"))
        return String(decoding: text, as: UTF8.self)
    }

    /// A default value as SQL writes it into a column: booleans as 0 and 1, dates as seconds
    /// since 2001, UUIDs as 16 bytes (format page §4.2); nil for a value that is no number.
    package static func literal(_ value: DefaultValue) -> String? {
        switch value {
        case .integer(let number): return "\(number)"
        case .real(let number), .date(let number): return real(number)
        case .decimal(let text): return Double(text).flatMap(real)
        case .boolean(let flag): return flag ? "1" : "0"
        case .text(let text), .uri(let text): return self.text(text)
        case .data(let bytes), .uuid(let bytes): return blob(bytes)
        }
    }

    private static func real(_ number: Double) -> String? {
        guard number.isFinite else { return nil }
        // A Double's shortest text reads back as the same number; SQLite takes it as REAL only
        // with a point or an exponent.
        let text = "\(number)"
        return text.contains(where: { ".eE".contains($0) }) ? text : text + ".0"
    }
}
