import DurableFiles
import MigrationPlanning
import RunLedger
import SafeSQLite
import StoreSwap

/// Why a store failed, coarse enough to count a fleet's failures by it.
package enum FailureCause: String, Hashable, Sendable, Codable, CaseIterable {
    case damaged, unsupported, modelMissing, externalDataMissing
    case noMapping, dataRefused, losses, olderDestination, policyFailed, policyMissing
    case sourceChanged, locked, missing, outputExists
    case noSpace, inputOutput
    case validationFailed, swapRefused, crashed, stopped, bug

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
        case .sourceChanged: "changed while it was migrated"
        case .locked: "in use by another run or program"
        case .missing: "a file is missing"
        case .outputExists: "a result exists already"
        case .noSpace: "the disk is full"
        case .inputOutput: "a file could not be read or written"
        case .validationFailed: "validation failed"
        case .swapRefused: "the result cannot take the store's place"
        case .crashed: "crashed, hung or took too much memory wherever it was tried"
        case .stopped: "the run was stopped first"
        case .bug: "a bug in Godwit"
        }
    }
}

extension FailureCause {
    /// The cause of an error that ended a store's migration.
    package init(_ error: RunError) {
        switch error {
        case .store(let error): self.init(error)
        case .model, .inference, .mapping: self = .noMapping
        case .plan(let error):
            if case .refused = error { self = .dataRefused } else { self = .noMapping }
        case .engine(let error): self.init(error)
        case .swap(let error): self.init(error)
        case .file(let error): self.init(error)
        case .ledger(let error):
            if case .locked = error.cause {
                self = .locked
            } else {
                self = error.isOutOfSpace ? .noSpace : .inputOutput
            }
        case .outputExists, .outdatedOutput, .incompleteOutput, .halfPublished:
            self = .outputExists
        case .otherRun, .runOfOtherVersion: self = .locked
        case .nothingToDo, .nothingFailed, .noRun, .lostStore, .alreadyThere, .stopped:
            self = .stopped
        case .validationFailed, .badDelivery: self = .validationFailed
        case .noRoom: self = .noSpace
        case .resources: self = .inputOutput
        case .notShared: self = .dataRefused
        case .resultOfOtherModel, .resultWithoutModel: self = .unsupported
        }
    }

    private init(_ error: StoreError) {
        switch error {
        case .notAStore: self = .damaged
        case .unsupported, .layoutUnknown, .layoutDiffers: self = .unsupported
        case .inputOutput: self = .inputOutput
        case .outOfSpace: self = .noSpace
        case .modelDiffers: self = .modelMissing
        case .modelMissing: self = .modelMissing
        case .externalDataMissing: self = .externalDataMissing
        case .inUse: self = .locked
        case .changed: self = .sourceChanged
        case .cancelled: self = .stopped
        }
    }

    private init(_ error: EngineError) {
        switch error {
        case .store(let error): self.init(error)
        case .file(let error): self.init(error)
        case .wrongPlan: self = .inputOutput
        case .sourceChanged: self = .sourceChanged
        case .dataRefused: self = .dataRefused
        case .noMapping: self = .noMapping
        case .losses: self = .losses
        case .olderDestination: self = .olderDestination
        case .policyFailed: self = .policyFailed
        case .policyMissing: self = .policyMissing
        case .internalError: self = .bug
        }
    }

    private init(_ error: SwapError) {
        switch error {
        case .store(let error): self.init(error)
        case .file(let error): self.init(error)
        case .sourceChanged, .storeChangedSinceSwap: self = .sourceChanged
        case .storeBusy: self = .locked
        case .severalHardLinks, .swapRefused, .clientsHidden: self = .swapRefused
        case .internalError, .swapOutcomeUnknown: self = .bug
        }
    }

    private init(_ error: DurableFileError) {
        if error.isOutOfSpace {
            self = .noSpace
        } else if error.isMissing {
            self = .missing
        } else {
            switch error {
            case .lockHeld, .inUse: self = .locked
            case .clientsHidden: self = .swapRefused
            case .changedMeanwhile: self = .sourceChanged
            case .notRegularFile: self = .damaged
            case .refusedFolder: self = .swapRefused
            case .stopped: self = .stopped
            case .system, .refusedPath, .overLimit: self = .inputOutput
            }
        }
    }
}
