import ClusterProtocol
import WorkerRules
import ZeroMQ

/// The worker's connection to its coordinator: a dealer socket of its own for each try, under a
/// routing id that was never used before.
///
/// libzmq would connect again by itself, but under the former id, which a router may still hold
/// for the dead connection, and never after a refused handshake: hence each socket serves one
/// connection only. Used on the loop's thread.
final class CoordinatorLink {
    private let sockets: PollSockets
    let endpoint: String
    private let security: SocketOptions.Security
    private let routingID: @Sendable () -> String
    private let codec: MessageCodec
    private(set) var socket: Socket?
    /// What the welcome said; nil before it.
    private var version: Int?
    /// Frames for which the socket had no room.
    private var outbox: [Frame] = []

    /// Frames that wait for room before the connection is given up.
    static let longestOutbox = 1024

    init(_ sockets: PollSockets, _ plan: WorkerPlan, routingID: @escaping @Sendable () -> String) {
        self.sockets = sockets
        endpoint = plan.endpoint
        security = plan.security
        codec = MessageCodec(protocols: plan.settings.protocols)
        self.routingID = routingID
    }

    /// Closes what there is and begins to connect.
    ///
    /// - Throws: `ZeroMQError` for an endpoint that can never be right, and where no socket is
    ///   to be had.
    func open() throws(ZeroMQError) {
        close()
        var options = SocketOptions()
        options.security = security
        options.routingID = try RoutingID(routingID())
        let made = try sockets.open(.dealer, options: options, isMonitored: true)
        do throws(ZeroMQError) {
            try made.connect(endpoint)
        } catch {
            sockets.close(made)
            throw error
        }
        socket = made
    }

    /// Ends the connection; what was sent still leaves.
    func close() {
        if let socket { sockets.close(socket) }
        socket = nil
        version = nil
        outbox = []
    }

    /// Sends a message, or keeps it until there is room; dropped where there is no connection.
    ///
    /// - Returns: false where too many messages wait for a peer that takes none.
    /// - Throws: `ProtocolError` for a message beyond the bounds.
    func send(_ message: WorkerMessage) throws(ProtocolError) -> Bool {
        guard let socket else { return true }
        let frame = Frame(try codec.encode(message, version: version))
        guard outbox.isEmpty else { return park(frame, socket) }
        switch result(of: frame, socket) {
        case .sent: return true
        case .wouldBlock: return park(frame, socket)
        case .peerGone: return false
        }
    }

    /// Sends what waited for room.
    ///
    /// - Returns: false where the connection is of no use any more.
    func sendRest() -> Bool {
        guard let socket else { return true }
        for (count, frame) in outbox.enumerated() {
            switch result(of: frame, socket) {
            case .sent: continue
            case .wouldBlock:
                outbox.removeFirst(count)
                sockets.awaitRoom(on: socket)
                return true
            case .peerGone: return false
            }
        }
        outbox = []
        return true
    }

    /// The message of a frame; a welcome sets the version of all that follows.
    ///
    /// - Throws: `ProtocolError` with what is wrong.
    func decode(_ message: Message) throws(ProtocolError) -> CoordinatorMessage {
        guard message.moreFrames.isEmpty else {
            throw .tooMany(field: "the message's frames", count: message.frames.count, limit: 1)
        }
        let decoded: CoordinatorMessage = try codec.decode(message.frame.bytes)
        if case .welcome(let welcome) = decoded {
            guard codec.protocols.contains(welcome.protocolVersion) else {
                throw .unknownVersion(found: welcome.protocolVersion, known: codec.protocols)
            }
            version = welcome.protocolVersion
        }
        return decoded
    }

    /// Whether a message is a refusal as only clients get it: the coordinator takes this side for
    /// one, for whose key it is follows from the list that it is on.
    func isForClients(_ message: Message) -> Bool {
        guard case .curveClient = security, message.moreFrames.isEmpty else { return false }
        do throws(ProtocolError) {
            let reply: ClientReply = try codec.decode(message.frame.bytes)
            return if case .refused = reply { true } else { false }
        } catch {
            return false
        }
    }

    /// Why a connection did not come about, as far as this side is told.
    func reason(_ event: MonitorEvent) -> String {
        let hasKey = if case .curveClient = security { true } else { false }
        return switch event.kind {
        case .handshakeFailedAuthentication:
            "this worker's key is not on the coordinator's list\(remedy)"
        // Both sides may notice, and whichever is first closes the connection.
        case .handshakeFailedProtocol where !hasKey, .handshakeFailed where !hasKey,
            .disconnectedBeforeHandshake where !hasKey:
            "the program there requires keys, or it is not a coordinator; give this worker keys"
        case .handshakeFailedProtocol(.mechanism):
            "the program there does not use keys: it is not a coordinator, or it was started "
                + "without keys"
        case .handshakeFailedProtocol(.cryptographic):
            "the coordinator has another key than coordinator.pub says"
        // A server that cannot read what came closes without a word.
        case .handshakeFailed, .disconnectedBeforeHandshake:
            "it was closed before either side knew the other; is coordinator.pub the key of the "
                + "coordinator at \(endpoint)?"
        default: event.refusal ?? "the handshake failed"
        }
    }

    /// How this side's key comes onto the coordinator's list.
    private var remedy: String {
        guard case .curveClient(let keys, _) = security else { return "" }
        return ": put its public half, \(keys.publicKey.text), into a file NAME.pub in "
            + "allowed/workers of the coordinator's keys"
    }

    private func park(_ frame: Frame, _ socket: Socket) -> Bool {
        guard outbox.count < Self.longestOutbox else { return false }
        outbox.append(frame)
        sockets.awaitRoom(on: socket)
        return true
    }

    /// A socket that refuses outright is as good as one without a peer.
    private func result(of frame: Frame, _ socket: Socket) -> SendResult {
        do throws(ZeroMQError) { return try socket.send(frame) } catch { return .peerGone }
    }
}
