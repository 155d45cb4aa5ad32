import ClusterCore
import ClusterProtocol
import Jobs
import Synchronization
import Testing
import Threads

@testable import Coordinator

/// Who may say what.
@Suite struct MailroomTests {
    /// Decides who everybody is, as a test goes along.
    private final class Door: Sendable {
        private let identity: Mutex<PeerIdentity?>
        private let asked = BoundedMailbox<String>(capacity: 1000)

        init(_ identity: PeerIdentity?) { self.identity = Mutex(identity) }

        func decide(_ user: String) -> PeerIdentity? {
            _ = asked.sendIfRoom(user)
            return identity.withLock { $0 }
        }

        func set(_ identity: PeerIdentity?) { self.identity.withLock { $0 = identity } }

        /// Waits until the coordinator has asked about a user.
        func wait() throws {
            guard case .element = asked.receive(within: .seconds(60)) else {
                throw Missing(description: "a question at the door")
            }
        }
    }

    private func run(
        _ identity: PeerIdentity?, _ body: (CoordinatorLab, Door) throws -> Void
    ) throws {
        let door = Door(identity)
        try CoordinatorLab.run(change: { $0.peer = { door.decide($0) } }) { lab in
            try body(lab, door)
        }
    }

    @Test func unknownUsersAreNotHeard() throws {
        try run(nil) { lab, door in
            let stranger = try lab.peer("w1")
            try stranger.hello()
            try door.wait()
            try stranger.ask(.workers)
            try door.wait()
            door.set(.local)
            let client = try lab.peer("client")
            #expect(try client.status(nil).workers.isEmpty)
        }
    }

    @Test func aWorkerIsWhoItsKeySays() throws {
        try run(.worker(key: "key-1", name: "worker-1")) { lab, door in
            let liar = try lab.peer("key-2")
            try liar.hello()
            let refusal: Refusal = try liar.next("a refusal") { message in
                if case .refused(let refusal) = message { refusal } else { nil }
            }
            #expect(refusal.code == .badMessage && refusal.text.contains("key-2"))
            // Neither does it get anything by not saying who it is.
            try liar.say(.ready(freeSlots: 4))
            let worker = try lab.peer("key-1")
            try worker.hello()
            _ = try worker.welcome()
            door.set(.client)
            let client = try lab.peer("client")
            #expect(try client.status(nil).workers.map(\.name) == ["worker-1"])
        }
    }

    @Test func workersCannotAskForWhatClientsMay() throws {
        try run(.worker(key: "key-1", name: "key-1")) { lab, _ in
            let worker = try lab.peer("key-1")
            try worker.hello()
            _ = try worker.welcome()
            try worker.ask(.drain(worker: "key-1"))
            let refusal: Refusal = try worker.next("a refusal") { message in
                if case .refused(let refusal) = message { refusal } else { nil }
            }
            #expect(refusal.code == .badMessage)
            try worker.expectNothing()
        }
    }

    @Test func clientsCannotBeWorkers() throws {
        try run(.client) { lab, _ in
            let client = try lab.peer("w1")
            try client.hello()
            #expect(try client.refusal().code == .badMessage)
            try client.say(.ready(freeSlots: 8))
            #expect(try client.refusal().code == .badMessage)
            #expect(try client.status(nil).workers.isEmpty)
        }
    }

    @Test func garbageIsRefusedAndChangesNothing() throws {
        try run(.local) { lab, _ in
            let peer = try lab.peer("w1")
            let frames: [[UInt8]] = [
                [], [1], [1, 2, 255, 255, 255], [200, 3, 8, 1], [1, 250],
                Array(repeating: 7, count: 5000),
            ]
            for frame in frames {
                try peer.send(frame)
                #expect(try peer.refusal().code == .badMessage, "\(frame.prefix(5))")
            }
            // Two frames where there is to be one.
            let ask = try MessageCodec().encode(ClientRequest.workers)
            try peer.send(frames: [ask, ask])
            #expect(try peer.refusal().code == .badMessage)
            #expect(try peer.status(nil).workers.isEmpty)
            try peer.hello()
            _ = try peer.welcome()
        }
    }

    @Test func answersWaitForThoseWhoReadSlowly() throws {
        try run(.local) { lab, _ in
            let slow = try lab.peer("slow", receives: 1)
            // More than the sockets take up; fewer than make a peer count as gone.
            let count = 4000
            for _ in 0..<count { try slow.ask(.workers) }
            // Others are served meanwhile.
            _ = try lab.peer("other").status(nil)
            for _ in 0..<count {
                try slow.reply("an answer") { reply -> Bool? in
                    if case .status = reply { true } else { nil }
                }
            }
        }
    }
}
