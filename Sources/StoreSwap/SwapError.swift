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

    /// What other processes are told.
    package var cause: FailureCause {
        switch self {
        case .store(let error): error.cause
        case .file(let error): error.cause
        case .sourceChanged, .storeChangedSinceSwap: .sourceChanged
        case .severalHardLinks, .swapRefused, .clientsHidden, .swapOutcomeUnknown: .swapRefused
        case .storeBusy: .locked
        case .internalError: .bug
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
            "\(store) is open in \(holder). Nothing was changed. Close it there, then run the same "
                + "command again"
        case .clientsHidden(let store, let reason):
            "Godwit cannot detect whether a program has \(store) open: \(reason). Nothing was "
                + "changed. Stop every program that uses the store and confirm that, or write "
                + "results to another folder"
        case .severalHardLinks(let store, let links):
            "\(store) has \(links) hard links. A swap would replace only one of them. Nothing was "
                + "changed. Write results to another folder"
        case .swapRefused(let store, let reason):
            "\(store) cannot be swapped: \(reason). The store is intact"
        case .storeChangedSinceSwap(let store):
            "\(store) changed after its swap. A rollback would discard those changes. Nothing was "
                + "changed. To put the original back, confirm that Godwit may discard them"
        case .swapOutcomeUnknown(let store, let reason):
            "the state of \(store) is not what was recorded: \(reason). Godwit left it "
                + "unchanged. Its backup, if any, is next to it in \(SwapPlan.backupPrefix)…"
        case .internalError(let text):
            "a bug in Godwit: \(text). The original store was not changed"
        }
    }
}
