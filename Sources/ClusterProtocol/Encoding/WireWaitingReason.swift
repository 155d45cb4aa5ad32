import Jobs
import SwiftProtobuf

// Why runs do not move, as bodies.

extension WaitingReason {
    init(body: WireWaitingReason) throws(ProtocolError) {
        try Field.known(body, "waiting")
        self =
            switch body.reason {
            case .noWorker(let empty): try Self.plain(.noWorker, empty)
            case .noReadyWorker(let workers): .noReadyWorker(try UnreadyWorkers(body: workers))
            case .noWorkerWithEngine(let engine): .noWorkerWithEngine(engine)
            case .noSuitableWorker(let shortage): .noSuitableWorker(try Shortage(body: shortage))
            case .unclaimed(let unclaimed): try Self(unclaimed)
            case .allWorkersBusy(let empty): try Self.plain(.allWorkersBusy, empty)
            case .backOff(let backOff): try Self(backOff)
            case .paused(let pause): .paused(try PauseReason(body: pause))
            case .behindOtherRuns(let empty): try Self.plain(.behindOtherRuns, empty)
            case .storeLimit(let limit):
                .storeLimit(try Field.int(limit, true, "waiting.storeLimit"))
            case .jobLimit(let limit): .jobLimit(try Field.int(limit, true, "waiting.jobLimit"))
            case .throttledJobs(let throttle): try Self(throttle)
            case .throttled(let throttle): try Self(throttle)
            case .behindOtherStores(let empty): try Self.plain(.behindOtherStores, empty)
            case .behindCoordinator(let empty): try Self.plain(.behindCoordinator, empty)
            case .stage(let stage): .stage(try Field.meaning(stage, true, "waiting.stage"))
            case .merge(let empty): try Self.plain(.merge, empty)
            case .quarantined(let quarantine): try Self(quarantine)
            case .offers(let empty): try Self.plain(.offers, empty)
            case .behindOtherTasks(let empty): try Self.plain(.behindOtherTasks, empty)
            case .failedOnFreeWorkers(let empty): try Self.plain(.failedOnFreeWorkers, empty)
            case .noRoom(let text): .noRoom(try Field.people(text, true, "waiting.noRoom"))
            case .ledgerFull(let empty): try Self.plain(.ledgerFull, empty)
            case .ledgerUnreadable(let empty): try Self.plain(.ledgerUnreadable, empty)
            case nil: throw .missing(field: "waiting.reason")
            }
    }

    /// A reason that has no facts.
    private static func plain(
        _ reason: WaitingReason, _ empty: WireEmpty
    ) throws(ProtocolError) -> WaitingReason {
        try Field.known(empty, "waiting.reason")
        return reason
    }

    private init(_ body: WireUnclaimedJobs) throws(ProtocolError) {
        try Field.known(body, "waiting.unclaimed")
        self = .unclaimed(
            jobs: try Field.int(body.jobs, body.hasJobs, "waiting.unclaimed.jobs"),
            seconds: try Field.required(
                body.seconds, body.hasSeconds, "waiting.unclaimed.seconds"))
    }

    private init(_ body: WireBackOff) throws(ProtocolError) {
        try Field.known(body, "waiting.backOff")
        self = .backOff(
            seconds: try Field.required(body.seconds, body.hasSeconds, "waiting.backOff.seconds"),
            body.hasCause ? try FailureReason(body: body.cause, true) : nil)
    }

    private init(_ body: WireJobThrottle) throws(ProtocolError) {
        try Field.known(body, "waiting.throttledJobs")
        self = .throttledJobs(
            run: body.hasRun ? body.run : nil,
            try Field.int(body.jobs, body.hasJobs, "waiting.throttledJobs.jobs"))
    }

    private init(_ body: WireByteThrottle) throws(ProtocolError) {
        try Field.known(body, "waiting.throttled")
        self = .throttled(
            run: body.hasRun ? body.run : nil,
            bytesPerSecond: try Field.required(
                body.bytesPerSecond, body.hasBytesPerSecond, "waiting.throttled.bytesPerSecond"))
    }

    private init(_ body: WireQuarantine) throws(ProtocolError) {
        try Field.known(body, "waiting.quarantined")
        self = .quarantined(body.hasCause ? try FailureReason(body: body.cause, true) : nil)
    }
}

extension WaitingReason {
    var body: WireWaitingReason { .with { $0.reason = oneOf } }

    private var oneOf: WireWaitingReason.OneOf_Reason {
        switch self {
        case .noWorker: .noWorker(WireEmpty())
        case .noReadyWorker(let workers): .noReadyWorker(workers.body)
        case .noWorkerWithEngine(let engine): .noWorkerWithEngine(engine)
        case .noSuitableWorker(let shortage): .noSuitableWorker(shortage.body)
        case .unclaimed(let jobs, let seconds):
            .unclaimed(
                .with {
                    $0.jobs = Int64(jobs)
                    $0.seconds = seconds
                })
        case .allWorkersBusy: .allWorkersBusy(WireEmpty())
        case .backOff(let seconds, let cause):
            .backOff(
                .with {
                    $0.seconds = seconds
                    if let cause { $0.cause = cause.body }
                })
        case .paused(let pause): .paused(pause.body)
        case .behindOtherRuns: .behindOtherRuns(WireEmpty())
        case .storeLimit(let limit): .storeLimit(Int64(limit))
        case .jobLimit(let limit): .jobLimit(Int64(limit))
        case .throttledJobs(let run, let jobs):
            .throttledJobs(
                .with {
                    if let run { $0.run = run }
                    $0.jobs = Int64(jobs)
                })
        case .throttled(let run, let bytesPerSecond):
            .throttled(
                .with {
                    if let run { $0.run = run }
                    $0.bytesPerSecond = bytesPerSecond
                })
        case .behindOtherStores: .behindOtherStores(WireEmpty())
        case .behindCoordinator: .behindCoordinator(WireEmpty())
        case .stage(let stage): .stage(Int64(stage.rawValue))
        case .merge: .merge(WireEmpty())
        case .quarantined(let cause):
            .quarantined(.with { if let cause { $0.cause = cause.body } })
        case .offers: .offers(WireEmpty())
        case .behindOtherTasks: .behindOtherTasks(WireEmpty())
        case .failedOnFreeWorkers: .failedOnFreeWorkers(WireEmpty())
        case .noRoom(let text): .noRoom(PeopleText.cleaned(text))
        case .ledgerFull: .ledgerFull(WireEmpty())
        case .ledgerUnreadable: .ledgerUnreadable(WireEmpty())
        }
    }

    func check() throws(ProtocolError) {
        switch self {
        case .noReadyWorker(let workers): try workers.check()
        case .noWorkerWithEngine(let engine): try Check.name(engine, "waiting.engine")
        case .noSuitableWorker(let shortage): try shortage.check()
        case .unclaimed(let jobs, let seconds):
            try Check.index(jobs, "waiting.unclaimed.jobs")
            try Check.amount(seconds, "waiting.unclaimed.seconds")
        case .backOff(let seconds, _): try Check.amount(seconds, "waiting.backOff.seconds")
        case .storeLimit(let limit): try Check.index(limit, "waiting.storeLimit")
        case .jobLimit(let limit): try Check.index(limit, "waiting.jobLimit")
        case .throttledJobs(let run, let jobs):
            if let run { try Check.identifier(run, "waiting.throttledJobs.run") }
            try Check.index(jobs, "waiting.throttledJobs.jobs")
        case .throttled(let run, let bytesPerSecond):
            if let run { try Check.identifier(run, "waiting.throttled.run") }
            try Check.amount(bytesPerSecond, "waiting.throttled.bytesPerSecond")
        case .noWorker, .allWorkersBusy, .paused, .behindOtherRuns, .behindOtherStores,
            .behindCoordinator, .stage, .merge, .quarantined, .offers, .behindOtherTasks,
            .failedOnFreeWorkers, .noRoom, .ledgerFull, .ledgerUnreadable:
            break
        }
    }
}

extension UnreadyWorkers {
    fileprivate init(body: WireUnreadyWorkers) throws(ProtocolError) {
        try Field.known(body, "waiting.unready")
        self.init(
            quarantined: try Field.int(
                body.quarantined, body.hasQuarantined, "waiting.unready.quarantined"),
            draining: try Field.int(body.draining, body.hasDraining, "waiting.unready.draining"),
            notReady: try Field.int(body.notReady, body.hasNotReady, "waiting.unready.notReady"))
    }

    fileprivate var body: WireUnreadyWorkers {
        .with {
            $0.quarantined = Int64(quarantined)
            $0.draining = Int64(draining)
            $0.notReady = Int64(notReady)
        }
    }

    fileprivate func check() throws(ProtocolError) {
        for count in [quarantined, draining, notReady] { try Check.index(count, "waiting.unready") }
    }
}

extension Shortage {
    init(body: WireShortage) throws(ProtocolError) {
        try Field.known(body, "shortage")
        self.init(
            roots: try NameList(body: body.roots, body.hasRoots, "shortage.roots"),
            policies: try NameList(body: body.policies, body.hasPolicies, "shortage.policies"),
            present: try NameList(body: body.present, body.hasPresent, "shortage.present"))
    }

    var body: WireShortage {
        .with {
            $0.roots = roots.body
            $0.policies = policies.body
            $0.present = present.body
        }
    }

    func check() throws(ProtocolError) {
        try roots.check(MessageLimits.roots, "shortage.roots")
        try policies.check(MessageLimits.policies, "shortage.policies")
        try present.check(MessageLimits.roots, "shortage.present")
    }
}

extension NameList {
    fileprivate init(
        body: WireNameList, _ isPresent: Bool, _ field: String
    ) throws(ProtocolError) {
        guard isPresent else { throw .missing(field: field) }
        try Field.known(body, field)
        self.init(count: try Field.int(body.count, body.hasCount, field), first: body.first)
    }

    fileprivate var body: WireNameList {
        .with {
            $0.count = Int64(count)
            $0.first = first
        }
    }

    /// Names are left out only behind as many as are kept.
    fileprivate func check(_ limit: Int, _ field: String) throws(ProtocolError) {
        try Check.names(first, Self.most, field)
        try Check.number(
            count, first.count...(first.count < Self.most ? first.count : limit), field)
    }
}
