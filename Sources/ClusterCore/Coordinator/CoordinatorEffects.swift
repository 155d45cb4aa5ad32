package import ClusterProtocol
package import Jobs

/// What the loop has to do after an event, in this order: all `records` durable first, as one
/// group; then everything else, lists in their own order.
package struct CoordinatorEffects: Sendable {
    /// A message to a connection.
    package struct Send: Sendable {
        package let to: ConnectionID
        package let message: CoordinatorMessage

        package init(to: ConnectionID, message: CoordinatorMessage) {
            self.to = to
            self.message = message
        }
    }

    /// An answer to a client.
    package struct Reply: Sendable {
        package let to: ClientID
        package let reply: ClientReply
    }

    package var records: [CoordinatorRecord] = []
    package var sends: [Send] = []
    package var replies: [Reply] = []
    package var tasks: [CoordinatorTask] = []
    /// Stores whose tasks may be interrupted, because their results are of no use any more.
    ///
    /// Each of the tasks is answered all the same.
    package var stops: [StoreKey] = []
    /// What the machine has to ask the ledger, through the loop.
    package var lookups: [Lookup] = []
    /// For watchers and the log; losing one changes nothing.
    package var notes: [CoordinatorNote] = []

    package init() {}

    /// Adds what comes after.
    package mutating func append(_ later: CoordinatorEffects) {
        records += later.records
        sends += later.sends
        replies += later.replies
        tasks += later.tasks
        stops += later.stops
        lookups += later.lookups
        notes += later.notes
    }

    /// Whether there is nothing to do.
    package var isEmpty: Bool {
        records.isEmpty && sends.isEmpty && replies.isEmpty && tasks.isEmpty && lookups.isEmpty
            && notes.isEmpty && stops.isEmpty
    }
}

/// A question to the ledger, answered by events.
package enum Lookup: Hashable, Sendable {
    /// A worker speaks of a store that is not here: `offered` where the store is unfinished,
    /// `absent` where not. It counts whatever `wantedStores` says.
    case store(StoreKey)
    /// Failed stores of the run, or the one, are to wait again in the ledger; `lookedUp` with
    /// their number answers, always, and they are offered as they are wanted.
    case failed(run: String, store: Int?)
    /// The same for validated stores whose swap is asked for now; they are offered with the
    /// entry `swap(isRequested: true)`.
    case validated(run: String, store: Int?)
}

/// Something worth telling people.
package enum CoordinatorNote: Hashable, Sendable {
    case workerJoined(worker: String, slots: Int)
    /// It came back by another connection and goes on with so many attempts.
    case workerReturned(worker: String, attempts: Int)
    case workerRefused(worker: String, reason: String)
    case workerSilent(worker: String)
    case workerDrains(worker: String)
    case workerQuarantined(worker: String, reason: String)
    case workerLeft(worker: String, reason: String)
    case attemptFailed(StoreKey, Work, attempt: String, worker: String, Cause)
    case leaseExpired(StoreKey, Work, attempt: String, worker: String)
    /// A slow job got a second attempt.
    case secondAttempt(StoreKey, Work, attempt: String, worker: String)
    case denied(attempt: String, DenialReason)
    case jobAccepted(StoreKey, Work, rows: Int64, bytes: Int64)
    case jobQuarantined(StoreKey, Work, Cause)
    case storeStage(StoreKey, Stage)
    case storeEnded(StoreKey, StoreStanding, Cause?)
    case runPaused(run: String, reason: String)
    /// Work on a run begins that is new to this coordinator.
    case runBegan(run: String)
    case runOpened(run: String)
    /// The run stopped before its end: the failure limit was reached, or a bug was met.
    case runStopped(run: String, reason: String)
    case runEnded(run: String, RunStanding)
    /// Nothing is left to do but the swaps of so many stores, which a client has to request.
    case runAwaitsSwap(run: String, stores: Int)
    /// Something happened that must not: a message or an outcome that fits nothing.
    case odd(String)
    /// A bug of this program: the run that it concerns stops.
    case broken(BrokenInvariant)
}
