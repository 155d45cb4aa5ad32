import ClusterCore
import CommandSupport
import Coordinator
import DurableFiles
import Logging
import RunReports
import Synchronization
import Threads
import ZeroMQ

/// Who may come in to a coordinator, by keys that are read again when they change.
final class AccessControl: Sendable {
    let security: SocketOptions.Security
    private let folder: KeyFolder.Coordinator?
    private let list: Mutex<AllowList?>

    /// Who speaks where no key is asked for.
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
            case .worker: .worker(key: peer.key.text, name: peer.name)
            case .client: .client
            }
        }
    }

    /// A thread that looks at the list of keys now and then.
    package final class Watch: Sendable {
        private let silence = BoundedMailbox<Bool>(capacity: 1)
        private let thread = Mutex<OwnedThread?>(nil)

        fileprivate init(_ body: (@Sendable () -> Void)?) throws(ThreadError) {
            guard let body else { return }
            let silence = silence
            let made = try OwnedThread(name: "keys") {
                while !silence.isClosed {
                    _ = silence.receive(within: AccessControl.interval)
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
    /// - Parameters:
    ///   - log: gets what is wrong with the list, and when it changes.
    ///   - changed: gets who may come in from now on.
    /// - Returns: the thread that reads, to be ended.
    /// - Throws: `ThreadError`.
    func watch(
        log: Logger, _ changed: @escaping @Sendable (AccessPolicy) -> Void
    ) throws(ThreadError) -> Watch {
        guard let folder else { return try Watch(nil) }
        let news = Mutex(AllowListLog())
        return try Watch { [self] in
            let line: String?
            do throws(CommandFailure) {
                let now = try folder.allowList()
                let isNew = list.withLock { list in
                    defer { list = now }
                    return list != now
                }
                if isNew { changed(now.accessPolicy) }
                line = news.withLock { $0.read(keys: now.peers.count, isNew: isNew) }
            } catch {
                // What is being written at this moment is looked at again.
                line = news.withLock { $0.failed("\(error)") }
            }
            if let line { log.notice("\(line)") }
        }
    }
}

/// What is worth a line of a list of keys that is read every few seconds: what has changed.
struct AllowListLog {
    private var trouble: String?

    /// The list could be read.
    ///
    /// - Parameters:
    ///   - count: keys on it.
    ///   - isNew: whether it is another list than the last one that could be read.
    /// - Returns: the line; nil where nothing has changed.
    mutating func read(keys count: Int, isNew: Bool) -> String? {
        let wasTrouble = trouble.take() != nil
        guard wasTrouble || isNew else { return nil }
        let list = wasTrouble ? "the key list is readable again and" : "the key list"
        return "\(list) now has \(counted(count, "key"))"
    }

    /// The list could not be read.
    ///
    /// - Returns: the line; nil where the same was told already.
    mutating func failed(_ reason: String) -> String? {
        guard trouble != reason else { return nil }
        trouble = reason
        return "the list of keys cannot be read; the keys read before are still accepted: "
            + reason
    }
}
