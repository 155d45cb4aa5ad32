import Jobs
import SwiftProtobuf

extension Note.WorkerChange {
    var body: WireWorkerNote.OneOf_Change {
        switch self {
        case .joined(let slots): .joined(Int64(slots))
        case .returned(let attempts): .returned(Int64(attempts))
        case .refused(let reason): .refused(PeopleText.cleaned(reason))
        case .silent: .silent(WireEmpty())
        case .drains: .drains(WireEmpty())
        case .quarantined(let reason): .quarantined(PeopleText.cleaned(reason))
        case .left(let reason): .left(PeopleText.cleaned(reason))
        }
    }
}

extension Note.JobAttempt {
    init(body: WireAttemptNote) throws(ProtocolError) {
        try Field.known(body, "note.attempt")
        self.init(
            try Work(body: body.work, body.hasWork, "note.attempt.work"),
            attempt: try Field.required(body.attempt, body.hasAttempt, "note.attempt.id"),
            worker: body.worker)
    }

    fileprivate func body(_ reason: FailureReason? = nil) -> WireAttemptNote {
        .with {
            $0.work = work.body
            $0.attempt = attempt
            if !worker.isEmpty { $0.worker = worker }
            if let reason { $0.cause = reason.body }
        }
    }

    fileprivate func check() throws(ProtocolError) {
        try Check.identifier(attempt, "note.attempt.id")
        try Check.label(worker, "note.attempt.worker")
    }
}

extension Note.StoreChange {
    init(_ end: WireStoreEnd) throws(ProtocolError) {
        try Field.known(end, "note.end")
        self = .ended(
            try Field.named(
                try Field.required(end.state, end.hasState, "note.end.state"), "note.end.state"),
            end.hasCause ? try FailureReason(body: end.cause, true) : nil,
            isEarlier: try Field.required(end.isEarlier, end.hasIsEarlier, "note.end.isEarlier"))
    }

    var body: WireStoreNote.OneOf_Change {
        switch self {
        case .attemptFailed(let attempt, let cause): .attemptFailed(attempt.body(cause))
        case .leaseExpired(let attempt): .leaseExpired(attempt.body())
        case .secondAttempt(let attempt): .secondAttempt(attempt.body())
        case .accepted(let work, let rows, let bytes):
            .accepted(
                .with {
                    $0.work = work.body
                    $0.rows = rows
                    $0.bytes = bytes
                })
        case .quarantined(let work, let cause):
            .quarantined(
                .with {
                    $0.work = work.body
                    $0.cause = cause.body
                })
        case .stage(let stage): .stage(stage.rawValue)
        case .ended(let state, let cause, let isEarlier):
            .ended(
                .with {
                    $0.state = state.rawValue
                    if let cause { $0.cause = cause.body }
                    $0.isEarlier = isEarlier
                })
        }
    }

    func check() throws(ProtocolError) {
        switch self {
        case .attemptFailed(let attempt, _), .leaseExpired(let attempt),
            .secondAttempt(let attempt):
            try attempt.check()
        case .accepted(_, let rows, let bytes):
            try Check.amount(rows, "note.store.rows")
            try Check.amount(bytes, "note.store.bytes")
        case .quarantined, .stage, .ended: break
        }
    }
}

extension PauseReason {
    init(body: WirePause) throws(ProtocolError) {
        try Field.known(body, "pause")
        let text = { (text: String) throws(ProtocolError) in
            try Field.people(text, true, "pause.reason")
        }
        switch body.reason {
        case .request(let reason):
            _ = try text(reason)
            self = .request
        case .space(let reason): self = .space(try text(reason))
        case .stopped(let reason): self = .stopped(try text(reason))
        case nil: throw .missing(field: "pause")
        }
    }

    var body: WirePause {
        .with {
            $0.reason =
                switch self {
                case .request: .request(self.text)
                case .space(let text): .space(PeopleText.cleaned(text))
                case .stopped(let text): .stopped(PeopleText.cleaned(text))
                }
        }
    }
}

extension Note.RunChange {
    init(_ leftOut: WireFilesLeftOut) throws(ProtocolError) {
        try Field.known(leftOut, "note.run.files")
        var files: [String] = []
        for file in leftOut.files {
            files.append(try Field.people(file, true, "note.run.files"))
        }
        self = .filesLeftOut(
            count: try Field.int(leftOut.count, leftOut.hasCount, "note.run.files"),
            files: files)
    }

    var body: WireRunNote.OneOf_Change {
        switch self {
        case .began: .began(WireEmpty())
        case .resumed: .resumed(WireEmpty())
        case .paused(let reason): .paused(reason.body)
        case .stopped(let reason): .stopped(PeopleText.cleaned(reason))
        case .ended(let state): .ended(state.rawValue)
        case .awaitsSwap(let stores): .awaitsSwap(Int64(stores))
        case .filesLeftOut(let count, let files):
            .filesLeftOut(
                .with {
                    $0.count = Int64(count)
                    $0.files = files.map(PeopleText.cleaned)
                })
        case .requestFailed(let store, let text):
            .requestFailed(
                .with {
                    if let store { $0.store = Int64(store) }
                    $0.text = PeopleText.cleaned(text)
                })
        case .reopened(let stores): .reopened(Int64(stores))
        case .spaceUnknown(let text): .spaceUnknown(PeopleText.cleaned(text))
        case .swapsDeferred(let isDeferred): .swapsDeferred(isDeferred)
        case .nothingFailed: .nothingFailed(WireEmpty())
        case .nothingAwaitsSwap: .nothingAwaitsSwap(WireEmpty())
        }
    }

    func check() throws(ProtocolError) {
        switch self {
        case .awaitsSwap(let count), .reopened(let count):
            try Check.number(count, 0...MessageLimits.index, "note.run.count")
        case .filesLeftOut(let count, let files):
            try Check.number(count, 0...MessageLimits.index, "note.run.files")
            try Check.count(files.count, Note.mostFiles, "note.run.files")
        case .requestFailed(let store, _):
            if let store { try Check.index(store, "note.run.store") }
        case .began, .resumed, .paused, .stopped, .ended, .spaceUnknown, .swapsDeferred,
            .nothingFailed, .nothingAwaitsSwap:
            break
        }
    }
}
