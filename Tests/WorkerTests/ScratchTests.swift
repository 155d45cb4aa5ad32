import ClusterProtocol
import DurableFiles
import Foundation
import Jobs
import TestSupport
import Testing

@testable import Worker

/// Temporary files of slots and their limit.
@Suite(.serialized) struct ScratchTests {
    private func job(_ slot: Int) -> ScratchUse.Job {
        ScratchUse.Job(slot: slot, process: Int64(slot), attempt: "\(slot)")
    }

    @Test func whoTakesMostIsEnded() {
        var use = ScratchUse()
        #expect(use.excess(over: 0) == nil)
        use.bytes = [job(0): 10, job(1): 30, job(2): 20]
        #expect(use.total == 60)
        #expect(use.excess(over: 60) == nil)
        #expect(use.excess(over: 59) == job(1))
        use.bytes = [job(0): .max, job(1): .max]
        #expect(use.total == .max)
        #expect(use.excess(over: .max) == nil)
        #expect(use.excess(over: .max - 1) == job(1))
    }

    @Test func aProcessThatIsGoneTakesNothing() throws {
        let gone = ScratchUse.Job(slot: 0, process: .max, attempt: "a")
        let use = try ScratchUse.measure([gone], device: 1)
        #expect(use.bytes == [gone: 0])
    }

    @Test func aJobBeyondTheLimitIsEndedAndTheNextIsDone() throws {
        try withTemporaryFolder { url in
            let folder = try #require(FilePath(url))
            let limit: Int64 = 8 << 20
            let lab = try LoopLab(
                in: url, PoolLab.plan(2, silence: 600_000, roots: ["run": folder]),
                scratch: folder, scratchLimit: limit)
            let coordinator = try ScriptedCoordinator(lab.endpoint)
            let hello = try coordinator.welcome()
            #expect(hello.scratchBytes == limit)
            // Two slots: the one that stays within the limit goes on.
            try coordinator.send(.jobs([LoopLab.order("rows", "modest")]))
            _ = try coordinator.progress(of: "modest")
            let process = try lab.process(of: 0)
            try coordinator.send(.jobs([LoopLab.order("spill", "greedy")]))
            let failure = try coordinator.failure(of: "greedy")
            #expect(failure.cause == .inputOutput)
            #expect(failure.slotEnded)
            #expect(failure.text.contains("temporary files took"))
            #expect(failure.text.contains("\(limit)"))
            let bytes = try lab.note("the excess") { note in
                if case .scratchExceeded("greedy", let bytes) = note { bytes } else { nil }
            }
            #expect(bytes > limit)
            try coordinator.send(.jobs([LoopLab.order("none", "next")]))
            _ = try coordinator.done("next")
            _ = try coordinator.progress(of: "modest")
            #expect(try lab.process(of: 0) == process)
            // What was taken is free again.
            try coordinator.next("free scratch") { message -> Bool? in
                if case .heartbeat(limit, _) = message { true } else { nil }
            }
        }
    }
}
