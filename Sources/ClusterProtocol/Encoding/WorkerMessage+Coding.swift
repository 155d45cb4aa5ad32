import Jobs
import SwiftProtobuf

extension WorkerMessage: ControlMessage {
    /// Types 1 to 31.
    package static let coding = MessageCoding<WorkerMessage>(
        types: 1...31, decode: decode, encode: encode, check: check)

    @Sendable private static func decode(
        _ type: MessageType, _ bytes: RawSpan
    ) throws(ProtocolError) -> WorkerMessage {
        switch type {
        case .workerHello: return .hello(try WorkerHello(body: try type.read(bytes)))
        case .workerReady:
            let body = try type.read(bytes, as: WireCount.self)
            try Field.known(body, "ready")
            return .ready(freeSlots: try Field.int(body.count, body.hasCount, "ready.freeSlots"))
        case .workerProgress:
            let progress = try ProgressFields(body: try type.read(bytes))
            return .progress(
                attempt: progress.attempt, rows: progress.rows, bytes: progress.bytes)
        case .workerDone: return .done(try Receipt(body: try type.read(bytes)))
        case .workerFailed: return .failed(try AttemptFailure(body: try type.read(bytes)))
        case .workerReturned: return .returned(attempt: try type.readName(bytes))
        case .workerHeartbeat:
            let body = try type.read(bytes, as: WireWorkerHeartbeat.self)
            try Field.known(body, "heartbeat")
            return .heartbeat(
                scratchFree: try Field.required(
                    body.scratchFree, body.hasScratchFree, "heartbeat.scratchFree"),
                runningAttempts: body.runningAttempts)
        case .workerBye: return .bye(reason: try type.readText(bytes))
        default: throw .unknownType(Int(type.rawValue))
        }
    }

    @Sendable private static func encode(
        _ message: WorkerMessage
    ) throws(ProtocolError) -> EncodedBody {
        switch message {
        case .hello(let hello): try EncodedBody(.workerHello, hello.body)
        case .ready(let slots):
            try EncodedBody(.workerReady, WireCount.with { $0.count = Int64(slots) })
        case .progress(let attempt, let rows, let bytes):
            try EncodedBody(
                .workerProgress, ProgressFields(attempt: attempt, rows: rows, bytes: bytes).body)
        case .done(let receipt): try EncodedBody(.workerDone, receipt.body)
        case .failed(let failure): try EncodedBody(.workerFailed, failure.body)
        case .returned(let attempt): try EncodedBody(.workerReturned, WireName(attempt))
        case .heartbeat(let scratchFree, let running):
            try EncodedBody(
                .workerHeartbeat,
                WireWorkerHeartbeat.with {
                    $0.scratchFree = scratchFree
                    $0.runningAttempts = running
                })
        case .bye(let reason): try EncodedBody(.workerBye, WireName(PeopleText.cleaned(reason)))
        }
    }

    @Sendable private static func check(_ message: WorkerMessage) throws(ProtocolError) {
        switch message {
        case .hello(let hello): try hello.check()
        case .ready(let slots):
            try Check.number(slots, 0...MessageLimits.slots, "ready.freeSlots")
        case .progress(let attempt, let rows, let bytes):
            try ProgressFields(attempt: attempt, rows: rows, bytes: bytes).check()
        case .done(let receipt): try receipt.check()
        case .failed(let failure): try failure.check()
        case .returned(let attempt): try Check.identifier(attempt, "returned.attempt")
        case .heartbeat(let scratchFree, let running):
            try Check.amount(scratchFree, "heartbeat.scratchFree")
            try Check.identifiers(running, "heartbeat.runningAttempts")
        case .bye: break
        }
    }
}
