import CZeroMQ
import ClusterCore
import ClusterProtocol
@testable import Coordinator
import Jobs
import Synchronization
import Testing
import Threads
import ZeroMQ

/// Who may say what.
@Suite struct PeerConnectionsTests {
    /// Decides who everybody is, as a test goes along.
    private final class ScriptedAccess: Sendable {
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
                throw Missing(description: "a question at the access")
            }
        }
    }

    private func run(
        _ identity: PeerIdentity?, _ body: (CoordinatorLab, ScriptedAccess) throws -> Void
    ) throws {
        let access = ScriptedAccess(identity)
        try CoordinatorLab.run(change: { $0.peer = { access.decide($0) } }) { lab in
            try body(lab, access)
        }
    }

    @Test func unknownUsersAreNotHeard() throws {
        try run(nil) { lab, access in
            let stranger = try lab.peer("w1")
            try stranger.hello()
            try access.wait()
            try stranger.ask(.workers)
            try access.wait()
            access.set(.local)
            let client = try lab.peer("client")
            #expect(try client.status(nil).workers.isEmpty)
        }
    }

    @Test func aWorkerIsWhoItsKeySays() throws {
        try run(.worker(key: "key-1", name: "worker-1")) { lab, access in
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
            access.set(.client)
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

    /// Waits until frames wait for room, or until none do.
    private func wait(_ lab: CoordinatorLab, isCrowded: Bool) throws {
        let end = ContinuousClock.now.advanced(by: .seconds(60))
        while try lab.onLoop({ $0.peerConnections.isCrowded }) != isCrowded {
            if ContinuousClock.now > end { throw Missing(description: "the crowd") }
        }
    }

    /// Whether the next answer is a status; false for a refusal.
    private func isStatus(_ peer: ScriptedPeer) throws -> Bool {
        try peer.reply("an answer") { reply in
            switch reply {
            case .status: true
            case .refused: false
            default: nil
            }
        }
    }

    @Test func answersWaitForThoseWhoReadSlowly() throws {
        try run(.local) { lab, _ in
            let slow = try lab.peer("slow", receives: 1)
            // More than the sockets take up.
            let count = 4000
            for _ in 0..<count { try slow.ask(.workers) }
            try wait(lab, isCrowded: true)
            // Others are served meanwhile.
            _ = try lab.peer("other").status(nil)
            try lab.noted("dropped requests") {
                if case .refused(.unreadAnswers, _) = $0 { true } else { false }
            }
            let parked = try lab.onLoop { $0.peerConnections.parkedFrames }
            #expect(parked <= PeerConnections.mostUnread + 1)
            var answers = 0
            while try lab.onLoop({ $0.peerConnections.isCrowded }) {
                #expect(try isStatus(slow))
                answers += 1
            }
            // What it asks for after that is answered again, after all that waited.
            try slow.ask(.pause(run: "none"))
            while try isStatus(slow) { answers += 1 }
            #expect(answers > PeerConnections.mostUnread && answers < count)
        }
    }

    /// libzmq aborts where a ping is due for a connection that broke with messages unread.
    @Test func connectionsThatBreakWithRequestsUnreadHarmNothing() throws {
        try run(.local) { lab, _ in
            let peers = try (0..<4).map { try lab.peer("c\($0)") }
            for peer in peers { _ = try peer.status(nil) }
            let isHeld = BoundedMailbox<Bool>(capacity: 1)
            let isOver = BoundedMailbox<Bool>(capacity: 1)
            lab.coordinator?.queues.loop.submit { _ in
                _ = isHeld.sendIfRoom(true)
                _ = isOver.receive()
            }
            defer { isOver.close() }
            _ = isHeld.receive()
            for peer in peers {
                // As many as both queues hold: the coordinator's side stops reading.
                for _ in 0..<1900 { try peer.ask(.workers) }
                peer.vanish()
            }
            // Longer than the interval of pings, which is libzmq's own time.
            let interval = SocketOptions.Heartbeat().intervalMilliseconds
            #expect(zmq_poll(nil, 0, Int(interval) + 1000) == 0)
            isOver.close()
            _ = try lab.peer("other").status(nil)
        }
    }
}
