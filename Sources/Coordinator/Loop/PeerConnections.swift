import ClusterProtocol
import ClusterVocabulary
import ZeroMQ

/// Everyone who is connected, and what is being sent to them.
///
/// Used on the loop's thread.
final class PeerConnections {
    /// The program at the other end of a connection.
    struct Peer {
        let routing: RoutingID
        let connection: ConnectionID
        let identity: PeerIdentity
        /// The worker's lasting name, once it has said hello.
        var worker: String?
        /// What a welcome has said; nil before it.
        var version: Int?
        /// When it was last heard.
        var heard: Int64
        /// Frames that wait for room, oldest first.
        var parked: [Frame] = []
    }

    private let router: Socket
    private let codec: MessageCodec
    private let identify: @Sendable (String) -> PeerIdentity?
    private var peers: [ConnectionID: Peer] = [:]
    private var names: [RoutingID: ConnectionID] = [:]
    /// The connection under which each worker said hello last.
    private var newest: [String: ConnectionID] = [:]
    /// Connections that turned out to be gone while something was sent.
    private(set) var gone: [ConnectionID] = []
    private var crowded: Set<ConnectionID> = []

    /// Frames that wait for one peer before it counts as gone.
    static let longestWait = 4096
    /// Frames that may wait for a client whose requests are still taken, beyond the thousand
    /// that its socket holds.
    static let mostUnread = 64

    init(
        _ router: Socket, protocols: ProtocolRange,
        identify: @escaping @Sendable (String) -> PeerIdentity?
    ) {
        self.router = router
        codec = MessageCodec(protocols: protocols)
        self.identify = identify
    }

    /// Who sent a message; nil for a sender that may say nothing.
    func sender(of message: Message, at now: Int64) -> Peer? {
        guard let routing = message.peer else { return nil }
        if let known = names[routing] {
            peers[known]?.heard = now
            return peers[known]
        }
        guard let user = message.userID, let identity = identify(user) else { return nil }
        let connection = ConnectionID(routing.description)
        let peer = Peer(
            routing: routing, connection: connection, identity: identity, worker: nil,
            version: nil, heard: now)
        peers[connection] = peer
        names[routing] = connection
        return peer
    }

    /// What a frame says.
    enum Content {
        case worker(WorkerMessage)
        case client(ClientRequest)
    }

    /// Reads a message; its sender decides what it may be.
    ///
    /// - Throws: `ProtocolError` with what is wrong.
    func read(_ message: Message, from peer: Peer) throws(ProtocolError) -> Content {
        guard message.moreFrames.isEmpty else {
            throw .tooMany(field: "the message's frames", count: message.frames.count, limit: 1)
        }
        switch peer.identity {
        case .worker: return .worker(try codec.decode(message.frame.bytes))
        case .client: return .client(try codec.decode(message.frame.bytes))
        case .local:
            do throws(ProtocolError) {
                return .worker(try codec.decode(message.frame.bytes))
            } catch {
                guard case .unknownType = error else { throw error }
                return .client(try codec.decode(message.frame.bytes))
            }
        }
    }

    /// A worker has said who it is.
    func learn(_ worker: String, at connection: ConnectionID) {
        peers[connection]?.worker = worker
        newest[worker] = connection
    }

    /// Sends a message, or keeps it until there is room.
    ///
    /// - Throws: `ProtocolError` for a message beyond the bounds.
    func send(_ message: CoordinatorMessage, to connection: ConnectionID) throws(ProtocolError) {
        if case .welcome(let welcome) = message {
            peers[connection]?.version = welcome.protocolVersion
        }
        guard let peer = peers[connection] else { return }
        post(Frame(try codec.encode(message, version: peer.version)), to: connection)
    }

    /// Answers a client.
    ///
    /// - Throws: `ProtocolError` for an answer beyond the bounds.
    func reply(_ reply: ClientReply, to client: ClientID) throws(ProtocolError) {
        let connection = ConnectionID(client.text)
        guard peers[connection] != nil else { return }
        post(Frame(try codec.encode(reply)), to: connection)
    }

    /// Whether a connection is known.
    func knows(_ connection: ConnectionID) -> Bool { peers[connection] != nil }

    /// The connections under which a worker has said hello.
    func connections(ofWorker name: String) -> [ConnectionID] {
        peers.filter { $0.value.worker == name }.map(\.key)
    }

    /// Whether a peer reads what it is sent: at most `mostUnread` answers wait for room.
    func isReading(_ connection: ConnectionID) -> Bool {
        guard crowded.contains(connection) else { return true }
        return (peers[connection]?.parked.count ?? 0) <= Self.mostUnread
    }

    /// Whether messages wait for room.
    var isCrowded: Bool { !crowded.isEmpty }

    /// How many frames wait for room.
    var parkedFrames: Int { crowded.reduce(0) { $0 + (peers[$1]?.parked.count ?? 0) } }

    /// Sends what waited for room.
    func sendRest() {
        for connection in crowded {
            let waiting = peers[connection]?.parked ?? []
            peers[connection]?.parked = []
            crowded.remove(connection)
            for frame in waiting { post(frame, to: connection) }
        }
    }

    /// Takes the list of connections that were found gone.
    func takeGone() -> [ConnectionID] {
        defer { gone = [] }
        return gone
    }

    /// Forgets who was not heard of for long, but for those who are waited for: routing ids are
    /// never used again.
    ///
    /// - Parameters:
    ///   - moment: who was heard since then stays.
    ///   - workers: whose newest connections stay, too.
    ///   - kept: says whether a connection stays for another reason.
    func forget(
        before moment: Int64, but workers: Set<String>, except kept: (ConnectionID) -> Bool
    ) {
        for (connection, peer) in peers where peer.heard < moment && !kept(connection) {
            let isNewest = peer.worker.map { newest[$0] == connection && workers.contains($0) }
            if isNewest != true { remove(connection) }
        }
    }

    private func post(_ frame: Frame, to connection: ConnectionID) {
        guard let peer = peers[connection] else { return }
        guard peer.parked.isEmpty else { return park(frame, connection) }
        do throws(ZeroMQError) {
            switch try router.send(frame, to: peer.routing) {
            case .sent: return
            case .wouldBlock: park(frame, connection)
            case .peerGone: lose(connection)
            }
        } catch {
            lose(connection)
        }
    }

    private func park(_ frame: Frame, _ connection: ConnectionID) {
        guard let count = peers[connection]?.parked.count, count < Self.longestWait else {
            return lose(connection)
        }
        peers[connection]?.parked.append(frame)
        crowded.insert(connection)
    }

    private func lose(_ connection: ConnectionID) {
        remove(connection)
        gone.append(connection)
    }

    private func remove(_ connection: ConnectionID) {
        guard let peer = peers.removeValue(forKey: connection) else { return }
        names[peer.routing] = nil
        if let worker = peer.worker, newest[worker] == connection { newest[worker] = nil }
        crowded.remove(connection)
    }
}
