import Jobs
import SwiftProtobuf

// What attempts deliver, or why they failed, as bodies.

extension DeliveredFile {
    init(body: WireDeliveredFile) throws(ProtocolError) {
        try Field.known(body, "receipt.files")
        guard body.hasFile else { throw .missing(field: "receipt.files.file") }
        self.init(
            file: try FileReference(body: body.file, "receipt.files.file"),
            bytes: try Field.required(body.bytes, body.hasBytes, "receipt.files.bytes"),
            digest: try Field.required(body.digest, body.hasDigest, "receipt.files.digest"))
    }

    var body: WireDeliveredFile {
        .with {
            $0.file = file.body
            $0.bytes = bytes
            $0.digest = digest
        }
    }

    func check() throws(ProtocolError) {
        try Check.file(file, "receipt.files.file")
        try Check.amount(bytes, "receipt.files.bytes")
        try Check.name(digest, "receipt.files.digest")
    }
}

extension ContentSum {
    init(body: WireContentSum) throws(ProtocolError) {
        try Field.known(body, "receipt.sums")
        self.init(
            count: try Field.required(body.count, body.hasCount, "receipt.sums.count"),
            high: try Field.required(body.high, body.hasHigh, "receipt.sums.high"),
            low: try Field.required(body.low, body.hasLow, "receipt.sums.low"))
    }

    var body: WireContentSum {
        .with {
            $0.count = count
            $0.high = high
            $0.low = low
        }
    }
}

extension Receipt {
    init(body: WireReceipt) throws(ProtocolError) {
        try Field.known(body, "receipt")
        try Field.known(body.work, "receipt.work")
        var files: [DeliveredFile] = []
        for file in body.files { files.append(try DeliveredFile(body: file)) }
        var sums: [String: ContentSum] = [:]
        for (name, sum) in body.sums { sums[name] = try ContentSum(body: sum) }
        self.init(
            run: try Field.required(body.run, body.hasRun, "receipt.run"),
            store: try Field.int(body.store, body.hasStore, "receipt.store"),
            work: try Work(body: body.work, body.hasWork, "receipt.work"),
            attempt: try Field.required(body.attempt, body.hasAttempt, "receipt.attempt"),
            epoch: try Field.int(body.epoch, body.hasEpoch, "receipt.epoch"),
            files: files, rows: try Field.required(body.rows, body.hasRows, "receipt.rows"),
            sums: sums, counts: body.counts)
    }

    var body: WireReceipt {
        .with {
            $0.run = run
            $0.store = Int64(store)
            $0.work = work.body
            $0.attempt = attempt
            $0.epoch = Int64(epoch)
            $0.files = files.map(\.body)
            $0.rows = rows
            $0.sums = sums.mapValues(\.body)
            $0.counts = counts
        }
    }

    func check() throws(ProtocolError) {
        try Check.identifier(run, "receipt.run")
        try Check.index(store, "receipt.store")
        try work.check("receipt.work")
        try Check.identifier(attempt, "receipt.attempt")
        try Check.epoch(epoch, "receipt.epoch")
        try Check.amount(rows, "receipt.rows")
        try Check.count(files.count, MessageLimits.files, "receipt.files")
        for file in files { try file.check() }
        try Check.count(sums.count, MessageLimits.sums, "receipt.sums")
        for (name, sum) in sums {
            try Check.name(name, "receipt.sums")
            try Check.amount(sum.count, "receipt.sums.count")
        }
        try Check.count(counts.count, MessageLimits.sums, "receipt.counts")
        for (name, count) in counts {
            try Check.name(name, "receipt.counts")
            try Check.amount(count, "receipt.counts")
        }
    }
}

extension AttemptFailure {
    init(body: WireAttemptFailure) throws(ProtocolError) {
        try Field.known(body, "failed")
        self.init(
            attempt: try Field.required(body.attempt, body.hasAttempt, "failed.attempt"),
            cause: try Field.meaning(body.code, body.hasCode, "failed.code"),
            text: try Field.people(body.text, body.hasText, "failed.text"),
            slotEnded: try Field.required(
                body.slotEnded, body.hasSlotEnded, "failed.slotEnded"))
    }

    var body: WireAttemptFailure {
        .with {
            $0.attempt = attempt
            $0.code = Int64(cause.rawValue)
            $0.text = PeopleText.cleaned(text)
            $0.slotEnded = slotEnded
        }
    }

    func check() throws(ProtocolError) { try Check.identifier(attempt, "failed.attempt") }
}

/// What an attempt has done since it began.
struct ProgressFields {
    let attempt: String
    let rows: Int64
    let bytes: Int64

    init(attempt: String, rows: Int64, bytes: Int64) {
        self.attempt = attempt
        self.rows = rows
        self.bytes = bytes
    }

    init(body: WireProgress) throws(ProtocolError) {
        try Field.known(body, "progress")
        attempt = try Field.required(body.attempt, body.hasAttempt, "progress.attempt")
        rows = try Field.required(body.rows, body.hasRows, "progress.rows")
        bytes = try Field.required(body.bytes, body.hasBytes, "progress.bytes")
    }

    var body: WireProgress {
        .with {
            $0.attempt = attempt
            $0.rows = rows
            $0.bytes = bytes
        }
    }

    func check() throws(ProtocolError) {
        try Check.identifier(attempt, "progress.attempt")
        try Check.amount(rows, "progress.rows")
        try Check.amount(bytes, "progress.bytes")
    }
}
