import ClusterProtocol

// What operators learn about messages that cannot be read.

extension CoordinatorLoop {
    /// Numbers of what workers say, and of what clients ask.
    private static let (workerTypes, clientTypes) = (1...31, 65...95)

    /// The line for a message that cannot be read.
    static func trouble(_ error: ProtocolError, with peer: PeerConnections.Peer) -> String {
        switch (peer.identity, error) {
        case (.worker(_, let name), .unknownType(let number)) where clientTypes.contains(number):
            "the key of the worker \(name) was used by a command such as status: it is for "
                + "godwit work alone; commands need a key of allowed/clients"
        case (.client, .unknownType(let number)) where workerTypes.contains(number):
            "a client's key was used by a worker: godwit work needs a key of allowed/workers"
        default: "unreadable message of \(name(of: peer)): \(error)"
        }
    }

    private static func name(of peer: PeerConnections.Peer) -> String {
        switch peer.identity {
        case .worker(_, let name): name
        case .client: "a client"
        case .local: peer.worker ?? "a program on this machine"
        }
    }
}
