import Glibc

/// How the entries of an index follow each other.
///
/// Entries are records: the indexed columns, then the rowid. NULL comes first, then numbers, texts
/// by their bytes, blobs (SQLite: data types §4.1); rowids ascend.
struct IndexKeyOrder: Sendable {
    /// For each column, whether it descends.
    let descending: [Bool]

    /// A number by which most entries can be told apart: no entry with a lower one comes behind.
    @inline(__always)
    func prefix(_ entry: UnsafePointer<UInt8>) -> UInt64 {
        var place = 0
        let header = Int(RecordBytes.varint(entry, &place))
        let type = RecordBytes.varint(entry, &place)
        let value = entry + header
        var prefix: UInt64
        switch type {
        case 0: prefix = 0
        case 1...6, 8, 9: prefix = Self.word(Double(RecordBytes.integer(type, value)))
        case 7: prefix = Self.word(RecordBytes.real(value))
        default:
            prefix = 0
            let count = Int((type - 12) / 2)
            for place in 0..<8 {
                prefix = prefix << 8 | (place < count ? UInt64(value[place]) : 0)
            }
            prefix = prefix >> 2 | UInt64(type & 1 == 1 ? 2 : 3) << 62
        }
        return descending[0] ? ~prefix : prefix
    }

    /// A number that grows with a real, among those of numbers.
    private static func word(_ real: Double) -> UInt64 {
        let bits = (real == 0 ? 0 : real).bitPattern
        return (bits >> 63 == 1 ? ~bits : bits | 1 << 63) >> 2 | 1 << 62
    }

    /// How two entries stand to each other: below 0 in order, 0 equal, above 0 out of order.
    ///
    /// `withRowid`: whether rowids count.
    func compare(
        _ left: UnsafePointer<UInt8>, _ right: UnsafePointer<UInt8>, withRowid: Bool = true
    ) -> Int {
        var (leftPlace, rightPlace) = (0, 0)
        var leftValue = left + Int(RecordBytes.varint(left, &leftPlace))
        var rightValue = right + Int(RecordBytes.varint(right, &rightPlace))
        for column in 0..<descending.count + (withRowid ? 1 : 0) {
            let leftType = RecordBytes.varint(left, &leftPlace)
            let rightType = RecordBytes.varint(right, &rightPlace)
            let order = Self.compare(leftType, leftValue, rightType, rightValue)
            if order != 0 {
                return column < descending.count && descending[column] ? -order : order
            }
            leftValue += RecordBytes.size(ofType: leftType) ?? 0
            rightValue += RecordBytes.size(ofType: rightType) ?? 0
        }
        return 0
    }

    /// Whether a column of an entry is NULL.
    func hasNull(_ entry: UnsafePointer<UInt8>) -> Bool {
        var place = 0
        _ = RecordBytes.varint(entry, &place)
        return descending.contains { _ in RecordBytes.varint(entry, &place) == 0 }
    }

    private static func compare(
        _ leftType: UInt64, _ left: UnsafePointer<UInt8>,
        _ rightType: UInt64, _ right: UnsafePointer<UInt8>
    ) -> Int {
        let ranks = (rank(leftType), rank(rightType))
        if ranks.0 != ranks.1 { return ranks.0 - ranks.1 }
        switch ranks.0 {
        case 0: return 0
        case 1:
            switch (leftType == 7, rightType == 7) {
            case (false, false):
                return order(
                    RecordBytes.integer(leftType, left), RecordBytes.integer(rightType, right))
            case (true, true): return order(RecordBytes.real(left), RecordBytes.real(right))
            case (false, true):
                return mixed(RecordBytes.integer(leftType, left), RecordBytes.real(right))
            case (true, false):
                return -mixed(RecordBytes.integer(rightType, right), RecordBytes.real(left))
            }
        default:
            let counts = (Int((leftType - 12) / 2), Int((rightType - 12) / 2))
            let order = memcmp(left, right, min(counts.0, counts.1))
            return order != 0 ? Int(order) : counts.0 - counts.1
        }
    }

    private static func rank(_ type: UInt64) -> Int {
        if type == 0 { return 0 }
        return type < 10 ? 1 : (type & 1 == 1 ? 2 : 3)
    }

    @inline(__always)
    private static func order<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
        left < right ? -1 : (left > right ? 1 : 0)
    }

    /// An integer against a real, without losing digits.
    private static func mixed(_ integer: Int64, _ real: Double) -> Int {
        if real >= 0x1p63 { return -1 }
        if real < -0x1p63 { return 1 }
        let whole = Int64(real)
        return integer != whole ? order(integer, whole) : order(0, real - Double(whole))
    }
}
