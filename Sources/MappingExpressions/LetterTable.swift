/// What changes of letters make of texts in UTF-8, as `String.uppercased()` and `lowercased()` do.
///
/// The library looks every scalar up in its data. Here a table holds what becomes of the scalars of
/// two bytes; scripts without cases are copied, and other texts are left to the library.
package struct LetterTable: Sendable {
    /// As `String.uppercased()`.
    package static let upper = LetterTable { $0.properties.uppercaseMapping }
    /// As `String.lowercased()`.
    package static let lower = LetterTable { $0.properties.lowercaseMapping }

    /// The most bytes of a text; for others the library's function must do.
    private static let longest = 1 << 16

    /// By scalars: up to 7 bytes, the first one lowest, their number highest.
    private let changed: [UInt64]

    private init(_ change: (Unicode.Scalar) -> String) {
        changed = (0..<0x800).compactMap { Unicode.Scalar($0) }.map { scalar in
            let bytes = Array(change(scalar).utf8)
            let packed = bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return packed | UInt64(bytes.count) << 56
        }
    }

    /// Hands the changed text to a body; false for a text that has other scalars with letters,
    /// that is no UTF-8, or that is too long.
    ///
    /// - Complexity: O(n).
    package func change(
        _ text: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void
    ) -> Bool {
        guard text.count <= Self.longest else { return false }
        // No scalar of two bytes becomes more than six (tested for all of them).
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 3 * text.count) { buffer in
            var count = 0
            guard change(text, to: buffer, &count) else { return false }
            body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]))
            return true
        }
    }

    private func change(
        _ text: UnsafeRawBufferPointer, to buffer: UnsafeMutableBufferPointer<UInt8>,
        _ count: inout Int
    ) -> Bool {
        changed.withUnsafeBufferPointer { changed in
            var place = 0
            while place < text.count {
                let byte = text[place]
                switch byte {
                case 0..<0x80:
                    buffer[count] = UInt8(truncatingIfNeeded: changed[Int(byte)])
                    count += 1
                    place += 1
                case 0xC2...0xDF:
                    guard place + 1 < text.count, text[place + 1] & 0xC0 == 0x80 else {
                        return false
                    }
                    let scalar = Int(byte & 0x1F) << 6 | Int(text[place + 1] & 0x3F)
                    var bytes = changed[scalar]
                    for _ in 0..<Int(bytes >> 56) {
                        buffer[count] = UInt8(truncatingIfNeeded: bytes)
                        bytes >>= 8
                        count += 1
                    }
                    place += 2
                default:
                    guard let width = Self.caseless(text, at: place) else { return false }
                    for byte in text[place..<place + width] {
                        buffer[count] = byte
                        count += 1
                    }
                    place += width
                }
            }
            return true
        }
    }

    /// The number of bytes of a scalar of three or four that has no case: signs, the scripts of
    /// Asia, emoji, and all beyond the second plane; nil for another one.
    private static func caseless(_ text: UnsafeRawBufferPointer, at place: Int) -> Int? {
        let count = text[place] & 0xF0 == 0xE0 ? 3 : 4
        guard place + count <= text.count,
            text[(place + 1)..<(place + count)].allSatisfy({ $0 & 0xC0 == 0x80 })
        else { return nil }
        var scalar = UInt32(text[place] & (count == 3 ? 0x0F : 0x07))
        for byte in text[(place + 1)..<(place + count)] {
            scalar = scalar << 6 | UInt32(byte & 0x3F)
        }
        switch (text[place], scalar) {
        case (0xE0...0xEF, 0x0900..<0x1000), (0xE0...0xEF, 0x2000..<0x2100),
            (0xE0...0xEF, 0x2200..<0x2400), (0xE0...0xEF, 0x2500..<0x2C00),
            (0xE0...0xEF, 0x3000..<0xA000), (0xE0...0xEF, 0xAC00..<0xD7A0),
            (0xE0...0xEF, 0xFB1D..<0xFF21), (0xE0...0xEF, 0xFFE0...0xFFFF),
            (0xF0, 0x1F000..<0x1FB00), (0xF0...0xF4, 0x20000...0x10_FFFF):
            return count
        default: return nil
        }
    }
}
