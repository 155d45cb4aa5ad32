/// SipHash-2-4 with 128 bits: a pseudorandom function of words under a key (Aumasson and
/// Bernstein, 2012).
///
/// It is the only hash here that an attacker is assumed to know and to be unable to predict
/// without the key. No package that is pinned offers one whose key the caller chooses.
struct SipHash: Sendable {
    private var first: UInt64
    private var second: UInt64
    private var third: UInt64
    private var fourth: UInt64

    @inline(__always)
    init(_ key: (UInt64, UInt64)) {
        first = 0x736F_6D65_7073_6575 ^ key.0
        // 0xEE: for results of 128 bits.
        second = 0x646F_7261_6E64_6F6D ^ key.1 ^ 0xEE
        third = 0x6C79_6765_6E65_7261 ^ key.0
        fourth = 0x7465_6462_7974_6573 ^ key.1
    }

    /// Takes the next eight bytes.
    @inline(__always)
    mutating func add(_ word: UInt64) {
        fourth ^= word
        rounds(2)
        first ^= word
    }

    /// Takes the whole words of some bytes.
    ///
    /// - Returns: up to seven bytes that do not fill a word.
    mutating func add(words bytes: UnsafeRawBufferPointer) -> UInt64 {
        let whole = bytes.count & ~7
        for at in stride(from: 0, to: whole, by: 8) {
            add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)))
        }
        var rest: UInt64 = 0
        for at in whole..<bytes.count { rest |= UInt64(bytes[at]) << UInt64((at - whole) * 8) }
        return rest
    }

    /// The hash of what was added.
    ///
    /// - Parameter last: the bytes that did not fill a word, and above them the length of all
    ///   bytes mod 256.
    /// - Returns: the two halves of the hash.
    @inline(__always)
    mutating func finish(last: UInt64) -> (UInt64, UInt64) {
        add(last)
        third ^= 0xEE
        rounds(4)
        let left = first ^ second ^ third ^ fourth
        second ^= 0xDD
        rounds(4)
        return (left, first ^ second ^ third ^ fourth)
    }

    @inline(__always)
    private mutating func rounds(_ count: Int) {
        for _ in 0..<count {
            first &+= second
            second = SipHash.rotated(second, 13) ^ first
            first = SipHash.rotated(first, 32)
            third &+= fourth
            fourth = SipHash.rotated(fourth, 16) ^ third
            first &+= fourth
            fourth = SipHash.rotated(fourth, 21) ^ first
            third &+= second
            second = SipHash.rotated(second, 17) ^ third
            third = SipHash.rotated(third, 32)
        }
    }

    @inline(__always)
    private static func rotated(_ word: UInt64, _ count: UInt64) -> UInt64 {
        word << count | word >> (64 - count)
    }

    /// The hash of bytes.
    static func hash(
        _ bytes: UnsafeRawBufferPointer, key: (UInt64, UInt64)
    ) -> (UInt64, UInt64) {
        var state = SipHash(key)
        let rest = state.add(words: bytes)
        return state.finish(last: rest | UInt64(truncatingIfNeeded: bytes.count) << 56)
    }
}
