package import Jobs

/// One fact that the ledger is told.
///
/// Times (`at`) are milliseconds since 1970 from the caller; they are shown to people and never
/// compared. Runs are named by their id, stores by their number in the run. What a record is
/// checked for is said at its case; `Ledger.append` throws the kind that is named there and
/// stores nothing of the call.
package enum LedgerRecord: Hashable, Sendable {
    /// A run begins, open; `duplicate` where its id is known.
    case runBegan(RunRecord)
    /// A run changes its state by `RunState.canBecome`, else `illegalTransition`. One that ends
    /// or is cancelled loses its reservations.
    case runChanged(run: String, RunState, RunReason, at: Int64)
    /// What a run is asked for from here, as the caller's own text; its digest stays.
    case requestChanged(run: String, request: String)
    /// Stores of a run, all waiting; `duplicate` for a number or a path that the run has.
    case storesFound(run: String, [FoundStore])
    /// What a store's progress depends on from here; `progressDepends` where jobs were accepted
    /// under a preparation of another source, plan or engine and no `progressReset` came first.
    case storePrepared(run: String, store: Int, Preparation)
    /// A store changes its state by `StoreState.canBecome`, else `illegalTransition`. The reason
    /// is kept with the store until its next change, and among the events.
    case storeChanged(run: String, store: Int, StoreState, reason: FailureReason?, at: Int64)
    /// Time spent in a stage; times of one stage add up.
    case stageEnded(run: String, store: Int, Stage, milliseconds: Int64)
    /// An attempt begins. A higher epoch than the job's raises it; `staleEpoch` for a lower one,
    /// `duplicate` for an attempt's id that the run has. The worker is who makes it, for people;
    /// nil for a slot of the ledger's own process.
    case attemptBegan(
        run: String, store: Int, work: Work, attempt: String, epoch: Int, at: Int64,
        worker: String? = nil)
    /// A receipt is accepted. `alreadyAccepted` where the job has an accepted one, `staleEpoch`
    /// where the job's epoch is higher, `unknownAttempt` where no such attempt of the job began,
    /// `attemptEnded` where it failed or its progress was reset.
    case accepted(Receipt, at: Int64)
    /// An attempt failed; `unknownAttempt`, or `attemptEnded` where it had ended already.
    case attemptFailed(run: String, attempt: String, FailureReason, at: Int64)
    /// The job's fence rises: attempts of lower epochs are never accepted. `staleEpoch` where it
    /// is that high already.
    case epochRaised(run: String, store: Int, work: Work, to: Int)
    /// No attempt of the job is made again until its store, once it has failed, waits again or its
    /// progress is reset.
    case jobGivenUp(run: String, store: Int, work: Work, FailureReason)
    /// Forgets the preparation, jobs, attempts and receipts of a store; they stay as history.
    /// Steps of swaps, stage times and events are kept.
    case progressReset(run: String, store: Int, reason: String, at: Int64)
    /// Room on a file system; replaces what the store had reserved there.
    case reserved(Reservation)
    /// Gives back all room of a store.
    case released(run: String, store: Int)
    /// A step of a swap or rollback, written before it and after it.
    case swapStep(run: String, store: Int, SwapEntry)
    /// What the report shows of a finished store: how it ended, and JSON of the caller's own shape;
    /// replaces an earlier one.
    case storeReport(run: String, store: Int, ReportedOutcome, String)
    /// Something worth telling; the kind is the caller's own word.
    case note(run: String, store: Int?, kind: String, text: String, at: Int64)
}
