package import ClusterProtocol

/// What a watch session shows; called on the thread that follows.
package protocol WatchObserver {
    /// Something that the coordinator reported, in its order.
    ///
    /// - Throws: what ends the session.
    func observe(_ event: WatchEvent) throws

    /// A change of the connection.
    func observe(_ change: WatchConnection)
}

/// What happens to the connection of a watch session, which connects again for as long as it
/// takes.
package enum WatchConnection: Sendable {
    /// The coordinator sent nothing for this time.
    case silent(for: Duration)
    case lost
    case handshakeRefused(HandshakeRefusal)
    case connectedAgain
    /// The run is over, but the coordinator did not say how it stands.
    case endUnknown(ClientError)
}
