import ClusterCore
import ClusterProtocol
import DurableFiles
import Foundation
import Jobs
import TestSupport
import Testing
@testable import Worker
import WorkerRules
import ZeroMQ

/// What workers make of coordinators that err, and of parents that go.
@Suite(.serialized) struct WorkerLinkTests {
    @Test func garbageDoesNotEndAWorker() throws {
        try LoopLab.with { lab, coordinator in
            _ = try coordinator.hello()
            let heartbeat = try MessageCodec().encode(CoordinatorMessage.heartbeat)
            let foreign = try MessageCodec().encode(WorkerMessage.ready(freeSlots: 1))
            let garbage: [[[UInt8]]] = [
                [[]], [[1]], [Array(repeating: 255, count: 1000)], [[1, 17, 255, 255, 255]],
                [[9] + heartbeat.dropFirst()], [heartbeat, heartbeat], [foreign],
            ]
            for frames in garbage {
                try coordinator.send(frames: frames)
                #expect(try !lab.unreadable().isEmpty)
            }
            try welcome(coordinator, version: 7)
            #expect(try lab.unreadable().contains("7"))
            // It has not lost its connection by any of that.
            try welcome(coordinator, version: ProtocolRange.current.highest)
            try coordinator.send(frames: [[1, 2, 3]])
            try coordinator.send(.jobs([LoopLab.order("none", "a")]))
            _ = try coordinator.done("a")
        }
    }

    private func welcome(_ coordinator: ScriptedCoordinator, version: Int) throws {
        try coordinator.send(
            .welcome(
                Welcome(
                    coordinator: "c", protocolVersion: version, heartbeatMilliseconds: 1000,
                    livenessBeats: 100, keep: [], drop: [])))
    }

    @Test func whoIsRefusedTriesAgainUnderAnotherRoutingID() throws {
        try LoopLab.with { lab, coordinator in
            var peers: Set<RoutingID> = []
            for number in 0..<5 {
                _ = try coordinator.hello()
                peers.insert(try #require(coordinator.peer))
                try coordinator.send(.refused(Refusal(code: .nameTaken, text: "taken \(number)")))
                _ = try lab.note("a refusal") { note in
                    if case .refused(let refusal) = note { refusal.text } else { nil }
                }
            }
            #expect(peers.count == 5)
            try coordinator.welcome()
            try coordinator.send(.bye(reason: "restarting"))
            try coordinator.welcome()
            #expect(peers.contains(try #require(coordinator.peer)) == false)
            try coordinator.send(.jobs([LoopLab.order("none", "a")]))
            _ = try coordinator.done("a")
        }
    }

    @Test func moreOrdersThanAHelloCanNameAreNotTaken() throws {
        try LoopLab.with { lab, coordinator in
            try coordinator.welcome()
            try coordinator.send(.jobs([LoopLab.order("rows", "first")]))
            _ = try coordinator.progress(of: "first")
            for batch in 0..<4 {
                let orders = (0..<MessageLimits.jobs).map {
                    LoopLab.order("none", "\(batch)-\($0)")
                }
                try coordinator.send(.jobs(orders))
            }
            #expect(try lab.unreadable().contains("1024"))
            try coordinator.vanish()
            let next = try ScriptedCoordinator(lab.endpoint)
            #expect(try next.hello().held.count == 1 + 3 * MessageLimits.jobs)
        }
    }

    @Test func anEndpointThatCannotBeRightIsTold() throws {
        try withTemporaryFolder { url in
            let lab = try LoopLab(in: url, PoolLab.plan(1), endpoint: "nonsense")
            #expect(throws: ZeroMQError.self) { try lab.worker.join() }
        }
    }

    @Test func aRootThatIsNotThereIsTold() throws {
        try withTemporaryFolder { url in
            let missing = try #require(FilePath(url)).appending("missing")
            #expect(throws: DurableFileError.self) {
                try LoopLab(in: url, PoolLab.plan(1, roots: ["run": missing]))
            }
        }
    }

    @Test(arguments: [true, false])
    func aWorkerEndsWithItsParentIfToldSo(isGoneBefore: Bool) throws {
        try withTemporaryFolder { url in
            let parent = Process()
            parent.executableURL = URL(fileURLWithPath: "/bin/cat")
            let input = Pipe()
            parent.standardInput = input
            parent.standardOutput = Pipe()
            try parent.runBounded()
            if isGoneBefore {
                try input.fileHandleForWriting.close()
                parent.waitUntilExit()
            }
            let lab = try LoopLab(
                in: url, PoolLab.plan(1), parent: Int64(parent.processIdentifier))
            if !isGoneBefore {
                let coordinator = try ScriptedCoordinator(lab.endpoint)
                try coordinator.welcome()
                try coordinator.send(.jobs([LoopLab.order("rows", "a")]))
                _ = try coordinator.progress(of: "a")
                try input.fileHandleForWriting.close()
            }
            #expect(try lab.worker.join() == .orphaned)
        }
    }
}

/// Where slots of the machine and of the pool come together.
@Suite struct SlotAssignmentsTests {
    @Test func anOrderThatHasNotBegunIsStoppedAtOnce() {
        var assignments = SlotAssignments()
        assignments.place(LoopLab.order("none", "a"), on: 1)
        #expect(assignments.due([0]).isEmpty)
        #expect(assignments.due([0, 1]).map(\.slot) == [1])
        guard case .tell(.slot(.died("a", .stopped, _), slot: 1)) = assignments.stop(1) else {
            Issue.record("not told")
            return
        }
        #expect(assignments.due([0, 1]).isEmpty)
        #expect(!assignments.hasBegun("a"))
    }

    @Test func anOrderThatHasEndedIsNotKilled() {
        var assignments = SlotAssignments()
        assignments.place(LoopLab.order("none", "a"), on: 0)
        assignments.began(0)
        #expect(assignments.hasBegun("a"))
        guard case .kill = assignments.stop(0) else {
            Issue.record("not killed")
            return
        }
        let failure = AttemptFailure(attempt: "a", cause: .damaged, text: "", slotEnded: false)
        let events = assignments.take([SlotNotice(slot: 0, event: .failed(failure))])
        #expect(events.count == 1)
        guard case .nothing = assignments.stop(0) else {
            Issue.record("the next job would be killed")
            return
        }
        assignments.keep([])
        #expect(!assignments.hasBegun("a"))
    }

    @Test func anOrderWaitsForOneEndOfItsSlotOnly() {
        var assignments = SlotAssignments()
        assignments.place(LoopLab.order("none", "a"), on: 0)
        let ended = SlotNotice(slot: 0, event: .ended("gone"))
        #expect(assignments.take([ended]).isEmpty)
        guard
            case .slot(.died("a", .crashed, "gone"), slot: 0)? = assignments.take([ended]).first
        else {
            Issue.record("not told")
            return
        }
        #expect(assignments.take([ended]).isEmpty)
    }
}
