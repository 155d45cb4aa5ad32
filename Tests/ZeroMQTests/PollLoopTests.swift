import CZeroMQ
import Synchronization
import Testing
import Threads

@testable import ZeroMQ

extension SocketSuites {
    @Suite struct PollLoopTests {
        /// A loop with an echoing router, and its endpoint.
        private func echo(
            _ context: Context, _ notes: BoundedMailbox<Note>, options: SocketOptions = .init(),
            inboxCapacity: Int = 1024, clock: @escaping @Sendable () -> Int64 = stoppedClock
        ) throws -> (loop: PollLoop<Echo>, endpoint: String) {
            let endpoint = Mutex("")
            let bound = BoundedMailbox<String>(capacity: 1)
            let loop = try PollLoop(
                name: "echo", context: context, inboxCapacity: inboxCapacity, clock: clock
            ) { sockets in
                let router = try sockets.open(.router, options: options)
                bound.send(try router.bind("tcp://127.0.0.1:*"))
                return Echo(sockets, router, notes)
            }
            endpoint.withLock { $0 = bound.receive() ?? "" }
            return (loop, endpoint.withLock { $0 })
        }

        @Test func messagesAreAnsweredOnTheThread() throws {
            let context = try Context()
            let notes = BoundedMailbox<Note>(capacity: 100)
            let (loop, endpoint) = try echo(context, notes)
            let dealer = try Socket(.dealer, in: context)
            try dealer.connect(endpoint)
            try dealer.sendWhenPossible([Frame("a"), Frame("b")])
            #expect(try dealer.next().frames.map(\.text) == ["a", "b"])
            #expect(try notes.nextText() == "a")
            loop.end()
            try loop.join()
            try loop.join()
            guard case .ended? = notes.receive() else {
                Issue.record("the handler did not learn that the loop ended")
                return
            }
            #expect(context.openSockets == 1)
            #expect(!loop.submit { _ in })
            #expect(!loop.submitIfRoom { _ in })
        }

        /// 100,000 answers arrive, each once and in order, however the batches fall.
        @Test func manyMessagesAllArrive() throws {
            let context = try Context(ioThreads: 2)
            let server = try PollLoop(name: "server", context: context, clock: stoppedClock) {
                try Reflector($0)
            }
            let ports = BoundedMailbox<String>(capacity: 1)
            server.submit { ports.send($0.endpoint) }
            let endpoint = try #require(ports.receive())
            let total = 100_000
            let done = BoundedMailbox<Int>(capacity: 1)
            let client = try PollLoop(name: "client", context: context, clock: stoppedClock) {
                let dealer = try $0.open(.dealer)
                try dealer.connect(endpoint)
                return Asker($0, dealer, total: total, done)
            }
            guard case .element(total) = done.receive(within: .seconds(120)) else {
                throw Missing(what: "an answer")
            }
            client.end()
            server.end()
            try client.join()
            try server.join()
        }

        @Test func otherThreadsWakeTheLoop() throws {
            let context = try Context()
            let notes = BoundedMailbox<Note>(capacity: 100)
            let (loop, _) = try echo(context, notes, inboxCapacity: 7)
            let seen = Mutex<[[Int]]>(Array(repeating: [], count: 4))
            let threads = try (0..<4).map { sender in
                try OwnedThread(name: "sender \(sender)") {
                    for number in 0..<2000 {
                        loop.submit { _ in seen.withLock { $0[sender].append(number) } }
                    }
                }
            }
            for thread in threads { thread.join() }
            // What was taken is called, although the end is asked for at once.
            loop.end()
            try loop.join()
            #expect(seen.withLock { $0 } == Array(repeating: Array(0..<2000), count: 4))
        }

        @Test func aFullInboxIsTold() throws {
            let context = try Context()
            let notes = BoundedMailbox<Note>(capacity: 100)
            let (loop, _) = try echo(context, notes, inboxCapacity: 1)
            let (gate, inside) = (
                BoundedMailbox<Void>(capacity: 1), BoundedMailbox<Void>(capacity: 1)
            )
            loop.submit { _ in
                inside.send(())
                _ = gate.receive()
            }
            _ = inside.receive()
            #expect(loop.submitIfRoom { _ in })
            #expect(!loop.submitIfRoom { _ in })
            gate.send(())
            loop.end()
            try loop.join()
        }

        /// The clock decides, not the time that passes.
        @Test func theHandlerIsWokenWhenItsTimeHasCome() throws {
            let context = try Context()
            let notes = BoundedMailbox<Note>(capacity: 100)
            let time = Counter()
            let (loop, _) = try echo(context, notes) {
                Int64(time.value.load(ordering: .sequentiallyConsistent))
            }
            loop.submit { $0.nextWake = 1000 }
            time.value.store(999, ordering: .sequentiallyConsistent)
            loop.submit { $0.notesTurns = true }
            time.value.store(1000, ordering: .sequentiallyConsistent)
            loop.submit { _ in }
            let woken = try notes.next("a wake") { note in
                if case .woken(let now) = note { return now }
                return nil
            }
            #expect(woken == 1000)
            loop.submit { $0.nextWake = Int64.min }
            _ = try notes.next("a wake") { if case .woken = $0 { true } else { nil } }
            loop.submit { $0.nextWake = Int64.max }
            loop.end()
            try loop.join()
        }

        /// One end of turn follows a whole batch, and no batch is longer than the limit.
        @Test func turnsAreBounded() throws {
            let context = try Context()
            let notes = BoundedMailbox<Note>(capacity: 5000)
            let (loop, endpoint) = try echo(context, notes)
            loop.submit {
                $0.notesTurns = true
                $0.sockets.setReceiving(false, from: $0.socket)
            }
            let dealer = try Socket(.dealer, in: context)
            try dealer.connect(endpoint)
            for number in 0..<800 { try dealer.sendWhenPossible([Frame("\(number)")]) }
            loop.submit { $0.sockets.setReceiving(true, from: $0.socket) }
            for number in 0..<800 { #expect(try dealer.next().frame.text == "\(number)") }
            let largest = BoundedMailbox<Int>(capacity: 1)
            loop.submit { largest.send($0.largestBatch) }
            #expect((1...PollLoop<Echo>.messagesOfATurn).contains(largest.receive() ?? 0))
            loop.end()
            try loop.join()
            notes.close()
            var (turns, messages, sinceTurn) = (0, 0, 0)
            while let note = notes.receive() {
                switch note {
                case .turn:
                    turns += 1
                    sinceTurn = 0
                case .message:
                    messages += 1
                    sinceTurn += 1
                    #expect(sinceTurn <= PollLoop<Echo>.messagesOfATurn)
                default: break
                }
            }
            #expect(messages == 800)
            #expect(turns >= 4)
            #expect(sinceTurn == 0)
        }

        @Test func roomIsToldOnce() throws {
            let context = try Context()
            let notes = BoundedMailbox<Note>(capacity: 100)
            let router = try Socket(.router, in: context)
            let endpoint = try router.bind("tcp://127.0.0.1:*")
            let loop = try PollLoop(name: "client", context: context, clock: stoppedClock) {
                let dealer = try $0.open(.dealer)
                #expect(try dealer.send(Frame("x")) == .wouldBlock)
                $0.awaitRoom(on: dealer)
                try dealer.connect(endpoint)
                return Echo($0, dealer, notes)
            }
            _ = try notes.next("room") { if case .writable = $0 { true } else { nil } }
            loop.submit { try $0.socket.send(Frame("y")) }
            #expect(try router.next().frame.text == "y")
            loop.end()
            try loop.join()
            guard case .ended? = notes.receive() else {
                Issue.record("room was told twice")
                return
            }
        }

        @Test func connectionsAreObserved() throws {
            let context = try Context()
            let notes = BoundedMailbox<Note>(capacity: 100)
            let router = try Socket(.router, in: context)
            let endpoint = try router.bind("tcp://127.0.0.1:*")
            let loop = try PollLoop(name: "client", context: context, clock: stoppedClock) {
                let dealer = try $0.open(.dealer, isMonitored: true)
                try dealer.connect(endpoint)
                return Echo($0, dealer, notes)
            }
            let first = try notes.next("a handshake") { note -> MonitorEvent? in
                if case .event(let event) = note, event.kind == .handshakeSucceeded {
                    event
                } else {
                    nil
                }
            }
            #expect(first.endpoint == endpoint && first.refusal == nil)
            router.close()
            for kind: MonitorEvent.Kind in [.disconnected, .connectRetried(milliseconds: 100)] {
                _ = try notes.next("an event") { note -> Bool? in
                    if case .event(let event) = note {
                        switch (event.kind, kind) {
                        case (.connectRetried, .connectRetried): return true
                        default: return event.kind == kind ? true : nil
                        }
                    }
                    return nil
                }
            }
            loop.submit { $0.sockets.close($0.socket) }
            // A socket that is closed by itself is not polled any more either.
            loop.submit { try $0.sockets.open(.dealer, isMonitored: true).close() }
            let open = BoundedMailbox<Int>(capacity: 1)
            loop.submit { _ in open.send(context.openSockets) }
            loop.submit { _ in open.send(context.openSockets) }
            _ = open.receive()
            _ = open.receive()
            loop.end()
            try loop.join()
            #expect(context.openSockets == 0)
        }
    }
}

/// A router that answers each message with its first frame.
final class Reflector: PollLoopHandler {
    let socket: Socket
    let endpoint: String

    init(_ sockets: PollSockets) throws {
        socket = try sockets.open(.router)
        endpoint = try socket.bind("tcp://127.0.0.1:*")
    }

    func received(_ messages: [Message], on socket: Socket) throws {
        for message in messages {
            guard try socket.send(message.frame, to: message.peer) == .sent else {
                throw Missing(what: "room for an answer")
            }
        }
    }
}

/// A dealer that keeps some questions under way and counts the answers.
final class Asker: PollLoopHandler {
    private let sockets: PollSockets
    private let socket: Socket
    private let total: Int
    private let done: BoundedMailbox<Int>
    private var asked = 0
    private var answered = 0

    init(_ sockets: PollSockets, _ socket: Socket, total: Int, _ done: BoundedMailbox<Int>) {
        self.sockets = sockets
        self.socket = socket
        self.total = total
        self.done = done
        sockets.awaitRoom(on: socket)
    }

    func becameWritable(_ socket: Socket) throws { try ask() }

    func received(_ messages: [Message], on socket: Socket) throws {
        for message in messages {
            guard message.frame.text == "\(answered)" else { throw Missing(what: "order") }
            answered += 1
        }
        try ask()
        if answered == total { done.send(answered) }
    }

    private func ask() throws {
        while asked < min(total, answered + 400) {
            guard try socket.send(Frame("\(asked)")) == .sent else {
                sockets.awaitRoom(on: socket)
                return
            }
            asked += 1
        }
    }
}
