package import Jobs

/// A fact that must be durable before anything else of its turn is done.
///
/// Each is one record of the ledger; the loop adds wall times for people.
package enum CoordinatorRecord: Hashable, Sendable {
    /// The run is open, waits, has ended or was cancelled.
    case runChanged(run: String, RunState, RunReason)
    /// The store's progress depends on this plan from here.
    case storePrepared(StoreKey, StorePlan)
    case storeChanged(StoreKey, StoreState, FailureReason?)
    /// Preparation, jobs, attempts and receipts of the store are history.
    case progressReset(StoreKey, reason: String)
    case attemptBegan(StoreKey, Work, attempt: String, epoch: Int, worker: String)
    case accepted(Receipt)
    case attemptFailed(StoreKey, attempt: String, FailureReason)
    /// Attempts of lower epochs are never accepted.
    case epochRaised(StoreKey, Work, to: Int)
    /// No attempt of the job is begun again until it is replayed.
    case jobQuarantined(StoreKey, Work, FailureReason)
    /// The worker gets no jobs for a while.
    case workerQuarantined(worker: String, reason: String)
    /// The swap task begins once this is durable; its end is `storeChanged(…, .done)`.
    case swapIntended(StoreKey)
}
