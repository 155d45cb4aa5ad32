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
        var builder = Builder(column: column, key: key)
        builder.add(statement, places)
        self = builder.finish()
    }

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

extension RecordedHash {
    /// Makes the hash of values that stand in several rows.
    package struct Builder {
        private var hash = SHA256()

        /// - Parameters:
        ///   - column: the name of the column.
        ///   - key: of the object.
        package init(column: String, key: Int64) {
            hash.update(data: Array(column.utf8) + [0])
            add(UInt64(bitPattern: key))
        }

        /// Adds values.
        ///
        /// - Parameters:
        ///   - statement: on a row.
        ///   - places: of the values in that row, in their order.
        package mutating func add(_ statement: Statement, _ places: some Sequence<Int>) {
            for place in places {
                let kind = statement.storageClass(place)
                switch kind {
                case 1:
                    add(1)
                    add(UInt64(bitPattern: statement.integer(place)))
                case 2:
                    add(2)
                    let number = statement.real(place)
                    add(number == 0 ? 0 : number.bitPattern)
                case 3, 4:
                    let bytes = statement.bytes(place)
                    add(UInt64(kind) | UInt64(bytes.count) << 3)
                    hash.update(bufferPointer: bytes)
                default: add(5)
                }
            }
        }

        private mutating func add(_ word: UInt64) {
            withUnsafeBytes(of: word.littleEndian) { hash.update(bufferPointer: $0) }
        }

        /// The hash of all that was added.
        package func finish() -> RecordedHash {
            var words: [UInt64] = [0, 0]
            for (place, byte) in hash.finalize().prefix(16).enumerated() {
                words[place / 8] = words[place / 8] << 8 | UInt64(byte)
            }
            return RecordedHash(high: words[0], low: words[1])
        }
    }
}
