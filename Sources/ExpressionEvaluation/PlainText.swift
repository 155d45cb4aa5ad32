/// A text of a program: an input or a constant, perhaps in other letters.
///
/// It names bytes and does not hold them, so that programs keep no count of references: the text of
/// an input is valid for as long as the row. Programs keep constants alone, which name no memory.
package struct PlainText: Equatable, @unchecked Sendable {
    /// What becomes of letters.
    enum Letters: Equatable, Sendable {
        case asTheyAre, upper, lower
    }

    enum Origin: Equatable {
        case input(UnsafeRawPointer?, count: Int)
        /// A range of the bytes of all constants.
        case constant(start: Int, count: Int)
        /// A date, by a format of the program: its bytes are not there yet.
        case date(Double, format: Int)
    }

    let origin: Origin
    /// Whether each byte is a character; others are carried, and little else.
    let isASCII: Bool
    var letters = Letters.asTheyAre

    /// The text of an input; nil where it has a NUL, which an evaluator sees as any character.
    package init?(input bytes: UnsafeRawBufferPointer) {
        origin = .input(bytes.baseAddress, count: bytes.count)
        isASCII = Self.isPlain(bytes)
        guard isASCII || !bytes.contains(0) else { return nil }
    }

    /// A date in a format; nil for one that no calendar may have.
    init?(date seconds: Double, format: Int) {
        // Years 2 to 9998, in which every clock of the world stands in the years 1 to 9999.
        guard seconds >= -63_050_000_000, seconds <= 252_370_000_000 else { return nil }
        origin = .date(seconds, format: format)
        // Nothing is known of the bytes.
        isASCII = false
    }

    /// Whether the bytes can be looked at.
    var hasBytes: Bool {
        if case .date = origin { false } else { true }
    }

    init(start: Int, count: Int) {
        origin = .constant(start: start, count: count)
        isASCII = true
    }

    /// Whether bytes are plain: each an ASCII character, and none a NUL, at which functions of
    /// SQLite end.
    ///
    /// - Complexity: O(n), 32 bytes at a time.
    static func isPlain(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress else { return true }
        // Has a bit of 0x80 for a byte of 0, and for one with its highest bit. What a byte of 0
        // borrows can hide nothing: its own bit is set.
        let marks = { (place: Int) in
            let value = start.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            return value &- 0x0101_0101_0101_0101 | value
        }
        var place = 0
        while place + 32 <= bytes.count {
            let found = marks(place) | marks(place + 8) | marks(place + 16) | marks(place + 24)
            guard found & 0x8080_8080_8080_8080 == 0 else { return false }
            place += 32
        }
        while place + 8 <= bytes.count {
            guard marks(place) & 0x8080_8080_8080_8080 == 0 else { return false }
            place += 8
        }
        return bytes[place...].allSatisfy { $0 != 0 && $0 < 0x80 }
    }
}
