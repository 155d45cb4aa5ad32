/// Why an attempt or a store failed.
///
/// The raw value is a fixed number, which processes tell each other and the ledger keeps. JSON and
/// reports have the name instead.
package enum FailureCause: Int, Hashable, Sendable, CaseIterable, Error {
    /// The source is damaged or is no store.
    case damaged = 1
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
    /// No space, inodes or file descriptors are left.
    case noSpace = 7
    /// Something that must hold did not: a bug.
    case bug = 8
    /// The slot's process died by a signal.
    case crashed = 9
    /// The slot reported no progress for too long and was killed.
    case timedOut = 10
    /// The slot's process reached its limit of address space.
    case outOfMemory = 11
    /// The worker was silent, or the attempt without progress, until the lease was over.
    case leaseExpired = 12
    /// The worker gave the attempt back unfinished, because it drains or ends.
    case returned = 13
    /// The attempt is not wanted any more: another one was accepted, or the run was cancelled.
    case stopped = 14
    /// The source holds something that is not supported.
    case unsupported = 15
    /// The source holds no model, or another one than was given.
    case modelMissing = 16
    /// Files of external data that the source names are not there.
    case externalDataMissing = 17
    /// No mapping leads from the source's model to the destination's.
    case noMapping = 18
    /// Something has the result's name already.
    case outputExists = 19
    /// The result was not what the mapping asks for.
    case validationFailed = 20
    /// The result cannot take the store's place.
    case swapRefused = 21
    /// The source, or a file that a job needs, is not there.
    case missing = 22
    /// Another program has the source in use.
    case locked = 23
    /// What a worker delivered is not what its receipt says, or not what the store must become.
    case badDelivery = 24
    /// The store would lose something that was not accepted.
    case losses = 25
    /// The destination is an older version than the store's.
    case olderDestination = 26
    /// A migration policy failed, or did what it may not.
    case policyFailed = 27
    /// The worker does not carry a migration policy that the plan needs.
    case policyMissing = 28
    /// Contents or names of files may not have reached the disk, and no later sync can tell.
    case syncFailed = 29
    /// A program that runs between two steps failed, or did what it may not.
    case programFailed = 30

    /// The word for it in reports and JSON.
    ///
    /// Names stay as they are: ledgers and reports of earlier versions hold them.
    package var name: String { "\(self)" }
}

extension FailureCause: Codable {
    /// Reads a name.
    ///
    /// - Throws: `DecodingError` for a word that is no name.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let word = try container.decode(String.self)
        guard let known = FailureCause.allCases.first(where: { $0.name == word }) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "there is no cause of failures \(word)")
        }
        self = known
    }

    /// Writes the name.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }
}

/// What to do about a failed attempt.
package enum FailureDecision: Hashable, Sendable {
    /// Try the job again after a while, elsewhere where that is possible.
    case retry
    /// Give the chunk up; the store fails and can be replayed once the cause is repaired.
    case quarantineChunk
    /// Give the worker no more jobs until it starts again, and try the job elsewhere.
    case quarantineWorker
    /// Plan the store again.
    case planAgain
    /// Wait until there is room.
    case pause
    /// Stop the run.
    case stopRun
    /// Nothing: the attempt ended because it was told to.
    case nothing
}

extension FailureCause {
    /// The one place that decides what a failure leads to.
    ///
    /// Who counts failures decides beyond that: a chunk whose retries fail on several workers is
    /// quarantined, and so is a worker that fails what others can do.
    package var decision: FailureDecision {
        switch self {
        case .damaged, .dataRefused, .unsupported, .modelMissing, .externalDataMissing,
            .noMapping, .outputExists, .validationFailed, .swapRefused, .losses,
            .olderDestination, .policyFailed, .policyMissing, .programFailed:
            .quarantineChunk
        case .sourceChanged, .wrongPlan, .syncFailed: .planAgain
        case .inputOutput, .crashed, .timedOut, .outOfMemory, .leaseExpired, .returned, .missing,
            .locked, .badDelivery:
            .retry
        case .wrongEngine: .quarantineWorker
        case .noSpace: .pause
        case .bug: .stopRun
        case .stopped: .nothing
        }
    }

    /// Whether the failure says something about the job, so that it counts towards its quarantine.
    ///
    /// A worker that was lost, drained, full or of another engine says nothing about the job. A
    /// crash does: it may be the store that makes SQLite crash.
    package var countsAgainstJob: Bool {
        switch self {
        case .damaged, .dataRefused, .inputOutput, .bug, .crashed, .timedOut, .outOfMemory,
            .unsupported, .modelMissing, .externalDataMissing, .noMapping, .outputExists,
            .validationFailed, .swapRefused, .missing, .locked, .badDelivery, .losses,
            .olderDestination, .policyFailed, .policyMissing, .programFailed:
            true
        case .sourceChanged, .wrongPlan, .wrongEngine, .noSpace, .leaseExpired, .returned,
            .stopped, .syncFailed:
            false
        }
    }
}
