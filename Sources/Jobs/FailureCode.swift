/// Why an attempt failed, as a fixed number that travels between processes.
package enum FailureCode: Int, Hashable, Sendable, Codable, CaseIterable, Error {
    /// The source is damaged or is no store.
    case badSource = 1
    /// The source changed since the plan was made.
    case sourceChanged = 2
    /// The plan's file is missing or another one than the job names.
    case wrongPlan = 3
    /// The engine is of another version than the plan.
    case wrongEngine = 4
    /// The data break a rule of the mapping.
    case dataRefused = 5
    /// A file could not be read or written.
    case inputOutput = 6
    /// No space or no inodes are left.
    case noSpace = 7
    /// Something that must hold did not: a bug.
    case internalError = 8
}

/// What to do about a failed attempt.
package enum FailureDecision: Hashable, Sendable {
    /// Try the job again, elsewhere where that is possible.
    case retry
    /// Give the chunk up; the store fails and can be replayed once the cause is mended.
    case quarantineChunk
    /// Plan the store anew.
    case planAgain
    /// Wait until there is room.
    case pause
    /// Stop the run.
    case stopRun
}

extension FailureCode {
    /// The one place that decides what a failure leads to.
    package var decision: FailureDecision {
        switch self {
        case .badSource, .dataRefused: .quarantineChunk
        case .sourceChanged, .wrongPlan: .planAgain
        case .wrongEngine, .inputOutput: .retry
        case .noSpace: .pause
        case .internalError: .stopRun
        }
    }
}
