import SwiftProtobuf

/// Messages of one direction, which `MessageCodec` makes frames of.
package protocol ControlMessage: Hashable, Sendable {
    /// How messages of the direction become bodies and come back.
    static var coding: MessageCoding<Self> { get }
}

/// The bodies of one direction.
package struct MessageCoding<Message: Sendable>: Sendable {
    /// The numbers of the direction's types.
    let types: ClosedRange<UInt8>
    /// Decodes the body of a type; bounds are not checked yet.
    let decode: @Sendable (MessageType, RawSpan) throws(ProtocolError) -> Message
    let encode: @Sendable (Message) throws(ProtocolError) -> EncodedBody
    /// Holds the bounds.
    let check: @Sendable (Message) throws(ProtocolError) -> Void
}

/// A body with its type.
struct EncodedBody {
    let type: MessageType
    let bytes: [UInt8]

    /// Serialises a body; equal bodies give equal bytes.
    init(
        _ type: MessageType, _ body: some SwiftProtobuf.Message = WireEmpty()
    ) throws(ProtocolError) {
        var options = BinaryEncodingOptions()
        options.useDeterministicOrdering = true
        self.type = type
        do {
            bytes = try body.serializedBytes(options: options)
        } catch {
            throw .malformed("\(type)")
        }
    }
}

extension MessageType {
    /// Decodes a body of the type.
    func read<Body: SwiftProtobuf.Message>(
        _ bytes: RawSpan, as body: Body.Type = Body.self
    ) throws(ProtocolError) -> Body {
        do {
            return try Body(serializedBytes: bytes)
        } catch {
            throw .malformed("\(self)")
        }
    }

    /// A body that holds nothing.
    func readEmpty(_ bytes: RawSpan) throws(ProtocolError) {
        try Field.known(try read(bytes, as: WireEmpty.self), "\(self)")
    }

    /// A body that holds one name.
    func readName(_ bytes: RawSpan) throws(ProtocolError) -> String {
        let body = try read(bytes, as: WireName.self)
        try Field.known(body, "\(self)")
        return try Field.required(body.name, body.hasName, "\(self)")
    }

    /// A body that holds one text for people.
    func readText(_ bytes: RawSpan) throws(ProtocolError) -> String {
        try Field.people(try readName(bytes), true, "\(self)")
    }
}

extension WireName {
    init(_ name: String) {
        self.init()
        self.name = name
    }
}
