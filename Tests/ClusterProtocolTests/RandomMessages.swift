import ClusterProtocol
import Jobs
import TestSupport

/// Values that a message may hold, from a seed.
struct RandomMessages {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    /// One message of every case.
    mutating func worker() -> [WorkerMessage] {
        [
            .hello(hello()), .ready(freeSlots: number(0...1024)),
            .progress(attempt: identifier(), rows: amount(), bytes: amount()), .done(receipt()),
            .failed(failure()), .returned(attempt: identifier()),
            .heartbeat(scratchFree: amount(), runningAttempts: list(5) { $0.identifier() }),
            .bye(reason: text()),
        ]
    }

    mutating func coordinator() -> [CoordinatorMessage] {
        [
            .welcome(
                Welcome(
                    coordinator: name(), protocolVersion: number(1...255),
                    heartbeatMilliseconds: number(1...60_000), livenessBeats: number(1...10),
                    keep: list(4) { $0.identifier() }, drop: list(4) { $0.identifier() })),
            .refused(refusal()), .jobs([order()] + list(4) { $0.order() }),
            .committed(attempt: identifier()),
            .denied(attempt: identifier(), reason: pick(DenialReason.allCases)),
            .revoke(attempt: identifier()), .drain, .heartbeat, .bye(reason: text()),
        ]
    }

    mutating func requests() -> [ClientRequest] {
        [
            .submit(
                SubmitRequest(
                    request: "{\"name\": \"\(text())\"}", paths: list(4) { $0.file() },
                    limits: RunLimits(
                        stores: maybe { $0.number(1...100) }, jobs: maybe { $0.number(1...100) },
                        failures: maybe { $0.number(0...100) }))),
            .status(run: maybe { $0.identifier() }), .watch(run: maybe { $0.identifier() }),
            .pause(run: identifier()), .resume(run: identifier()), .cancel(run: identifier()),
            .drain(worker: name()), .replay(run: identifier(), store: maybe { $0.index() }),
            .swap(run: identifier(), store: maybe { $0.index() }),
            .throttle(
                ThrottleSettings(
                    run: maybe { $0.identifier() }, bytesPerSecond: maybe { $0.amount() + 1 },
                    jobs: maybe { $0.number(1...64) })), .workers,
        ]
    }

    mutating func replies() -> [ClientReply] {
        [
            .accepted(run: identifier()), .refused(refusal()), .status(report()),
            .event(.status(report())),
            .event(.ended(run: identifier(), failures: number(0...100))), .done,
        ] + notes().map { .event(.note($0)) } + reasonReports().map { .status($0) }
    }

    mutating func slotOrders() -> [SlotOrder] { [.run(order()), .cancel, .end] }

    mutating func slotReports() -> [SlotReport] {
        [
            .ready(engine: name()),
            .progress(attempt: identifier(), rows: amount(), bytes: amount()), .done(receipt()),
            .failed(failure()),
        ]
    }
}

extension RandomMessages {
    mutating func hello() -> WorkerHello {
        let lowest = number(1...9)
        return WorkerHello(
            worker: name(), protocols: ProtocolRange(lowest: lowest, highest: number(lowest...20)),
            engine: name(), sqlite: "3.40.1", policies: list(3) { $0.name() },
            roots: list(4) { $0.root() }, slots: number(1...64), scratchBytes: amount(),
            held: list(4) {
                HeldAttempt(
                    run: $0.identifier(), store: $0.index(), work: $0.work(),
                    attempt: $0.identifier(), epoch: $0.epoch())
            }, host: pick(["", "machine-1", name()]),
            instance: pick(["", name()]))
    }

    mutating func order() -> JobOrder {
        let job = Job(
            run: identifier(), store: index(), work: work(), plan: file(), planDigest: name(),
            source: file(), sourceSupport: maybe { $0.file() }, destination: maybe { $0.file() },
            sourceFingerprint: name(), engine: name(),
            limits: JobLimits(
                cacheKibibytes: number(1...4096), isDurable: pick([true, false]),
                validates: pick([true, false])))
        let attempt = Attempt(id: identifier(), epoch: epoch(), folder: file())
        return JobOrder(job: job, attempt: attempt, leaseMilliseconds: number(1...86_400_000))
    }

    mutating func receipt() -> Receipt {
        var sums: [String: ContentSum] = [:]
        for name in list(4, { $0.name() }) {
            sums[name] = ContentSum(count: amount(), high: next(), low: next())
        }
        var counts: [String: Int64] = [:]
        for name in list(4, { $0.name() }) { counts[name] = amount() }
        return Receipt(
            run: identifier(), store: index(), work: work(), attempt: identifier(), epoch: epoch(),
            files: list(3) {
                DeliveredFile(file: $0.file(), bytes: $0.amount(), digest: $0.name())
            },
            rows: amount(), sums: sums, counts: counts)
    }

    private mutating func failure() -> AttemptFailure {
        AttemptFailure(
            attempt: identifier(), cause: pick(FailureCause.allCases), text: text(),
            slotEnded: pick([true, false]))
    }

    private mutating func refusal() -> Refusal {
        Refusal(
            code: pick(Refusal.Code.allCases), text: text(),
            protocols: ProtocolRange(lowest: 1, highest: number(1...255)),
            run: maybe { $0.identifier() })
    }

    private mutating func report() -> StatusReport {
        report(
            runs: list(3) { $0.run($0.maybe { $0.pick($0.waitingReasons()) }) },
            workers: list(4) { $0.worker(nil) })
    }
}

extension RandomMessages {
    mutating func next() -> UInt64 { generator.next() }

    mutating func number(_ range: ClosedRange<Int>) -> Int {
        pick([range.lowerBound, range.upperBound, Int.random(in: range, using: &generator)])
    }

    mutating func amount() -> Int64 { Int64(next() >> UInt64(number(5...64))) }

    mutating func index() -> Int { number(0...Int(Int32.max)) }

    mutating func epoch() -> Int { number(0...1000) }

    mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: values.indices, using: &generator)]
    }

    mutating func maybe<Value>(_ make: (inout RandomMessages) -> Value) -> Value? {
        next() % 2 == 0 ? make(&self) : nil
    }

    mutating func list<Value>(
        _ limit: Int, _ make: (inout RandomMessages) -> Value
    ) -> [Value] {
        (0..<number(0...limit)).map { _ in make(&self) }
    }

    mutating func work() -> Work {
        pick([.whole, .copy(chunk: index()), .link(chunk: index())])
    }

    mutating func file() -> FileReference {
        let names = ["plan.json", "a b", "Größe", "…", "x.sqlite", "...", "-", "run=1"]
        return FileReference(
            root: root(), path: list(5) { $0.pick(names) }.joined(separator: "/"))
    }

    private mutating func root() -> String { pick(["run", "source", "output_2", "a-b", "R"]) }

    mutating func identifier() -> String {
        let letters = Array("abcXYZ019-_")
        return String((0..<number(1...24)).map { _ in pick(letters) }) + pick(["", ".", ".7"])
    }

    mutating func name() -> String {
        let letters = Array("abcXYZ 019-_./+é漢🙂")
        return String((0..<number(1...40)).map { _ in pick(letters) })
    }

    mutating func text() -> String {
        pick(["", "the disk is full", "line one\nline two\t– “quoted” 漢字", name()])
    }
}
