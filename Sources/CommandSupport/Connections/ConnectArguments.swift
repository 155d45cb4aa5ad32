package import ArgumentParser
package import ClusterClient
import ClusterProtocol
import DurableFiles
import ZeroMQ

/// A connection as the command line names it.
extension CoordinatorConnection {
    /// Reads the keys.
    ///
    /// - Throws: `CommandFailure` for keys that cannot be read.
    package init(endpoint: String, keysIn folder: String?) throws(CommandFailure) {
        let member = try folder.map { text throws(CommandFailure) in
            try KeyFolder(FilePath(text)).client()
        }
        self.init(
            endpoint: endpoint, keys: folder, security: member?.security ?? .none,
            publicKey: member?.keys.publicKey.text)
    }

    /// The options that name the same coordinator again, for commands that are shown.
    package var options: String { options(keys: keys) }

    /// The same for a worker, whose key is another one, on a machine of its own.
    package var workerOptions: String { options(keys: keys.map { _ in "KEYS/workers/NAME" }) }

    private func options(keys: String?) -> String {
        var text = "--connect \(endpoint)"
        if let keys { text += " --keys \(keys)" }
        if keys == nil, CoordinatorEndpoint(endpoint)?.reach == .loopback { text += " --plain" }
        return text
    }

    /// Checks what the command line says of a connection, by the rules of `work`.
    ///
    /// - Throws: `ValidationError`.
    static func check(_ text: String, keys: String?, plain: Bool) throws {
        guard let endpoint = CoordinatorEndpoint(text) else {
            throw ValidationError("--connect takes tcp://HOST:PORT or ipc:///PATH")
        }
        if keys == nil { try endpoint.checkPlain(isAllowed: plain) }
        if keys != nil, plain { throw ValidationError("choose one of --keys and --plain") }
    }
}

/// The options of commands that speak to a coordinator.
package struct ConnectArguments: ParsableArguments {
    @Option(help: "Where the coordinator listens: tcp://HOST:PORT or ipc:///PATH.")
    var connect: String

    @Option(help: "The folder that godwit keys new made, or a client's folder in it.")
    package var keys: String?

    @Flag(help: "Connect unencrypted. Allowed only for local addresses.")
    var plain = false

    package init() {}

    package func validate() throws {
        try CoordinatorConnection.check(connect, keys: keys, plain: plain)
    }

    /// - Throws: `CommandFailure` for keys that cannot be read.
    package func connection() throws(CommandFailure) -> CoordinatorConnection {
        try CoordinatorConnection(endpoint: connect, keysIn: keys)
    }
}

/// The same options for commands that otherwise work on a state folder.
package struct ConnectChoice: ParsableArguments {
    @Option(
        help: "Send the command to the coordinator at this endpoint instead of using --state.")
    var connect: String?

    @Option(help: "With --connect: the folder of this client's keys.")
    var keys: String?

    @Flag(help: "With --connect: connect unencrypted. Allowed only for local addresses.")
    package var plain = false

    package init() {}

    package func validate() throws {
        if let connect {
            try CoordinatorConnection.check(connect, keys: keys, plain: plain)
        } else if keys != nil || plain {
            throw ValidationError("--keys and --plain require --connect")
        }
    }

    /// The connection, where one was asked for.
    ///
    /// - Parameter state: what `--state` says, which excludes a connection.
    /// - Returns: nil where a state folder is meant.
    /// - Throws: `CommandFailure` for both, and for keys that cannot be read.
    package func connection(state: String?) throws(CommandFailure) -> CoordinatorConnection? {
        guard let connect else { return nil }
        guard state == nil else {
            throw .usage(
                "--connect asks the coordinator, --state a folder of this machine: choose one")
        }
        return try CoordinatorConnection(endpoint: connect, keysIn: keys)
    }
}

/// One store of a coordinator's run.
package struct StoreOfRun: ParsableArguments {
    @Option(help: "With --connect: only this store, by its number in the run (see watch).")
    package var store: Int?

    package init() {}

    package func validate() throws {
        if let store, !(0...MessageLimits.index).contains(store) {
            throw ValidationError("--store takes the number of a store")
        }
    }

    /// Refuses the option where a state folder is meant, which finds stores by their paths.
    package func refuse() throws(CommandFailure) {
        guard store != nil else { return }
        throw .usage("--store requires --connect. Without --connect, give the path of the store")
    }
}
