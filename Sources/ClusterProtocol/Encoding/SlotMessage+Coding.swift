import Jobs

extension SlotOrder: ControlMessage {
    /// Types 129 to 159.
    package static let coding = MessageCoding<SlotOrder>(
        types: 129...159, decode: decode, encode: encode, check: check)

    @Sendable private static func decode(
        _ type: MessageType, _ bytes: RawSpan
    ) throws(ProtocolError) -> SlotOrder {
        switch type {
        case .slotRun: return .run(try JobOrder(body: try type.read(bytes)))
        case .slotCancel:
            try type.readEmpty(bytes)
            return .cancel
        case .slotEnd:
            try type.readEmpty(bytes)
            return .end
        default: throw .unknownType(Int(type.rawValue))
        }
    }

    @Sendable private static func encode(
        _ order: SlotOrder
    ) throws(ProtocolError) -> EncodedBody {
        switch order {
        case .run(let order): try EncodedBody(.slotRun, order.body)
        case .cancel: try EncodedBody(.slotCancel)
        case .end: try EncodedBody(.slotEnd)
        }
    }

    @Sendable private static func check(_ order: SlotOrder) throws(ProtocolError) {
        switch order {
        case .run(let order): try order.check()
        case .cancel, .end: break
        }
    }
}

extension SlotReport: ControlMessage {
    /// Types 161 to 191.
    package static let coding = MessageCoding<SlotReport>(
        types: 161...191, decode: decode, encode: encode, check: check)

    @Sendable private static func decode(
        _ type: MessageType, _ bytes: RawSpan
    ) throws(ProtocolError) -> SlotReport {
        switch type {
        case .slotReady: return .ready(engine: try type.readName(bytes))
        case .slotProgress:
            let progress = try ProgressFields(body: try type.read(bytes))
            return .progress(
                attempt: progress.attempt, rows: progress.rows, bytes: progress.bytes)
        case .slotDone: return .done(try Receipt(body: try type.read(bytes)))
        case .slotFailed: return .failed(try AttemptFailure(body: try type.read(bytes)))
        default: throw .unknownType(Int(type.rawValue))
        }
    }

    @Sendable private static func encode(
        _ report: SlotReport
    ) throws(ProtocolError) -> EncodedBody {
        switch report {
        case .ready(let engine): try EncodedBody(.slotReady, WireName(engine))
        case .progress(let attempt, let rows, let bytes):
            try EncodedBody(
                .slotProgress, ProgressFields(attempt: attempt, rows: rows, bytes: bytes).body)
        case .done(let receipt): try EncodedBody(.slotDone, receipt.body)
        case .failed(let failure): try EncodedBody(.slotFailed, failure.body)
        }
    }

    @Sendable private static func check(_ report: SlotReport) throws(ProtocolError) {
        switch report {
        case .ready(let engine): try Check.name(engine, "ready.engine")
        case .progress(let attempt, let rows, let bytes):
            try ProgressFields(attempt: attempt, rows: rows, bytes: bytes).check()
        case .done(let receipt): try receipt.check()
        case .failed(let failure): try failure.check()
        }
    }
}
