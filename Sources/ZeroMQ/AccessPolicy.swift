/// Who may come in, decided from what libzmq tells of a connection before it completes.
package struct AccessPolicy: Hashable, Sendable {
    /// What becomes of connections without CURVE.
    package enum PlainAccess: Hashable, Sendable {
        case refused
        /// Allowed from this machine, by `ipc` and by loopback addresses, under a name.
        case fromThisMachine(as: String)
    }

    /// The names under which keys may come in.
    package var names: [PublicKey: String]
    package var plain: PlainAccess

    /// A policy that refuses everything but these keys.
    package init(names: [PublicKey: String] = [:], plain: PlainAccess = .refused) {
        self.names = names
        self.plain = plain
    }

    /// Decides on one connection.
    package func decide(_ request: AccessRequest) -> AccessDecision {
        switch request.mechanism {
        case "CURVE":
            guard let key = request.key else { return .refused(.noKey) }
            guard let name = names[key] else { return .refused(.unknownKey(key)) }
            return .allowed(as: name)
        case "NULL":
            guard case .fromThisMachine(let name) = plain else { return .refused(.plain) }
            return request.isFromThisMachine ? .allowed(as: name) : .refused(.plainFromAfar)
        default:
            return .refused(.mechanism)
        }
    }
}

/// A connection that asks to be let in (ZeroMQ RFC 27).
package struct AccessRequest: Hashable, Sendable {
    /// That of the socket it came to.
    package let domain: String
    /// The peer's IP address; for `ipc` text that begins with "localhost:".
    package let address: String
    /// "CURVE", "NULL" or another of libzmq's.
    package let mechanism: String
    /// The peer's key, which it has proved to hold; nil without CURVE.
    package let key: PublicKey?

    package init(domain: String, address: String, mechanism: String, key: PublicKey?) {
        self.domain = domain
        // An IPv4 address as sockets of IPv6 see it.
        self.address = address.hasPrefix("::ffff:") ? String(address.dropFirst(7)) : address
        self.mechanism = mechanism
        self.key = key
    }

    /// Whether the address is one of loopback, or that of a Unix socket.
    package var isFromThisMachine: Bool {
        address == "::1" || address.hasPrefix("localhost:")
            || address.split(separator: ".").count == 4 && address.hasPrefix("127.")
    }
}

/// What is answered to a connection.
package enum AccessDecision: Hashable, Sendable {
    case allowed(as: String)
    case refused(AccessRefusal.Reason)
}

/// A connection that was not let in.
package struct AccessRefusal: Hashable, Sendable {
    /// Why.
    package enum Reason: Hashable, Sendable {
        /// The key is not on the list.
        case unknownKey(PublicKey)
        /// CURVE without a key that can be read.
        case noKey
        /// In the clear, which is not allowed.
        case plain
        /// In the clear from another machine.
        case plainFromAfar
        /// Neither CURVE nor in the clear.
        case mechanism
        /// What libzmq asked could not be read.
        case malformed
    }

    package let reason: Reason
    package let request: AccessRequest
}

extension AccessRefusal: CustomStringConvertible {
    package var description: String {
        let who = "a \(request.mechanism) connection from \(request.address)"
        switch reason {
        case .unknownKey(let key):
            return "refused \(who): the key \(key) is not on the list; add it there to allow it"
        case .noKey: return "refused \(who): it has no key"
        case .plain: return "refused \(who): connections need a key"
        case .plainFromAfar:
            return "refused \(who): only local connections may be without a key"
        case .mechanism: return "refused \(who): only CURVE is allowed"
        case .malformed: return "refused a connection whose request could not be read"
        }
    }
}
