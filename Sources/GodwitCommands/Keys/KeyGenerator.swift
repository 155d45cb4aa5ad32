import CommandSupport
package import DurableFiles
import RunReports
import ZeroMQ

/// Writes folders of keys, durably and without ever overwriting a key.
package struct KeyGenerator {
    /// A key that was made.
    package struct Made: Hashable, Sendable {
        /// "coordinator", or the peer's user, such as `worker/worker-1`.
        package let user: String
        let key: PublicKey
        /// The folder to carry to where the key is used.
        package let folder: FilePath
    }

    private static let lockName = ".keys.lock"
    private static let building = DurableFileSystem.temporaryPrefix + "keys"

    let folder: FilePath
    private let files: DurableFileSystem

    init(_ folder: FilePath, files: DurableFileSystem = DurableFileSystem(links: .followed)) {
        self.folder = folder
        self.files = files
    }

    /// The names `worker-1` and so on.
    static func names(_ role: KeyRole, count: Int) -> [String] {
        (0..<count).map { "\(role.rawValue)-\($0 + 1)" }
    }

    /// Whether keys of a cluster are here already.
    func hasCoordinator() throws(CommandFailure) -> Bool {
        try KeyFiles.isThere(folder.appending(KeyFolder.coordinatorFolder))
    }

    /// Makes all keys of a new cluster in a folder that is missing or empty.
    ///
    /// Nothing is in its place before everything is written; the coordinator's part comes last.
    ///
    /// - Throws: `CommandFailure`: 64 where the folder holds something, or others may change
    ///   it; 74 where it cannot be written; 75 where another process writes it.
    func makeCluster(workers: [String], clients: [String]) throws(CommandFailure) -> [Made] {
        try withLock { building throws in
            let there = try files.names(in: folder).filter { name in
                ![Self.lockName, Self.building].contains(name.description)
            }
            if let first = there.first {
                throw CommandFailure.usage(
                    "\(folder) already contains \(first). Give another folder; Godwit creates it "
                        + "if needed")
            }
            let keys = try KeyPair.generate()
            let coordinator = building.appending(KeyFolder.coordinatorFolder)
            let allowed = coordinator.appending(KeyFolder.allowedFolder)
            for path in [coordinator, allowed] { try files.makeFolder(path) }
            try write(keys, to: coordinator)
            var made = [
                Made(
                    user: KeyFolder.coordinatorFolder, key: keys.publicKey,
                    folder: folder.appending(KeyFolder.coordinatorFolder))
            ]
            for (role, names) in [(KeyRole.worker, workers), (.client, clients)] {
                let members = building.appending(role.folder)
                let list = allowed.appending(role.folder)
                for path in [members, list] { try files.makeFolder(path) }
                for name in names {
                    let key = try writeMember(
                        to: members.appending(name), coordinator: keys.publicKey)
                    try write(key.text, to: list.appending(name + KeyFiles.allowedSuffix))
                    made.append(self.made(role, name, key))
                }
            }
            let parts = KeyRole.allCases.map(\.folder) + [KeyFolder.coordinatorFolder]
            for part in parts {
                try files.publishFolder(building.appending(part), as: folder.appending(part))
            }
            return made
        }
    }

    /// Adds keys to a cluster's folder, and to the list of its coordinator.
    ///
    /// - Throws: `CommandFailure`: 64 where a name is taken, here or on the list, and nothing is
    ///   added; 74 where the folder cannot be written; 75 where another process writes it.
    func add(workers: [String], clients: [String]) throws(CommandFailure) -> [Made] {
        let own = try KeyFolder(folder).coordinator()
        return try withLock { building throws in
            let wanted = [(KeyRole.worker, workers), (.client, clients)].flatMap { role, names in
                names.map { (role, $0) }
            }
            for (role, name) in wanted {
                for path in [place(role, name), listed(role, name, own)] {
                    guard try FileStatus.ifPresent(path) == nil else {
                        throw CommandFailure.usage(
                            "\(path) already exists; Godwit never overwrites a key: choose another "
                                + "name, or remove it if it is unused")
                    }
                }
            }
            return try wanted.map { role, name in
                let path = building.appending("\(role.rawValue)-\(name)")
                let key = try writeMember(to: path, coordinator: own.keys.publicKey)
                for parent in [place(role, name).parent, listed(role, name, own).parent] {
                    try files.makeFolders(parent)
                }
                // First the list: a key that lets no peer in is no use to its holder, and an entry
                // whose key was never published is no use to any peer.
                let entry = listed(role, name, own)
                try files.publish(line(key.text), to: entry, existing: .refuse)
                try files.publishFolder(path, as: place(role, name))
                return made(role, name, key)
            }
        }
    }

    private func made(_ role: KeyRole, _ name: String, _ key: PublicKey) -> Made {
        Made(user: "\(role.rawValue)/\(name)", key: key, folder: place(role, name))
    }

    private func place(_ role: KeyRole, _ name: String) -> FilePath {
        folder.appending(role.folder).appending(name)
    }

    private func listed(
        _ role: KeyRole, _ name: String, _ coordinator: KeyFolder.Coordinator
    ) -> FilePath {
        coordinator.folder.appending(KeyFolder.allowedFolder).appending(role.folder)
            .appending(name + KeyFiles.allowedSuffix)
    }

    /// Makes a pair and writes the folder of its holder.
    private func writeMember(
        to path: FilePath, coordinator: PublicKey
    ) throws -> PublicKey {
        let keys = try KeyPair.generate()
        try files.makeFolder(path)
        try write(keys, to: path)
        try write(coordinator.text, to: path.appending(KeyFiles.coordinatorName))
        return keys.publicKey
    }

    private func write(_ keys: KeyPair, to path: FilePath) throws {
        try write(keys.secretKey.text, to: path.appending(KeyFiles.secretName))
        try write(keys.publicKey.text, to: path.appending(KeyFiles.publicName))
    }

    /// Writes a file that is synced when its folder is published.
    private func write(_ text: String, to path: FilePath) throws {
        let file = try files.create(path)
        try file.write(line(text))
        try file.close()
    }

    private func line(_ text: String) -> [UInt8] { Array(text.utf8) + [0x0A] }

    /// Runs a body that alone writes the folder, with an empty one for what is being built.
    private func withLock<Result>(
        _ body: (FilePath) throws -> Result
    ) throws(CommandFailure) -> Result {
        try CommandFailure.translating {
            try files.makeFolders(folder)
            try KeyFiles.checkNotWritable(folder)
            let lock = try OwnerLock(
                folder.appending(Self.lockName), holder: .thisProcess(doing: "keys new"))
            let building = folder.appending(Self.building)
            do {
                // A killed process may have left it.
                try files.removeTree(building)
                try files.makeFolder(building)
                let result = try body(building)
                try files.removeTree(building)
                try lock.release()
                return result
            } catch {
                // What went wrong first is what is told.
                do { try files.removeTree(building) } catch {}
                do { try lock.release() } catch {}
                if let error = error as? ZeroMQError { throw CommandFailure(.bug, "\(error)") }
                throw error
            }
        }
    }
}
