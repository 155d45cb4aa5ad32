import Testing
import Threads

@testable import ZeroMQ

extension SocketSuites {
    @Suite struct LoopEndTests {
        @Test func whatTheHandlersMakerThrowsIsThrown() throws {
            let context = try Context()
            #expect(throws: Missing.self) {
                _ = try PollLoop<Echo>(name: "none", context: context, clock: stoppedClock) {
                    _ = try $0.open(.router)
                    throw Missing(what: "a handler")
                }
            }
            #expect(context.openSockets == 0)
        }

        @Test func whatTheHandlerThrowsEndsTheLoop() throws {
            let context = try Context()
            let notes = BoundedMailbox<Note>(capacity: 100)
            let loop = try PollLoop(name: "echo", context: context, clock: stoppedClock) {
                Echo($0, try $0.open(.router), notes)
            }
            loop.submit { _ in throw Missing(what: "luck") }
            #expect(throws: Missing.self) { try loop.join() }
            #expect(context.openSockets == 0)
            #expect(!loop.submit { _ in })
            #expect(notes.count == 0)
        }

        @Test func theHandlerCanEndTheLoop() throws {
            let context = try Context()
            let notes = BoundedMailbox<Note>(capacity: 100)
            let loop = try PollLoop(name: "echo", context: context, clock: stoppedClock) {
                Echo($0, try $0.open(.router), notes)
            }
            loop.submit { $0.sockets.end() }
            try loop.join()
            guard case .ended? = notes.receive() else {
                Issue.record("the handler did not learn that the loop ended")
                return
            }
        }

        @Test func aLoopThatIsLetGoEnds() throws {
            let context = try Context()
            let notes = BoundedMailbox<Note>(capacity: 100)
            do {
                let loop = try PollLoop(name: "echo", context: context, clock: stoppedClock) {
                    Echo($0, try $0.open(.router), notes)
                }
                loop.submit { _ in }
            }
            #expect(context.openSockets == 0)
            context.end()
        }

        /// What is sent at the end arrives although the socket is closed right after.
        @Test func theLastWordsArrive() throws {
            let context = try Context()
            let router = try Socket(.router, in: context)
            let endpoint = try router.bind("tcp://127.0.0.1:*")
            let loop = try PollLoop(name: "client", context: context, clock: stoppedClock) {
                let dealer = try $0.open(.dealer)
                try dealer.connect(endpoint)
                return LastWords($0, dealer)
            }
            #expect(try router.next().frame.text == "hello")
            loop.end()
            try loop.join()
            for number in 0..<100 { #expect(try router.next().frame.text == "\(number)") }
        }

        @Test func unsentMessagesDoNotHoldUpTheEnd() throws {
            let context = try Context()
            let notes = BoundedMailbox<Note>(capacity: 100)
            var options = SocketOptions()
            options.isImmediate = false
            options.lingerMilliseconds = 50
            let unheard = options
            let loop = try PollLoop(name: "client", context: context, clock: stoppedClock) {
                let dealer = try $0.open(.dealer, options: unheard)
                try dealer.connect("tcp://127.0.0.1:9")
                for _ in 0..<100 { #expect(try dealer.send(Frame("x")) == .sent) }
                return Echo($0, dealer, notes)
            }
            loop.end()
            try loop.join()
            context.end()
        }
    }
}

/// Says hello when it can, and counts to a hundred when it ends.
final class LastWords: PollLoopHandler {
    private let socket: Socket

    init(_ sockets: PollSockets, _ socket: Socket) {
        self.socket = socket
        sockets.awaitRoom(on: socket)
    }

    func received(_ messages: [Message], on socket: Socket) {}
    func becameWritable(_ socket: Socket) throws { try socket.send(Frame("hello")) }
    func willEnd() throws { for number in 0..<100 { try socket.send(Frame("\(number)")) } }
}
