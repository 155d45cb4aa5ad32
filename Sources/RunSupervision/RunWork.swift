package import ClusterProtocol
package import ClusterVocabulary
package import Jobs

/// Something that a coordinator does for a run beside its loop, and answers by a `RunAnswer`.
///
/// Works of a turn begin after its records are durable.
package enum RunWork: Hashable, Sendable {
    /// Reads the run's next unfinished stores from the ledger, in the order of their numbers.
    case readStores(StoreReading)
    /// Reads validated stores whose swap was requested.
    case readSwaps(run: String, numbers: [Int], reading: Int)
    /// Reads one store, of which a worker speaks.
    case readStore(StoreKey, reading: Int)
    /// Reads the accepted attempts of a store whose run is not in memory.
    case readReceipts(StoreKey)
    /// Lets failed stores of the run, or the one, wait again; opens the run with the first.
    case reopen(run: String, store: Int?)
    /// Finds validated stores of the run, or the one.
    case findValidated(run: String, store: Int?)
    /// Reads a run that is not in memory, of which a client requests something.
    case findRun(String, ClientRequest, ClientID)
    /// Reserves the space that the run needs.
    case reserveSpace(run: String)
    /// Cancels what is left of a cancelled run, but for stores that the machine has, and removes
    /// files that nothing needs.
    ///
    /// The number tells the ends of runs apart; nil for one that an earlier start left.
    case end(run: String, isCancelled: Bool, but: Set<Int>, number: Int?)
    /// Writes the run's report, after that end.
    case report(run: String, number: Int?)

    /// The run that it is for.
    package var run: String {
        switch self {
        case .readStores(let reading): reading.run
        case .readSwaps(let run, _, _), .reopen(let run, _), .findValidated(let run, _),
            .findRun(let run, _, _), .reserveSpace(let run), .end(let run, _, _, _),
            .report(let run, _):
            run
        case .readStore(let key, _), .readReceipts(let key): key.run
        }
    }
}

/// A reading of a run's next stores.
package struct StoreReading: Hashable, Sendable {
    package let run: String
    /// How many stores are wanted.
    package let count: Int
    /// The number behind which to begin.
    package let cursor: Int?
    /// Stores that the machine has.
    package let inside: Set<Int>
    /// Its moment in the feed.
    let moment: Int
    /// The round of the feed to which it belongs.
    let round: Int
}

/// What came of a work.
package enum RunAnswer: Sendable {
    /// The offers are fewer than wanted where there are no more. The next reading begins behind the
    /// cursor; `isLast` says that nothing lies there.
    case stores(StoreReading, offers: [StoreOffer], cursor: Int?, isLast: Bool)
    case swaps(run: String, asked: Int, offers: [StoreOffer], reading: Int)
    /// The offer is nil where the store has ended, or where there is none.
    case store(StoreKey, StoreOffer?, accepted: [String], reading: Int)
    case receipts(StoreKey, accepted: [String])
    /// So many stores wait again, before anything failed; so many are failed still.
    case reopened(
        run: String, store: Int?, count: Int, failed: Int, opensRun: Bool, WorkFailure?)
    case validated(run: String, store: Int?, numbers: [Int], failed: Int)
    /// A run that a client named; it is to enter, and gets the request.
    case found(RunOpening, ClientRequest, ClientID)
    /// The shortage is nil where there is enough space.
    case space(run: String, shortage: String?)
    case ended(run: String, number: Int?)
    /// The report is written; `failures` counts failed and cancelled stores.
    case reported(run: String, number: Int?, failures: Int)
    case failed(RunWork, WorkFailure)
}

extension RunAnswer {
    /// Offers of stores that it brings.
    package var offers: [StoreOffer] {
        switch self {
        case .stores(_, let offers, _, _), .swaps(_, _, let offers, _): offers
        case .store(_, let offer, _, _): offer.map { [$0] } ?? []
        case .receipts, .reopened, .validated, .found, .space, .ended, .reported, .failed: []
        }
    }
}

/// Why a work came to nothing.
package struct WorkFailure: Hashable, Sendable {
    /// Whether it may succeed later, such as where the ledger's disk is full.
    package let isTransient: Bool
    /// Whether there is no such run.
    package let isUnknownRun: Bool
    package let text: String

    package init(isTransient: Bool, isUnknownRun: Bool = false, text: String) {
        self.isTransient = isTransient
        self.isUnknownRun = isUnknownRun
        self.text = text
    }
}
