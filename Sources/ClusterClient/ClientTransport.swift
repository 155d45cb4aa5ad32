package import ClusterProtocol
import Threads
import ZeroMQ

/// What a client hears of its connection.
package enum ClientEvent: Sendable {
    case connected
    case reply(ClientReply)
    /// A message that is none of this protocol's version.
    case unreadable(ProtocolError)
    /// A connection that was there is gone.
    case lost
    /// Something listens, but the handshake did not succeed; libzmq tries again by itself.
    case unfinished(String)
    /// The handshake was refused, and nothing will change that but other keys.
    case keptOut(HandshakeRefusal)
    /// A signal asks the command to end.
    case interrupted
}

/// Why the handshake cannot succeed as things are.
package enum HandshakeRefusal: Hashable, Sendable {
    /// The coordinator does not know this key.
    case unknownKey
    /// The coordinator has this key on the list of workers.
    case workersKey
    /// One side uses keys, the other none.
    case mechanism
    case other(String)
}

/// News with the number of the connection that they are of.
struct NumberedNews: Sendable {
    let connection: Int
    let news: ClientEvent
}

/// The client's end on the loop's thread: a dealer socket of its own for each connection, under
/// a routing id that was never used before, as a router may still hold the former one.
///
/// What it hears goes into a mailbox. It may wait there for room, for nothing else is done on
/// this thread.
final class ClientTransport: PollLoopHandler {
    private let sockets: PollSockets
    private let connection: CoordinatorConnection
    private let routingID: @Sendable () -> String
    private let news: BoundedMailbox<NumberedNews>
    private var socket: Socket?
    private var number = 0
    private var isReady = false
    /// What is sent as soon as there is a connection.
    private var waiting: Frame?

    init(
        _ sockets: PollSockets, _ connection: CoordinatorConnection,
        routingID: @escaping @Sendable () -> String, news: BoundedMailbox<NumberedNews>
    ) {
        self.sockets = sockets
        self.connection = connection
        self.routingID = routingID
        self.news = news
    }

    /// Closes what there is and begins to connect.
    ///
    /// - Parameters:
    ///   - number: of the connection, as its news will have it.
    ///   - frame: what is sent as soon as it is there.
    func open(_ number: Int, sending frame: [UInt8]) {
        close()
        self.number = number
        waiting = Frame(frame)
        do {
            try connect()
        } catch {
            // An endpoint that can never be right, or too many sockets.
            tell(.keptOut(.other("\(error)")))
        }
    }

    private func connect() throws {
        var options = SocketOptions()
        options.security = connection.security
        options.routingID = try RoutingID(routingID())
        let made = try sockets.open(.dealer, options: options, isMonitored: true)
        socket = made
        try made.connect(connection.endpoint)
    }

    private func close() {
        if let socket { sockets.close(socket) }
        socket = nil
        isReady = false
    }

    private func sendWaiting() throws {
        guard let socket, let frame = waiting else { return }
        switch try socket.send(frame) {
        case .sent: waiting = nil
        case .wouldBlock: sockets.awaitRoom(on: socket)
        case .peerGone: lose()
        }
    }

    private func lose() {
        close()
        tell(.lost)
    }

    private func tell(_ what: ClientEvent) {
        news.send(NumberedNews(connection: number, news: what))
    }

    func received(_ messages: [Message], on socket: Socket) throws {
        for message in messages where socket === self.socket {
            do throws(ProtocolError) {
                guard message.moreFrames.isEmpty else {
                    throw .tooMany(
                        field: "the message's frames", count: message.frames.count, limit: 1)
                }
                tell(.reply(try MessageCodec().decode(message.frame.bytes)))
            } catch {
                tell(Self.isForWorkers(message) ? .keptOut(.workersKey) : .unreadable(error))
            }
        }
    }

    /// Whether a message is a refusal as only workers get it: the coordinator takes this side for
    /// one, for whose key it is follows from the list that it is on.
    private static func isForWorkers(_ message: Message) -> Bool {
        do throws(ProtocolError) {
            let answer: CoordinatorMessage = try MessageCodec().decode(message.frame.bytes)
            return if case .refused = answer { true } else { false }
        } catch {
            return false
        }
    }

    func becameWritable(_ socket: Socket) throws {
        if socket === self.socket { try sendWaiting() }
    }

    func observed(_ event: MonitorEvent, of socket: Socket) throws {
        guard socket === self.socket else { return }
        switch event.kind {
        case .handshakeSucceeded:
            isReady = true
            tell(.connected)
            try sendWaiting()
        case .disconnected where isReady:
            // What came before the end counts.
            try received(
                try socket.receive(upTo: PollLoop<ClientTransport>.messagesOfATurn), on: socket)
            lose()
        case .disconnected: tell(.unfinished("the other side ended the handshake"))
        case .handshakeFailed: tell(.unfinished(event.refusal ?? "the handshake did not end"))
        case .handshakeFailedAuthentication: tell(.keptOut(.unknownKey))
        case .handshakeFailedProtocol(.mechanism): tell(.keptOut(.mechanism))
        case .handshakeFailedProtocol:
            tell(.keptOut(.other(event.refusal ?? "it broke the protocol")))
        default: break
        }
    }
}
