package import Jobs

extension FailureCause {
    /// Whether only a run with other options can migrate the store.
    package var needsOtherOptions: Bool { self == .losses || self == .olderDestination }

    /// The cause in a few words, as a heading.
    package var title: String {
        switch self {
        case .damaged: "damaged, or not a Core Data store"
        case .unsupported: "uses an unsupported feature"
        case .modelMissing: "holds no model"
        case .externalDataMissing: "external data files are missing"
        case .noMapping: "no mapping leads to the destination model"
        case .dataRefused: "the data break a rule of the destination model"
        case .losses: "the result would lack data that the store has"
        case .olderDestination: "newer than the destination model"
        case .policyFailed: "a migration policy failed"
        case .policyMissing: "no worker carries a migration policy"
        case .programFailed: "a program between two steps failed"
        case .sourceChanged: "changed while it was migrated"
        case .locked: "in use by another run or program"
        case .missing: "a file is missing"
        case .outputExists: "a result exists already"
        case .noSpace: "the disk or the table of open files is full"
        case .inputOutput: "a file could not be read or written"
        case .validationFailed: "validation failed"
        case .swapRefused: "the result cannot take the store's place"
        case .crashed: "crashed on every attempt"
        case .timedOut: "repeatedly made no progress for too long"
        case .outOfMemory: "repeatedly took too much memory"
        case .leaseExpired: "workers were lost during the work"
        case .returned: "workers stopped before they finished"
        case .wrongPlan: "the plan's file is missing or belongs to another store"
        case .wrongEngine: "a worker runs another version of Godwit"
        case .badDelivery: "a worker delivered a wrong result"
        case .syncFailed: "a file could not be made durable"
        case .stopped: "the run was stopped first"
        case .bug: "a bug in Godwit"
        }
    }
}
