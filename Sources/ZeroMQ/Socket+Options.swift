internal import CZeroMQ

extension Socket {
    /// Sets everything before the first connection, for later changes reach later ones only.
    func set(_ options: SocketOptions) throws(ZeroMQError) {
        try set(ZMQ_SNDHWM, max(1, options.sendHighWaterMark))
        try set(ZMQ_RCVHWM, max(1, options.receiveHighWaterMark))
        try set(ZMQ_MAXMSGSIZE, options.largestFrame)
        try set(ZMQ_HANDSHAKE_IVL, options.handshakeMilliseconds)
        try set(ZMQ_LINGER, options.lingerMilliseconds)
        try set(ZMQ_IMMEDIATE, options.isImmediate)
        try set(ZMQ_RECONNECT_IVL, options.reconnectMilliseconds)
        try set(ZMQ_RECONNECT_IVL_MAX, options.reconnectLimitMilliseconds)
        try set(ZMQ_IPV6, options.usesIPv6)
        if let heartbeat = options.heartbeat {
            try set(ZMQ_HEARTBEAT_IVL, heartbeat.intervalMilliseconds)
            try set(ZMQ_HEARTBEAT_TIMEOUT, heartbeat.timeoutMilliseconds)
            try set(ZMQ_HEARTBEAT_TTL, heartbeat.timeoutMilliseconds)
        }
        // Without it a message to a peer that is gone vanishes, and a full peer loses messages.
        if kind == .router { try set(ZMQ_ROUTER_MANDATORY, true) }
        if let routingID = options.routingID { try set(ZMQ_ROUTING_ID, routingID.frame.bytes) }
        try set(options.security)
    }

    /// Queues of both directions without a limit, for a socket that must never hold up libzmq.
    func setUnlimited() throws(ZeroMQError) {
        try set(ZMQ_SNDHWM, Int32(0))
        try set(ZMQ_RCVHWM, Int32(0))
    }

    private func set(_ security: SocketOptions.Security) throws(ZeroMQError) {
        switch security {
        case .none: break
        case .plainServer(let domain): try setDomain(domain)
        case .curveServer(let keys, let domain):
            try setDomain(domain)
            try set(ZMQ_CURVE_SERVER, true)
            try set(ZMQ_CURVE_SECRETKEY, keys.secretKey.bytes)
        case .curveClient(let keys, let server):
            try set(ZMQ_CURVE_SERVERKEY, server.bytes)
            try set(ZMQ_CURVE_PUBLICKEY, keys.publicKey.bytes)
            try set(ZMQ_CURVE_SECRETKEY, keys.secretKey.bytes)
        }
    }

    // A domain makes libzmq ask for leave in the clear too. Where no policy answers, it lets every
    // peer in: the option that forbids this is a draft in 4.3.
    private func setDomain(_ domain: String) throws(ZeroMQError) {
        guard context.isGuarded else { throw .noAccessPolicy }
        try set(ZMQ_ZAP_DOMAIN, Array(domain.utf8))
    }

    private func set(_ option: Int32, _ value: Bool) throws(ZeroMQError) {
        try set(option, Int32(value ? 1 : 0))
    }

    private func set(_ option: Int32, _ value: Int32) throws(ZeroMQError) {
        var value = value
        try ZeroMQError.check(
            czeromq_set(raw, option, &value, MemoryLayout<Int32>.size), .setOption, "\(option)")
    }

    private func set(_ option: Int32, _ value: Int64) throws(ZeroMQError) {
        var value = value
        try ZeroMQError.check(
            czeromq_set(raw, option, &value, MemoryLayout<Int64>.size), .setOption, "\(option)")
    }

    private func set(_ option: Int32, _ value: [UInt8]) throws(ZeroMQError) {
        try ZeroMQError.check(czeromq_set(raw, option, value, value.count), .setOption, "\(option)")
    }

    /// An option that is text, such as the endpoint bound last.
    func text(of option: Int32) throws(ZeroMQError) -> String {
        var buffer = [UInt8](repeating: 0, count: 1024)
        var size = buffer.count
        try ZeroMQError.check(czeromq_get(raw, option, &buffer, &size), .readOption, "\(option)")
        // The size counts the terminating zero.
        return String(decoding: buffer.prefix(max(0, size - 1)), as: UTF8.self)
    }
}
