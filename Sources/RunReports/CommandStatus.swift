package import Jobs

/// How a process ends; the numbers above 63 are those of `sysexits.h`.
package enum CommandStatus: Int32, Sendable, CaseIterable {
    case success = 0
    /// `verify` or `model diff --exit-code` found differences.
    case differences = 1
    /// The command line asks for what cannot be.
    case usage = 64
    /// A store or a model cannot be used.
    case badData = 65
    /// Something that must hold did not.
    case bug = 70
    case inputOutput = 74
    /// The same command may succeed when it is run again.
    case canBeRepeated = 75
}

extension CommandStatus {
    /// The status of a store that failed for this cause.
    package init(_ cause: FailureCause) {
        switch cause {
        case .damaged, .unsupported, .modelMissing, .externalDataMissing, .noMapping,
            .dataRefused, .losses, .olderDestination, .policyFailed, .policyMissing,
            .programFailed:
            self = .badData
        case .sourceChanged, .locked, .stopped, .crashed, .timedOut, .outOfMemory, .leaseExpired,
            .returned, .wrongPlan, .wrongEngine:
            self = .canBeRepeated
        case .outputExists, .swapRefused: self = .usage
        case .missing, .noSpace, .inputOutput, .syncFailed: self = .inputOutput
        case .validationFailed, .badDelivery, .bug: self = .bug
        }
    }
}
