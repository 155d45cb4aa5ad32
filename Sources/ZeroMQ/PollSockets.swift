internal import CZeroMQ

/// The sockets of a poll loop, as its handler sees them: made, polled and closed on the loop's
/// thread.
package final class PollSockets {
    package let context: Context
    private let clock: @Sendable () -> Int64
    private let zap: ZAPHandler?
    private(set) var entries: [PollEntry] = []
    /// Descriptors beside the sockets, each once.
    private(set) var descriptors: [Int32] = []
    /// Changes with each change of the entries.
    private(set) var version = 0
    private(set) var isEnding = false

    init(
        context: Context, access: AccessPolicy?, clock: @escaping @Sendable () -> Int64
    ) throws(ZeroMQError) {
        self.context = context
        self.clock = clock
        if let access {
            let handler = try ZAPHandler(access, in: context)
            zap = handler
            entries = [PollEntry(handler.socket, .authentication(handler))]
        } else {
            zap = nil
        }
    }

    /// Milliseconds of the loop's clock.
    package var now: Int64 { clock() }

    /// Makes a socket whose messages the handler receives from the next turn on.
    ///
    /// - Parameters:
    ///   - kind: router, dealer, reply or pair.
    ///   - options: those of the socket.
    ///   - isMonitored: whether the handler observes its connections.
    /// - Returns: the socket, neither bound nor connected.
    /// - Throws: `ZeroMQError.refused`.
    package func open(
        _ kind: SocketKind, options: SocketOptions = SocketOptions(), isMonitored: Bool = false
    ) throws(ZeroMQError) -> Socket {
        let socket = try Socket(kind, in: context, options: options)
        // Monitors come first, so that of one turn's news a peer's coming is told first.
        if isMonitored {
            let monitor = try SocketMonitor(socket)
            entries.append(PollEntry(monitor.pair, .monitor(monitor)))
        }
        entries.append(PollEntry(socket, .messages))
        version += 1
        return socket
    }

    /// Closes a socket; what was sent still leaves.
    ///
    /// Its monitor ends, and nothing more of it is told.
    package func close(_ socket: Socket) {
        for entry in entries {
            if case .monitor(let monitor) = entry.role, monitor.socket === socket {
                monitor.close()
            }
        }
        socket.close()
        entries.removeAll { $0.socket.isClosed }
        version += 1
    }

    /// Stops or resumes receiving from a socket: what arrives waits, up to its high-water mark.
    package func setReceiving(_ isReceiving: Bool, from socket: Socket) {
        change(socket) { $0.isReceiving = isReceiving }
    }

    /// Calls the handler's `becameWritable` once, when the socket can send again.
    ///
    /// For sockets other than routers, which can always send to some peer.
    package func awaitRoom(on socket: Socket) {
        change(socket) { $0.awaitsRoom = true }
    }

    /// Has the handler told, by `becameReadable`, in every turn in which a descriptor can be read.
    ///
    /// It stays its owner's, who keeps it open until `unwatch(_:)`.
    package func watch(_ descriptor: Int32) {
        guard !descriptors.contains(descriptor) else { return }
        descriptors.append(descriptor)
        version += 1
    }

    /// Forgets a descriptor.
    package func unwatch(_ descriptor: Int32) {
        descriptors.removeAll { $0 == descriptor }
        version += 1
    }

    /// Who may come in, from now on; connections that are there stay.
    ///
    /// Nil where the loop was made without a policy, and then it cannot be changed.
    package var access: AccessPolicy? {
        get { zap?.policy }
        set {
            guard let zap, let newValue else {
                preconditionFailure("the loop was made without an access policy")
            }
            zap.policy = newValue
        }
    }

    /// Ends the loop after this turn.
    package func end() { isEnding = true }

    private func change(_ socket: Socket, _ body: (PollEntry) -> Void) {
        for entry in entries where entry.socket === socket { body(entry) }
        version += 1
    }

    /// Lets go of sockets that were closed by themselves: libzmq must not be asked about them.
    func forgetClosed() {
        for entry in entries where entry.socket.isClosed { close(entry.socket) }
    }

    /// The wait of `awaitRoom(on:)` is over.
    func roomWasFound(by entry: PollEntry) {
        entry.awaitsRoom = false
        version += 1
    }

    func closeAll() {
        for entry in entries {
            if case .monitor(let monitor) = entry.role { monitor.close() }
        }
        // Last the one that says who may come in, which is the first.
        for entry in entries.reversed() { entry.socket.close() }
        entries = []
        version += 1
    }
}

/// One socket among those that are polled.
final class PollEntry {
    enum Role {
        case messages
        case monitor(SocketMonitor)
        case authentication(ZAPHandler)
    }

    let socket: Socket
    let role: Role
    var isReceiving = true
    var awaitsRoom = false

    init(_ socket: Socket, _ role: Role) {
        self.socket = socket
        self.role = role
    }

    /// What to wait for.
    var events: Int16 {
        Int16((isReceiving ? ZMQ_POLLIN : 0) | (awaitsRoom ? ZMQ_POLLOUT : 0))
    }
}
