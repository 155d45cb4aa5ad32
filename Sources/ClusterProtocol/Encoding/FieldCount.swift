/// Counts the outermost fields of a body before it is decoded.
///
/// Two bytes of a body can become an element of hundreds of bytes in memory; a body with more
/// fields than its message may have elements is refused before anything is built.
enum FieldCount {
    /// Passes over the fields of a body.
    ///
    /// O(fields). Groups, which no message of ours has, count as no protobuf.
    static func check(
        _ body: RawSpan, limit: Int, _ message: String
    ) throws(ProtocolError) {
        var position = 0
        var count = 0
        while position < body.byteCount {
            count += 1
            guard count <= limit else {
                throw .tooMany(field: message, count: count, limit: limit)
            }
            guard pass(body, &position), position <= body.byteCount else {
                throw .malformed(message)
            }
        }
    }

    /// Whether one field could be passed over; the position may end behind the body.
    private static func pass(_ body: RawSpan, _ position: inout Int) -> Bool {
        guard let tag = varint(body, &position), tag >> 3 != 0 else { return false }
        switch tag & 7 {
        case 0: return varint(body, &position) != nil
        case 1: position += 8
        case 2:
            guard let length = varint(body, &position),
                length <= UInt64(body.byteCount - position)
            else { return false }
            position += Int(length)
        case 5: position += 4
        default: return false
        }
        return true
    }

    private static func varint(_ body: RawSpan, _ position: inout Int) -> UInt64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while position < body.byteCount, shift < 64 {
            let byte = body.unsafeLoad(fromByteOffset: position, as: UInt8.self)
            position += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return value }
            shift += 7
        }
        return nil
    }
}
