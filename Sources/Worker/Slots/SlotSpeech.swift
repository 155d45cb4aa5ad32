import ClusterProtocol

/// Orders and reports as bytes, both ends being of one build.
enum SlotSpeech {
    private static let codec = MessageCodec()

    /// The frame of a message with its length.
    ///
    /// - Throws: `SlotError.nonsense` for a message beyond the protocol's bounds.
    static func bytes(of message: some ControlMessage) throws(SlotError) -> [UInt8] {
        let frame: [UInt8]
        do throws(ProtocolError) {
            frame = try codec.encode(message)
        } catch {
            throw .nonsense("\(error)")
        }
        return try FrameBuffer.framed(frame)
    }

    /// The message of a frame without its length.
    ///
    /// - Throws: `SlotError.nonsense`.
    static func message<Message: ControlMessage>(_ frame: [UInt8]) throws(SlotError) -> Message {
        do throws(ProtocolError) {
            return try codec.decode(frame)
        } catch {
            throw .nonsense("\(error)")
        }
    }
}
