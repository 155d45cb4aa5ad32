/// Texts of stores as strings, from which the same bytes come back.
///
/// A text may hold what is no UTF-8. A string that repaired it would be another text: where an
/// expression carries it, its bytes are meant. Each byte that belongs to no character stands there
/// as a scalar of its own, of the area for private use; so do the bytes of those scalars, which
/// therefore count as three characters each.
package enum StoredText {
    /// The scalar of byte 0.
    private static let base: UInt32 = 0xF700
    private static let scalars: ClosedRange<UInt32> = base + 0x80...base + 0xFF

    /// Whether a text has a scalar that stands for a byte: `EF 9E 80` to `EF 9F BF`.
    private static func hasStandIns(_ bytes: some Sequence<UInt8>) -> Bool {
        var last: UInt8 = 0
        for byte in bytes {
            if last == 0xEF, byte == 0x9E || byte == 0x9F { return true }
            last = byte
        }
        return false
    }

    /// Reads a text.
    ///
    /// - Parameter bytes: of a text in a store.
    /// - Returns: the string that stands for the bytes.
    /// - Complexity: O(length).
    package static func string(_ bytes: some Collection<UInt8>) -> String {
        if !hasStandIns(bytes), let text = String(validating: bytes, as: UTF8.self) {
            return text
        }
        let bytes = Array(bytes)
        var result = String.UnicodeScalarView()
        var place = 0
        while place < bytes.count {
            let length = min(length(bytes[place]), bytes.count - place)
            let text = String(validating: bytes[place..<place + length], as: UTF8.self)
            if let scalar = text?.unicodeScalars.first, !scalars.contains(scalar.value) {
                result.append(scalar)
                place += length
            } else {
                // Only bytes beyond ASCII come here.
                Unicode.Scalar(base + UInt32(bytes[place])).map { result.append($0) }
                place += 1
            }
        }
        return String(result)
    }

    /// The bytes that a character with that first byte has; 1 for what begins none.
    private static func length(_ first: UInt8) -> Int {
        switch first {
        case 0xC2...0xDF: 2
        case 0xE0...0xEF: 3
        case 0xF0...0xF4: 4
        default: 1
        }
    }

    /// Writes a text.
    ///
    /// - Parameter text: that `string` gave, or a function made of such texts.
    /// - Returns: UTF-8, but for bytes that belonged to no character, which come back.
    /// - Complexity: O(length).
    package static func bytes(_ text: String) -> [UInt8] {
        guard hasStandIns(text.utf8) else { return Array(text.utf8) }
        return text.unicodeScalars.flatMap { scalar -> [UInt8] in
            scalars.contains(scalar.value)
                ? [UInt8(scalar.value - base)] : Array(String(scalar).utf8)
        }
    }

    /// A constant of an expression, as texts of stores are read: both must compare alike.
    ///
    /// - Complexity: O(length).
    package static func string(_ constant: String) -> String {
        hasStandIns(constant.utf8) ? string(Array(constant.utf8)) : constant
    }
}
