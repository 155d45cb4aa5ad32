import ClusterProtocol
import Threads
import ZeroMQ

/// A client that asks a coordinator for its status over one connection, and takes the time.
final class StatusClient: Sendable {
    private let loop: PollLoop<PeerHandler>
    private let replies: BoundedMailbox<(reply: ClientReply, at: Int64)>

    private final class PeerHandler: PollLoopHandler {
        private let socket: Socket
        private let replies: BoundedMailbox<(reply: ClientReply, at: Int64)>
        private var waiting: [Frame] = []
        private let sockets: PollSockets

        init(
            _ sockets: PollSockets, _ endpoint: String,
            _ replies: BoundedMailbox<(reply: ClientReply, at: Int64)>
        ) throws {
            self.sockets = sockets
            self.replies = replies
            var options = SocketOptions()
            options.routingID = try RoutingID("status-client")
            socket = try sockets.open(.dealer, options: options)
            try socket.connect(endpoint)
        }

        func ask(_ frame: Frame) throws {
            if try socket.send(frame) == .sent { return }
            waiting.append(frame)
            sockets.awaitRoom(on: socket)
        }

        func becameWritable(_ socket: Socket) throws {
            for frame in waiting { try socket.send(frame) }
            waiting = []
        }

        func received(_ messages: [Message], on socket: Socket) throws {
            for message in messages {
                let reply: ClientReply = try MessageCodec().decode(message.frame.bytes)
                _ = replies.sendIfRoom((reply, Instants.microseconds()))
            }
        }
    }

    init(_ endpoint: String) throws {
        let replies = BoundedMailbox<(reply: ClientReply, at: Int64)>(capacity: 16)
        self.replies = replies
        loop = try PollLoop(
            name: "status", context: Context(ioThreads: 1),
            clock: { Instants.microseconds() / 1000 }
        ) { try PeerHandler($0, endpoint, replies) }
    }

    /// Asks once.
    ///
    /// - Parameter run: nil for all.
    /// - Returns: milliseconds, and what was told.
    /// - Throws: `BenchError` where there is no answer within a minute.
    func ask(_ run: String? = nil) throws -> (milliseconds: Double, report: StatusReport) {
        let frame = Frame(try MessageCodec().encode(ClientRequest.status(run: run)))
        let start = Instants.microseconds()
        loop.submit { try $0.ask(frame) }
        guard case .element((let reply, let at)) = replies.receive(within: .seconds(60)) else {
            throw BenchError("the coordinator did not answer within a minute")
        }
        guard case .status(let report) = reply else {
            throw BenchError("the coordinator answered \(reply)")
        }
        return (Double(at - start) / 1000, report)
    }

    func end() throws {
        loop.end()
        try loop.join()
    }
}
