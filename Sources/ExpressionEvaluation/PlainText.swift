/// A text of a program: an input, a constant, joined texts, a date or a number, perhaps in other
/// letters.
///
/// It names bytes and does not hold them, so that programs keep no count of references: the text of
/// an input is valid for as long as the row, and a joined one within the call of the program.
/// Programs keep constants alone, which name no memory.
package struct PlainText: Equatable, @unchecked Sendable {
    /// What becomes of letters.
    enum Letters: Equatable, Sendable {
        case asTheyAre, upper, lower
    }

    enum Origin: Equatable {
        case input(UnsafeRawPointer?, count: Int)
        /// A range of the bytes of all constants.
        case constant(start: Int, count: Int)
        /// A range of the bytes of joined texts.
        case joined(start: Int, count: Int)
        /// A date, by a format of the program: its bytes are not there yet, as those of a number.
        case date(Double, format: Int)
        case integer(Int64)
        case real(Double)
    }

    let origin: Origin
    /// Whether each byte is a character; what is done with others is limited.
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

    /// A number, as `DefaultValue.stringValue` writes it; nil for what is no finite number.
    init?(number: PlainValue) {
        switch number {
        case .integer(let value): origin = .integer(value)
        case .boolean(let flag): origin = .integer(flag ? 1 : 0)
        case .real(let value) where value.isFinite: origin = .real(value)
        case .real, .null, .date, .text: return nil
        }
        isASCII = false
    }

    /// Joined bytes.
    init(joined start: Int, _ bytes: Slice<UnsafeRawBufferPointer>) {
        origin = .joined(start: start, count: bytes.count)
        isASCII = Self.isPlain(UnsafeRawBufferPointer(rebasing: bytes))
    }

    /// Whether the bytes stand somewhere.
    var stands: Bool {
        switch origin {
        case .input, .constant, .joined: true
        case .date, .integer, .real: false
        }
    }

    /// Whether the bytes can be looked at: bytes that are no UTF-8 may have become a character
    /// where they were joined, which they are not.
    var hasBytes: Bool {
        if case .joined = origin { isASCII } else { stands }
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
