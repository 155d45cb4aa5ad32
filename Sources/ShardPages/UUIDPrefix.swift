import PageWriting

/// The first 63 bits of a UUID, the order of routing passes.
enum UUIDPrefix {
    /// The prefix of a value of a record.
    ///
    /// - Parameters:
    ///   - type: its serial type (SQLite file format §2.1).
    ///   - value: its bytes.
    /// - Returns: 0 or more for a UUID of 16 bytes or as text (without regard to case, braces
    ///   and hyphens), −1 for everything else.
    @inline(__always)
    static func of(_ type: UInt64, _ value: UnsafePointer<UInt8>?) -> Int64 {
        guard type >= 12, let value, let size = RecordBytes.size(ofType: type) else { return -1 }
        let bytes = UnsafeRawBufferPointer(start: value, count: size)
        return type % 2 == 0 ? of(blob: bytes) : of(text: bytes)
    }

    /// The prefix of a value that SQLite handed over, by its storage class.
    static func of(_ storageClass: Int32, _ bytes: UnsafeRawBufferPointer) -> Int64 {
        switch storageClass {
        case 3: of(text: bytes)
        case 4: of(blob: bytes)
        default: -1
        }
    }

    @inline(__always)
    private static func of(blob bytes: UnsafeRawBufferPointer) -> Int64 {
        guard bytes.count == 16 else { return -1 }
        let word = bytes.loadUnaligned(as: UInt64.self)
        return Int64(UInt64(bigEndian: word) >> 1)
    }

    private static func of(text bytes: UnsafeRawBufferPointer) -> Int64 {
        var value: UInt64 = 0
        var digits = 0
        for byte in bytes {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            case UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "-"): continue
            default: return -1
            }
            digits += 1
            guard digits <= 32 else { return -1 }
            if digits <= 16 { value = value << 4 | UInt64(digit) }
        }
        return digits == 32 ? Int64(value >> 1) : -1
    }
}
