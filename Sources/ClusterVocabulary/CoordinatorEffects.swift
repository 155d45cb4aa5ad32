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

        package init(to: ClientID, reply: ClientReply) {
            self.to = to
            self.reply = reply
        }
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
    package var notes: [Note] = []

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
