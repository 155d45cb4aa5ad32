package import Jobs

/// What a coordinator answers to a command.
package enum ClientReply: Hashable, Sendable {
    /// The run begins, or goes on.
    case accepted(run: String)
    case refused(Refusal)
    case status(StatusReport)
    case event(WatchEvent)
    /// What was asked for is done, or the watched run is over.
    case done
}

/// Where the runs and the workers of a coordinator stand.
package struct StatusReport: Hashable, Sendable {
    /// The coordinator's id of this start.
    package let coordinator: String
    package let engine: String
    package let runs: [RunStatus]
    package let workers: [WorkerStatus]

    package init(
        coordinator: String, engine: String, runs: [RunStatus], workers: [WorkerStatus]
    ) {
        self.coordinator = coordinator
        self.engine = engine
        self.runs = runs
        self.workers = workers
    }
}

/// Where a run stands.
package struct RunStatus: Hashable, Sendable {
    package let run: String
    package let state: RunState
    /// How many stores are in each state; states without stores may lack.
    package let stores: [StoreState: Int]
    /// How many jobs of the stores in hand are in each state, such as `waiting` or `running`.
    package let jobs: [String: Int]
    /// Written so far.
    package let rows: Int64
    /// Read so far.
    package let bytes: Int64
    package let rowsPerSecond: Int64
    package let bytesPerSecond: Int64
    /// Seconds to the end; nil where nothing can be said.
    package let secondsLeft: Int64?
    /// Why nothing moves; nil where something does.
    package let waitingFor: WaitingReason?

    package init(
        run: String, state: RunState, stores: [StoreState: Int], jobs: [String: Int], rows: Int64,
        bytes: Int64, rowsPerSecond: Int64, bytesPerSecond: Int64, secondsLeft: Int64?,
        waitingFor: WaitingReason?
    ) {
        self.run = run
        self.state = state
        self.stores = stores
        self.jobs = jobs
        self.rows = rows
        self.bytes = bytes
        self.rowsPerSecond = rowsPerSecond
        self.bytesPerSecond = bytesPerSecond
        self.secondsLeft = secondsLeft
        self.waitingFor = waitingFor
    }
}

extension RunStatus {
    /// Whether results wait for their swap, and nothing else is left to do.
    package var awaitsSwap: Bool {
        state.isUnfinished && stores[.validated, default: 0] > 0
            && stores[.waiting, default: 0] + stores[.running, default: 0] == 0
    }
}

/// Where a worker stands.
package struct WorkerStatus: Hashable, Sendable {
    /// What the coordinator thinks of a worker, as a fixed number.
    package enum State: Int, Hashable, Sendable, CaseIterable {
        case active = 1
        /// It finishes what it has and takes nothing new.
        case draining = 2
        /// Not heard of for too long; its leases run out.
        case silent = 3
        /// It gets no jobs, for the reason that is told.
        case quarantined = 4
        /// It said bye, or its leases ran out.
        case gone = 5
    }

    package let name: String
    /// A label of where it runs, for people; empty where none is known.
    package let host: String
    package let engine: String
    package let slots: Int
    /// Attempts that run on it.
    package let running: Int
    package let state: State
    /// Why it was quarantined, or gets no jobs; nil where it does.
    package let reason: IdleReason?

    package init(
        name: String, host: String, engine: String, slots: Int, running: Int, state: State,
        reason: IdleReason?
    ) {
        self.name = name
        self.host = host
        self.engine = engine
        self.slots = slots
        self.running = running
        self.state = state
        self.reason = reason
    }
}

/// What a watching client is told.
package enum WatchEvent: Hashable, Sendable {
    /// Where everything stands, at regular times.
    case status(StatusReport)
    /// Something happened.
    case note(Note)
    /// A run came to its end, with so many stores not migrated.
    case ended(run: String, failures: Int)
}
