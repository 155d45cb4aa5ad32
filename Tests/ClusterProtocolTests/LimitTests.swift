import ClusterProtocol
import Jobs
import Testing

/// Bounds hold for what is sent and for what arrives.
@Suite struct LimitTests {
    private let codec = MessageCodec()

    private func order(
        run: String = "r", store: Int = 0, work: Work = .whole, root: String = "run",
        path: String = "plan.json", attempt: String = "a", epoch: Int = 1, lease: Int = 1000
    ) -> CoordinatorMessage {
        let file = FileReference(root: root, path: path)
        let job = Job(
            run: run, store: store, work: work, plan: file, planDigest: "d", source: file,
            sourceSupport: nil, destination: nil, sourceFingerprint: "f", engine: "1",
            limits: .standard)
        let folder = FileReference(root: "run", path: "a")
        return .jobs([
            JobOrder(
                job: job, attempt: Attempt(id: attempt, epoch: epoch, folder: folder),
                leaseMilliseconds: lease)
        ])
    }

    private func error(_ message: some ControlMessage) -> ProtocolError? {
        do throws(ProtocolError) {
            _ = try codec.encode(message)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        "/etc/passwd", "..", "a/../b", "../a", "a/..", ".", "a/./b", "a//b", "a/", "/", "a\0b",
        String(repeating: "x", count: 4097),
        // What these stand for would leave the root, or has another spelling.
        "\\x2e\\x2e/outside", "a/\\x2e\\x2e", "a/\\x2e./b", "\\x2fetc", "a\\x00b", "\\x61", "a\\",
        "a\\x", "a\\x4", "a\\X0a", "a\\x0A", "a\\q",
    ])
    func pathsThatCouldLeaveTheirRootAreRefused(path: String) {
        guard case .badPath(field: "job.plan", _) = error(order(path: path)) else {
            Issue.record("\(path.prefix(20)) was taken")
            return
        }
    }

    @Test(arguments: ["", "a/b", "a.b", "ü", "a b", "..", String(repeating: "r", count: 65)])
    func rootsWithoutAProperNameAreRefused(root: String) {
        guard case .badPath(field: "job.plan", _) = error(order(root: root)) else {
            Issue.record("\(root) was taken")
            return
        }
    }

    @Test(arguments: [
        "", "a", "a/b.c/…", "..a/b..", String(repeating: "x", count: 4096), "a\\x0ab",
        "\\xff/\\\\x2e\\\\",
    ])
    func properPathsPass(path: String) { #expect(error(order(path: path)) == nil) }

    /// Encoding refuses such paths as well, so the bytes are patched: `ab/cd` to `..` and more.
    @Test func pathsAreCheckedOnArrival() throws {
        let frame = try codec.encode(order(path: "ab/cd"))
        let place = try #require(frame.indices.first { frame[$0...].starts(with: "ab/cd".utf8) })
        for hostile in ["../cd", "/b/cd", "ab//d", "ab/..", "ab/c\0"] {
            var patched = frame
            patched.replaceSubrange(place..<place + 5, with: hostile.utf8)
            #expect(throws: ProtocolError.self) {
                try codec.decode(patched, as: CoordinatorMessage.self)
            }
        }
    }

    @Test(arguments: [
        "", ".", "..", ".a", "a/b", "a b", "ü", "a\n", String(repeating: "i", count: 129),
    ])
    func idsThatAreNoNamesOfFoldersAreRefused(id: String) {
        for message in [order(run: id), order(attempt: id)] {
            guard case .badText = error(message) else {
                Issue.record("\(id) was taken")
                return
            }
        }
    }

    @Test func absurdNumbersAreRefused() {
        #expect(error(order(store: -1)) == .outOfRange(field: "job.store", -1))
        #expect(
            error(order(work: .copy(chunk: 1 << 31))) == .outOfRange(field: "job.work", 1 << 31))
        #expect(error(order(work: .link(chunk: -1))) == .outOfRange(field: "job.work", -1))
        #expect(error(order(epoch: -1)) == .outOfRange(field: "attempt.epoch", -1))
        #expect(error(order(lease: 0)) == .outOfRange(field: "leaseMilliseconds", 0))
        #expect(
            error(WorkerMessage.ready(freeSlots: 1025))
                == .outOfRange(field: "ready.freeSlots", 1025))
        #expect(
            error(WorkerMessage.progress(attempt: "a", rows: .min, bytes: 0))
                == .outOfRange(field: "progress.rows", .min))
        #expect(
            error(WorkerMessage.progress(attempt: "a", rows: 0, bytes: .max))
                == .outOfRange(field: "progress.bytes", .max))
        let settings = ThrottleSettings(run: nil, bytesPerSecond: 0, jobs: nil)
        #expect(
            error(ClientRequest.throttle(settings))
                == .outOfRange(field: "throttle.bytesPerSecond", 0))
    }

    @Test func absurdNumbersAreRefusedOnArrival() {
        let minusOne = Array(repeating: UInt8(0xFF), count: 9) + [1]
        #expect(throws: ProtocolError.outOfRange(field: "ready.freeSlots", -1)) {
            try codec.decode([6, 2, 0x08] + minusOne, as: WorkerMessage.self)
        }
        #expect(throws: ProtocolError.outOfRange(field: "progress.rows", -1)) {
            try codec.decode(
                [6, 3, 0x0A, 1, 0x61, 0x10] + minusOne + [0x18, 0], as: WorkerMessage.self)
        }
    }

    @Test func listsAreBounded() {
        let many = Array(repeating: "a", count: 1025)
        #expect(
            error(WorkerMessage.heartbeat(scratchFree: 0, runningAttempts: many))
                == .tooMany(field: "heartbeat.runningAttempts", count: 1025, limit: 1024))
        guard case .jobs(let one) = order() else { return }
        #expect(
            error(CoordinatorMessage.jobs(Array(repeating: one[0], count: 257)))
                == .tooMany(field: "jobs.orders", count: 257, limit: 256))
        let fits = CoordinatorMessage.jobs(Array(repeating: one[0], count: 256))
        #expect(error(fits) == nil)
    }

    @Test func messagesAreBounded() {
        let long = String(repeating: "x", count: 1000)
        let paths = (0..<2000).map { FileReference(root: "r", path: "\(long)\($0)") }
        let submit = SubmitRequest(request: "{}", paths: paths)
        guard case .tooLong(let bytes, limit: 1_048_576) = error(ClientRequest.submit(submit))
        else {
            Issue.record("a message of 2 MB was made")
            return
        }
        #expect(bytes > 2_000_000)
        #expect(throws: ProtocolError.tooLong(bytes: 1_048_577, limit: 1_048_576)) {
            try codec.decode(
                [UInt8](repeating: 1, count: 1_048_577), as: ClientRequest.self)
        }
        #expect(throws: ProtocolError.tooShort(bytes: 1)) {
            try codec.decode([1], as: ClientRequest.self)
        }
    }

    @Test func textForPeopleIsCutAndCleaned() throws {
        let long = "é" + String(repeating: "漢", count: 5000)
        let cases = [
            ("\u{1B}[2Jgone\u{7}\u{9B}", "\u{FFFD}[2Jgone\u{FFFD}\u{FFFD}"),
            ("two\nlines\t", "two\nlines\t"),
            (long, "é" + String(repeating: "漢", count: 2730)),
        ]
        for (text, expected) in cases {
            let failure = AttemptFailure(
                attempt: "a", cause: .crashed, text: text, slotEnded: true)
            let frame = try codec.encode(WorkerMessage.failed(failure))
            guard case .failed(let arrived) = try codec.decode(frame, as: WorkerMessage.self) else {
                Issue.record("another message arrived")
                return
            }
            #expect(arrived.text == expected)
            let bye = try codec.encode(WorkerMessage.bye(reason: text))
            #expect(try codec.decode(bye) == WorkerMessage.bye(reason: expected))
        }
        #expect(throws: ProtocolError.self) {
            try codec.decode([2, 8, 0x0A, 1, 0x1B], as: WorkerMessage.self)
        }
    }
}
