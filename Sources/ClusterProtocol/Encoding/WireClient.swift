import Jobs
import SwiftProtobuf

// What commands ask, as bodies.

extension SubmitRequest {
    init(body: WireSubmit) throws(ProtocolError) {
        try Field.known(body, "submit")
        guard body.hasLimits else { throw .missing(field: "submit.limits") }
        var paths: [FileReference] = []
        for path in body.paths { paths.append(try FileReference(body: path, "submit.paths")) }
        self.init(
            request: try Field.required(body.request, body.hasRequest, "submit.request"),
            paths: paths, limits: try RunLimits(body: body.limits))
    }

    var body: WireSubmit {
        .with {
            $0.request = request
            $0.paths = paths.map(\.body)
            $0.limits = limits.body
        }
    }

    func check() throws(ProtocolError) {
        try Check.size(request, MessageLimits.requestBytes, "submit.request")
        try Check.count(paths.count, MessageLimits.paths, "submit.paths")
        for path in paths { try Check.file(path, "submit.paths") }
        try limits.check()
    }
}

extension RunLimits {
    init(body: WireRunLimits) throws(ProtocolError) {
        try Field.known(body, "submit.limits")
        self.init(
            stores: try Field.optionalInt(body.stores, body.hasStores, "submit.limits.stores"),
            jobs: try Field.optionalInt(body.jobs, body.hasJobs, "submit.limits.jobs"),
            failures: try Field.optionalInt(
                body.failures, body.hasFailures, "submit.limits.failures"))
    }

    var body: WireRunLimits {
        .with {
            if let stores { $0.stores = Int64(stores) }
            if let jobs { $0.jobs = Int64(jobs) }
            if let failures { $0.failures = Int64(failures) }
        }
    }

    func check() throws(ProtocolError) {
        let bounds = 1...MessageLimits.index
        if let stores { try Check.number(stores, bounds, "submit.limits.stores") }
        if let jobs { try Check.number(jobs, bounds, "submit.limits.jobs") }
        if let failures { try Check.index(failures, "submit.limits.failures") }
    }
}

extension ThrottleSettings {
    init(body: WireThrottle) throws(ProtocolError) {
        try Field.known(body, "throttle")
        self.init(
            run: body.hasRun ? body.run : nil,
            bytesPerSecond: body.hasBytesPerSecond ? body.bytesPerSecond : nil,
            jobs: try Field.optionalInt(body.jobs, body.hasJobs, "throttle.jobs"))
    }

    var body: WireThrottle {
        .with {
            if let run { $0.run = run }
            if let bytesPerSecond { $0.bytesPerSecond = bytesPerSecond }
            if let jobs { $0.jobs = Int64(jobs) }
        }
    }

    func check() throws(ProtocolError) {
        if let run { try Check.identifier(run, "throttle.run") }
        if let bytesPerSecond {
            try Check.amount(bytesPerSecond, "throttle.bytesPerSecond")
            guard bytesPerSecond > 0 else {
                throw .outOfRange(field: "throttle.bytesPerSecond", bytesPerSecond)
            }
        }
        if let jobs { try Check.number(jobs, 1...MessageLimits.index, "throttle.jobs") }
    }
}

/// One store of a run, or all.
struct StoreChoice {
    let run: String
    let store: Int?

    init(run: String, store: Int?) {
        self.run = run
        self.store = store
    }

    init(body: WireStoreChoice) throws(ProtocolError) {
        try Field.known(body, "request")
        run = try Field.required(body.run, body.hasRun, "request.run")
        store = try Field.optionalInt(body.store, body.hasStore, "request.store")
    }

    var body: WireStoreChoice {
        .with {
            $0.run = run
            if let store { $0.store = Int64(store) }
        }
    }

    func check() throws(ProtocolError) {
        try Check.identifier(run, "request.run")
        if let store { try Check.index(store, "request.store") }
    }
}
