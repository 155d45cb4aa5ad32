import Foundation

/// Texts for terminals and files, in which names come from files of strangers.
package enum PrintedText {
    /// A value as JSON with sorted keys, in which nothing steers a terminal.
    ///
    /// - Throws: `EncodingError` for a value that JSON cannot hold.
    package static func json(_ value: some Encodable, isPretty: Bool = true) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
        return escaped(String(decoding: try encoder.encode(value), as: UTF8.self))
    }

    /// JSON in which signs that steer a terminal, or the direction of text, are escaped: names in a
    /// store may hold any.
    private static func escaped(_ json: String) -> String {
        guard json.unicodeScalars.contains(where: { isHidden($0) }) else { return json }
        var result = ""
        for scalar in json.unicodeScalars {
            guard isHidden(scalar) else {
                result.unicodeScalars.append(scalar)
                continue
            }
            for unit in Unicode.UTF16.encode(scalar) ?? Unicode.UTF16.encodedReplacementCharacter {
                let digits = String(unit, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return result
    }

    /// A name in one line, a long one cut.
    package static func line(_ name: String) -> String {
        let cut = name.count > nameLimit ? name.prefix(nameLimit) + "…" : name
        return visible(cut).replacing("\n", with: "\\n")
    }

    /// The most characters of a name.
    private static let nameLimit = 300

    /// The text with everything that is neither printable nor a line break escaped.
    package static func visible(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { isHidden($0) }) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if isHidden(scalar) {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        if scalar == "\n" || (0x20..<0x7F).contains(scalar.value) { return false }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate:
            return true
        default: return false
        }
    }
}
