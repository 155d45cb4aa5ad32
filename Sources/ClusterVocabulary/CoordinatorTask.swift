package import Jobs

/// Work that the loop has done beside it, so that heartbeats never wait; every task is answered
/// with one `CoordinatorEvent.taskEnded`.
package struct CoordinatorTask: Hashable, Sendable {
    /// What is to be done.
    package enum Kind: Hashable, Sendable {
        /// Opens and plans the store, or finds that an earlier plan still holds. Answered by
        /// `prepared` or `unchanged`.
        case prepare
        /// Checks a delivered shard, or a small store's result, against its receipt and gives it
        /// a name that no worker writes and that carries the attempt: two attempts of a job may
        /// be checked at a time. Answered by `admitted`.
        case admit(Receipt)
        /// Takes the step of that index in the plan, with the receipts of its shards in the order
        /// of the plan. Answered by `stepped`.
        case step(Int, StorePlan.Step, shards: [Receipt])
        /// Builds indexes and finishes the file. Answered by `indexed`.
        case index
        /// Compares source and result. Answered by `validated`.
        case validate
        /// Writes down how the result will get its name, where that waits for a request.
        ///
        /// A later swap or discard follows this record. Answered by `kept`.
        case keep
        /// Gives the result its name. Answered by `swapped`.
        case swap
    }

    package let id: TaskID
    package let store: StoreKey
    package let kind: Kind

    package init(id: TaskID, store: StoreKey, kind: Kind) {
        self.id = id
        self.store = store
        self.kind = kind
    }
}

/// How a task ended.
package enum TaskOutcome: Hashable, Sendable {
    /// The plan; `resumed` says what of an earlier start stands.
    case prepared(StorePlan, Resumption)
    /// The store needs no migration.
    case unchanged
    /// The shard is as its receipt says and has its new name, which this receipt gives.
    case admitted(Receipt)
    /// The destination holds the step.
    case stepped
    case indexed
    /// The store has rows for which it must be planned otherwise; the reason.
    case needsOtherPlan(reason: String)
    /// Source and result agree.
    case validated
    /// Source and result differ: nothing that led to it counts any more.
    case different(text: String)
    /// It is written down how the result will get its name.
    case kept
    /// The result has the store's name.
    case swapped
    /// It failed; the cause decides what follows.
    case failed(FailureCause, text: String)
    /// A swap met an error after files of the store had moved: another try goes on with it, and
    /// the store must not be called failed.
    case interrupted(FailureCause, text: String)
}

/// What of an earlier start a preparation found fit to go on with.
package enum Resumption: Hashable, Sendable {
    /// The same plan and source: accepted receipts count, and the destination holds so many steps
    /// of the plan.
    case kept(steps: Int)
    /// Nothing: what the ledger knew of jobs is forgotten. The reason is nil for a store that
    /// had no progress.
    case fresh(reason: String?)
}
