// Paths as text that can be shown in one line and read back to the same bytes: what is UTF-8
// and printable stays, a backslash is doubled, everything else becomes \xNN.

extension FilePath: CustomStringConvertible {
    /// The path in one printable line; `FilePath(escaped:)` reads it back.
    package var description: String {
        // Most paths need no escape.
        let isPlain = bytes.allSatisfy { (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "\\") }
        if isPlain { return String(decoding: bytes, as: UTF8.self) }
        var text = ""
        var rest = bytes[...]
        while !rest.isEmpty {
            let length = FilePath.scalarLength(rest)
            let piece = rest.prefix(max(length, 1))
            if length > 0, let decoded = String(validating: piece, as: UTF8.self) {
                text += decoded == "\\" ? "\\\\" : decoded
            } else {
                for byte in piece { text += FilePath.escape(byte) }
            }
            rest = rest.dropFirst(piece.count)
        }
        return text
    }

    /// Reads what `description` wrote; nil where a backslash starts nothing known.
    package init?(escaped text: String) {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "\\"): bytes.append(byte)
            case UInt8(ascii: "x"):
                guard let high = rest.popFirst(), let low = rest.popFirst(),
                    let upper = FilePath.digit(high), let lower = FilePath.digit(low)
                else { return nil }
                bytes.append(upper << 4 | lower)
            default: return nil
            }
        }
        self.init(bytes: bytes)
    }

    /// The bytes of the printable scalar at the start; 0 where there is none.
    private static func scalarLength(_ bytes: ArraySlice<UInt8>) -> Int {
        guard let first = bytes.first else { return 0 }
        let length =
            switch first {
            case 0x20..<0x7F: 1
            case 0xC2...0xDF: 2
            case 0xE0...0xEF: 3
            case 0xF0...0xF4: 4
            default: 0
            }
        let piece = bytes.prefix(length)
        guard length > 0, piece.count == length,
            let text = String(validating: piece, as: UTF8.self),
            let scalar = text.unicodeScalars.first
        else { return 0 }
        // Controls, and marks that reorder or hide text, would forge what a log line says.
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
            return 0
        default: return length
        }
    }

    private static func escape(_ byte: UInt8) -> String {
        let digits = Array("0123456789abcdef")
        return "\\x\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

extension FilePath: Codable {
    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let path = FilePath(escaped: text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not an escaped path"))
        }
        self = path
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
