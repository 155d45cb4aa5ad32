package import DurableFiles
import RunReports
package import ZeroMQ

/// The folder that `keys new --output DIR` writes, or a part of it carried to another machine.
///
///     DIR/coordinator/secret.key, public.key, allowed/{workers,clients}/NAME.pub
///     DIR/workers/NAME/secret.key, public.key, coordinator.pub
///     DIR/clients/NAME/secret.key, public.key, coordinator.pub
///
/// Each command takes DIR and finds its own part in it, or that part alone: the folder that
/// holds its `secret.key`.
package struct KeyFolder: Hashable, Sendable {
    /// The name of the coordinator's part.
    package static let coordinatorFolder = "coordinator"
    /// The name of the folder of public keys, in the coordinator's part.
    package static let allowedFolder = "allowed"
    /// Held by the worker that uses a key.
    static let useName = ".in-use"

    let path: FilePath

    package init(_ path: FilePath) { self.path = path }

    /// What a coordinator needs.
    package struct Coordinator: Sendable {
        /// The folder that holds the secret key.
        package let folder: FilePath
        package let keys: KeyPair

        /// The keys that may come in, as they are listed now: a coordinator reads it again to
        /// let in keys that were added while it runs.
        ///
        /// - Throws: `CommandFailure`, as `AllowList`.
        package func allowList() throws(CommandFailure) -> AllowList {
            try AllowList(folder.appending(KeyFolder.allowedFolder))
        }
    }

    /// What a worker or a client needs.
    package struct Member: Sendable {
        let name: String
        package let keys: KeyPair
        let coordinator: PublicKey
        /// Keeps other workers of this machine from taking the same key; nil for clients, and
        /// where the folder cannot be written.
        let use: OwnerLock?

        /// For the connection to the coordinator.
        package var security: SocketOptions.Security { .curveClient(keys, server: coordinator) }
    }

    /// Reads the coordinator's part.
    ///
    /// - Throws: `CommandFailure` with status 64 where the folder has none, or one that others
    ///   may read or change.
    package func coordinator() throws(CommandFailure) -> Coordinator {
        let inner = path.appending(Self.coordinatorFolder)
        let folder: FilePath
        if try KeyFiles.isThere(inner) {
            try KeyFiles.checkNotWritable(path)
            folder = inner
        } else if try KeyFiles.isThere(path.appending(Self.allowedFolder)) {
            folder = path
        } else {
            throw .usage(
                "\(path) has no coordinator key. Create keys with godwit keys new --output DIR, or "
                    + "give DIR/\(Self.coordinatorFolder)")
        }
        return Coordinator(folder: folder, keys: try KeyFiles.pair(in: folder))
    }

    /// Reads a worker's part, and takes it so that no other worker of this machine does.
    ///
    /// - Parameter name: which worker's; nil for the first that no worker uses.
    /// - Returns: the keys; hold on to them for as long as the worker lives.
    /// - Throws: `CommandFailure` with status 64 where there is no such key, or one that others
    ///   may read; with 75 where other workers use all there are.
    package func worker(named name: String? = nil) throws(CommandFailure) -> Member {
        let found = try members(.worker, named: name)
        var holder = ""
        for (name, folder) in found {
            let keys = try KeyFiles.pair(in: folder)
            let peer = try KeyFiles.publicKey(folder.appending(KeyFiles.coordinatorName))
            let lock: OwnerLock?
            do throws(DurableFileError) {
                lock = try OwnerLock(
                    folder.appending(Self.useName), holder: .thisProcess(doing: "work"))
            } catch {
                if case .lockHeld(_, let text) = error {
                    holder = text
                    continue
                }
                // Read-only, as in a container: a user who names one key knows that it is free.
                guard found.count == 1 else {
                    throw .usage("choose a key of \(path) with --name: \(error)")
                }
                lock = nil
            }
            return Member(name: name, keys: keys, coordinator: peer, use: lock)
        }
        let names = found.map(\.name).joined(separator: ", ")
        throw CommandFailure(
            .canBeRepeated,
            "\(names) of \(path): in use by \(holder); each worker needs a key of its own: add "
                + "one with godwit keys new --output DIR --worker NAME")
    }

    /// Reads a client's part; many clients may use one key at a time.
    ///
    /// - Parameter name: which client's; nil for the first.
    /// - Returns: its keys.
    /// - Throws: `CommandFailure` with status 64 where there is no such key, or one that others
    ///   may read.
    func client(named name: String? = nil) throws(CommandFailure) -> Member {
        let found = try members(.client, named: name)
        let (name, folder) = (found[0].name, found[0].folder)
        return Member(
            name: name, keys: try KeyFiles.pair(in: folder),
            coordinator: try KeyFiles.publicKey(folder.appending(KeyFiles.coordinatorName)),
            use: nil)
    }

    /// The folders with keys of a role that come into question; at least one.
    private func members(
        _ role: KeyRole, named name: String?
    ) throws(CommandFailure) -> [(name: String, folder: FilePath)] {
        let all = path.appending(role.folder)
        if let names = try KeyFiles.names(in: all) {
            try KeyFiles.checkNotWritable(path)
            try KeyFiles.checkNotWritable(all)
            let chosen = names.filter { name == nil || $0 == name }
            guard !chosen.isEmpty else {
                let text = name.map { "no key \($0)" } ?? "no key"
                let rest = names.isEmpty ? "" : " It has: \(names)."
                throw .usage(
                    "\(all) has \(text).\(rest) Add a key with "
                        + "godwit keys new --output \(path) --\(role.rawValue) NAME")
            }
            return chosen.map { ($0, all.appending($0)) }
        }
        guard try KeyFiles.isThere(path.appending(KeyFiles.secretName)) else {
            throw .usage(
                "\(path) holds no \(role.rawValue)'s key: neither \(KeyFiles.secretName) nor a "
                    + "folder \(role.folder); create a folder of keys with godwit keys new "
                    + "--output DIR")
        }
        guard try KeyFiles.isThere(path.appending(KeyFiles.coordinatorName)) else {
            throw .usage(
                "\(path) is not a \(role.rawValue)'s folder: it has no \(KeyFiles.coordinatorName)")
        }
        let own = path.lastComponent.description
        guard name == nil || name == own else {
            throw .usage("\(path) is the key of \(own), not of \(name ?? "")")
        }
        return [(own, path)]
    }
}
