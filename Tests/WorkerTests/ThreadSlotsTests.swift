import CLinux
import ClusterProtocol
import DurableFiles
import Jobs
import MigrationPlans
import SafeSQLite
import Testing

@testable import Worker

/// Slots that are threads of the worker: jobs that do not end by themselves.
@Suite struct ThreadSlotsTests {
    /// What a job of these tests does, named by its run.
    private static let work = SlotWork { () throws(SlotFailure) in
        { order, _ throws(SlotFailure) in
            guard order.job.run == "endless" else {
                return Receipt(job: order.job, attempt: order.attempt, rows: 1)
            }
            do throws(StoreError) {
                let connection = try Connection(path: "endless", mode: .memory)
                _ = try connection.integer(
                    """
                    WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)
                    SELECT max(x) FROM c
                    """)
                throw .inputOutput(path: "endless", reason: "it ended by itself")
            } catch {
                throw SlotFailure(.store(error))
            }
        }
    }

    private static func order(_ run: String, _ id: String) -> JobOrder {
        let file = FileReference(root: "run", path: "plan.json")
        let job = Job(
            run: run, store: 1, work: .copy(chunk: 1), plan: file,
            planDigest: String(repeating: "0", count: 64), source: file, sourceSupport: nil,
            destination: nil, sourceFingerprint: "state", engine: "1", limits: .local)
        let attempt = Attempt(
            id: id, epoch: 1, folder: FileReference(root: "run", path: "attempts/\(id)"))
        return JobOrder(job: job, attempt: attempt, leaseMilliseconds: 60_000)
    }

    private func wait(_ slots: ThreadSlots, now: Int64) throws -> SlotNotice.Event {
        while true {
            let ended = slots.receive(now: now).first { notice in
                if case .progress = notice.event { false } else { true }
            }
            if let ended { return ended.event }
            try #require(clinux_wait_readable(slots.descriptor, 60_000) > 0)
        }
    }

    private func slots() throws -> ThreadSlots {
        try ThreadSlots(
            count: 1, work: Self.work,
            limits: SlotLimits(addressSpaceBytes: nil, silenceMilliseconds: 1000),
            reportMilliseconds: 5,
            // The kernel counts the bytes of the tests beside this one, too.
            traffic: { SlotMeter.Reading() })
    }

    /// A thread cannot be killed; its statement ends all the same, and the slot works on.
    @Test(arguments: ["cancelled", "silent", "exceeding"])
    func anEndlessStatementEnds(way: String) throws {
        let slots = try slots()
        try slots.run(Self.order("endless", "a"), on: 0, now: 0)
        #expect(slots.free.isEmpty)
        #expect(throws: SlotError.self) {
            try slots.run(Self.order("short", "b"), on: 0, now: 0)
        }
        var now: Int64 = 0
        switch way {
        case "cancelled": slots.cancel(0)
        case "silent":
            now = 1001
            _ = slots.receive(now: now)
        default: slots.end(0, exceeding: "it takes more than it may")
        }
        guard case .failed(let failure) = try wait(slots, now: now) else {
            Issue.record("it did not fail")
            return
        }
        let codes: [String: FailureCause] = ["cancelled": .stopped, "silent": .timedOut]
        #expect(
            failure.attempt == "a" && failure.cause == codes[way] ?? .inputOutput, "\(failure)")
        #expect(slots.free == [0])
        try slots.run(Self.order("short", "c"), on: 0, now: now)
        guard case .delivered(let receipt) = try wait(slots, now: now) else {
            Issue.record("the slot does not work any more")
            return
        }
        #expect(receipt.attempt == "c")
    }

    /// A caller that lets the slots go does not wait for what never ends.
    @Test func anEndlessStatementEndsWithItsSlots() throws {
        var slots: ThreadSlots? = try slots()
        try slots?.run(Self.order("endless", "a"), on: 0, now: 0)
        slots = nil
        #expect(slots == nil)
    }

    /// A stop that was set stays so, for connections that are opened later, too, and for no other.
    @Test func aStopReachesItsOwnConnectionsAlone() throws {
        let stop = StatementStop()
        let before = try stop.reaching { try Connection(path: "own", mode: .memory) }
        let other = try Connection(path: "other", mode: .memory)
        #expect(!stop.isSet)
        stop.set()
        #expect(stop.isSet)
        let long: SQLText = """
            WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 100000)
            SELECT max(x) FROM c
            """
        #expect(throws: StoreError.cancelled("own")) { try before.integer(long) }
        #expect(try other.integer(long) == 100_000)
    }
}
