internal import CZeroMQ

/// Receives the events of a socket's connections.
final class SocketMonitor {
    let socket: Socket
    /// The pair through which libzmq reports.
    let pair: Socket
    /// Accepted connections by their descriptor, with how many handshakes had succeeded then.
    private var accepted: [Int32: (peer: String, successes: Int)] = [:]
    private var successes = 0

    /// Watches a socket from now on, hence before it is bound or connected.
    ///
    /// - Throws: `ZeroMQError.refused`.
    init(_ socket: Socket) throws(ZeroMQError) {
        let endpoint = "inproc://monitor-\(socket.number)"
        try ZeroMQError.check(czeromq_monitor(socket.raw, endpoint, ZMQ_EVENT_ALL), .watch)
        self.socket = socket
        pair = try Socket(.pair, in: socket.context)
        // libzmq reports from its I/O threads and would wait there for room.
        try pair.setUnlimited()
        try pair.connect(endpoint)
    }

    /// Ends the watch: to be called before the socket is closed.
    func close() {
        if !socket.isClosed { _ = czeromq_monitor(socket.raw, nil, 0) }
        pair.close()
    }

    /// The events that have arrived, oldest first, up to a number.
    func receive(upTo limit: Int) throws(ZeroMQError) -> [MonitorEvent] {
        try pair.receive(upTo: limit).compactMap { event($0) }
    }

    /// The event of a message: its number in 16 bits, its value in 32, then the endpoint.
    private func event(_ message: Message) -> MonitorEvent? {
        guard message.frame.count == 6, let endpoint = message.moreFrames.first?.text else {
            return nil
        }
        let (number, value) = message.frame.withBytes { bytes in
            (
                bytes.loadUnaligned(as: UInt16.self),
                bytes.loadUnaligned(fromByteOffset: 2, as: UInt32.self)
            )
        }
        var kind = MonitorEvent.Kind(event: Int32(number), value: value)
        let descriptor = Int32(bitPattern: value)
        var peer: String?
        switch kind {
        case .accepted:
            let address = Self.address(of: descriptor)
            accepted[descriptor] = (address ?? "", successes)
            peer = address
        case .handshakeSucceeded: successes += 1
        case .disconnected:
            guard let known = accepted.removeValue(forKey: descriptor) else { break }
            peer = known.peer.isEmpty ? nil : known.peer
            // libzmq does not say whose handshake succeeded; if none did, then not this one.
            if known.successes == successes { kind = .disconnectedBeforeHandshake }
        default: break
        }
        return MonitorEvent(kind: kind, endpoint: Socket.unmapped(endpoint), peer: peer)
    }

    /// The address of a connection that may have ended since; its descriptor may even be
    /// another's by now, so this is for people to read only.
    private static func address(of descriptor: Int32) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            czeromq_peer_address(descriptor, start, buffer.count)
            return start.pointee == 0 ? nil : Socket.unmapped(String(cString: start))
        }
    }
}
