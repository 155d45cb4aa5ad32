extension ClientReply: ControlMessage {
    /// Types 97 to 127.
    package static let coding = MessageCoding<ClientReply>(
        types: 97...127, decode: decode, encode: encode, check: check)

    @Sendable private static func decode(
        _ type: MessageType, _ bytes: RawSpan
    ) throws(ProtocolError) -> ClientReply {
        switch type {
        case .requestAccepted: return .accepted(run: try type.readName(bytes))
        case .requestRefused: return .refused(try Refusal(body: try type.read(bytes)))
        case .statusReport: return .status(try StatusReport(body: try type.read(bytes)))
        case .watchEvent: return .event(try WatchEvent(body: try type.read(bytes)))
        case .requestDone:
            try type.readEmpty(bytes)
            return .done
        default: throw .unknownType(Int(type.rawValue))
        }
    }

    @Sendable private static func encode(
        _ reply: ClientReply
    ) throws(ProtocolError) -> EncodedBody {
        switch reply {
        case .accepted(let run): try EncodedBody(.requestAccepted, WireName(run))
        case .refused(let refusal): try EncodedBody(.requestRefused, refusal.body)
        case .status(let report): try EncodedBody(.statusReport, report.body)
        case .event(let event): try EncodedBody(.watchEvent, event.body)
        case .done: try EncodedBody(.requestDone)
        }
    }

    @Sendable private static func check(_ reply: ClientReply) throws(ProtocolError) {
        switch reply {
        case .accepted(let run): try Check.identifier(run, "accepted.run")
        case .refused(let refusal): try refusal.check()
        case .status(let report): try report.check()
        case .event(let event): try event.check()
        case .done: break
        }
    }
}
