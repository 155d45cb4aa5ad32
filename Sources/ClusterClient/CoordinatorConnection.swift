package import ZeroMQ

/// Where a coordinator listens, and the keys by which a client connects.
package struct CoordinatorConnection: Sendable {
    package let endpoint: String
    /// The folder of the keys; nil in the clear.
    package let keys: String?
    package let security: SocketOptions.Security
    /// This side's public key, by which an allow-list knows it.
    package let publicKey: String?

    /// - Parameters:
    ///   - endpoint: `tcp://HOST:PORT` or `ipc:///PATH`.
    ///   - keys: the folder of the keys, for messages; nil in the clear.
    ///   - security: the keys.
    ///   - publicKey: this side's, as text.
    package init(
        endpoint: String, keys: String? = nil, security: SocketOptions.Security = .none,
        publicKey: String? = nil
    ) {
        self.endpoint = endpoint
        self.keys = keys
        self.security = security
        self.publicKey = publicKey
    }
}
