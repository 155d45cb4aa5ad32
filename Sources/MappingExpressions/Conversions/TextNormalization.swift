import Foundation

/// Texts in other forms, by Unicode alone.
package enum TextNormalization {
    /// A text after some steps; nil where one of them leaves no value.
    ///
    /// - Complexity: O(n × steps).
    package static func result(of steps: [TextStep], _ text: String) -> String? {
        var text = text
        for step in steps {
            switch step {
            case .trim: text = trimmed(text)
            case .collapse: text = collapsed(text)
            case .nfc: text = text.precomposedStringWithCanonicalMapping
            case .nfd: text = text.decomposedStringWithCanonicalMapping
            case .lowercase: text = text.lowercased()
            case .uppercase: text = text.uppercased()
            case .empty: if text.isEmpty { return nil }
            }
        }
        return text
    }

    private static func trimmed(_ text: String) -> String {
        let isSpace = { (scalar: Unicode.Scalar) in scalar.properties.isWhitespace }
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !isSpace($0) }),
            let last = scalars.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return String(scalars[first...last])
    }

    private static func collapsed(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var isSpace = false
        for scalar in text.unicodeScalars {
            let wasSpace = isSpace
            isSpace = scalar.properties.isWhitespace
            if !isSpace { result.append(scalar) } else if !wasSpace { result.append(" ") }
        }
        return String(result)
    }
}
