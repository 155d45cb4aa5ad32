internal import CZeroMQ

/// What a socket is for.
package enum SocketKind: Sendable {
    /// Speaks with many peers, each by its routing id.
    case router
    /// Speaks with one server without waiting for answers.
    case dealer
    /// Answers one request after the other.
    case reply
    /// Speaks with one other socket of this process.
    case pair

    var number: Int32 {
        switch self {
        case .router: return ZMQ_ROUTER
        case .dealer: return ZMQ_DEALER
        case .reply: return ZMQ_REP
        case .pair: return ZMQ_PAIR
        }
    }
}

/// A socket of libzmq.
///
/// It belongs to one thread, which alone may use it and let it go. No operation waits: a socket
/// that cannot send or has nothing to receive says so.
package final class Socket {
    package let context: Context
    package let kind: SocketKind
    /// Counts the sockets of the context, from 1.
    package let number: Int
    /// Messages that had more frames than `Message.largestFrameCount` and were dropped.
    package internal(set) var droppedMessages = 0
    private(set) var open: UnsafeMutableRawPointer?

    /// Makes a socket that is neither bound nor connected.
    ///
    /// - Throws: `ZeroMQError.refused` where there are too many sockets or an option is not
    ///   taken.
    package init(
        _ kind: SocketKind, in context: Context, options: SocketOptions = SocketOptions()
    ) throws(ZeroMQError) {
        number = context.countSocket()
        guard let raw = zmq_socket(context.raw, kind.number) else {
            context.countSocketOut()
            throw .last(.makeSocket)
        }
        open = raw
        self.context = context
        self.kind = kind
        do throws(ZeroMQError) {
            try set(options)
        } catch {
            close()
            throw error
        }
    }

    deinit { close() }

    /// Closes the socket; what was sent still leaves, within the lingering time.
    ///
    /// A second call does nothing. No other operation may follow.
    package func close() {
        guard let raw = open else { return }
        open = nil
        zmq_close(raw)
        context.countSocketOut()
    }

    package var isClosed: Bool { open == nil }

    /// libzmq's socket.
    var raw: UnsafeMutableRawPointer {
        guard let open else { preconditionFailure("the socket was closed") }
        return open
    }

    /// Takes connections at an endpoint, such as `tcp://127.0.0.1:*` or `ipc:///run/godwit`.
    ///
    /// The socket file of an `ipc` endpoint is the user's own (0600), whatever the umask.
    ///
    /// - Returns: the endpoint really bound, a `*` replaced by the port that the system chose.
    /// - Throws: `ZeroMQError.refused`.
    @discardableResult
    package func bind(_ endpoint: String) throws(ZeroMQError) -> String {
        if let path = SocketFile.path(of: endpoint) {
            try SocketFile.making(path) { () throws(ZeroMQError) in
                try ZeroMQError.check(czeromq_bind(raw, endpoint), .bind, endpoint)
            }
        } else {
            try ZeroMQError.check(czeromq_bind(raw, endpoint), .bind, endpoint)
        }
        return Self.unmapped(try text(of: ZMQ_LAST_ENDPOINT))
    }

    /// An address of IPv4 as it is usually written: sockets of IPv6 see `[::ffff:127.0.0.1]`.
    static func unmapped(_ endpoint: String) -> String {
        guard let start = endpoint.firstRange(of: "[::ffff:"),
            let end = endpoint[start.upperBound...].firstIndex(of: "]")
        else { return endpoint }
        let address = endpoint[start.upperBound..<end]
        guard address.contains(".") else { return endpoint }
        let rest = endpoint[endpoint.index(after: end)...]
        return endpoint[..<start.lowerBound] + String(address) + rest
    }

    /// Connects to an endpoint, now and again each time the connection is lost.
    ///
    /// After `handshakeFailedAuthentication` and `handshakeFailedProtocol` libzmq 4.3 never tries
    /// again: a caller that wants to come in later makes a new socket.
    ///
    /// - Throws: `ZeroMQError.refused` for an endpoint that can never be right; a server that is
    ///   not there is no error.
    package func connect(_ endpoint: String) throws(ZeroMQError) {
        try ZeroMQError.check(czeromq_connect(raw, endpoint), .connect, endpoint)
    }

    /// Takes no more connections at an endpoint, named as `bind` returned it.
    ///
    /// - Throws: `ZeroMQError.refused`.
    package func unbind(_ endpoint: String) throws(ZeroMQError) {
        try ZeroMQError.check(czeromq_unbind(raw, endpoint), .unbind, endpoint)
    }

    /// Ends the connection to an endpoint, named as it was connected.
    ///
    /// - Throws: `ZeroMQError.refused`.
    package func disconnect(_ endpoint: String) throws(ZeroMQError) {
        try ZeroMQError.check(czeromq_disconnect(raw, endpoint), .disconnect, endpoint)
    }
}
