/// A fault that is put into the cluster on purpose; the checkers must find it.
package enum Plant: String, CaseIterable, Sendable {
    /// The coordinator accepts a receipt of an epoch that was fenced off.
    case staleEpoch = "stale-epoch"
    /// The loop sends before the ledger's write is durable.
    case sendBeforeLedger = "send-before-ledger"
    /// A result is swapped in although its validation has not ended.
    case swapBeforeValidation = "swap-before-validation"
    /// A repeated DONE is counted a second time.
    case duplicateDone = "duplicate-done"
    /// A worker that reconnects loses the leases that it holds.
    case leaseLostOnReconnect = "lease-lost-on-reconnect"
    /// The file of an attempt that was denied is merged.
    case mergeDeniedAttempt = "merge-denied-attempt"
    /// Leases run on the wall clock, which jumps.
    case wallClockLease = "wall-clock-lease"
    /// The end of a run is told although its report was not written.
    case endBeforeReport = "end-before-report"
}
