import SwiftProtobuf

// Why workers get no jobs, as bodies.

extension IdleReason {
    init(body: WireIdleReason) throws(ProtocolError) {
        try Field.known(body, "idle")
        self =
            switch body.reason {
            case .notReady(let empty): try Self.plain(.notReady, empty)
            case .silent(let silence): try Self(silence)
            case .finishing(let empty): try Self.plain(.finishing, empty)
            case .quarantined(let text): .quarantined(try Field.people(text, true, "idle.text"))
            case .unchecked(let jobs):
                .unchecked(jobs: try Field.int(jobs, true, "idle.unchecked"))
            case .waits(let waiting): try Self(waiting)
            case .otherEngine(let engine): try Self(engine)
            case .lacks(let lack): try Self(lack)
            case .noJob(let empty): try Self.plain(.noJob, empty)
            case nil: throw .missing(field: "idle.reason")
            }
    }

    /// A reason that has no facts.
    private static func plain(
        _ reason: IdleReason, _ empty: WireEmpty
    ) throws(ProtocolError) -> IdleReason {
        try Field.known(empty, "idle.reason")
        return reason
    }

    private init(_ body: WireSilence) throws(ProtocolError) {
        try Field.known(body, "idle.silent")
        self = .silent(seconds: body.hasSeconds ? body.seconds : nil)
    }

    private init(_ body: WireWaitingRun) throws(ProtocolError) {
        try Field.known(body, "idle.waits")
        guard body.hasReason else { throw .missing(field: "idle.waits.reason") }
        self = .waits(
            run: try Field.required(body.run, body.hasRun, "idle.waits.run"),
            try WaitingReason(body: body.reason))
    }

    private init(_ body: WireOtherEngine) throws(ProtocolError) {
        try Field.known(body, "idle.otherEngine")
        self = .otherEngine(
            try Field.required(body.engine, body.hasEngine, "idle.otherEngine.engine"),
            run: try Field.required(body.run, body.hasRun, "idle.otherEngine.run"),
            needed: try Field.required(body.needed, body.hasNeeded, "idle.otherEngine.needed"))
    }

    private init(_ body: WireLack) throws(ProtocolError) {
        try Field.known(body, "idle.lacks")
        guard body.hasShortage else { throw .missing(field: "idle.lacks.shortage") }
        self = .lacks(
            run: try Field.required(body.run, body.hasRun, "idle.lacks.run"),
            try Shortage(body: body.shortage))
    }
}

extension IdleReason {
    var body: WireIdleReason { .with { $0.reason = oneOf } }

    private var oneOf: WireIdleReason.OneOf_Reason {
        switch self {
        case .notReady: .notReady(WireEmpty())
        case .silent(let seconds): .silent(.with { if let seconds { $0.seconds = seconds } })
        case .finishing: .finishing(WireEmpty())
        case .quarantined(let text): .quarantined(PeopleText.cleaned(text))
        case .unchecked(let jobs): .unchecked(Int64(jobs))
        case .waits(let run, let reason):
            .waits(
                .with {
                    $0.run = run
                    $0.reason = reason.body
                })
        case .otherEngine(let engine, let run, let needed):
            .otherEngine(
                .with {
                    $0.engine = engine
                    $0.run = run
                    $0.needed = needed
                })
        case .lacks(let run, let shortage):
            .lacks(
                .with {
                    $0.run = run
                    $0.shortage = shortage.body
                })
        case .noJob: .noJob(WireEmpty())
        }
    }

    func check() throws(ProtocolError) {
        switch self {
        case .silent(let seconds):
            if let seconds { try Check.amount(seconds, "idle.silent.seconds") }
        case .unchecked(let jobs): try Check.index(jobs, "idle.unchecked")
        case .waits(let run, let reason):
            try Check.identifier(run, "idle.waits.run")
            try reason.check()
        case .otherEngine(let engine, let run, let needed):
            try Check.label(engine, "idle.otherEngine.engine")
            try Check.identifier(run, "idle.otherEngine.run")
            try Check.name(needed, "idle.otherEngine.needed")
        case .lacks(let run, let shortage):
            try Check.identifier(run, "idle.lacks.run")
            try shortage.check()
        case .notReady, .finishing, .quarantined, .noJob: break
        }
    }
}
