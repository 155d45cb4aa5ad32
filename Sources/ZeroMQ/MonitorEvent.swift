internal import CLinux
internal import CZeroMQ

/// Something that happened to the connections of a socket.
package struct MonitorEvent: Hashable, Sendable {
    /// What happened; numbers are errnos unless said otherwise.
    package enum Kind: Hashable, Sendable {
        /// A connection was made; its handshake follows.
        case connected
        case connectDelayed
        /// Connecting is tried again after a pause.
        case connectRetried(milliseconds: Int)
        case listening
        case bindFailed(number: Int32)
        /// A peer has connected; its handshake follows.
        case accepted
        case acceptFailed(number: Int32)
        case closed
        case closeFailed(number: Int32)
        case disconnected
        /// A peer left, or was thrown out, without a handshake: not one of ours as a rule.
        case disconnectedBeforeHandshake
        case handshakeSucceeded
        /// Authentication said no: 300, 400 or 500 (ZAP, ZeroMQ RFC 27).
        case handshakeFailedAuthentication(status: Int)
        /// The other side broke the protocol: it speaks another, in the clear, or with a key that
        /// is not ours.
        case handshakeFailedProtocol(ProtocolFlaw)
        /// The connection broke, or time ran out, during the handshake.
        case handshakeFailed(number: Int32)
        case monitorStopped
        /// An event of a later libzmq.
        case other(number: Int)
    }

    /// How a peer broke the protocol, as far as operators can tell the difference.
    package enum ProtocolFlaw: Hashable, Sendable {
        /// It uses no CURVE, or another mechanism than this socket.
        case mechanism
        /// It did not know the server's key, or sent what cannot be decrypted.
        case cryptographic
        /// Another flaw: libzmq's number, one of `ZMQ_PROTOCOL_ERROR_…`.
        case other(number: Int)
    }

    package let kind: Kind
    /// This socket's own endpoint where it is bound, otherwise the one it connects to.
    package let endpoint: String
    /// The address of an accepted peer, as far as it is still known.
    package let peer: String?

    /// Why a peer was kept out, or nil for any other event.
    package var refusal: String? {
        switch kind {
        case .disconnectedBeforeHandshake:
            return "it uses another protocol, or it closed the connection immediately"
        case .handshakeFailedAuthentication: return "its key is not on the list"
        case .handshakeFailedProtocol(.mechanism): return "it uses no key, or this side uses none"
        case .handshakeFailedProtocol(.cryptographic): return "it uses the wrong server key"
        case .handshakeFailedProtocol(.other(let number)):
            return "it broke the protocol (\(String(number, radix: 16)))"
        case .handshakeFailed(let number):
            let name = clinux_error_name(number).map { String(cString: $0) }
            return "its handshake did not finish (\(name ?? String(number)))"
        default: return nil
        }
    }
}

extension MonitorEvent.Kind {
    /// The kind of an event of libzmq's.
    init(event: Int32, value: UInt32) {
        let number = Int32(bitPattern: value)
        switch event {
        case ZMQ_EVENT_CONNECTED: self = .connected
        case ZMQ_EVENT_CONNECT_DELAYED: self = .connectDelayed
        case ZMQ_EVENT_CONNECT_RETRIED: self = .connectRetried(milliseconds: Int(value))
        case ZMQ_EVENT_LISTENING: self = .listening
        case ZMQ_EVENT_BIND_FAILED: self = .bindFailed(number: number)
        case ZMQ_EVENT_ACCEPTED: self = .accepted
        case ZMQ_EVENT_ACCEPT_FAILED: self = .acceptFailed(number: number)
        case ZMQ_EVENT_CLOSED: self = .closed
        case ZMQ_EVENT_CLOSE_FAILED: self = .closeFailed(number: number)
        case ZMQ_EVENT_DISCONNECTED: self = .disconnected
        case ZMQ_EVENT_HANDSHAKE_SUCCEEDED: self = .handshakeSucceeded
        case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
            self = .handshakeFailedAuthentication(status: Int(value))
        case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
            self = .handshakeFailedProtocol(MonitorEvent.ProtocolFlaw(number))
        case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL: self = .handshakeFailed(number: number)
        case ZMQ_EVENT_MONITOR_STOPPED: self = .monitorStopped
        default: self = .other(number: Int(event))
        }
    }
}

extension MonitorEvent.ProtocolFlaw {
    init(_ number: Int32) {
        switch number {
        case ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH: self = .mechanism
        case ZMQ_PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC: self = .cryptographic
        default: self = .other(number: Int(number))
        }
    }
}
