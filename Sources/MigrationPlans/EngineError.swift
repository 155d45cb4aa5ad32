import CoreDataStore
package import DurableFiles
package import Jobs
package import SafeSQLite

/// Why a job or a stage failed.
package enum EngineError: StoreAccessError, Sendable {
    /// A store or shard could not be read or written.
    case store(StoreError)
    /// A file could not be read or written.
    case file(DurableFileError)
    /// The plan is missing, or another one than the job names.
    case wrongPlan(String)
    /// The source changed since the plan was made; the text names it.
    case sourceChanged(String)
    /// The data break a rule that the plan relied on.
    case dataRefused(String)
    /// A migration policy failed, or did what it may not; the text names policy and object.
    case policyFailed(String)
    /// The process does not carry a migration policy of the plan.
    case policyMissing(String)
    /// A program that runs between two steps failed, or did what it may not; the text names it.
    case programFailed(String)
    /// No mapping leads from the store's model to the destination's.
    case noMapping(String)
    /// The store would lose what was not accepted; the text names the store and its losses.
    case losses(String)
    /// The destination is an older version than the store's; the text names both.
    case olderDestination(String)
    /// Something that must hold did not.
    case internalError(String)

    /// That a store changed, with the programs that have it open now.
    package static func changed(_ store: FilePath) -> EngineError {
        .sourceChanged(store.description + FileUser.apposition(of: store))
    }

    /// What other processes are told.
    package var cause: FailureCause {
        switch self {
        case .store(let error): error.cause
        case .file(let error): error.cause
        case .wrongPlan: .wrongPlan
        case .sourceChanged: .sourceChanged
        case .dataRefused: .dataRefused
        case .policyFailed: .policyFailed
        case .policyMissing: .policyMissing
        case .programFailed: .programFailed
        case .noMapping: .noMapping
        case .losses: .losses
        case .olderDestination: .olderDestination
        case .internalError: .bug
        }
    }
}

extension EngineError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .store(let error): error.description
        case .file(let error): error.description
        case .wrongPlan(let text): "the plan cannot be used: \(text). Plan the store again"
        case .sourceChanged(let text):
            "\(text) changed since it was planned. Run the same "
                + "command again when no program writes to the store"
        case .dataRefused(let text), .noMapping(let text), .losses(let text),
            .olderDestination(let text), .policyFailed(let text), .policyMissing(let text),
            .programFailed(let text):
            text
        case .internalError(let text):
            "a bug in Godwit: \(text). The original store was not changed"
        }
    }
}
