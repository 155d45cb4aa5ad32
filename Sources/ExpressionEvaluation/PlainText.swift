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

/// The bytes of a text, with what becomes of its letters.
struct PlainBytes {
    let bytes: UnsafeRawBufferPointer
    let letters: PlainText.Letters

    var count: Int { bytes.count }

    @inline(__always)
    func byte(_ place: Int, foldsCase: Bool) -> UInt8 {
        Self.changed(bytes[place], foldsCase ? .lower : letters)
    }

    @inline(__always)
    static func changed(_ byte: UInt8, _ letters: PlainText.Letters) -> UInt8 {
        switch letters {
        case .asTheyAre: byte
        case .upper: (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte & 0xDF : byte
        case .lower: (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
        }
    }

    /// Whether the bytes up to a place and the one there are ASCII, or the text ends before.
    ///
    /// Then no mark of a letter continues what stands before the place.
    func isASCII(through place: Int) -> Bool {
        bytes.prefix(place + 1).allSatisfy { $0 < 0x80 }
    }

    /// Whether another text stands at a place.
    func has(_ part: PlainBytes, at place: Int, foldsCase: Bool) -> Bool {
        guard place >= 0, part.count <= count - place else { return false }
        for index in 0..<part.count
        where byte(place + index, foldsCase: foldsCase) != part.byte(index, foldsCase: foldsCase) {
            return false
        }
        return true
    }

    /// Whether the text is before another one, by its bytes.
    func isLess(than other: PlainBytes, foldsCase: Bool) -> Bool {
        for index in 0..<min(count, other.count) {
            let (own, theirs) = (
                byte(index, foldsCase: foldsCase), other.byte(index, foldsCase: foldsCase)
            )
            if own != theirs { return own < theirs }
        }
        return count < other.count
    }
}
