import ClusterCore
import ClusterProtocol
import Jobs
import RunLedger

/// Stores of a run that a client wants to be worked on again.
struct StoresAskedFor: Sendable {
    /// What for.
    enum Purpose: Sendable {
        case replay
        case swap
    }

    let run: String
    /// One of them; nil takes all that are fit.
    let store: Int?
    let purpose: Purpose

    /// Why there is nothing to do for it; nil where there is, and for a run that is
    /// reported elsewhere: one that is not there, or was cancelled.
    func refusal(_ ledger: Ledger) throws(LedgerError) -> (code: Refusal.Code, text: String)? {
        guard let state = try ledger.run(run)?.state, state != .cancelled else { return nil }
        let wanted: StoreState = purpose == .replay ? .failed : .validated
        guard let store else {
            guard try ledger.storeCounts(of: run)[wanted] ?? 0 == 0 else { return nil }
            let text =
                switch purpose {
                case .replay: "no store of the run \(run) failed: there is nothing to replay"
                case .swap: "no result of the run \(run) waits for its swap"
                }
            return (.notPossible, text)
        }
        guard let known = try ledger.store(run: run, store)?.state else {
            return (.notFound, "the run \(run) has no store \(store)")
        }
        guard known != wanted else { return nil }
        let text = purpose == .replay ? "has not failed" : "does not wait for its swap"
        return (.notPossible, "store \(store) of the run \(run) \(text): it \(known.words)")
    }
}

extension StoreState {
    /// What has become of a store, behind its name.
    fileprivate var words: String {
        switch self {
        case .waiting: "is waiting"
        case .running: "is in progress"
        case .validated: "waits for its swap"
        case .done: "is done"
        case .failed: "has failed"
        case .cancelled: "was cancelled"
        case .rolledBack: "was rolled back"
        case .pruned: "was pruned"
        }
    }
}
