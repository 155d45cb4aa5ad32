/// Messages between a worker and the process of a slot, over a stream of bytes.
///
/// A frame is its length in four bytes, most significant first, and the frame of `MessageCodec`.
/// Both ends are the same program, so the version is always the highest.
package enum SlotCodec {
    /// The bytes of the length.
    package static let headerBytes = 4

    /// The bytes to write for a message.
    ///
    /// - Throws: `ProtocolError` for a message beyond the bounds.
    package static func encode<Sent: ControlMessage>(
        _ message: Sent
    ) throws(ProtocolError) -> [UInt8] {
        let frame = try MessageCodec().encode(message)
        let length = UInt32(frame.count).bigEndian
        return withUnsafeBytes(of: length) { Array($0) } + frame
    }

    /// Finds messages in bytes as they arrive.
    ///
    /// Holds at most one unfinished frame, as many bytes already read, and the last `append`.
    /// After an error the stream has no meaning any more.
    package struct Reader<Received: ControlMessage>: Sendable {
        private var bytes: [UInt8] = []
        private var start = 0

        package init() {}

        /// Takes bytes that were read, in their order.
        package mutating func append(_ arrived: some Sequence<UInt8>) {
            // Moving what is left costs as much as it is long: only where nothing is left, or
            // where the part already read is the larger one.
            if start > 0, start >= bytes.count - start {
                bytes.removeFirst(start)
                start = 0
            }
            bytes.append(contentsOf: arrived)
        }

        /// The next message; nil until more bytes have arrived.
        ///
        /// - Throws: `ProtocolError` for a length beyond the limit, as soon as the length is
        ///   there, and for what is no message.
        package mutating func next() throws(ProtocolError) -> Received? {
            let waiting = bytes.count - start
            guard waiting >= headerBytes else { return nil }
            let header = bytes[start..<start + headerBytes]
            let length = header.reduce(0) { $0 << 8 | Int($1) }
            guard length <= MessageLimits.frameBytes else {
                throw .tooLong(bytes: length, limit: MessageLimits.frameBytes)
            }
            guard waiting - headerBytes >= length else { return nil }
            let frame = start + headerBytes
            start = frame + length
            return try MessageCodec().decode(
                bytes.span.bytes.extracting(frame..<frame + length), as: Received.self)
        }

        /// Whether the stream ended where it may: not within a message.
        package var isBetweenMessages: Bool { bytes.count == start }
    }
}
