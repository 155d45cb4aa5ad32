import Jobs
import SwiftProtobuf

// What a coordinator answers to commands, as bodies.

extension RunStatus {
    init(body: WireRunStatus) throws(ProtocolError) {
        try Field.known(body, "status.runs")
        self.init(
            run: try Field.required(body.run, body.hasRun, "status.runs.run"),
            state: try Field.named(
                try Field.required(body.state, body.hasState, "status.runs.state"),
                "status.runs.state"),
            stores: try Self.states(body.stores, "status.runs.stores"),
            jobs: try Self.counts(body.jobs, "status.runs.jobs"),
            rows: try Field.required(body.rows, body.hasRows, "status.runs.rows"),
            bytes: try Field.required(body.bytes, body.hasBytes, "status.runs.bytes"),
            rowsPerSecond: try Field.required(
                body.rowsPerSecond, body.hasRowsPerSecond, "status.runs.rowsPerSecond"),
            bytesPerSecond: try Field.required(
                body.bytesPerSecond, body.hasBytesPerSecond, "status.runs.bytesPerSecond"),
            secondsLeft: body.hasSecondsLeft ? body.secondsLeft : nil,
            waitingFor: body.hasWaitingFor ? try WaitingReason(body: body.waitingFor) : nil)
    }

    private static func states(
        _ body: [String: Int64], _ field: String
    ) throws(ProtocolError) -> [StoreState: Int] {
        var counts: [StoreState: Int] = [:]
        for (name, count) in body {
            counts[try Field.named(name, field)] = try Field.int(count, true, field)
        }
        return counts
    }

    private static func counts(
        _ body: [String: Int64], _ field: String
    ) throws(ProtocolError) -> [String: Int] {
        var counts: [String: Int] = [:]
        for (name, count) in body { counts[name] = try Field.int(count, true, field) }
        return counts
    }

    var body: WireRunStatus {
        .with {
            $0.run = run
            $0.state = state.rawValue
            for (state, count) in stores { $0.stores[state.rawValue] = Int64(count) }
            $0.jobs = jobs.mapValues { Int64($0) }
            $0.rows = rows
            $0.bytes = bytes
            $0.rowsPerSecond = rowsPerSecond
            $0.bytesPerSecond = bytesPerSecond
            if let secondsLeft { $0.secondsLeft = secondsLeft }
            if let waitingFor { $0.waitingFor = waitingFor.body }
        }
    }

    func check() throws(ProtocolError) {
        try Check.identifier(run, "status.runs.run")
        for count in stores.values { try Check.amount(Int64(count), "status.runs.stores") }
        try Check.count(jobs.count, MessageLimits.states, "status.runs.jobs")
        for (name, count) in jobs {
            try Check.name(name, "status.runs.jobs")
            try Check.amount(Int64(count), "status.runs.jobs")
        }
        try Check.amount(rows, "status.runs.rows")
        try Check.amount(bytes, "status.runs.bytes")
        try Check.amount(rowsPerSecond, "status.runs.rowsPerSecond")
        try Check.amount(bytesPerSecond, "status.runs.bytesPerSecond")
        if let secondsLeft { try Check.amount(secondsLeft, "status.runs.secondsLeft") }
        try waitingFor?.check()
    }
}

extension WorkerStatus {
    init(body: WireWorkerStatus) throws(ProtocolError) {
        try Field.known(body, "status.workers")
        self.init(
            name: try Field.required(body.name, body.hasName, "status.workers.name"),
            host: try Field.required(body.host, body.hasHost, "status.workers.host"),
            engine: try Field.required(body.engine, body.hasEngine, "status.workers.engine"),
            slots: try Field.int(body.slots, body.hasSlots, "status.workers.slots"),
            running: try Field.int(body.running, body.hasRunning, "status.workers.running"),
            state: try Field.meaning(body.state, body.hasState, "status.workers.state"),
            reason: body.hasReason ? try IdleReason(body: body.reason) : nil)
    }

    var body: WireWorkerStatus {
        .with {
            $0.name = name
            $0.host = host
            $0.engine = engine
            $0.slots = Int64(slots)
            $0.running = Int64(running)
            $0.state = Int64(state.rawValue)
            if let reason { $0.reason = reason.body }
        }
    }

    func check() throws(ProtocolError) {
        try Check.name(name, "status.workers.name")
        try Check.label(host, "status.workers.host")
        try Check.label(engine, "status.workers.engine")
        try Check.number(slots, 0...MessageLimits.slots, "status.workers.slots")
        try Check.index(running, "status.workers.running")
        try reason?.check()
    }
}

extension StatusReport {
    init(body: WireStatusReport) throws(ProtocolError) {
        try Field.known(body, "status")
        var runs: [RunStatus] = []
        for run in body.runs { runs.append(try RunStatus(body: run)) }
        var workers: [WorkerStatus] = []
        for worker in body.workers { workers.append(try WorkerStatus(body: worker)) }
        self.init(
            coordinator: try Field.required(
                body.coordinator, body.hasCoordinator, "status.coordinator"),
            engine: try Field.required(body.engine, body.hasEngine, "status.engine"),
            runs: runs, workers: workers)
    }

    var body: WireStatusReport {
        .with {
            $0.coordinator = coordinator
            $0.engine = engine
            $0.runs = runs.map(\.body)
            $0.workers = workers.map(\.body)
        }
    }

    func check() throws(ProtocolError) {
        try Check.name(coordinator, "status.coordinator")
        try Check.name(engine, "status.engine")
        try Check.count(runs.count, MessageLimits.runs, "status.runs")
        for run in runs { try run.check() }
        try Check.count(workers.count, MessageLimits.workers, "status.workers")
        for worker in workers { try worker.check() }
    }
}

extension WatchEvent {
    init(body: WireWatchEvent) throws(ProtocolError) {
        try Field.known(body, "event")
        switch body.kind {
        case .status(let report): self = .status(try StatusReport(body: report))
        case .note(let note): self = .note(try Note(body: note))
        case .ended(let end):
            try Field.known(end, "event.ended")
            self = .ended(
                run: try Field.required(end.run, end.hasRun, "event.ended.run"),
                failures: try Field.int(
                    end.failures, end.hasFailures, "event.ended.failures"))
        case nil: throw .missing(field: "event")
        }
    }

    var body: WireWatchEvent {
        .with {
            $0.kind =
                switch self {
                case .status(let report): .status(report.body)
                case .note(let note): .note(note.body)
                case .ended(let run, let failures):
                    .ended(
                        .with {
                            $0.run = run
                            $0.failures = Int64(failures)
                        })
                }
        }
    }

    func check() throws(ProtocolError) {
        switch self {
        case .status(let report): try report.check()
        case .note(let note): try note.check()
        case .ended(let run, let failures):
            try Check.identifier(run, "event.ended.run")
            try Check.index(failures, "event.ended.failures")
        }
    }
}
