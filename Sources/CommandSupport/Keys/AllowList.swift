package import DurableFiles
package import ZeroMQ

/// Whom a coordinator lets in: the keys in `allowed/workers` and `allowed/clients` of its
/// folder, each a file `NAME.pub`.
package struct AllowList: Hashable, Sendable {
    /// One key on the list.
    package struct Peer: Hashable, Sendable {
        package let role: KeyRole
        /// Unique among the keys of a role.
        package let name: String
        package let key: PublicKey

        /// What messages of this peer carry as their user: `worker/worker-1`.
        package var user: String { "\(role.rawValue)/\(name)" }
    }

    /// Workers first, each role by name.
    package let peers: [Peer]
    private let byUser: [String: Peer]

    /// The most keys on a list.
    static let longestList = 100_000

    /// Reads a list; a role without a folder has no keys.
    ///
    /// - Parameter folder: `allowed`.
    /// - Throws: `CommandFailure` for a file that holds no key or is not called `NAME.pub`, for a
    ///   key that is listed twice, and where others may add keys.
    package init(_ folder: FilePath) throws(CommandFailure) {
        try KeyFiles.checkNotWritable(folder)
        var peers: [Peer] = []
        var byKey: [PublicKey: Peer] = [:]
        for role in KeyRole.allCases {
            let place = folder.appending(role.folder)
            guard let names = try KeyFiles.names(in: place) else { continue }
            try KeyFiles.checkNotWritable(place)
            guard peers.count + names.count <= Self.longestList else {
                throw .usage("\(place) lists more than \(Self.longestList) keys")
            }
            for file in names {
                let path = place.appending(file)
                let name = String(file.dropLast(KeyFiles.allowedSuffix.count))
                guard file.hasSuffix(KeyFiles.allowedSuffix), KeyRole.isName(name) else {
                    throw .usage("\(path) is not called NAME.pub; rename or remove it")
                }
                let peer = Peer(role: role, name: name, key: try KeyFiles.publicKey(path))
                if let other = byKey.updateValue(peer, forKey: peer.key) {
                    throw .usage(
                        "\(path) repeats the key of \(other.user); each \(role.rawValue) "
                            + "needs a key of its own")
                }
                peers.append(peer)
            }
        }
        self.peers = peers
        byUser = Dictionary(uniqueKeysWithValues: peers.map { ($0.user, $0) })
    }

    /// The peer whose messages carry this user.
    package func peer(user: String) -> Peer? { byUser[user] }

    /// The policy that lets in these keys, under their users, and no peer in the clear.
    package var accessPolicy: AccessPolicy {
        AccessPolicy(names: Dictionary(uniqueKeysWithValues: peers.map { ($0.key, $0.user) }))
    }
}
