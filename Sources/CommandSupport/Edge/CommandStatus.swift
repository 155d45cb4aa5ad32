import CoreDataStore
package import DurableFiles
import Glibc
import MigrationEngine
package import MigrationPlans
package import RunLedger
import RunReports
import RunService
package import SafeSQLite
package import StateFolders
import StoreRuns
package import StoreSwap
package import ZeroMQ

extension CommandStatus {
    /// The status of one failed store: the one place where failures become numbers.
    package init(_ error: RunError) {
        switch error {
        case .store(let error): self.init(error)
        case .model, .inference, .mapping, .plan: self = .badData
        case .engine(let error): self.init(error)
        case .swap(let error): self.init(error)
        case .file(let error): self.init(error)
        case .ledger(let error): self.init(error)
        case .outputExists, .outdatedOutput, .incompleteOutput, .halfPublished, .otherRun,
            .runOfOtherVersion,
            .nothingToDo, .nothingFailed, .noRun, .lostStore, .alreadyThere:
            self = .usage
        case .stopped: self = .canBeRepeated
        case .noRoom, .resources: self = .inputOutput
        case .resultOfOtherModel, .resultWithoutModel, .notShared: self = .badData
        // The plan promised another result: what the store holds cannot excuse that.
        case .validationFailed, .badDelivery: self = .bug
        }
    }

    /// The status of a failure of a ledger.
    package init(_ error: LedgerError) {
        switch error.kind {
        case .locked: self = .canBeRepeated
        case .networkFileSystem, .laterVersion, .earlierVersion, .missing, .copied:
            self = .usage
        case .damaged, .noSpace, .inputOutput, .refusing: self = .inputOutput
        case .notWritable, .unknownRun, .unknownStore, .unknownAttempt, .duplicate,
            .illegalTransition, .alreadyAccepted, .staleEpoch, .attemptEnded, .progressDepends,
            .refusedValue:
            self = .bug
        }
    }

    /// The status of a failure of a socket.
    package init(_ error: ZeroMQError) {
        switch error {
        case .invalidKey: self = .usage
        case .tooFewDescriptors: self = .inputOutput
        case .invalidRoutingID, .noAccessPolicy: self = .bug
        case .refused(let action, _, let number):
            switch (action, number) {
            // Endpoints that can never be right as they are written.
            case (.bind, EACCES), (.bind, EADDRNOTAVAIL), (.bind, ENODEV), (.bind, ENOENT),
                (.bind, ENOTDIR), (.bind, ENAMETOOLONG), (_, EINVAL), (_, EPROTONOSUPPORT):
                self = .usage
            default: self = .inputOutput
            }
        }
    }

    /// The status of a failure of a store.
    package init(_ error: StoreError) {
        switch error {
        case .notAStore, .unsupported, .layoutUnknown, .layoutDiffers, .modelMissing,
            .modelDiffers, .externalDataMissing:
            self = .badData
        case .inputOutput, .outOfSpace: self = .inputOutput
        case .inUse, .changed, .cancelled: self = .canBeRepeated
        }
    }

    /// The status of a failure of a migration.
    package init(_ error: EngineError) {
        switch error {
        case .store(let error): self.init(error)
        case .file(let error): self.init(error)
        // A plan on disk that is not the one that was written there.
        case .wrongPlan: self = .inputOutput
        case .sourceChanged: self = .canBeRepeated
        case .dataRefused, .noMapping, .losses, .olderDestination, .policyFailed,
            .policyMissing, .programFailed:
            self = .badData
        case .internalError: self = .bug
        }
    }

    /// The status of a failure of a swap.
    package init(_ error: SwapError) {
        switch error {
        case .store(let error): self.init(error)
        case .file(let error): self.init(error)
        case .sourceChanged, .storeBusy: self = .canBeRepeated
        case .severalHardLinks, .swapRefused, .clientsHidden, .storeChangedSinceSwap,
            .swapOutcomeUnknown:
            self = .usage
        case .internalError: self = .bug
        }
    }

    /// The status of a failure of a file.
    package init(_ error: DurableFileError) {
        switch error {
        case .system, .overLimit: self = .inputOutput
        case .refusedPath, .refusedFolder, .notRegularFile, .clientsHidden: self = .usage
        case .lockHeld, .inUse, .changedMeanwhile, .stopped: self = .canBeRepeated
        }
    }
}
