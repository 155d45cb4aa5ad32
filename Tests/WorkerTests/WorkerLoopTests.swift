import CLinux
import ClusterCore
import ClusterProtocol
import DurableFiles
import Foundation
import Glibc
import Jobs
import MigrationEngine
@testable import RunService
import RunSupport
import TestSupport
import Testing
import Threads
@testable import Worker
import WorkerRules

/// Workers with real slots and a coordinator that the test plays.
@Suite(.serialized) struct WorkerLoopTests {
    @Test func jobsOfAPlanAreDelivered() throws {
        try withTemporaryFolder { url in
            let chunks = try EngineJobTests.ChunkLab(in: url)
            let lab = try LoopLab(
                in: url, PoolLab.plan(2, roots: chunks.roots), scratch: chunks.folder)
            let coordinator = try ScriptedCoordinator(lab.endpoint)
            let hello = try coordinator.welcome()
            #expect(hello.worker == "w1")
            #expect(hello.roots == [EngineJobs.root])
            #expect(hello.slots == 2)
            #expect(hello.scratchBytes > 0)
            #expect(hello.held.isEmpty)
            let free = try coordinator.next("free slots") { message in
                if case .ready(let free) = message { free } else { nil }
            }
            #expect(free == 2)
            // A batch is one slot's; these are as many messages as jobs.
            for work in chunks.works {
                try coordinator.send(.jobs([chunks.order(work, number: 2)]))
            }
            var receipts: [Work: Receipt] = [:]
            for _ in chunks.works {
                let receipt = try coordinator.next("a receipt") { message in
                    if case .done(let receipt) = message { receipt } else { nil }
                }
                receipts[receipt.work] = receipt
                try coordinator.send(.committed(attempt: receipt.attempt))
            }
            for work in chunks.works {
                let receipt = try chunks.jobs.run(work)
                #expect(receipts[work]?.rows == receipt.rows)
                #expect(receipts[work]?.files.map(\.digest) == receipt.files.map(\.digest))
            }
            try coordinator.send(.drain)
            try expectBye(coordinator)
            #expect(try lab.worker.join() == .finished)
        }
    }

    @Test func progressIsToldAndARevokedJobIsKilled() throws {
        try LoopLab.with { lab, coordinator in
            try coordinator.welcome()
            let attempts = lab.plan.slots.setup.roots["run"]?.appending("attempts/a")
            let folder = try #require(attempts)
            try DurableFileSystem().makeFolders(folder)
            try DurableFileSystem().publish([1], to: folder.appending("shard"))
            try coordinator.send(.jobs([LoopLab.order("rows", "a")]))
            let rows = try coordinator.progress(of: "a")
            #expect(rows >= 0)
            let more = try coordinator.next("more progress") { message in
                if case .progress("a", let more, _) = message, more > rows { more } else { nil }
            }
            #expect(more > rows)
            try coordinator.heartbeat(holding: ["a"])
            let process = try lab.process(of: 0)
            try coordinator.send(.revoke(attempt: "a"))
            // The only slot is free again, hence another process.
            try coordinator.send(.jobs([LoopLab.order("none", "b")]))
            #expect(try coordinator.done("b").rows == 1)
            #expect(try lab.process(of: 0) != process)
            try coordinator.send(.committed(attempt: "b"))
            lab.worker.terminate()
            #expect(try lab.worker.join() == .finished)
            // The housekeeper ends with the worker, its work items done.
            #expect(try FileStatus.ifPresent(folder) == nil)
            #expect(try FileStatus.ifPresent(folder.parent) != nil)
        }
    }

    @Test func aCoordinatorThatComesBackFindsWhatIsHeld() throws {
        try LoopLab.with(slots: 2) { lab, first in
            try first.welcome()
            try first.send(.jobs([LoopLab.order("rows", "long")]))
            try first.send(.jobs([LoopLab.order("none", "short")]))
            _ = try first.done("short")
            _ = try first.progress(of: "long")
            let process = try lab.process(of: 0)
            try first.vanish()

            let second = try ScriptedCoordinator(lab.endpoint)
            let hello = try second.welcome(keep: ["long", "short"])
            #expect(Set(hello.held.map(\.attempt)) == ["long", "short"])
            #expect(hello.held.allSatisfy { $0.epoch == 1 && $0.work == .copy(chunk: 1) })
            #expect(second.peer != first.peer)
            // The result is told again, and the job has gone on in the same process.
            _ = try second.done("short")
            try second.send(.committed(attempt: "short"))
            try second.heartbeat(holding: ["long"])
            _ = try second.progress(of: "long")
            #expect(try lab.process(of: 0) == process)
            try second.vanish()

            let third = try ScriptedCoordinator(lab.endpoint)
            #expect(try third.welcome(drop: ["long"]).held.map(\.attempt) == ["long"])
            for attempt in ["x", "y"] {
                try third.send(.jobs([LoopLab.order("none", attempt)]))
                _ = try third.done(attempt)
                try third.send(.committed(attempt: attempt))
            }
            try third.send(.drain)
            try expectBye(third)
            #expect(try lab.worker.join() == .finished)
        }
    }

    @Test func whoIsAskedToEndGivesBack() throws {
        try LoopLab.with(grace: 0) { lab, coordinator in
            try coordinator.welcome()
            // A batch: the second waits for the first.
            try coordinator.send(
                .jobs([LoopLab.order("rows", "running"), LoopLab.order("none", "waiting")]))
            _ = try coordinator.progress(of: "running")
            lab.worker.terminate()
            var returned: [String] = []
            try coordinator.next("the end") { message -> Bool? in
                if case .returned(let attempt) = message { returned.append(attempt) }
                if case .bye = message { return true }
                return nil
            }
            #expect(returned == ["waiting", "running"])
            #expect(try lab.worker.join() == .finished)
            let isTold =
                if case .closed = lab.ended.receive(within: .seconds(60)) { true } else { false }
            #expect(isTold)
        }
    }

    @Test func whatRunsMayFinishWithinTheGrace() throws {
        try LoopLab.with { lab, coordinator in
            try coordinator.welcome()
            try coordinator.send(.jobs([LoopLab.order("rows", "running")]))
            _ = try coordinator.progress(of: "running")
            lab.worker.terminate()
            _ = try lab.note("the end") { $0 == .terminating ? true : nil }
            // It still works, and takes nothing new.
            _ = try coordinator.progress(of: "running")
            try coordinator.send(.jobs([LoopLab.order("none", "late")]))
            try coordinator.next("what came late") { message -> Bool? in
                if case .returned("late") = message { true } else { nil }
            }
            try coordinator.send(.revoke(attempt: "running"))
            try expectBye(coordinator)
            #expect(try lab.worker.join() == .finished)
        }
    }

    @Test func aSlotThatIsKilledCostsItsAttemptOnly() throws {
        try LoopLab.with(slots: 2) { lab, coordinator in
            try coordinator.welcome()
            try coordinator.send(.jobs([LoopLab.order("rows", "a")]))
            try coordinator.send(.jobs([LoopLab.order("rows", "b")]))
            _ = try coordinator.progress(of: "a")
            _ = try coordinator.progress(of: "b")
            let (killed, other) = (try lab.process(of: 0), try lab.process(of: 1))
            #expect(clinux_child_signal(killed, SIGKILL) == 0)
            let failure = try coordinator.failure(of: "a")
            #expect(failure.cause == .crashed)
            #expect(failure.slotEnded)
            #expect(failure.text.contains("SIGKILL"))
            _ = try coordinator.progress(of: "b")
            #expect(try lab.process(of: 1) == other)
            try coordinator.send(.jobs([LoopLab.order("none", "c")]))
            _ = try coordinator.done("c")
            #expect(try lab.process(of: 0) != killed)
        }
    }

    @Test func aJobThatFailsIsToldWithItsCode() throws {
        try LoopLab.with { lab, coordinator in
            try coordinator.welcome()
            try coordinator.send(.jobs([LoopLab.order("refuse", "a")]))
            let failure = try coordinator.failure(of: "a")
            #expect(failure.cause == .dataRefused)
            #expect(!failure.slotEnded)
            try coordinator.send(.jobs([LoopLab.order("none", "b")]))
            _ = try coordinator.done("b")
        }
    }

    @Test func aProgramThatDoesNotStartFailsItsJobs() throws {
        try withTemporaryFolder { url in
            var slots = try PoolLab.plan(1)
            slots.body = .process(SlotProgram(path: "/proc/nothing", arguments: []))
            let lab = try LoopLab(in: url, slots)
            let coordinator = try ScriptedCoordinator(lab.endpoint)
            try coordinator.welcome()
            try coordinator.send(.jobs([LoopLab.order("none", "a")]))
            #expect(try coordinator.failure(of: "a").cause == .crashed)
            _ = try lab.note("a slot that ended") { note in
                if case .slotEnded(0, _) = note { true } else { nil }
            }
        }
    }

    /// Where a job is sure to come, the first slot gets ready before it.
    @Test func theFirstSlotStartsWithItsWorkerWhereAJobIsSureToCome() throws {
        for startsFirst in [true, false] {
            try withTemporaryFolder { url in
                var slots = try PoolLab.plan(2, silence: 600_000)
                slots.startsFirst = startsFirst
                let lab = try LoopLab(in: url, slots)
                // No coordinator has answered yet.
                if startsFirst {
                    let slot = try lab.note("a slot that waits for jobs") { note in
                        if case .slotBegan(let slot) = note { slot } else { nil }
                    }
                    #expect(slot == 0)
                    #expect(try lab.process(of: 0) > 0)
                } else {
                    #expect(try lab.processIfAny(of: 0) == nil)
                }
                #expect(try lab.processIfAny(of: 1) == nil)
            }
        }
    }

    private func expectBye(_ coordinator: ScriptedCoordinator) throws {
        try coordinator.next("a farewell") { message -> Bool? in
            guard case .bye(let reason) = message else { return nil }
            #expect(reason == "finished")
            return true
        }
    }
}
