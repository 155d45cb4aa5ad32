import ArgumentParser
import CommandSupport
import DurableFiles
import RunReports
import ZeroMQ

/// `godwit keys`.
struct KeysCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Creates and lists the CURVE keys of a cluster.",
        subcommands: [NewKeysCommand.self, ListKeysCommand.self])
}

/// `godwit keys new`.
package struct NewKeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Creates the keys of a cluster, or adds keys to it.",
        discussion: """
            In a missing or empty folder: creates the coordinator's key, its list of allowed \
            keys, and keys for workers and clients. Each command takes the folder as --keys and \
            finds its own key there. Copy only the needed folder to each other machine, such as \
            DIR/workers/worker-1, and give that folder as --keys.
            In a folder with keys: adds keys for the given --worker and --client names. A \
            running coordinator accepts them. keys new never overwrites a key. To revoke a key, \
            remove its file from DIR/coordinator/allowed.
            """)

    /// As many as a small cluster needs.
    static let standardWorkers = 8
    /// The most keys of a role that are made at once.
    static let mostKeys = 10_000

    @Option(help: "The folder of the keys.")
    var output: String

    @Option(help: "Workers of a new cluster: worker-1 and so on (default: 8).")
    var workers: Int?

    @Option(help: "Clients of a new cluster: client-1 and so on (default: 1).")
    var clients: Int?

    @Option(name: .customLong("worker"), help: "The name of a worker to add. Repeatable.")
    var workerNames: [String] = []

    @Option(name: .customLong("client"), help: "The name of a client to add. Repeatable.")
    var clientNames: [String] = []

    @Flag(help: "Print the new keys as JSON.")
    var json = false

    func validate() throws {
        for (option, count) in [("--workers", workers), ("--clients", clients)] {
            guard let count else { continue }
            guard (0...Self.mostKeys).contains(count) else {
                throw ValidationError("\(option) takes a number from 0 to \(Self.mostKeys)")
            }
        }
        for (option, names) in [("--worker", workerNames), ("--client", clientNames)] {
            for name in names where !KeyRole.isName(name) {
                throw ValidationError(
                    "\(option) takes up to \(KeyRole.longestName) letters, digits, '-', '_' and "
                        + "'.', not beginning with a dot")
            }
        }
    }

    func run() throws {
        let maker = KeyGenerator(FilePath(output))
        let isNew = try !maker.hasCoordinator()
        let made = try isNew ? makeCluster(maker) : add(maker)
        if json { return try Console.printJSON(made.map(KeyLine.init)) }
        KeyLine.show(made)
        Console.log(
            isNew
                ? "On this machine, use --keys \(output). To each other machine, copy only the "
                    + "folders of the keys used there."
                : "Added to the list in \(output)/\(KeyFolder.coordinatorFolder)/"
                    + KeyFolder.allowedFolder)
    }

    private func makeCluster(_ maker: KeyGenerator) throws(CommandFailure) -> [KeyGenerator.Made] {
        try maker.makeCluster(
            workers: try names(.worker, workers, workerNames, standard: Self.standardWorkers),
            clients: try names(.client, clients, clientNames, standard: 1))
    }

    private func add(_ maker: KeyGenerator) throws(CommandFailure) -> [KeyGenerator.Made] {
        guard workers == nil, clients == nil, !(workerNames + clientNames).isEmpty else {
            throw .usage(
                "\(output) already contains the keys of a cluster. Add keys with --worker NAME or "
                    + "--client NAME, or give another folder")
        }
        return try maker.add(
            workers: try names(.worker, nil, workerNames, standard: 0),
            clients: try names(.client, nil, clientNames, standard: 0))
    }

    private func names(
        _ role: KeyRole, _ count: Int?, _ named: [String], standard: Int
    ) throws(CommandFailure) -> [String] {
        let count = count ?? (named.isEmpty ? standard : 0)
        let all = KeyGenerator.names(role, count: count) + named
        guard Set(all).count == all.count else {
            throw .usage("two \(role.folder) have the same name")
        }
        return all
    }
}

/// `godwit keys list`.
struct ListKeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the keys that a coordinator allows.")

    @Argument(help: "The folder that godwit keys new made, or its coordinator folder.")
    var folder: String

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let coordinator = try KeyFolder(FilePath(folder)).coordinator()
        let lines =
            [KeyLine(user: KeyFolder.coordinatorFolder, key: coordinator.keys.publicKey.text)]
            + (try coordinator.allowList()).peers.map { KeyLine(user: $0.user, key: $0.key.text) }
        if json { return try Console.printJSON(lines) }
        KeyLine.show(lines)
    }
}

/// A public key as it is shown.
private struct KeyLine: Encodable {
    /// "coordinator", or role and name, such as `worker/worker-1`.
    let user: String
    let key: String
    /// Where the secret half is, if it was made just now.
    var folder: String?

    init(user: String, key: String) {
        self.user = user
        self.key = key
    }

    init(_ made: KeyGenerator.Made) {
        self.init(user: made.user, key: made.key.text)
        folder = made.folder.description
    }

    static func show(_ made: [KeyGenerator.Made]) { show(made.map(KeyLine.init)) }

    static func show(_ lines: [KeyLine]) {
        var table = TextTable([("who", .left), ("public key", .left), ("folder", .left)])
        for line in lines { table.add([line.user, line.key, line.folder ?? ""]) }
        for line in table.lines { Console.print(line) }
    }
}
