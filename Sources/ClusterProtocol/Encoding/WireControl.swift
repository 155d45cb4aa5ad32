import Jobs
import SwiftProtobuf

// How workers and coordinators introduce themselves, as bodies. Hello and refusal pass over
// fields that they do not know: every version reads them.

extension ProtocolRange {
    init(body: WireProtocolRange, _ isPresent: Bool) throws(ProtocolError) {
        guard isPresent else { throw .missing(field: "protocols") }
        self.init(
            lowest: try Field.int(body.lowest, body.hasLowest, "protocols.lowest"),
            highest: try Field.int(body.highest, body.hasHighest, "protocols.highest"))
    }

    var body: WireProtocolRange {
        .with {
            $0.lowest = Int64(lowest)
            $0.highest = Int64(highest)
        }
    }
}

extension HeldAttempt {
    init(body: WireHeldAttempt) throws(ProtocolError) {
        self.init(
            run: try Field.required(body.run, body.hasRun, "hello.held.run"),
            store: try Field.int(body.store, body.hasStore, "hello.held.store"),
            work: try Work(body: body.work, body.hasWork, "hello.held.work"),
            attempt: try Field.required(body.attempt, body.hasAttempt, "hello.held.attempt"),
            epoch: try Field.int(body.epoch, body.hasEpoch, "hello.held.epoch"))
    }

    var body: WireHeldAttempt {
        .with {
            $0.run = run
            $0.store = Int64(store)
            $0.work = work.body
            $0.attempt = attempt
            $0.epoch = Int64(epoch)
        }
    }

    func check() throws(ProtocolError) {
        try Check.identifier(run, "hello.held.run")
        try Check.index(store, "hello.held.store")
        try work.check("hello.held.work")
        try Check.identifier(attempt, "hello.held.attempt")
        try Check.epoch(epoch, "hello.held.epoch")
    }
}

extension WorkerHello {
    init(body: WireWorkerHello) throws(ProtocolError) {
        var held: [HeldAttempt] = []
        for attempt in body.held { held.append(try HeldAttempt(body: attempt)) }
        self.init(
            worker: try Field.required(body.worker, body.hasWorker, "hello.worker"),
            protocols: try ProtocolRange(body: body.protocols, body.hasProtocols),
            engine: try Field.required(body.engine, body.hasEngine, "hello.engine"),
            sqlite: try Field.required(body.sqlite, body.hasSqlite, "hello.sqlite"),
            policies: body.policies, roots: body.roots,
            slots: try Field.int(body.slots, body.hasSlots, "hello.slots"),
            scratchBytes: try Field.required(
                body.scratchBytes, body.hasScratchBytes, "hello.scratchBytes"),
            held: held, host: try Field.required(body.host, body.hasHost, "hello.host"),
            instance: body.instance)
    }

    var body: WireWorkerHello {
        .with {
            $0.worker = worker
            $0.protocols = protocols.body
            $0.engine = engine
            $0.sqlite = sqlite
            $0.policies = policies
            $0.roots = roots
            $0.slots = Int64(slots)
            $0.scratchBytes = scratchBytes
            $0.held = held.map(\.body)
            $0.host = host
            if !instance.isEmpty { $0.instance = instance }
        }
    }

    func check() throws(ProtocolError) {
        try Check.name(worker, "hello.worker")
        try Check.range(protocols, "hello.protocols")
        try Check.name(engine, "hello.engine")
        try Check.name(sqlite, "hello.sqlite")
        try Check.names(policies, MessageLimits.policies, "hello.policies")
        try Check.count(roots.count, MessageLimits.roots, "hello.roots")
        for root in roots { try Check.file(FileReference(root: root, path: ""), "hello.roots") }
        try Check.number(slots, 1...MessageLimits.slots, "hello.slots")
        try Check.amount(scratchBytes, "hello.scratchBytes")
        try Check.count(held.count, MessageLimits.attempts, "hello.held")
        for attempt in held { try attempt.check() }
        try Check.label(host, "hello.host")
        try Check.label(instance, "hello.instance")
    }
}

extension Refusal {
    init(body: WireRefusal) throws(ProtocolError) {
        self.init(
            code: try Field.meaning(body.code, body.hasCode, "refused.code"),
            text: try Field.people(body.text, body.hasText, "refused.text"),
            protocols: try ProtocolRange(body: body.protocols, body.hasProtocols),
            run: body.hasRun ? body.run : nil)
    }

    var body: WireRefusal {
        .with {
            $0.code = Int64(code.rawValue)
            $0.text = PeopleText.cleaned(text)
            $0.protocols = protocols.body
            if let run { $0.run = run }
        }
    }

    func check() throws(ProtocolError) {
        try Check.range(protocols, "refused.protocols")
        if let run { try Check.identifier(run, "refused.run") }
    }
}

extension Welcome {
    init(body: WireWelcome) throws(ProtocolError) {
        try Field.known(body, "welcome")
        self.init(
            coordinator: try Field.required(
                body.coordinator, body.hasCoordinator, "welcome.coordinator"),
            protocolVersion: try Field.int(
                body.protocolVersion, body.hasProtocolVersion, "welcome.protocolVersion"),
            heartbeatMilliseconds: try Field.int(
                body.heartbeatMilliseconds, body.hasHeartbeatMilliseconds,
                "welcome.heartbeatMilliseconds"),
            livenessBeats: try Field.int(
                body.livenessBeats, body.hasLivenessBeats, "welcome.livenessBeats"),
            keep: body.keep, drop: body.drop)
    }

    var body: WireWelcome {
        .with {
            $0.coordinator = coordinator
            $0.protocolVersion = Int64(protocolVersion)
            $0.heartbeatMilliseconds = Int64(heartbeatMilliseconds)
            $0.livenessBeats = Int64(livenessBeats)
            $0.keep = keep
            $0.drop = drop
        }
    }

    func check() throws(ProtocolError) {
        try Check.name(coordinator, "welcome.coordinator")
        try Check.number(protocolVersion, 1...255, "welcome.protocolVersion")
        try Check.number(
            heartbeatMilliseconds, 1...MessageLimits.milliseconds, "welcome.heartbeatMilliseconds")
        try Check.number(livenessBeats, 1...MessageLimits.beats, "welcome.livenessBeats")
        try Check.identifiers(keep, "welcome.keep")
        try Check.identifiers(drop, "welcome.drop")
    }
}
