/// How a socket behaves; what stands here holds for both kinds of channels unless said otherwise.
package struct SocketOptions: Sendable {
    /// Messages that wait for one peer at most; never 0, which would mean no limit.
    package var sendHighWaterMark: Int32 = 1000
    /// Messages of one peer that wait to be received at most; never 0.
    ///
    /// Marks are counted in messages and per peer, so they do not bound memory.
    package var receiveHighWaterMark: Int32 = 1000
    /// Bytes of a frame; who sends a longer one is disconnected.
    package var largestFrame: Int64 = 1 << 20
    /// Until when a peer must have shown who it is, in milliseconds.
    package var handshakeMilliseconds: Int32 = 5000
    /// How long messages that were not sent hold up the end, in milliseconds.
    package var lingerMilliseconds: Int32 = 2000
    /// Queue messages for completed connections only, so that a send tells when there is none.
    package var isImmediate = true
    /// The pause before connecting again, doubled up to the limit, in milliseconds.
    package var reconnectMilliseconds: Int32 = 100
    package var reconnectLimitMilliseconds: Int32 = 5000
    /// Pings of the transport, which find a connection that died silently.
    package var heartbeat: Heartbeat? = Heartbeat()
    /// Take and make connections by IPv6 too.
    package var usesIPv6 = true
    /// What router sockets of peers call this one; libzmq makes one up otherwise.
    package var routingID: RoutingID?
    package var security: Security = .none

    package init() {}

    /// Pings of the transport, in milliseconds.
    package struct Heartbeat: Hashable, Sendable {
        package var intervalMilliseconds: Int32 = 5000
        /// A connection that brings nothing for so long after a ping is closed.
        package var timeoutMilliseconds: Int32 = 15_000

        package init() {}
    }

    /// Who may speak with whom.
    package enum Security: Sendable {
        /// Any peer, in the clear, and no policy is asked: for `inproc` and for monitors.
        case none
        /// In the clear; the access policy decides by the address. The domain is told to it.
        case plainServer(domain: String)
        /// CURVE; the access policy decides by the peer's key. The domain is told to it.
        case curveServer(KeyPair, domain: String)
        /// CURVE, to the server that has this key.
        case curveClient(KeyPair, server: PublicKey)
    }
}
