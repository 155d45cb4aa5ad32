/// A rule that a machine keeps whatever its peers send; a broken one is a bug of this program.
///
/// A debug build and the simulation end where one is broken. A release build reports it as an
/// error, does not take the step at hand, and stops the run that it concerns: a new start builds
/// the machine again from the ledger, which holds nothing that follows from the bug.
package enum Invariant: String, Hashable, Sendable, CaseIterable {
    /// Every change of a state is listed in its table.
    case listedTransition = "listed-transition"
    /// A receipt is accepted once a job, from an attempt of the job's own epoch.
    case acceptedOnce = "accepted-once"
    /// An attempt is one of its job's live attempts until it ends.
    case attemptOfJob = "attempt-of-job"
    /// A job has at most two attempts at a time, and each has a name of its own.
    case twoAttempts = "two-attempts"
    /// A step merges or links accepted shards, and all that it needs.
    case acceptedShards = "accepted-shards"
    /// A result is swapped in after its validation.
    case validatedSwap = "validated-swap"
    /// What ends has no attempts and no tasks left.
    case endsIdle = "ends-idle"
    /// A worker's slot runs one attempt at a time.
    case oneInSlot = "one-in-slot"
}

/// A broken invariant with what was found: ids and states, no data.
package struct BrokenInvariant: Hashable, Sendable, CustomStringConvertible {
    package let invariant: Invariant
    package let found: String

    package init(_ invariant: Invariant, _ found: String) {
        self.invariant = invariant
        self.found = found
    }

    package var description: String { "\(invariant.rawValue): \(found)" }

    /// Whether this build ends where an invariant is broken.
    package static let endsDebugBuild: Bool = {
        var isDebugBuild = false
        assert(
            {
                isDebugBuild = true
                return true
            }())
        return isDebugBuild
    }()

    /// Ends a debug build; returns in a release build.
    package func end(_ isEnding: Bool) {
        if isEnding { assertionFailure("\(self)") }
    }
}
