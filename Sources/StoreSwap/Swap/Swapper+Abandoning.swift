import CoreDataStore
package import DurableFiles
import SafeSQLite
package import StoreLocks

// MARK: - Swaps that will not be carried out

extension Swapper {
    /// Ends a plan that will not be carried out.
    ///
    /// What a program put in the store's place while the swap was stopped gets the store's name
    /// again, or a name of its own; and so does the original, where the store is another file now.
    ///
    /// - Parameters:
    ///   - plan: as it was recorded.
    ///   - keepsOriginal: whether the original, of which only the backup is left, gets a name of
    ///     its own also where the swap had not moved it: the store that has its name is another.
    ///   - lock: of the plan's store.
    /// - Returns: the files that now lie beside the store under names of their own.
    /// - Throws: `SwapError`: `.storeBusy`, `.sourceChanged` where the store is another file
    ///   now, `.file`.
    package func abandon(
        _ plan: SwapPlan, keepsOriginal: Bool = false, under lock: StoreLock
    ) throws(SwapError) -> [FilePath] {
        let moves = try StoreMoves(
            store: plan.store.path, files: files, lock: lock, clients: clients)
        defer { moves.admitClients() }
        do throws(SwapError) {
            try SwapError.translating { try abandon(plan, keepsOriginal: keepsOriginal, moves) }
        } catch {
            moves.moved.kept.forEach(reportKept)
            throw error
        }
        return moves.moved.kept
    }

    /// Gives logs that a stopped swap had moved aside their names back.
    ///
    /// - Parameters:
    ///   - plan: as it was recorded.
    ///   - lock: of the plan's store.
    /// - Returns: the files that now lie beside the store under names of their own.
    /// - Throws: `SwapError`.
    package func settleAsides(
        of plan: SwapPlan, under lock: StoreLock
    ) throws(SwapError) -> [FilePath] {
        let moves = try StoreMoves(
            store: plan.store.path, files: files, lock: lock, clients: clients)
        defer { moves.admitClients() }
        return try SwapError.translating { try moves.settleAsides(of: plan, known: plan.known) }
    }

    private func abandon(
        _ plan: SwapPlan, keepsOriginal: Bool, _ moves: StoreMoves
    ) throws {
        let live = try moves.live()
        moves.moved.named.append(live)
        try moves.settleAsides(of: plan, known: plan.known)
        if plan.store.isFile(live) {
            // The backup goes, which may have the last name of a file of external data.
            return try restoreExternalData(of: plan, moves)
        }
        if plan.hasName(live) {
            try moves.cover(plan.store.path)
            try moves.endExchanges(of: plan, insteadOf: plan.known)
        } else if try keepsOriginal || plan.hasMoved(live: live) {
            try moves.keepBackup(of: plan)
        } else if try moves.tree.status(of: plan.mainBackup) != nil {
            // A program has replaced the original, which is not needed any more. Another plan of
            // the run would find its log beside another main file.
            try BackupRemoval(swap: plan, tree: moves.tree, takesUnrecordedCopies: true).run()
        }
    }
}
