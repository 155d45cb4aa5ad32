import ClusterProtocol
import Jobs
import Testing

/// What was encoded is decoded to the same value, and equal values have equal bytes.
@Suite struct RoundTripTests {
    private let codec = MessageCodec()

    private func expectRoundTrips<Value: ControlMessage>(
        _ messages: [Value], seed: UInt64
    ) throws {
        for message in messages {
            let frame = try codec.encode(message)
            #expect(try codec.decode(frame, as: Value.self) == message, "seed \(seed)")
            #expect(try codec.encode(message) == frame, "seed \(seed)")
        }
    }

    @Test func everyMessageSurvives() throws {
        for seed in UInt64(0)..<200 {
            var random = RandomMessages(seed: seed)
            try expectRoundTrips(random.worker(), seed: seed)
            try expectRoundTrips(random.coordinator(), seed: seed)
            try expectRoundTrips(random.requests(), seed: seed)
            try expectRoundTrips(random.replies(), seed: seed)
            try expectRoundTrips(random.slotOrders(), seed: seed)
            try expectRoundTrips(random.slotReports(), seed: seed)
        }
    }

    /// A job with names as long as they are in use.
    static let typicalOrder = JobOrder(
        job: Job(
            run: "20260314-091500-7f3a9c", store: 17, work: .copy(chunk: 12),
            plan: FileReference(root: "run", path: "stores/17/plan.json"),
            planDigest: String(repeating: "9f", count: 32),
            source: FileReference(root: "source", path: "customers/berlin/Library.sqlite"),
            sourceSupport: FileReference(
                root: "source", path: "customers/berlin/.Library_SUPPORT/_EXTERNAL_DATA"),
            destination: nil, sourceFingerprint: String(repeating: "3b", count: 32),
            engine: "1.0.0", limits: .standard),
        attempt: Attempt(
            id: "7f3a9c-17-copy-12-1", epoch: 3,
            folder: FileReference(root: "run", path: "stores/17/attempts/7f3a9c-17-copy-12-1")),
        leaseMilliseconds: 60_000)

    @Test func aTypicalJobIsSmall() throws {
        let frame = try codec.encode(CoordinatorMessage.jobs([Self.typicalOrder]))
        #expect(frame.count == 393)
    }

    @Test func layoutsStay() throws {
        let progress = WorkerMessage.progress(attempt: "a1", rows: 300, bytes: 0)
        #expect(
            try codec.encode(progress)
                == [6, 3, 0x0A, 2, 0x61, 0x31, 0x10, 0xAC, 0x02, 0x18, 0])
        #expect(try codec.encode(CoordinatorMessage.heartbeat) == [6, 40])
        #expect(try codec.encode(ClientRequest.workers) == [6, 75])
        #expect(try codec.encode(ClientReply.done) == [6, 101])
        #expect(try codec.encode(SlotOrder.cancel) == [6, 130])
        #expect(
            try codec.encode(SlotReport.ready(engine: "1")) == [6, 161, 0x0A, 1, 0x31])
        let refusal = Refusal(
            code: .notFound, text: "", protocols: ProtocolRange(lowest: 1, highest: 2))
        #expect(
            try codec.encode(CoordinatorMessage.refused(refusal))
                == [0, 34, 0x08, 3, 0x12, 0, 0x1A, 4, 0x08, 1, 0x10, 2])
    }

    @Test func numbersBeyondEightBytesOfSumsSurvive() throws {
        let receipt = Receipt(
            run: "r", store: 0, work: .whole, attempt: "a", epoch: 0, files: [], rows: 0,
            sums: ["Person.name": ContentSum(count: 1, high: .max, low: .max)], counts: [:])
        let frame = try codec.encode(WorkerMessage.done(receipt))
        #expect(try codec.decode(frame) == WorkerMessage.done(receipt))
    }
}
