package import Jobs
package import StateFolders
import StoreRuns

/// Why work beside a coordinator's loop failed, as its machine is told.
package struct SharedFailure: Error, Hashable, Sendable {
    package let cause: FailureCause
    /// For people; never a value of a row.
    package let text: String

    /// The failure that an error of a run is; a sync that failed voids what was to be saved.
    package init(_ error: RunError) {
        // It is built again, never synced again: the system reports a lost write once.
        cause = error.isFailedSync ? .syncFailed : error.cause
        text = "\(error)"
    }
}
