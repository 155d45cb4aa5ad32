/// Numbers that look random and follow from their inputs alone (SplitMix64's finalizer).
enum ForgeHash {
    @inline(__always)
    static func mix(_ value: UInt64) -> UInt64 {
        var mixed = value &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// The number of a thing with an index, such as a column and a row.
    @inline(__always)
    static func number(_ salt: UInt64, _ index: Int) -> UInt64 {
        mix(salt ^ mix(UInt64(truncatingIfNeeded: index)))
    }

    /// The salt of a thing with a name (FNV-1a, mixed).
    static func salt(_ seed: UInt64, _ name: String) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return mix(hash ^ mix(seed))
    }
}

/// A part of all cases, decided by hash: 0 never, 1 always.
struct Share {
    private let limit: UInt64

    init(_ share: Double) { limit = UInt64(max(0, min(1, share)) * 9_223_372_036_854_775_808) }

    @inline(__always)
    func contains(_ hash: UInt64) -> Bool { hash >> 1 < limit }
}

/// A permutation of 0 ..< count that can be computed both ways: x ↦ a·x + b.
struct Permutation {
    let count: Int
    private let factor: Int
    private let inverse: Int
    private let offset: Int

    /// Makes a permutation; the count is at most `ForgeRecipe.rowLimit`, so that products fit
    /// 64 bits.
    init(count: Int, salt: UInt64) {
        self.count = count
        guard count > 2 else {
            (factor, inverse, offset) = (1, 1, 0)
            return
        }
        // Near the golden section neighbours end up far apart.
        let spread = Int(Double(count) * 0.618) + Int(salt % 97)
        var found = (factor: 1, inverse: 1)
        for candidate in spread..<(spread + count) {
            let factor = candidate % count
            if factor > 1, let inverse = Permutation.inverse(of: factor, modulo: count) {
                found = (factor, inverse)
                break
            }
        }
        (factor, inverse) = found
        offset = Int(truncatingIfNeeded: salt >> 8 & 0x7FFF_FFFF) % count
    }

    @inline(__always)
    func forward(_ value: Int) -> Int { (value * factor + offset) % count }

    @inline(__always)
    func backward(_ value: Int) -> Int {
        (value - offset + count) % count * inverse % count
    }

    /// By Euclid's extended algorithm; nil where the numbers have a common divisor.
    private static func inverse(of factor: Int, modulo: Int) -> Int? {
        var (rest, next) = (modulo, factor)
        var (coefficient, following) = (0, 1)
        while next != 0 {
            let quotient = rest / next
            (rest, next) = (next, rest - quotient * next)
            (coefficient, following) = (following, coefficient - quotient * following)
        }
        guard rest == 1 else { return nil }
        return (coefficient % modulo + modulo) % modulo
    }
}
