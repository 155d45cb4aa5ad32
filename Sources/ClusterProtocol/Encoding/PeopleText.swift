/// Text for people, which goes to logs and terminals: bounded, and without control characters
/// but line breaks and tabs.
enum PeopleText {
    /// The text as it may be sent: cut at a character, control characters replaced.
    static func cleaned(_ text: String) -> String {
        if isClean(text) { return text }
        var result = ""
        var bytes = 0
        for scalar in text.unicodeScalars {
            let kept = isControl(scalar) ? "\u{FFFD}" : scalar
            bytes += UTF8.width(kept)
            if bytes > MessageLimits.textBytes { break }
            result.unicodeScalars.append(kept)
        }
        return result
    }

    /// Whether the text may be sent as it is.
    static func isClean(_ text: String) -> Bool {
        text.utf8.count <= MessageLimits.textBytes
            && !text.unicodeScalars.contains(where: isControl)
    }

    /// C0 but line breaks and tabs, DEL, and C1: terminals take orders in them.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A: false
        case 0..<0x20, 0x7F..<0xA0: true
        default: false
        }
    }
}
