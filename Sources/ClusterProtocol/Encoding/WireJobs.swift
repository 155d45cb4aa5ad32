import Jobs
import SwiftProtobuf

// Jobs, attempts and receipts as bodies. `init(body:)` asks for every field, `check` holds the
// bounds on both ways.

extension FileReference {
    init(body: WireFileReference, _ field: String) throws(ProtocolError) {
        try Field.known(body, field)
        self.init(
            root: try Field.required(body.root, body.hasRoot, field + ".root"),
            path: try Field.required(body.path, body.hasPath, field + ".path"))
    }

    var body: WireFileReference {
        .with {
            $0.root = root
            $0.path = path
        }
    }
}

extension Work {
    init(body: WireWork, _ isPresent: Bool, _ field: String) throws(ProtocolError) {
        guard isPresent, let kind = body.kind else { throw .missing(field: field) }
        switch kind {
        case .whole(let whole):
            try Field.known(whole, field)
            self = .whole
        case .copy(let chunk): self = .copy(chunk: try Field.int(chunk, true, field))
        case .link(let chunk): self = .link(chunk: try Field.int(chunk, true, field))
        }
    }

    var body: WireWork {
        .with {
            $0.kind =
                switch self {
                case .whole: .whole(WireWork.Whole())
                case .copy(let chunk): .copy(Int64(chunk))
                case .link(let chunk): .link(Int64(chunk))
                }
        }
    }

    func check(_ field: String) throws(ProtocolError) {
        switch self {
        case .whole: break
        case .copy(let chunk), .link(let chunk): try Check.index(chunk, field)
        }
    }
}

extension JobLimits {
    init(body: WireJobLimits) throws(ProtocolError) {
        try Field.known(body, "job.limits")
        self.init(
            cacheKibibytes: try Field.int(
                body.cacheKibibytes, body.hasCacheKibibytes, "job.limits.cacheKibibytes"),
            isDurable: try Field.required(
                body.isDurable, body.hasIsDurable, "job.limits.isDurable"),
            validates: try Field.required(
                body.validates, body.hasValidates, "job.limits.validates"))
    }

    var body: WireJobLimits {
        .with {
            $0.cacheKibibytes = Int64(cacheKibibytes)
            $0.isDurable = isDurable
            $0.validates = validates
        }
    }
}

extension Job {
    init(body: WireJob) throws(ProtocolError) {
        try Field.known(body, "job")
        try Field.known(body.work, "job.work")
        guard body.hasPlan else { throw .missing(field: "job.plan") }
        guard body.hasSource else { throw .missing(field: "job.source") }
        guard body.hasLimits else { throw .missing(field: "job.limits") }
        self.init(
            run: try Field.required(body.run, body.hasRun, "job.run"),
            store: try Field.int(body.store, body.hasStore, "job.store"),
            work: try Work(body: body.work, body.hasWork, "job.work"),
            plan: try FileReference(body: body.plan, "job.plan"),
            planDigest: try Field.required(
                body.planDigest, body.hasPlanDigest, "job.planDigest"),
            source: try FileReference(body: body.source, "job.source"),
            sourceSupport: body.hasSourceSupport
                ? try FileReference(body: body.sourceSupport, "job.sourceSupport") : nil,
            destination: body.hasDestination
                ? try FileReference(body: body.destination, "job.destination") : nil,
            sourceFingerprint: try Field.required(
                body.sourceFingerprint, body.hasSourceFingerprint, "job.sourceFingerprint"),
            engine: try Field.required(body.engine, body.hasEngine, "job.engine"),
            limits: try JobLimits(body: body.limits))
    }

    var body: WireJob {
        .with {
            $0.run = run
            $0.store = Int64(store)
            $0.work = work.body
            $0.plan = plan.body
            $0.planDigest = planDigest
            $0.source = source.body
            if let sourceSupport { $0.sourceSupport = sourceSupport.body }
            if let destination { $0.destination = destination.body }
            $0.sourceFingerprint = sourceFingerprint
            $0.engine = engine
            $0.limits = limits.body
        }
    }

    func check() throws(ProtocolError) {
        try Check.identifier(run, "job.run")
        try Check.index(store, "job.store")
        try work.check("job.work")
        try Check.file(plan, "job.plan")
        try Check.name(planDigest, "job.planDigest")
        try Check.file(source, "job.source")
        if let sourceSupport { try Check.file(sourceSupport, "job.sourceSupport") }
        if let destination { try Check.file(destination, "job.destination") }
        try Check.name(sourceFingerprint, "job.sourceFingerprint")
        try Check.name(engine, "job.engine")
        try Check.number(
            limits.cacheKibibytes, 1...MessageLimits.cacheKibibytes, "job.limits.cacheKibibytes")
    }
}

extension Attempt {
    init(body: WireAttempt) throws(ProtocolError) {
        try Field.known(body, "attempt")
        guard body.hasFolder else { throw .missing(field: "attempt.folder") }
        self.init(
            id: try Field.required(body.id, body.hasID, "attempt.id"),
            epoch: try Field.int(body.epoch, body.hasEpoch, "attempt.epoch"),
            folder: try FileReference(body: body.folder, "attempt.folder"))
    }

    var body: WireAttempt {
        .with {
            $0.id = id
            $0.epoch = Int64(epoch)
            $0.folder = folder.body
        }
    }

    func check() throws(ProtocolError) {
        try Check.identifier(id, "attempt.id")
        try Check.epoch(epoch, "attempt.epoch")
        try Check.file(folder, "attempt.folder")
    }
}

extension JobOrder {
    init(body: WireJobOrder) throws(ProtocolError) {
        try Field.known(body, "order")
        guard body.hasJob else { throw .missing(field: "job") }
        guard body.hasAttempt else { throw .missing(field: "attempt") }
        self.init(
            job: try Job(body: body.job), attempt: try Attempt(body: body.attempt),
            leaseMilliseconds: try Field.int(
                body.leaseMilliseconds, body.hasLeaseMilliseconds, "leaseMilliseconds"))
    }

    var body: WireJobOrder {
        .with {
            $0.job = job.body
            $0.attempt = attempt.body
            $0.leaseMilliseconds = Int64(leaseMilliseconds)
        }
    }

    func check() throws(ProtocolError) {
        try job.check()
        try attempt.check()
        try Check.number(leaseMilliseconds, 1...MessageLimits.milliseconds, "leaseMilliseconds")
    }
}
