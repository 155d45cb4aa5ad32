package import DurableFiles
package import Jobs
import SafeSQLite

extension StoreError {
    /// The number that tells other processes.
    package var code: FailureCode {
        switch self {
        case .notAStore: .badSource
        case .unsupported, .layoutUnknown, .layoutDiffers: .unsupported
        case .modelMissing, .modelDiffers: .modelMissing
        case .externalDataMissing: .externalDataMissing
        case .inputOutput: .inputOutput
        case .outOfSpace: .noSpace
        case .inUse: .locked
        case .changed: .sourceChanged
        case .cancelled: .cancelled
        }
    }
}

extension DurableFileError {
    /// The number that tells other processes.
    package var code: FailureCode {
        // Descriptors come back as space does, and say nothing about the store.
        if isOutOfSpace || isOutOfDescriptors { return .noSpace }
        if isMissing { return .missing }
        switch self {
        case .lockHeld, .inUse: return .locked
        case .clientsHidden: return .swapRefused
        case .changedMeanwhile: return .sourceChanged
        case .notRegularFile: return .badSource
        case .refusedFolder: return .swapRefused
        case .stopped: return .cancelled
        case .system, .refusedPath, .overLimit: return .inputOutput
        }
    }
}
