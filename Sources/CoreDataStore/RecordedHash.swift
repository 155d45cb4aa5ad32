import Crypto
package import SafeSQLite

/// The hash of one cell, which jobs record of what policies make: 128 bits that everybody can
/// compute again.
///
/// It proves that a value is the one that the policy gave, and not that it is right.
package struct RecordedHash: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    /// The hash of values in a column of an object.
    ///
    /// - Parameters:
    ///   - column: its name.
    ///   - key: of the object.
    ///   - statement: on a row.
    ///   - places: of the values in that row, in their order.
    package init(
        column: String, key: Int64, of statement: Statement, _ places: some Sequence<Int>
    ) {
        var hash = SHA256()
        hash.update(data: Array(column.utf8) + [0])
        Self.add(UInt64(bitPattern: key), to: &hash)
        for place in places {
            let kind = statement.storageClass(place)
            switch kind {
            case 1:
                Self.add(1, to: &hash)
                Self.add(UInt64(bitPattern: statement.integer(place)), to: &hash)
            case 2:
                Self.add(2, to: &hash)
                let number = statement.real(place)
                Self.add(number == 0 ? 0 : number.bitPattern, to: &hash)
            case 3, 4:
                let bytes = statement.bytes(place)
                Self.add(UInt64(kind) | UInt64(bytes.count) << 3, to: &hash)
                hash.update(bufferPointer: bytes)
            default: Self.add(5, to: &hash)
            }
        }
        var words: [UInt64] = [0, 0]
        for (place, byte) in hash.finalize().prefix(16).enumerated() {
            words[place / 8] = words[place / 8] << 8 | UInt64(byte)
        }
        (high, low) = (words[0], words[1])
    }

    private static func add(_ word: UInt64, to hash: inout SHA256) {
        withUnsafeBytes(of: word.littleEndian) { hash.update(bufferPointer: $0) }
    }
}
