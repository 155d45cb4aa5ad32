import SwiftProtobuf

extension CoordinatorMessage: ControlMessage {
    /// Types 33 to 63.
    package static let coding = MessageCoding<CoordinatorMessage>(
        types: 33...63, decode: decode, encode: encode, check: check)

    @Sendable private static func decode(
        _ type: MessageType, _ bytes: RawSpan
    ) throws(ProtocolError) -> CoordinatorMessage {
        switch type {
        case .welcome: return .welcome(try Welcome(body: try type.read(bytes)))
        case .refused: return .refused(try Refusal(body: try type.read(bytes)))
        case .jobs:
            let body = try type.read(bytes, as: WireJobs.self)
            try Field.known(body, "jobs")
            var orders: [JobOrder] = []
            for order in body.orders { orders.append(try JobOrder(body: order)) }
            return .jobs(orders)
        case .committed: return .committed(attempt: try type.readName(bytes))
        case .denied:
            let body = try type.read(bytes, as: WireDenial.self)
            try Field.known(body, "denied")
            return .denied(
                attempt: try Field.required(body.attempt, body.hasAttempt, "denied.attempt"),
                reason: try Field.meaning(body.reason, body.hasReason, "denied.reason"))
        case .revoke: return .revoke(attempt: try type.readName(bytes))
        case .drain:
            try type.readEmpty(bytes)
            return .drain
        case .heartbeat:
            try type.readEmpty(bytes)
            return .heartbeat
        case .bye: return .bye(reason: try type.readText(bytes))
        default: throw .unknownType(Int(type.rawValue))
        }
    }

    @Sendable private static func encode(
        _ message: CoordinatorMessage
    ) throws(ProtocolError) -> EncodedBody {
        switch message {
        case .welcome(let welcome): try EncodedBody(.welcome, welcome.body)
        case .refused(let refusal): try EncodedBody(.refused, refusal.body)
        case .jobs(let orders):
            try EncodedBody(.jobs, WireJobs.with { $0.orders = orders.map(\.body) })
        case .committed(let attempt): try EncodedBody(.committed, WireName(attempt))
        case .denied(let attempt, let reason):
            try EncodedBody(
                .denied,
                WireDenial.with {
                    $0.attempt = attempt
                    $0.reason = Int64(reason.rawValue)
                })
        case .revoke(let attempt): try EncodedBody(.revoke, WireName(attempt))
        case .drain: try EncodedBody(.drain)
        case .heartbeat: try EncodedBody(.heartbeat)
        case .bye(let reason): try EncodedBody(.bye, WireName(PeopleText.cleaned(reason)))
        }
    }

    @Sendable private static func check(_ message: CoordinatorMessage) throws(ProtocolError) {
        switch message {
        case .welcome(let welcome): try welcome.check()
        case .refused(let refusal): try refusal.check()
        case .jobs(let orders):
            guard !orders.isEmpty else { throw .missing(field: "jobs.orders") }
            try Check.count(orders.count, MessageLimits.jobs, "jobs.orders")
            for order in orders { try order.check() }
        case .committed(let attempt): try Check.identifier(attempt, "committed.attempt")
        case .denied(let attempt, _): try Check.identifier(attempt, "denied.attempt")
        case .revoke(let attempt): try Check.identifier(attempt, "revoke.attempt")
        case .drain, .heartbeat, .bye: break
        }
    }
}
