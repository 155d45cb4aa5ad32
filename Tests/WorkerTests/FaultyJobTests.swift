import CLinux
import ClusterProtocol
import DurableFiles
import Glibc
import Jobs
import Testing

@testable import Worker

/// Jobs that take their slot with them, in real processes.
@Suite(.serialized) struct FaultyJobTests {
    @Test(arguments: ["trap", "overflow", "abort", "sqliteCrash", "leave"])
    func aCrashCostsItsSlotOnly(fault: String) throws {
        let lab = try PoolLab(PoolLab.plan(2))
        let other = try #require(lab.pool.processID(of: 1))
        try lab.run("rows", on: 1)
        try lab.run(fault, on: 0)
        let failure = try lab.failure(on: 0)
        #expect(failure.cause == .crashed)
        #expect(failure.slotEnded)
        #expect(fault != "leave" || failure.text.contains("code 3"), "\(failure.text)")
        #expect(fault == "leave" || failure.text.contains("SIG"), "\(failure.text)")
        try lab.expectWorks(0)
        // The other slot's job goes on in the process in which it was begun.
        #expect(lab.pool.processID(of: 1) == other)
        lab.now += 10
        let heard = try lab.wait { notices in notices.contains { $0.slot == 1 } }
        #expect(
            heard.filter { $0.slot == 1 }.allSatisfy { notice in
                if case .progress = notice.event { true } else { false }
            })
    }

    @Test func aLoopIsKilledWhenItsTimeIsOver() throws {
        let lab = try PoolLab(PoolLab.plan(2))
        try lab.run("loop", on: 0)
        #expect(lab.pool.nextWake == 1000)
        lab.now = 999
        #expect(lab.pool.receive(now: lab.now).isEmpty)
        lab.now = 1000
        let failure = try lab.failure(on: 0)
        #expect(failure.cause == .timedOut)
        #expect(failure.slotEnded)
        try lab.expectWorks(0)
        try lab.expectWorks(1)
    }

    @Test func aJobThatWorksIsNotALoop() throws {
        let lab = try PoolLab(PoolLab.plan(1, job: 5000))
        try lab.run("rows", on: 0)
        var rows: Int64 = 0
        for _ in 1...5 {
            lab.now += 900
            let heard = try lab.wait { !$0.isEmpty }
            for notice in heard {
                guard case .progress(_, let more, _) = notice.event else { continue }
                #expect(more > rows)
                rows = more
            }
        }
        #expect(lab.now > 1000)
        #expect(rows > 0)
        // Busy as it is, it has its limit.
        lab.now = 5000
        let failure = try lab.failure(on: 0)
        #expect(failure.cause == .timedOut)
        #expect(failure.text.contains("longer than the limit for a job"))
    }

    @Test(.enabled(if: PoolLab.canLimitMemory, "a sanitizer takes all address space"))
    func aJobThatAllocatesWithoutEndReachesItsLimit() throws {
        let lab = try PoolLab(PoolLab.plan(2, memory: 1 << 30))
        try lab.run("allocate", on: 0)
        let failure = try lab.failure(on: 0)
        #expect(failure.cause == .outOfMemory)
        #expect(failure.slotEnded)
        #expect(failure.text.contains("1024 MiB"))
        try lab.expectWorks(0)
        try lab.expectWorks(1)
    }

    @Test(.enabled(if: PoolLab.canLimitMemory, "a sanitizer takes all address space"))
    func memoryThatSQLiteIsRefusedCostsTheAttemptOnly() throws {
        let lab = try PoolLab(PoolLab.plan(1, memory: 1 << 30))
        let process = lab.pool.processID(of: 0)
        try lab.run("sqliteMemory", on: 0)
        let failure = try lab.failure(on: 0)
        #expect(failure.cause == .outOfMemory, "\(failure.text)")
        #expect(!failure.slotEnded)
        try lab.expectWorks(0)
        #expect(lab.pool.processID(of: 0) == process)
    }

    @Test func aKilledSlotIsStartedAgain() throws {
        let lab = try PoolLab(PoolLab.plan(2))
        try lab.run("loop", on: 0)
        let process = try #require(lab.pool.processID(of: 0))
        #expect(clinux_child_signal(process, SIGKILL) == 0)
        let failure = try lab.failure(on: 0)
        #expect(failure.cause == .crashed)
        #expect(failure.text.contains("SIGKILL"))
        try lab.expectWorks(0)
        #expect(lab.pool.processID(of: 0) != process)
    }

    @Test(arguments: ["garbage", "hugeLength", "foreignReceipt"])
    func whatNoSlotSaysEndsIt(fault: String) throws {
        let lab = try PoolLab(PoolLab.plan(1))
        try lab.run(fault, on: 0)
        let failure = try lab.failure(on: 0)
        #expect(failure.cause == .crashed)
        #expect(failure.slotEnded)
        try lab.expectWorks(0)
    }

    @Test func aJobThatFailsCostsNothing() throws {
        let lab = try PoolLab(PoolLab.plan(1))
        let process = lab.pool.processID(of: 0)
        try lab.run("refuse", on: 0)
        let failure = try lab.failure(on: 0)
        #expect(failure.cause == .dataRefused)
        #expect(failure.text == "refused as asked")
        #expect(!failure.slotEnded)
        try lab.expectWorks(0)
        #expect(lab.pool.processID(of: 0) == process)
    }

    @Test func aCancelledJobEnds() throws {
        let lab = try PoolLab(PoolLab.plan(1))
        try lab.run("loop", on: 0)
        #expect(throws: SlotError.notFree(slot: 0)) { try lab.run("none", on: 0) }
        lab.pool.cancel(0)
        let failure = try lab.failure(on: 0)
        #expect(failure.cause == .stopped)
        #expect(failure.slotEnded)
        try lab.expectWorks(0)
    }

    @Test func aSlotThatEndsAgainAndAgainRests() throws {
        let lab = try PoolLab(PoolLab.plan(1))
        try lab.run("trap", on: 0)
        _ = try lab.failure(on: 0)
        try lab.wait { _ in lab.pool.free == [0] }
        try lab.run("trap", on: 0)
        _ = try lab.failure(on: 0)
        #expect(lab.pool.processID(of: 0) == nil)
        #expect(lab.pool.nextWake == 100)
        lab.now = 99
        #expect(lab.pool.receive(now: lab.now).isEmpty)
        #expect(lab.pool.processID(of: 0) == nil)
        lab.now = 100
        try lab.expectWorks(0)
        #expect(lab.pool.nextWake == nil)
    }

    @Test func reportsMissingExecutable() throws {
        let pool = try ProcessSlots(
            PoolLab.plan(1), program: SlotProgram(path: "/nowhere/godwit", arguments: []))
        // Nothing is started before there is a job.
        #expect(pool.receive(now: 0).isEmpty && pool.nextWake == nil)
        pool.want(0, now: 0)
        let notices = pool.receive(now: 0)
        guard case .ended(let text) = notices.first?.event else {
            Issue.record("\(notices)")
            return
        }
        #expect(text.contains("ENOENT"))
        #expect(text.contains("/nowhere/godwit"))
    }

    @Test func aProgramThatNeverBeginsIsKilled() throws {
        var plan = try PoolLab.plan(1)
        plan.limits.startMilliseconds = 500
        let pool = try ProcessSlots(
            plan,
            program: SlotProgram(
                path: "/bin/sh", arguments: ["-c", "read line <&3; exit 0"]))
        pool.want(0, now: 0)
        #expect(pool.nextWake == 500)
        var notices = pool.receive(now: 500)
        while notices.isEmpty, clinux_wait_readable(pool.descriptor, 60_000) > 0 {
            notices = pool.receive(now: 500)
        }
        guard case .ended(let text) = notices.first?.event else {
            Issue.record("\(notices)")
            return
        }
        #expect(text.contains("did not start"))
    }
}
