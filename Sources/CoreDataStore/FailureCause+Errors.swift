package import DurableFiles
package import Jobs
import SafeSQLite

extension StoreError {
    /// What other processes are told; under a limit of address space, SQLite says so.
    package var cause: FailureCause {
        switch self {
        case .notAStore: .damaged
        case .unsupported, .layoutUnknown, .layoutDiffers: .unsupported
        case .modelMissing, .modelDiffers: .modelMissing
        case .externalDataMissing: .externalDataMissing
        case .inputOutput: isOutOfMemory ? .outOfMemory : .inputOutput
        case .outOfSpace: .noSpace
        case .inUse: .locked
        case .changed: .sourceChanged
        case .cancelled: .stopped
        }
    }
}

extension DurableFileError {
    /// What other processes are told.
    package var cause: FailureCause {
        // Descriptors come back as space does, and say nothing about the store.
        if isOutOfSpace || isOutOfDescriptors { return .noSpace }
        if isOutOfMemory { return .outOfMemory }
        if isMissing { return .missing }
        switch self {
        case .lockHeld, .inUse: return .locked
        case .clientsHidden: return .swapRefused
        case .changedMeanwhile: return .sourceChanged
        case .notRegularFile: return .damaged
        case .refusedFolder: return .swapRefused
        case .stopped: return .stopped
        case .system, .refusedPath, .overLimit: return .inputOutput
        }
    }
}
