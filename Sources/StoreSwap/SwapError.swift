import CoreDataStore
package import DurableFiles
package import Jobs
package import SafeSQLite

/// Why a swap, its rollback or the removal of its backup failed.
package enum SwapError: StoreAccessError, Sendable {
    /// A store could not be read or written.
    case store(StoreError)
    /// A file could not be read or written.
    case file(DurableFileError)
    /// The source changed since it was read; the text names it.
    case sourceChanged(String)
    /// A program has the store open; nothing was changed.
    case storeBusy(store: String, holder: String)
    /// Whether a program has the store open cannot be seen; nothing was changed.
    case clientsHidden(store: String, reason: String)
    /// The main file has several names, of which a swap could change only one.
    case severalHardLinks(store: String, links: UInt64)
    /// The swap, its rollback or the removal of its backup cannot be done; the text says why.
    case swapRefused(store: String, reason: String)
    /// The store was written since its swap; putting the original back would lose that.
    case storeChangedSinceSwap(store: String)
    /// The files contradict what was recorded of a swap: a person must look.
    case swapOutcomeUnknown(store: String, reason: String)
    /// Something that must hold did not.
    case internalError(String)

    /// That a store changed, with the programs that have it open now.
    package static func changed(_ store: FilePath) -> SwapError {
        .sourceChanged(store.description + FileUser.apposition(of: store))
    }

    /// Whether memory was refused, which under a limit of address space says so.
    package var isOutOfMemory: Bool {
        switch self {
        case .store(let error): error.isOutOfMemory
        case .file(let error): error.isOutOfMemory
        default: false
        }
    }

    /// The number that tells other processes.
    package var code: FailureCode {
        switch self {
        case .store(let error): error.code
        case .file(let error): error.code
        case .sourceChanged: .sourceChanged
        case .storeChangedSinceSwap: .dataRefused
        case .severalHardLinks, .swapRefused, .clientsHidden: .swapRefused
        case .storeBusy: .locked
        case .internalError, .swapOutcomeUnknown: .internalError
        }
    }
}

extension SwapError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .store(let error): error.description
        case .file(let error): error.description
        case .sourceChanged(let text):
            "\(text) changed since it was planned. Run the same "
                + "command again when no program writes to the store"
        case .storeBusy(let store, let holder):
            "\(store) is open in \(holder). Nothing was changed; close it there, then run the "
                + "same command again. A migration can be replayed as well"
        case .clientsHidden(let store, let reason):
            "godwit cannot see whether a program has \(store) open: \(reason). Nothing was "
                + "changed; stop every program that uses the store and say so, or write results to "
                + "another folder"
        case .severalHardLinks(let store, let links):
            "\(store) has \(links) hard links, and only one of them would get the new store. "
                + "Nothing was changed; write results to another folder"
        case .swapRefused(let store, let reason):
            "\(store) cannot be swapped: \(reason). The store is whole"
        case .storeChangedSinceSwap(let store):
            "\(store) changed since it was swapped, and putting the original back would lose that. "
                + "Nothing was changed; a rollback that discards changes puts it back all the "
                + "same"
        case .swapOutcomeUnknown(let store, let reason):
            "the state of \(store) is not what was recorded: \(reason). It was left as it is; "
                + "its backup, if there is one, lies beside it in \(SwapPlan.backupPrefix)…"
        case .internalError(let text):
            "a bug of godwit: \(text). The original store was not changed"
        }
    }
}
