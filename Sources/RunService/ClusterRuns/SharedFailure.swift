package import Jobs
package import StoreRuns

/// Why work beside a coordinator's loop failed, as its machine and its reports are told.
package struct SharedFailure: Error, Hashable, Sendable {
    package let code: FailureCode
    /// For people; never a value of a row.
    package let text: String
    package let cause: FailureCause
    /// Whether contents or names may not have reached the disk.
    package let isFailedSync: Bool

    /// The failure that an error of a run is; a sync that failed voids what was to be saved.
    package init(_ error: RunError) {
        isFailedSync = error.isFailedSync
        if isFailedSync {
            // It is built again, never synced again: the system reports a lost write once.
            code = .wrongPlan
        } else {
            code = error.isOutOfMemory ? .slotOutOfMemory : error.code
        }
        text = "\(error)"
        cause = FailureCause(error)
    }
}

extension FailureCause {
    /// The cause of a failure of which only the code is known, as workers tell it.
    package init(_ code: FailureCode) {
        switch code {
        case .badSource: self = .damaged
        case .unsupported: self = .unsupported
        case .modelMissing: self = .modelMissing
        case .externalDataMissing: self = .externalDataMissing
        case .noMapping: self = .noMapping
        case .outputExists: self = .outputExists
        case .validationFailed, .badDelivery: self = .validationFailed
        case .swapRefused: self = .swapRefused
        case .missing: self = .missing
        case .locked: self = .locked
        case .sourceChanged: self = .sourceChanged
        case .wrongPlan, .wrongEngine, .inputOutput, .leaseExpired, .returned: self = .inputOutput
        case .dataRefused: self = .dataRefused
        case .losses: self = .losses
        case .olderDestination: self = .olderDestination
        case .policyFailed: self = .policyFailed
        case .policyMissing: self = .policyMissing
        case .noSpace: self = .noSpace
        case .internalError: self = .bug
        case .slotCrashed, .slotTimedOut, .slotOutOfMemory: self = .crashed
        case .cancelled: self = .stopped
        }
    }
}
