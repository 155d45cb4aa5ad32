package import Jobs

/// A hash of 128 bits.
package struct ContentDigest128: Hashable {
    package var high: UInt64
    package var low: UInt64
}

/// The hash of one cell, with what else is asked of it.
struct CellDigest {
    var high: UInt64
    var low: UInt64
    var isNull: Bool
    /// Whether it stands in the place of a value that cannot be computed.
    var isReplaced: Bool

    @inline(__always)
    init(_ digest: ContentDigest128, isNull: Bool = false, isReplaced: Bool = false) {
        high = digest.high
        low = digest.low
        self.isNull = isNull
        self.isReplaced = isReplaced
    }
}

/// What tells columns apart: two words made of a column's or a relationship's name, the same in
/// every validation.
package struct HashSeed: Hashable, Sendable {
    let first: UInt64
    let second: UInt64

    package init(_ name: String) {
        var text = name
        (first, second) = text.withUTF8 { bytes in
            SipHash.hash(UnsafeRawBufferPointer(bytes), key: (0, 0))
        }
    }
}

/// The hash of cells and links: two 64-bit lanes that are mixed by full-width products, eight
/// bytes a step, as wyhash does in one lane.
///
/// Both lanes begin with words that a pseudorandom function makes of the row under the
/// validation's secret key, and every product has a secret factor on both sides. Sums over rows
/// differ where one cell does: no other row's hash tells anything of that one's.
enum ContentHash {
    private static let golden: UInt64 = 0x9E37_79B9_7F4A_7C15
    // Arbitrary odd words; they keep the two results of `finish` apart.
    private static let odd: (UInt64, UInt64, UInt64, UInt64) = (
        0xA076_1D64_78BD_642F, 0x8EBC_6AF0_9C88_C6E3, 0x1D8E_4E27_C47D_124F,
        0xEB44_ACCA_B455_D165
    )

    /// Both halves of the product, folded into one word.
    @inline(__always)
    static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }

    /// One step over two words.
    @inline(__always)
    static func mix(
        _ a: inout UInt64, _ b: inout UInt64, _ row: RowKey, _ first: UInt64, _ second: UInt64
    ) {
        let (before, other) = (a, b)
        a = fold(first ^ row.left, second ^ before)
        b = fold(second ^ row.right, first ^ other)
    }

    /// `tag`: the storage class and the length, which tell apart what has equal bytes.
    @inline(__always)
    static func finish(_ a: UInt64, _ b: UInt64, tag: UInt64) -> ContentDigest128 {
        let spread = tag &* golden
        let (x, y) = (a &+ spread, b ^ spread)
        return ContentDigest128(
            high: fold((x << 29 | x >> 35) ^ odd.2, (y << 31 | y >> 33) ^ odd.3),
            low: fold(x ^ odd.1, y ^ odd.0))
    }

    /// The hash of a value that is one word: an integer, the bits of a real, or NULL as 0.
    @inline(__always)
    static func word(
        _ seed: HashSeed, _ row: RowKey, storageClass: Int32, _ value: UInt64
    ) -> ContentDigest128 {
        var a = row.first ^ seed.first
        var b = row.second ^ seed.second
        let kind = UInt64(truncatingIfNeeded: storageClass)
        mix(&a, &b, row, value, kind &* golden)
        return finish(a, b, tag: kind)
    }

    /// The hash of a real number; both zeros are one.
    @inline(__always)
    static func real(_ seed: HashSeed, _ row: RowKey, _ value: Double) -> ContentDigest128 {
        word(seed, row, storageClass: 2, value == 0 ? 0 : value.bitPattern)
    }

    /// The hash of a text or a blob.
    @inline(__always)
    static func bytes(
        _ seed: HashSeed, _ row: RowKey, storageClass: Int32, _ bytes: UnsafeRawBufferPointer
    ) -> ContentDigest128 {
        var a = row.first ^ seed.first
        var b = row.second ^ seed.second
        let whole = bytes.count & ~15
        var at = 0
        while at < whole {
            mix(
                &a, &b, row, bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self),
                bytes.loadUnaligned(fromByteOffset: at + 8, as: UInt64.self))
            at += 16
        }
        if whole < bytes.count {
            let (first, second) = tail(bytes, from: whole)
            mix(&a, &b, row, first, second)
        }
        let kind = UInt64(truncatingIfNeeded: storageClass)
        return finish(a, b, tag: kind | UInt64(bytes.count) << 3)
    }

    /// The hash of a link: its ends, the entity of its target, and places in lists.
    ///
    /// `row`: the key of the two ends: several links of one owner are in one sum.
    @inline(__always)
    static func link(
        _ seed: HashSeed, _ row: RowKey, entity: Int64, ownerOrder: Int64?, targetOrder: Int64?
    ) -> ContentDigest128 {
        var a = row.first ^ seed.first
        var b = row.second ^ seed.second
        mix(&a, &b, row, UInt64(bitPattern: entity), 0)
        mix(&a, &b, row, UInt64(bitPattern: ownerOrder ?? 0), UInt64(bitPattern: targetOrder ?? 0))
        let tag: UInt64 = (ownerOrder == nil ? 8 : 0) | (targetOrder == nil ? 16 : 0) | 6
        return finish(a, b, tag: tag)
    }

    /// Up to 15 bytes as two words, filled up with zeros.
    @inline(__always)
    private static func tail(
        _ bytes: UnsafeRawBufferPointer, from start: Int
    ) -> (UInt64, UInt64) {
        var words: (UInt64, UInt64) = (0, 0)
        var at = start
        if at + 8 <= bytes.count {
            words.0 = bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)
            at += 8
            words.1 = short(bytes, from: at)
        } else {
            words.0 = short(bytes, from: at)
        }
        return words
    }

    @inline(__always)
    private static func short(_ bytes: UnsafeRawBufferPointer, from start: Int) -> UInt64 {
        var word: UInt64 = 0
        var shift: UInt64 = 0
        var at = start
        while at < bytes.count {
            word |= UInt64(bytes[at]) << shift
            shift += 8
            at += 1
        }
        return word
    }
}

/// The hash of bytes that come in pieces; equal to that of the bytes in one piece.
struct StreamingHash {
    private let row: RowKey
    private var a: UInt64
    private var b: UInt64
    private var count: UInt64 = 0
    private var pending: (UInt64, UInt64) = (0, 0)

    init(_ seed: HashSeed, _ row: RowKey) {
        self.row = row
        a = row.first ^ seed.first
        b = row.second ^ seed.second
    }

    /// Takes the next bytes.
    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var at = 0
        while at < bytes.count, count & 15 != 0 {
            add(bytes[at])
            at += 1
        }
        while at + 16 <= bytes.count {
            ContentHash.mix(
                &a, &b, row, bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self),
                bytes.loadUnaligned(fromByteOffset: at + 8, as: UInt64.self))
            count += 16
            at += 16
        }
        while at < bytes.count {
            add(bytes[at])
            at += 1
        }
    }

    private mutating func add(_ byte: UInt8) {
        let place = count & 15
        if place < 8 {
            pending.0 |= UInt64(byte) << (place * 8)
        } else {
            pending.1 |= UInt64(byte) << ((place - 8) * 8)
        }
        count += 1
        if place == 15 {
            ContentHash.mix(&a, &b, row, pending.0, pending.1)
            pending = (0, 0)
        }
    }

    /// The hash of everything so far.
    func finish(storageClass: Int32) -> ContentDigest128 {
        var (left, right) = (a, b)
        if count & 15 != 0 { ContentHash.mix(&left, &right, row, pending.0, pending.1) }
        return ContentHash.finish(
            left, right, tag: UInt64(truncatingIfNeeded: storageClass) | count << 3)
    }
}

/// A sum mod 2¹²⁸ in a form that loops can keep in an array.
package struct CellSum {
    private(set) var count: Int64 = 0
    private(set) var high: UInt64 = 0
    private(set) var low: UInt64 = 0

    package init() {}

    /// Adds a hash of 128 bits.
    @inline(__always)
    package mutating func add(high addedHigh: UInt64, low addedLow: UInt64) {
        let (sum, carry) = low.addingReportingOverflow(addedLow)
        low = sum
        high = high &+ addedHigh &+ (carry ? 1 : 0)
        count &+= 1
    }

    package var content: ContentSum { ContentSum(count: count, high: high, low: low) }
}
