/// Finds messages in a stream of bytes: four bytes of length, the highest first, and the message.
struct FrameBuffer: Sendable {
    /// The longest message in bytes.
    static let limit = 1 << 20
    private static let headerBytes = 4

    private var bytes: [UInt8] = []
    private var start = 0

    /// Puts a message into the form of the stream.
    ///
    /// - Throws: `SlotError.nonsense` for a message over the limit.
    static func framed(_ message: [UInt8]) throws(SlotError) -> [UInt8] {
        guard message.count <= limit else {
            throw .nonsense("a message of \(message.count) bytes is over the limit of \(limit)")
        }
        let count = UInt32(message.count)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) } + message
    }

    /// Takes in what came.
    mutating func append(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

    /// The next whole message; nil where more has to come first.
    ///
    /// - Throws: `SlotError.nonsense` for a length over the limit; nothing behind it can be read.
    mutating func next() throws(SlotError) -> [UInt8]? {
        guard bytes.count - start >= Self.headerBytes else { return nil }
        let body = start + Self.headerBytes
        let count = bytes[start..<body].reduce(0) { $0 << 8 | Int($1) }
        guard count <= Self.limit else { throw .nonsense("a length of \(count) bytes") }
        guard bytes.count - body >= count else { return nil }
        let message = Array(bytes[body..<(body + count)])
        start = body + count
        if start == bytes.count || start >= 1 << 16 {
            bytes.removeFirst(start)
            start = 0
        }
        return message
    }
}
