/// A text of a program: an input or a constant, perhaps in other letters.
///
/// It names bytes and does not hold them, so that programs keep no count of references.
package struct PlainText: Equatable, Sendable {
    /// What becomes of letters.
    enum Letters: Equatable, Sendable {
        case asTheyAre, upper, lower
    }

    enum Origin: Equatable, Sendable {
        case input(Int)
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
    package init?(input: Int, _ bytes: UnsafeRawBufferPointer) {
        origin = .input(input)
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
    /// - Complexity: O(n), eight bytes at a time.
    static func isPlain(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let words = bytes.count / 8
        for word in 0..<words {
            let value = bytes.loadUnaligned(fromByteOffset: word * 8, as: UInt64.self)
            // A byte of 0, or one with its highest bit.
            guard (value &- 0x0101_0101_0101_0101 | value) & 0x8080_8080_8080_8080 == 0 else {
                return false
            }
        }
        return bytes[(words * 8)...].allSatisfy { $0 != 0 && $0 < 0x80 }
    }
}
