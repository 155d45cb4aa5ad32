package import DurableFiles
import SafeSQLite
package import StoreLocks

// A rollback that was killed before it gave the store's name to another file is not resumed.

extension Rollback {
    /// Whether a rollback has left a log or a journal under a name of ours.
    ///
    /// - Throws: `DurableFileError`.
    package func hasAsides(_ plan: RollbackPlan) throws(DurableFileError) -> Bool {
        let swap = plan.facts.swap
        for kind in StoreCompanion.allCases {
            let aside = swap.aside(StoreLocation(swap.store.path).companion(kind))
            if try FileStatus.ifPresentLink(aside) != nil { return true }
        }
        return false
    }

    /// Gives a log that a rollback had moved aside its name back, where the rollback is not gone
    /// on with.
    ///
    /// - Parameters:
    ///   - plan: as it was recorded.
    ///   - lock: of the plan's store.
    /// - Returns: files that now lie beside the store under names of their own.
    /// - Throws: `SwapError.file`.
    package func settleAsides(
        of plan: RollbackPlan, under lock: StoreLock
    ) throws(SwapError) -> [FilePath] {
        let swap = plan.facts.swap
        let moves = try StoreMoves(
            store: swap.store.path, files: files, lock: lock, clients: clients)
        defer { moves.admitClients() }
        return try SwapError.translating {
            try moves.settleAsides(of: swap, known: plan.known)
        }
    }
}
