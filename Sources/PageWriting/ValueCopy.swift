/// A column whose values are copied, and which of them need no look at its step: the column takes
/// their bytes as they are.
struct ValueCopy {
    let column: Int
    /// The column that is read.
    let place: Int
    /// Bits by kinds of serial types: those of numbers and NULL, then texts, then blobs.
    private let plain: UInt16
    /// Whether reals are copied if they are not whole.
    private let takesBroken: Bool

    /// Nil for a column that is not copied.
    init?(_ column: RecordProgram.Column, column number: Int) {
        guard case .copy(let field, let other) = column.step else { return nil }
        self.column = number
        place = field.place
        let affinity = column.affinity
        var bits: UInt16 = 1 << Self.blob
        if other == nil { bits |= 1 }
        if affinity == .text || affinity == .blob { bits |= 1 << Self.text }
        if affinity == .blob { bits |= 1 << 7 }
        let isIntegerReal = field.isReal && affinity == .blob
        if affinity != .text, !isIntegerReal {
            bits |= 0b11_0011_1110
            // A long integer in a column of reals is a real to SQLite.
            if affinity != .real, !field.isReal { bits |= 1 << 6 }
        }
        plain = bits
        takesBroken = affinity != .text && affinity != .blob
    }

    private static let text = 10
    private static let blob = 11

    /// Whether a value is copied byte by byte.
    @inline(__always)
    func isPlain(_ type: UInt64, _ value: UnsafePointer<UInt8>?) -> Bool {
        let kind = type < 10 ? Int(type) : (type & 1 == 1 ? Self.text : Self.blob)
        if plain >> UInt16(kind) & 1 == 1 { return true }
        guard type == 7, takesBroken, let value else { return false }
        let real = RecordBytes.real(value)
        return real.rounded(.towardZero) != real
    }
}
