/// Numbers and values in records, as the code that writes pages reads and writes them (SQLite file
/// format §1.6 and §2.1).
///
/// Validation reads pages by code of its own, so that one mistake cannot hide another.
package enum RecordBytes {
    /// Bytes that may be read behind the end of what is looked at.
    static let padding = 16

    @inline(__always)
    static func varint(_ bytes: UnsafePointer<UInt8>, _ place: inout Int) -> UInt64 {
        var value: UInt64 = 0
        for _ in 0..<8 {
            let byte = bytes[place]
            place += 1
            value = value << 7 | UInt64(byte & 0x7F)
            if byte < 0x80 { return value }
        }
        value = value << 8 | UInt64(bytes[place])
        place += 1
        return value
    }

    @inline(__always)
    static func varintSize(_ value: UInt64) -> Int {
        var (rest, size) = (value >> 7, 1)
        while rest > 0, size < 9 { (rest, size) = (rest >> 7, size + 1) }
        return size
    }

    /// Writes a number; returns its bytes.
    @inline(__always)
    static func putVarint(_ value: UInt64, _ bytes: UnsafeMutablePointer<UInt8>) -> Int {
        let size = varintSize(value)
        // The ninth byte has eight bits.
        if size == 9 {
            for place in 0..<8 {
                bytes[place] = UInt8(truncatingIfNeeded: value >> UInt64(57 - 7 * place)) | 0x80
            }
            bytes[8] = UInt8(truncatingIfNeeded: value)
            return 9
        }
        for place in 0..<size {
            let part = UInt8(truncatingIfNeeded: value >> UInt64(7 * (size - 1 - place))) & 0x7F
            bytes[place] = place == size - 1 ? part : part | 0x80
        }
        return size
    }

    @inline(__always)
    static func number(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> UInt32 {
        var value: UInt32 = 0
        for place in 0..<count { value = value << 8 | UInt32(bytes[place]) }
        return value
    }

    @inline(__always)
    static func put(_ value: UInt32, _ bytes: UnsafeMutablePointer<UInt8>, _ count: Int) {
        for place in 0..<count {
            bytes[place] = UInt8(truncatingIfNeeded: value >> UInt32(8 * (count - 1 - place)))
        }
    }

    /// How many bytes a value takes.
    ///
    /// - Parameter type: its serial type.
    /// - Returns: nil for what is no type.
    @inline(__always)
    package static func size(ofType type: UInt64) -> Int? {
        switch type {
        case 0, 8, 9: 0
        case 1...4: Int(type)
        case 5: 6
        case 6, 7: 8
        case 10, 11: nil
        default: type < 1 << 40 ? Int((type - 12) / 2) : nil
        }
    }

    /// The shortest serial type of an integer.
    static func type(of value: Int64) -> UInt64 {
        let magnitude = value < 0 ? ~value : value
        switch magnitude {
        case 0...1 where value >= 0: return UInt64(8 + value)
        case 0...0x7F: return 1
        case 0...0x7FFF: return 2
        case 0...0x7F_FFFF: return 3
        case 0...0x7FFF_FFFF: return 4
        case 0...0x7FFF_FFFF_FFFF: return 5
        default: return 6
        }
    }

    /// An integer as it is stored.
    ///
    /// - Parameters:
    ///   - type: its serial type: 1 to 6, 8 or 9.
    ///   - bytes: where it stands.
    /// - Returns: the integer.
    @inline(__always)
    package static func integer(_ type: UInt64, _ bytes: UnsafePointer<UInt8>) -> Int64 {
        if type >= 8 { return Int64(type) - 8 }
        let size = type < 5 ? Int(type) : (type == 5 ? 6 : 8)
        var value = Int64(Int8(bitPattern: bytes[0]))
        for place in 1..<max(size, 1) { value = value << 8 | Int64(bytes[place]) }
        return value
    }

    @inline(__always)
    static func real(_ bytes: UnsafePointer<UInt8>) -> Double {
        var word: UInt64 = 0
        for place in 0..<8 { word = word << 8 | UInt64(bytes[place]) }
        return Double(bitPattern: word)
    }
}
