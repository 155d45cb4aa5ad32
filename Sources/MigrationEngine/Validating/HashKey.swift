/// The secret of one validation, without which a cell's hash cannot be predicted.
///
/// A worker knows this code. If the hash were the same in every validation, it could choose values
/// whose hashes add up to those of the right ones. So each validation draws a key after the result
/// was taken over, keeps it in memory, and reports no sum. A forged result passes with a
/// probability of 2⁻⁶⁰ or less.
package struct HashKey: Sendable {
    private let start: SipHash
    private let left: UInt64
    private let right: UInt64

    /// Draws a key.
    package init(from generator: inout some RandomNumberGenerator) {
        start = SipHash((generator.next(), generator.next()))
        (left, right) = (generator.next(), generator.next())
    }

    /// A key from the system's source of randomness.
    package static func random() -> HashKey {
        var generator = SystemRandomNumberGenerator()
        return HashKey(from: &generator)
    }

    /// What hashes of the cells of a row begin with.
    @inline(__always)
    func row(_ key: Int64) -> RowKey {
        var state = start
        state.add(UInt64(bitPattern: key))
        return RowKey(state.finish(last: 8 << 56), left, right)
    }

    /// What hashes of the links between two objects begin with.
    @inline(__always)
    func link(_ owner: Int64, _ target: Int64) -> RowKey {
        var state = start
        state.add(UInt64(bitPattern: owner))
        state.add(UInt64(bitPattern: target))
        return RowKey(state.finish(last: 16 << 56), left, right)
    }
}

/// A row's key as the hash takes it, made once a row: two words that only this row has, and two
/// that all rows of a validation have.
struct RowKey {
    let first: UInt64
    let second: UInt64
    let left: UInt64
    let right: UInt64

    @inline(__always)
    fileprivate init(_ own: (UInt64, UInt64), _ left: UInt64, _ right: UInt64) {
        (first, second) = own
        self.left = left
        self.right = right
    }
}
