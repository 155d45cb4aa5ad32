import Jobs
import SwiftProtobuf

extension Note {
    init(body: WireNote) throws(ProtocolError) {
        try Field.known(body, "note")
        switch body.subject {
        case .worker(let note): try self.init(note)
        case .store(let note): try self.init(note)
        case .run(let note): try self.init(note)
        case .denied(let denial):
            try Field.known(denial, "note.denied")
            self = .denied(
                attempt: try Field.required(
                    denial.attempt, denial.hasAttempt, "note.denied.attempt"),
                try Field.meaning(denial.reason, denial.hasReason, "note.denied.reason"))
        case .unexpected(let text): self = .unexpected(try Field.people(text, true, "note.text"))
        case .broken(let text): self = .broken(try Field.people(text, true, "note.text"))
        case nil: throw .missing(field: "note")
        }
    }

    private init(_ body: WireWorkerNote) throws(ProtocolError) {
        try Field.known(body, "note.worker")
        let reason = { (text: String) throws(ProtocolError) in
            try Field.people(text, true, "note.worker.reason")
        }
        let change: WorkerChange =
            switch body.change {
            case .joined(let slots): .joined(slots: try Field.int(slots, true, "note.worker.slots"))
            case .returned(let attempts):
                .returned(attempts: try Field.int(attempts, true, "note.worker.attempts"))
            case .refused(let text): .refused(reason: try reason(text))
            case .silent: .silent
            case .drains: .drains
            case .quarantined(let text): .quarantined(reason: try reason(text))
            case .left(let text): .left(reason: try reason(text))
            case nil: throw .missing(field: "note.worker.change")
            }
        self = .worker(
            try Field.required(body.worker, body.hasWorker, "note.worker.name"), change)
    }

    private init(_ body: WireStoreNote) throws(ProtocolError) {
        try Field.known(body, "note.store")
        let key = StoreKey(
            run: try Field.required(body.run, body.hasRun, "note.store.run"),
            number: try Field.int(body.store, body.hasStore, "note.store.store"))
        let file = try Field.optionalPeople(body.file, body.hasFile, "note.store.file")
        let change: StoreChange =
            switch body.change {
            case .attemptFailed(let note):
                .attemptFailed(
                    try JobAttempt(body: note), try FailureReason(body: note.cause, note.hasCause))
            case .leaseExpired(let note): .leaseExpired(try JobAttempt(body: note))
            case .secondAttempt(let note): .secondAttempt(try JobAttempt(body: note))
            case .accepted(let job):
                .accepted(
                    try Work(body: job.work, job.hasWork, "note.store.work"),
                    rows: try Field.required(job.rows, job.hasRows, "note.store.rows"),
                    bytes: try Field.required(job.bytes, job.hasBytes, "note.store.bytes"))
            case .quarantined(let job):
                .quarantined(
                    try Work(body: job.work, job.hasWork, "note.store.work"),
                    try FailureReason(body: job.cause, job.hasCause))
            case .stage(let name): .stage(try Field.named(name, "note.store.stage"))
            case .ended(let end): try StoreChange(end)
            case nil: throw .missing(field: "note.store.change")
            }
        self = .store(key, file: file, change)
    }

    private init(_ body: WireRunNote) throws(ProtocolError) {
        try Field.known(body, "note.run")
        let count = { (number: Int64) throws(ProtocolError) in
            try Field.int(number, true, "note.run.count")
        }
        let change: RunChange =
            switch body.change {
            case .began: .began
            case .resumed: .resumed
            case .paused(let pause): .paused(try PauseReason(body: pause))
            case .stopped(let text):
                .stopped(reason: try Field.people(text, true, "note.run.stopped"))
            case .ended(let state): .ended(try Field.named(state, "note.run.ended"))
            case .awaitsSwap(let stores): .awaitsSwap(stores: try count(stores))
            case .filesLeftOut(let files):
                try RunChange(files)
            case .requestFailed(let request):
                .requestFailed(
                    store: try Field.optionalInt(
                        request.store, request.hasStore, "note.run.store"),
                    text: try Field.people(request.text, request.hasText, "note.run.text"))
            case .reopened(let stores): .reopened(stores: try count(stores))
            case .spaceUnknown(let text):
                .spaceUnknown(try Field.people(text, true, "note.run.space"))
            case .swapsDeferred(let isDeferred): .swapsDeferred(isDeferred)
            case .nothingFailed: .nothingFailed
            case .nothingAwaitsSwap: .nothingAwaitsSwap
            case nil: throw .missing(field: "note.run.change")
            }
        self = .run(try Field.required(body.run, body.hasRun, "note.run.run"), change)
    }
}

extension Note {
    var body: WireNote {
        .with {
            $0.subject =
                switch self {
                case .worker(let name, let change):
                    .worker(
                        .with {
                            $0.worker = name
                            $0.change = change.body
                        })
                case .store(let key, let file, let change):
                    .store(
                        .with {
                            $0.run = key.run
                            $0.store = Int64(key.number)
                            if let file { $0.file = PeopleText.cleaned(file) }
                            $0.change = change.body
                        })
                case .run(let run, let change):
                    .run(
                        .with {
                            $0.run = run
                            $0.change = change.body
                        })
                case .denied(let attempt, let reason):
                    .denied(
                        .with {
                            $0.attempt = attempt
                            $0.reason = Int64(reason.rawValue)
                        })
                case .unexpected(let text): .unexpected(PeopleText.cleaned(text))
                case .broken(let text): .broken(PeopleText.cleaned(text))
                }
        }
    }

    func check() throws(ProtocolError) {
        switch self {
        case .worker(let name, let change):
            try Check.name(name, "note.worker.name")
            switch change {
            case .joined(let count), .returned(let count):
                try Check.number(count, 0...MessageLimits.attempts, "note.worker.count")
            case .refused, .silent, .drains, .quarantined, .left: break
            }
        case .store(let key, _, let change):
            try Check.identifier(key.run, "note.store.run")
            try Check.index(key.number, "note.store.store")
            try change.check()
        case .run(let run, let change):
            try Check.identifier(run, "note.run.run")
            try change.check()
        case .denied(let attempt, _): try Check.identifier(attempt, "note.denied.attempt")
        case .unexpected, .broken: break
        }
    }
}

extension FailureReason {
    init(body: WireCause, _ isPresent: Bool) throws(ProtocolError) {
        guard isPresent else { throw .missing(field: "cause") }
        try Field.known(body, "cause")
        self.init(
            try Field.meaning(body.code, body.hasCode, "cause.code"),
            try Field.people(body.text, body.hasText, "cause.text"))
    }

    var body: WireCause {
        .with {
            $0.code = Int64(cause.rawValue)
            $0.text = PeopleText.cleaned(text)
        }
    }
}
