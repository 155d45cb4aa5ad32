import GRDB
package import Jobs

/// A run as it stands.
package struct RunOverview: Hashable, Sendable {
    package let record: RunRecord
    package let state: RunState
    /// Why it has this state; nil for a run that has never changed.
    package let reason: RunReason?
    /// Milliseconds since 1970, for people alone.
    package let changedAt: Int64

    package var id: String { record.id }
}

/// A store as it stands in its run.
package struct StoreSummary: Hashable, Sendable {
    package let found: FoundStore
    package let state: StoreState
    /// Why it has this state; nil where nothing went wrong.
    package let reason: FailureReason?
    /// Milliseconds since 1970, for people alone; nil for a store that has never changed.
    package let changedAt: Int64?
    /// Nil before the first preparation and after a reset.
    package let preparation: Preparation?
    /// How often its progress was reset.
    package let resets: Int

    package var number: Int { found.number }
}

/// A store in a run that is not finished.
package struct OpenStore: Hashable, Sendable {
    package let run: RunOverview
    package let store: StoreSummary
}

/// One try of a job, as the ledger knows it.
package struct AttemptSummary: Hashable, Sendable {
    /// How an attempt ended.
    package enum Outcome: Hashable, Sendable {
        /// It has not ended, or its end was never told.
        case begun
        case accepted
        case failed(FailureReason)
    }

    package let id: String
    package let work: Work
    package let epoch: Int
    package let outcome: Outcome
    /// Whether the store's progress was reset since: it counts as history alone.
    package let isVoid: Bool
    /// Whether its job had been accepted when it began: work done twice.
    package let beganAfterAcceptance: Bool
    /// Milliseconds since 1970, for people alone.
    package let begunAt: Int64
}

/// What was tried of one job.
package struct JobRecord: Hashable, Sendable {
    /// Its fence; 0 where no attempt counts that ever began.
    package internal(set) var epoch = 0
    /// Attempts that ever began, void ones included.
    package internal(set) var attempts = 0
    /// Ids of attempts that began, count, and have not ended.
    package internal(set) var open: [String] = []
    /// Attempts that failed for a cause that speaks against the job, since it was last forgiven.
    package internal(set) var failures = 0
    /// Why no further attempt is made; nil where one may be.
    package internal(set) var givenUp: FailureReason?

    /// Counts a row of `attempt` with `is_void` and `counts`.
    mutating func add(_ row: Row) throws {
        attempts += 1
        guard try !row.decode(Bool.self, forColumn: "is_void") else { return }
        switch StoredOutcome(rawValue: try row.decode(Int.self, forColumn: "outcome")) {
        case .begun: open.append(try row.decode(forColumn: "id"))
        case .failed:
            let counts = try row.decode(Bool.self, forColumn: "counts")
            let reason = try row.failureReason()
            if counts, reason?.cause.countsAgainstJob == true { failures += 1 }
        case .accepted: break
        case nil: throw UnknownStoredValue(column: "outcome")
        }
    }
}

/// A job whose newest attempt failed and that no attempt was accepted for.
package struct FailedJob: Hashable, Sendable {
    package let store: Int
    package let work: Work
    /// How many of its attempts failed.
    package let failures: Int
    /// Why the newest one failed.
    package let reason: FailureReason
}

/// How many jobs and attempts a run had; history counts, too.
package struct AttemptCounts: Hashable, Sendable {
    /// Jobs that an attempt began for.
    package let jobs: Int
    package let attempts: Int
    package let accepted: Int
    package let failed: Int
    /// Attempts that began for a job after it had been accepted: 0 where nothing is done twice.
    package let afterAcceptance: Int
    /// The most attempts that one job had.
    package let mostForOneJob: Int
}

/// Something that happened, in the order of the ledger.
package struct LedgerEvent: Hashable, Sendable {
    /// The ledger's own kinds; a caller's notes have other words.
    package enum Kind {
        /// A run began or changed its state.
        package static let run = "run"
        /// A store changed its state.
        package static let store = "store"
        /// The progress of a store was reset.
        package static let reset = "reset"
    }

    /// Rises with every event of the ledger.
    package let number: Int64
    package let run: String
    package let store: Int?
    package let kind: String
    package let text: String
    /// Milliseconds since 1970, for people alone.
    package let at: Int64
}
