/// A rule of the design that a simulation saw broken.
package struct Violation: Error, Hashable, Sendable, CustomStringConvertible {
    /// The rules, by the names under which they are reported.
    package enum Rule: String, Sendable, CaseIterable {
        /// Each row is exactly once in a finished result.
        case rowsOnce = "each-row-exactly-once"
        /// A job has one accepted attempt, ever.
        case oneAccepted = "one-accepted-attempt"
        /// An accepted job is never run again.
        case acceptedNotRunAgain = "accepted-job-not-run-again"
        /// The ledger takes every record that the coordinator writes; epochs and states only go on.
        case ledgerForward = "ledger-goes-forward"
        /// Nothing is sent or begun before what it depends on is durable.
        case ledgerFirst = "ledger-first"
        /// The original is as it was until its swap.
        case originalWhole = "original-untouched"
        /// A store is swapped at most once.
        case oneSwap = "one-swap"
        /// Only a validated result is swapped in.
        case validatedSwap = "swap-after-validation"
        /// A lease lasts its full term from its last renewal, and over a reconnection.
        case leaseKept = "lease-kept"
        /// Only files of accepted attempts become part of a result.
        case acceptedFilesOnly = "accepted-files-only"
        /// Jobs of one store go to workers of one engine version.
        case oneEngine = "one-engine-per-store"
        /// What is sent can be encoded and read again.
        case messagesCross = "messages-cross-as-bytes"
        /// The machine's own books agree, and its states change along listed transitions.
        case soundMachine = "machine-sound"
        /// Every store ends, done or failed with a cause, once faults stop.
        case fleetEnds = "fleet-ends"
        /// The end of a run is told when its report is written; a run that is over is carried out
        /// to its end: the rest is cancelled, files are removed, the report is there.
        case endCarriedOut = "end-carried-out"
        /// What the coordinator keeps in memory is bounded.
        case boundedMemory = "bounded-memory"
        /// A job that waits has a reason that can be shown.
        case waitingHasReason = "waiting-has-reason"
        /// Counts that are shown agree with the ledger.
        case countsAgree = "counts-agree"
    }

    package let rule: Rule
    /// What was seen: numbers and ids, never values of rows.
    package let text: String
    /// The virtual time, in milliseconds.
    package let time: Int64

    package var description: String { "\(rule.rawValue) at \(time) ms: \(text)" }
}
