/// Messages as frames: a byte for the version, a byte for the type, a protobuf body.
///
/// The reader trusts nothing: lengths, counts, texts, numbers and paths have bounds
/// (`MessageLimits`), and what is missing or unknown is an error. The writer keeps the same bounds,
/// so that it sends nothing which the other side must refuse.
package struct MessageCodec: Hashable, Sendable {
    /// The versions that are read and written.
    package let protocols: ProtocolRange

    package init(protocols: ProtocolRange = .current) { self.protocols = protocols }

    /// The version of frames that every version reads: hello and refusals.
    private static let everyVersion: UInt8 = 0

    /// The frame of a message, in the version that both sides agreed on; nil is the highest.
    ///
    /// Equal messages have equal frames. Texts for people are cut to `MessageLimits.textBytes`.
    ///
    /// - Throws: `ProtocolError` for a message beyond the bounds, or a version not in
    ///   `protocols`.
    package func encode<Sent: ControlMessage>(
        _ message: Sent, version: Int? = nil
    ) throws(ProtocolError) -> [UInt8] {
        let chosen = version ?? protocols.highest
        guard protocols.contains(chosen), chosen > 0, let byte = UInt8(exactly: chosen) else {
            throw .unknownVersion(found: chosen, known: protocols)
        }
        try Sent.coding.check(message)
        let body = try Sent.coding.encode(message)
        guard body.bytes.count + 2 <= MessageLimits.frameBytes else {
            throw .tooLong(bytes: body.bytes.count + 2, limit: MessageLimits.frameBytes)
        }
        var frame: [UInt8] = []
        frame.reserveCapacity(body.bytes.count + 2)
        frame.append(body.type.isForEveryVersion ? Self.everyVersion : byte)
        frame.append(body.type.rawValue)
        frame.append(contentsOf: body.bytes)
        return frame
    }

    /// The message of a frame.
    ///
    /// - Throws: `ProtocolError` with what is wrong; a type of the other direction is unknown.
    package func decode<Received: ControlMessage>(
        _ frame: [UInt8], as type: Received.Type = Received.self
    ) throws(ProtocolError) -> Received {
        try decode(frame.span.bytes, as: type)
    }

    /// The message of a frame that lies in memory of another library, such as ZeroMQ.
    package func decode<Received: ControlMessage>(
        _ frame: RawSpan, as message: Received.Type = Received.self
    ) throws(ProtocolError) -> Received {
        guard frame.byteCount <= MessageLimits.frameBytes else {
            throw .tooLong(bytes: frame.byteCount, limit: MessageLimits.frameBytes)
        }
        guard frame.byteCount >= 2 else { throw .tooShort(bytes: frame.byteCount) }
        let version = frame.unsafeLoad(fromByteOffset: 0, as: UInt8.self)
        let number = frame.unsafeLoad(fromByteOffset: 1, as: UInt8.self)
        let known = MessageType(rawValue: number)
        if version == Self.everyVersion, known?.isForEveryVersion ?? false {
            return try decodeBody(frame, known, number)
        }
        guard protocols.contains(Int(version)), version != Self.everyVersion else {
            throw .unknownVersion(found: Int(version), known: protocols)
        }
        guard known?.isForEveryVersion != true else { throw .unknownType(Int(number)) }
        return try decodeBody(frame, known, number)
    }

    private func decodeBody<Received: ControlMessage>(
        _ frame: RawSpan, _ type: MessageType?, _ number: UInt8
    ) throws(ProtocolError) -> Received {
        guard let type, Received.coding.types.contains(number) else {
            throw .unknownType(Int(number))
        }
        let body = frame.extracting(droppingFirst: 2)
        try FieldCount.check(body, limit: type.fieldLimit, "\(type)")
        let message = try Received.coding.decode(type, body)
        try Received.coding.check(message)
        return message
    }
}
