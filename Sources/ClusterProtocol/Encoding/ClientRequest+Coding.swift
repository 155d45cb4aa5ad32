import SwiftProtobuf

extension ClientRequest: ControlMessage {
    /// Types 65 to 95.
    package static let coding = MessageCoding<ClientRequest>(
        types: 65...95, decode: decode, encode: encode, check: check)

    @Sendable private static func decode(
        _ type: MessageType, _ bytes: RawSpan
    ) throws(ProtocolError) -> ClientRequest {
        switch type {
        case .submit: return .submit(try SubmitRequest(body: try type.read(bytes)))
        case .status: return .status(run: try runChoice(type, bytes))
        case .watch: return .watch(run: try runChoice(type, bytes))
        case .pause: return .pause(run: try type.readName(bytes))
        case .resume: return .resume(run: try type.readName(bytes))
        case .cancel: return .cancel(run: try type.readName(bytes))
        case .drainWorker: return .drain(worker: try type.readName(bytes))
        case .replay:
            let choice = try StoreChoice(body: try type.read(bytes))
            return .replay(run: choice.run, store: choice.store)
        case .swap:
            let choice = try StoreChoice(body: try type.read(bytes))
            return .swap(run: choice.run, store: choice.store)
        case .throttle: return .throttle(try ThrottleSettings(body: try type.read(bytes)))
        case .workers:
            try type.readEmpty(bytes)
            return .workers
        default: throw .unknownType(Int(type.rawValue))
        }
    }

    /// A run, or nil for all.
    private static func runChoice(
        _ type: MessageType, _ bytes: RawSpan
    ) throws(ProtocolError) -> String? {
        let body = try type.read(bytes, as: WireRunChoice.self)
        try Field.known(body, "\(type)")
        return body.hasRun ? body.run : nil
    }

    @Sendable private static func encode(
        _ request: ClientRequest
    ) throws(ProtocolError) -> EncodedBody {
        switch request {
        case .submit(let submit): try EncodedBody(.submit, submit.body)
        case .status(let run): try EncodedBody(.status, runChoice(run))
        case .watch(let run): try EncodedBody(.watch, runChoice(run))
        case .pause(let run): try EncodedBody(.pause, WireName(run))
        case .resume(let run): try EncodedBody(.resume, WireName(run))
        case .cancel(let run): try EncodedBody(.cancel, WireName(run))
        case .drain(let worker): try EncodedBody(.drainWorker, WireName(worker))
        case .replay(let run, let store):
            try EncodedBody(.replay, StoreChoice(run: run, store: store).body)
        case .swap(let run, let store):
            try EncodedBody(.swap, StoreChoice(run: run, store: store).body)
        case .throttle(let settings): try EncodedBody(.throttle, settings.body)
        case .workers: try EncodedBody(.workers)
        }
    }

    private static func runChoice(_ run: String?) -> WireRunChoice {
        .with { if let run { $0.run = run } }
    }

    @Sendable private static func check(_ request: ClientRequest) throws(ProtocolError) {
        switch request {
        case .submit(let submit): try submit.check()
        case .status(let run), .watch(let run):
            if let run { try Check.identifier(run, "request.run") }
        case .pause(let run), .resume(let run), .cancel(let run):
            try Check.identifier(run, "request.run")
        case .drain(let worker): try Check.name(worker, "request.worker")
        case .replay(let run, let store), .swap(let run, let store):
            try StoreChoice(run: run, store: store).check()
        case .throttle(let settings): try settings.check()
        case .workers: break
        }
    }
}
