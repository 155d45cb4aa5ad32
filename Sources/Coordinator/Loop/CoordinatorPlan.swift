package import ClusterProtocol
package import ClusterVocabulary
package import RunService
package import ZeroMQ

/// What a coordinator is made of.
package struct CoordinatorPlan: Sendable {
    /// Where it listens: `tcp://HOST:PORT` or `ipc://PATH`; port `*` takes a free one.
    package var endpoint: String
    /// How it shows who it is, with the domain that the access policy is asked about.
    package var security: SocketOptions.Security
    /// Who may come in.
    package var access: AccessPolicy
    /// Who a message is from, by its user; nil for a sender that may say nothing.
    package var peer: @Sendable (String) -> PeerIdentity?
    /// What its state machine goes by.
    package var settings: CoordinatorSettings
    /// What all runs share: ledger, folders, caches.
    package var runs: ClusterRun.Dependencies
    /// Whether it goes on with every unfinished run of the ledger, or with those alone that it is
    /// given.
    package var resumesRuns = true
    /// Whether it waits where the ledger's disk is full, or ends.
    package var waitsForLedgerSpace = true
    /// Threads that move small stores.
    package var taskThreads = 2
    /// Threads that check deliveries, which reads each store and validates its result.
    package var checkThreads = 2
    /// Work items that wait at each queue at most; more are refused to clients, and wait in the
    /// loop where they are its own.
    package var queueCapacity = 1024

    package init(
        endpoint: String, security: SocketOptions.Security, access: AccessPolicy,
        peer: @escaping @Sendable (String) -> PeerIdentity?, settings: CoordinatorSettings,
        runs: ClusterRun.Dependencies
    ) {
        self.endpoint = endpoint
        self.security = security
        self.access = access
        self.peer = peer
        self.settings = settings
        self.runs = runs
    }
}

/// Who speaks over a connection, as the transport has proven it.
package enum PeerIdentity: Hashable, Sendable {
    /// A worker by its key, which its hello must give, too, and the name that it has on the list
    /// of keys: by that it is known from then on.
    case worker(key: String, name: String)
    case client
    /// A program on this machine, where no keys are asked for: what it says of itself counts.
    case local
}

/// What a coordinator takes from the world around it.
package struct CoordinatorDependencies: Sendable {
    /// Milliseconds that never go back.
    package let clock: @Sendable () -> Int64
    /// Takes what operators should know of the coordinator itself, on any of its threads.
    package let note: @Sendable (CoordinatorNote) -> Void
    /// Takes what operators should know of runs and workers, on the coordinator's thread.
    package let tell: @Sendable (Note) -> Void
    /// Gets every event that watching clients get, of any run, on the coordinator's thread.
    package let watch: (@Sendable (WatchEvent) -> Void)?
    /// Is told the id of each run that has come to its end, before anybody else is, on the thread
    /// at which runs begin and end.
    package let runEnded: (@Sendable (String) -> Void)?
    /// Is told when the coordinator has ended, whatever ended it.
    package let ended: (@Sendable () -> Void)?

    package init(
        clock: @escaping @Sendable () -> Int64, note: @escaping @Sendable (CoordinatorNote) -> Void,
        tell: @escaping @Sendable (Note) -> Void,
        watch: (@Sendable (WatchEvent) -> Void)? = nil,
        runEnded: (@Sendable (String) -> Void)? = nil, ended: (@Sendable () -> Void)? = nil
    ) {
        self.clock = clock
        self.note = note
        self.tell = tell
        self.watch = watch
        self.runEnded = runEnded
        self.ended = ended
    }
}
