import ArgumentParser
import ClusterCore
import CoreDataStore
import Coordinator
import DurableFiles
import Foundation
import Jobs
import LocalRun
import MigrationEngine
import RunLedger
import Synchronization
import Threads
import ZeroMQ

/// `godwit coordinate`.
struct CoordinateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "coordinate",
        abstract: "Hands out the jobs of runs to workers, until it is asked to end.",
        discussion: """
            Workers connect with godwit work; runs begin with godwit submit. It may be killed at \
            any moment: the next start with the same --state goes on with every unfinished run.
            """)

    @Option(help: "Where to listen: tcp://HOST:PORT (0.0.0.0 for all addresses) or ipc:///PATH.")
    var listen: String

    @Option(help: "The folder of the ledger, on a local file system.")
    var state: String

    @Option(
        name: .customLong("root"),
        help: "A folder that workers see, too, as NAME=FOLDER; may be repeated.")
    var roots: [String] = []

    @Option(help: "The folder that keys new has written, or the coordinator's part of it.")
    var keys: String?

    @Flag(help: "Listen in the clear; this machine's own addresses only.")
    var plain = false

    @Option(help: "Jobs at a time that plans are cut for.")
    var slots = 8

    @Option(help: "The most jobs at a time.")
    var jobs: Int?

    @Option(help: "The most bytes of stores a second, such as 50MiB.")
    var bytesPerSecond: ByteSize?

    func validate() throws {
        guard let endpoint = CoordinatorEndpoint(listen) else {
            throw ValidationError("--listen takes tcp://HOST:PORT or ipc:///PATH")
        }
        if keys != nil, plain { throw ValidationError("choose one of --keys and --plain") }
        if keys == nil {
            switch endpoint.reach {
            case .file: break
            case .loopback where plain: break
            case .loopback:
                throw ValidationError("give --keys FOLDER, or --plain to listen in the clear")
            case .network:
                throw ValidationError(
                    "\(listen) can be reached from other machines: give --keys FOLDER; nothing "
                        + "goes over a network in the clear")
            }
        }
        guard (1...4096).contains(slots) else {
            throw ValidationError("--slots takes a number from 1 to 4096")
        }
        if let jobs, jobs < 1 { throw ValidationError("--jobs takes a number from 1 on") }
    }

    func run() throws {
        try FolderOption.check("--state", state)
        let folders = try ClientRoots(roots).folders
        let door = try Door(keys: keys, endpoint: listen)
        try CommandFailure.translating {
            try StateFolder(FilePath(state)).withLedger("coordinating at \(listen)") {
                ledger, state throws(RunError) in
                let runs = try CoordinatorMaking.runs(
                    ledger: ledger, state: state, roots: folders, limits: .standard, slots: slots)
                do {
                    try serve(runs, door)
                } catch let error as RunError {
                    throw error
                } catch let error as CommandFailure {
                    throw .nothingToDo("\(error)")
                } catch {
                    throw .nothingToDo("\(error)")
                }
            }
        }
    }

    private func serve(_ runs: SharedRun.Surroundings, _ door: Door) throws {
        TemporaryFiles.use(runs.state)
        var settings = CoordinatorMaking.settings(slots: slots)
        settings.throttle = Throttle(jobs: jobs, bytesPerSecond: bytesPerSecond?.bytes)
        let plan = CoordinatorPlan(
            endpoint: listen, security: door.security, access: door.access,
            peer: { door.peer(user: $0) }, settings: settings, runs: runs)
        let coordinator = try RunningCoordinator(
            plan, context: Context(),
            surroundings: CoordinatorSurroundings(
                clock: MillisecondClock.start(), note: { Console.log("godwit: \($0)") }))
        Console.log("godwit: coordinating at \(listen), ledger \(runs.ledger.path)")
        let watch = try door.watch { coordinator.setAccess($0) }
        Interruption.shared.atFirstSignal { coordinator.terminate() }
        let result = Swift.Result { try coordinator.join() }
        watch.end()
        try result.get()
        Console.log("godwit: the coordinator has ended; another start goes on with its runs")
    }
}

/// Who may come in to a coordinator, by keys that are read again when they change.
final class Door: Sendable {
    let security: SocketOptions.Security
    private let folder: KeyFolder.Coordinator?
    private let list: Mutex<AllowList?>

    /// Who speaks where nobody is asked for a key.
    private static let user = "local"
    /// Seconds between two looks at the list of keys.
    private static let interval = Duration.seconds(2)

    /// - Throws: `CommandFailure` for keys that cannot be read.
    init(keys: String?, endpoint: String) throws(CommandFailure) {
        guard let keys else {
            folder = nil
            list = Mutex(nil)
            security = .plainServer(domain: "coordinator")
            return
        }
        let found = try KeyFolder(FilePath(keys)).coordinator()
        folder = found
        list = Mutex(try found.allowList())
        security = .curveServer(found.keys, domain: "coordinator")
    }

    /// Who may come in now.
    var access: AccessPolicy {
        list.withLock { $0?.accessPolicy }
            ?? AccessPolicy(plain: .fromThisMachine(as: Self.user))
    }

    /// Who a message is from.
    func peer(user: String) -> PeerIdentity? {
        guard folder != nil else { return user == Self.user ? .local : nil }
        return list.withLock { list in
            guard let peer = list?.peer(user: user) else { return nil }
            return switch peer.role {
            case .worker: .worker(peer.key.text)
            case .client: .client
            }
        }
    }

    /// A thread that looks at the list of keys now and then.
    final class Watch: Sendable {
        private let silence = BoundedMailbox<Bool>(capacity: 1)
        private let thread = Mutex<OwnedThread?>(nil)

        fileprivate init(_ body: (@Sendable () -> Void)?) throws(ThreadError) {
            guard let body else { return }
            let silence = silence
            let made = try OwnedThread(name: "keys") {
                while !silence.isClosed {
                    _ = silence.receive(within: Door.interval)
                    body()
                }
            }
            thread.withLock { $0 = made }
        }

        func end() {
            silence.close()
            thread.withLock { $0.take() }?.join()
        }
    }

    /// Reads the list of keys again and again.
    ///
    /// - Parameter changed: told who may come in from now on.
    /// - Returns: the thread that reads, to be ended.
    /// - Throws: `ThreadError`.
    func watch(_ changed: @escaping @Sendable (AccessPolicy) -> Void) throws(ThreadError) -> Watch {
        guard let folder else { return try Watch(nil) }
        return try Watch { [self] in
            do throws(CommandFailure) {
                let now = try folder.allowList()
                let isNew = list.withLock { list in
                    defer { list = now }
                    return list != now
                }
                if isNew {
                    Console.log("godwit: \(now.peers.count) keys are on the list now")
                    changed(now.accessPolicy)
                }
            } catch {
                // What is being written at this moment is looked at again.
                Console.log("godwit: the list of keys could not be read: \(error)")
            }
        }
    }
}
