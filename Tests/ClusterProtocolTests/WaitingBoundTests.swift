import ClusterProtocol
import Jobs
import Testing

/// Bounds hold for the reasons of runs and workers, when they are sent and when they arrive.
@Suite struct WaitingBoundTests {
    private let codec = MessageCodec()

    private func report(_ reason: WaitingReason?, _ idle: IdleReason? = nil) -> ClientReply {
        let run = RunStatus(
            run: "r", state: .open, stores: [:], jobs: [:], rows: 0, bytes: 0, rowsPerSecond: 0,
            bytesPerSecond: 0, secondsLeft: nil, waitingFor: reason)
        let worker = WorkerStatus(
            name: "w", host: "", engine: "1", slots: 1, running: 0, state: .active, reason: idle)
        return .status(
            StatusReport(coordinator: "c", engine: "1", runs: [run], workers: [worker]))
    }

    private func error(_ message: ClientReply) -> ProtocolError? {
        do throws(ProtocolError) {
            _ = try codec.encode(message)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        arguments: [
            (.noReadyWorker(UnreadyWorkers(draining: -1)), "waiting.unready", -1),
            (.unclaimed(jobs: -1, seconds: 0), "waiting.unclaimed.jobs", -1),
            (.unclaimed(jobs: 1, seconds: .min), "waiting.unclaimed.seconds", .min),
            (.backOff(seconds: -1, nil), "waiting.backOff.seconds", -1),
            (.storeLimit(-1), "waiting.storeLimit", -1),
            (.jobLimit(1 << 31), "waiting.jobLimit", 1 << 31),
            (.throttledJobs(run: nil, -1), "waiting.throttledJobs.jobs", -1),
            (
                .throttled(run: nil, bytesPerSecond: .max), "waiting.throttled.bytesPerSecond",
                .max
            ),
        ] as [(WaitingReason, String, Int64)])
    func absurdNumbersAreRefused(reason: WaitingReason, field: String, number: Int64) {
        let expected = ProtocolError.outOfRange(field: field, number)
        #expect(error(report(reason)) == expected)
        #expect(error(report(nil, .waits(run: "r", reason))) == expected)
    }

    @Test(
        arguments: [
            .noWorkerWithEngine(""), .noWorkerWithEngine("1\n"),
            .throttledJobs(run: "a/b", 1), .throttled(run: "", bytesPerSecond: 1),
            .noSuitableWorker(
                Shortage(
                    roots: NameList(["a\u{1B}"]), policies: NameList([]), present: NameList([]))
            ),
        ] as [WaitingReason])
    func namesThatAreNoneAreRefused(reason: WaitingReason) {
        guard case .badText = error(report(reason)) else {
            Issue.record("\(reason) was taken")
            return
        }
    }

    @Test(
        arguments: [
            .silent(seconds: -1), .unchecked(jobs: -1), .waits(run: "..", .offers),
            .otherEngine("1", run: "r", needed: ""), .otherEngine("1", run: "", needed: "1"),
            .otherEngine("\u{7}", run: "r", needed: "1"),
            .lacks(
                run: "a b",
                Shortage(roots: NameList(["a"]), policies: NameList([]), present: NameList([]))),
        ] as [IdleReason])
    func badReasonsOfWorkersAreRefused(reason: IdleReason) {
        #expect(error(report(nil, reason)) != nil)
    }

    @Test func ofManyNamesTheFirstAreKept() {
        let many = { (count: Int) in NameList(Set((100..<100 + count).map { "n\($0)" })) }
        #expect(many(6).first.count == 6 && many(6).count == 6)
        #expect(many(64).first == ["n100", "n101", "n102", "n103", "n104", "n105"])
        #expect(many(64).count == 64)
        let reason = { (roots: NameList, policies: NameList) in
            WaitingReason.noSuitableWorker(
                Shortage(roots: roots, policies: policies, present: NameList([])))
        }
        #expect(error(report(reason(many(64), many(1024)))) == nil)
        #expect(
            error(report(reason(many(65), many(1))))
                == .outOfRange(field: "shortage.roots", 65))
        #expect(
            error(report(reason(many(1), many(1025))))
                == .outOfRange(field: "shortage.policies", 1025))
    }

    @Test func textsAreCutAndCleaned() throws {
        let text = "\u{1B}[2J" + String(repeating: "x", count: 9000)
        let clean = "\u{FFFD}[2J" + String(repeating: "x", count: 8192 - 6)
        let dirty = [
            (WaitingReason.noRoom(text), WaitingReason.noRoom(clean)),
            (.paused(.stopped(text)), .paused(.stopped(clean))),
            (
                .backOff(seconds: 1, FailureReason(.noSpace, text)),
                .backOff(seconds: 1, FailureReason(.noSpace, clean))
            ),
            (
                .quarantined(FailureReason(.noSpace, text)),
                .quarantined(FailureReason(.noSpace, clean))
            ),
        ]
        for (sent, arrives) in dirty {
            let frame = try codec.encode(report(sent, .quarantined(text)))
            #expect(try codec.decode(frame) == report(arrives, .quarantined(clean)))
        }
    }

    /// The frame of a report of one run, with the bytes of what it waits for.
    private func frame(_ waiting: [UInt8]) -> [UInt8] {
        let run: [UInt8] =
            [0x0A, 1, 0x72, 0x12, 4] + Array("open".utf8)
            + [0x28, 0, 0x30, 0, 0x38, 0, 0x40, 0, 0x5A, UInt8(waiting.count)] + waiting
        return [6, 99, 0x0A, 1, 0x63, 0x12, 1, 0x31, 0x1A, UInt8(run.count)] + run
    }

    @Test func layoutsStay() throws {
        let known: [([UInt8], WaitingReason)] = [
            ([0x0A, 0], .noWorker), ([0x80, 1, 3], .stage(.indexing)),
            ([0x2A, 4, 0x08, 2, 0x10, 30], .unclaimed(jobs: 2, seconds: 30)),
            ([0xC2, 1, 0], .ledgerUnreadable),
        ]
        for (bytes, reason) in known {
            let reply = try codec.decode(frame(bytes), as: ClientReply.self)
            guard case .status(let report) = reply else {
                Issue.record("\(reply) arrived")
                return
            }
            #expect(report.runs.map(\.waitingFor) == [reason])
            #expect(try codec.encode(reply) == frame(bytes))
        }
    }

    @Test func nothingIsTakenForADefault() {
        let names: [UInt8] = [0x12, 2, 0x08, 0, 0x1A, 2, 0x08, 0]
        let seven = (0..<7).flatMap { _ in [0x12, 1, 0x61] as [UInt8] }
        let known: [([UInt8], ProtocolError)] = [
            ([], .missing(field: "waiting.reason")),
            ([0xC8, 1, 1], .unknownFields("waiting")),
            ([0x0A, 2, 0x08, 1], .unknownFields("waiting.reason")),
            ([0x80, 1, 0], .unknownValue(field: "waiting.stage", 0)),
            ([0x80, 1, 7], .unknownValue(field: "waiting.stage", 7)),
            ([0x12, 2, 0x08, 1], .missing(field: "waiting.unready.draining")),
            ([0x2A, 2, 0x08, 1], .missing(field: "waiting.unclaimed.seconds")),
            ([0x3A, 0], .missing(field: "waiting.backOff.seconds")),
            (
                [0x3A, 8, 0x08, 1, 0x12, 4, 0x08, 99, 0x12, 0],
                .unknownValue(field: "cause.code", 99)
            ),
            ([0x42, 0], .missing(field: "pause")),
            ([0x62, 0], .missing(field: "waiting.throttledJobs.jobs")),
            ([0x6A, 0], .missing(field: "waiting.throttled.bytesPerSecond")),
            ([0x22, 0], .missing(field: "shortage.roots")),
            ([0x22, 2, 0x0A, 0], .missing(field: "shortage.roots")),
            (
                [0x22, 15, 0x0A, 5, 0x08, 9, 0x12, 1, 0x61] + names,
                .outOfRange(field: "shortage.roots", 9)
            ),
            (
                [0x22, 33, 0x0A, 23, 0x08, 7] + seven + names,
                .tooMany(field: "shortage.roots", count: 7, limit: 6)
            ),
            (
                [0xB2, 1, 1, 0x1B],
                .badText(
                    field: "waiting.noRoom", reason: "is too long or holds control characters")
            ),
        ]
        for (bytes, error) in known {
            #expect(throws: error) { try codec.decode(frame(bytes), as: ClientReply.self) }
        }
    }
}
