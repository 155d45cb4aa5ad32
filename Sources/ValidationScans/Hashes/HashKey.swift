/// The secret of one validation, without which a cell's hash cannot be predicted.
///
/// A worker knows this code. If the hash were the same in every validation, it could choose values
/// whose hashes add up to those of the right ones. So each validation draws a key, which stays in
/// its own process, and reports no sum. A forged result passes with a
/// probability of 2⁻⁶⁰ or less.
package struct HashKey: Sendable {
    private let start: SipHash
    private let left: UInt64
    private let right: UInt64
    /// What stands for NULL where a number is wanted; no key and no number of an entity.
    let nothing: Int64

    /// Draws a key.
    package init(from generator: inout some RandomNumberGenerator) {
        start = SipHash((generator.next(), generator.next()))
        (left, right) = (generator.next(), generator.next())
        nothing = HashKey.beyondKeys(generator.next())
    }

    /// A number above every key of a table: keys from 2⁶² on are refused, and no file has as many
    /// rows as would come near.
    private static func beyondKeys(_ word: UInt64) -> Int64 {
        Int64(word >> 3) | 1 << 61
    }

    /// A key from the system's source of randomness, which no caller may choose (decision 0021).
    package static func drawn() -> HashKey {
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

    /// What stands for a value that is no integer where a number is wanted.
    func number(of cell: RawCell) -> Int64 {
        guard cell.storageClass != 5 else { return nothing }
        var state = start
        guard cell.storageClass == 2, abs(cell.real) < 0x1p53 else {
            add(cell, to: &state)
            return HashKey.beyondKeys(state.finish(last: 1 << 56).0)
        }
        // A real that is a key moves with the keys, and keeps its fraction.
        let whole = cell.real.rounded(.down)
        state.add((cell.real - whole).bitPattern)
        return HashKey.beyondKeys(state.finish(last: 3 << 56).0) &+ Int64(whole)
    }

    /// The hash of a whole row: every cell by its storage class and its bytes, in their order.
    ///
    /// Sums of such hashes agree for the same rows in any order, and for no others.
    package func hash(of row: RawRow, columns: Int) -> ContentDigest128 {
        var state = start
        for column in 0..<columns { add(row.cell(column), to: &state) }
        let (high, low) = state.finish(last: UInt64(truncatingIfNeeded: columns) << 8 | 2 << 56)
        return ContentDigest128(high: high, low: low)
    }

    /// The class and the length tell where a cell ends.
    private func add(_ cell: RawCell, to state: inout SipHash) {
        let kind = cell.storageClass
        switch kind {
        case 1:
            state.add(1)
            state.add(UInt64(bitPattern: cell.integer))
        case 2:
            state.add(2)
            state.add(cell.real.bitPattern)
        case 3, 4:
            let bytes = cell.bytes
            state.add(UInt64(kind) | UInt64(bytes.count) << 3)
            let rest = state.add(words: bytes)
            state.add(rest)
        default: state.add(5)
        }
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
