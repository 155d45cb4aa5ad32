import DurableFiles
import Jobs
import MigrationEngine
import RunLedger
import Synchronization
import Threads

// How stores and runs end.

extension RunFeeder {
    /// Closes the account of a store that failed; what ends the whole run goes on.
    func fail(_ found: FoundStore, _ error: RunError) throws(RunError) {
        switch error {
        case .alreadyThere: return try skip(found)
        case .ledger, .stopped: throw error
        default: if error.isOutOfSpace, !error.isFailedSync { throw error }
        }
        // Between two names, or under its new one: the same command ends it, or a rollback.
        if try mover.hasBegunMove(found) { return leave(found, error) }
        try context.record([
            .storeChanged(
                run: context.id, store: found.number, .failed,
                reason: FailureReason(code: error.code, text: "\(error)"),
                at: context.environment.wallTime()),
            .storeReport(
                run: context.id, store: found.number,
                try StoreRecord.failure(FailureCause(error)).text()),
            .released(run: context.id, store: found.number),
        ])
        tally.withLock { $0.failures += 1 }
        context.observe(.ended(store: found.number, path: found.path, .failed(error)))
        // Mending a store's data changes it, and nothing that was made of it counts any more.
        if error.isFailedSync {
            try forget(found, "\(error)")
        } else if try !canGoOn(found, after: error) {
            discard(found)
        }
    }

    /// Makes all that was made of a store void; where its folder is gone, so is all of it.
    private func forget(_ found: FoundStore, _ reason: String) throws(RunError) {
        do throws(RunError) {
            try StoreRun(found, context: context, slots: 1).forget(reason)
        } catch {
            guard case .file(let cause) = error, cause.isMissing else { throw error }
        }
    }

    /// Tells of a store whose move met an error on its way: it stays what it is in the ledger, and
    /// the run stays open.
    func leave(_ found: FoundStore, _ error: RunError) {
        tally.withLock { $0.failures += 1 }
        context.observe(.ended(store: found.number, path: found.path, .failed(error)))
    }

    /// Whether a replay could go on with what was made of a store.
    private func canGoOn(
        _ found: FoundStore, after error: RunError
    ) throws(RunError) -> Bool {
        guard error.code.decision == .retry else { return false }
        let summary = try context.read { ledger throws(LedgerError) in
            try ledger.store(run: context.id, found.number)
        }
        if summary?.preparation != nil { return true }
        return try mover.unfinished(found) != nil
    }

    /// Closes the account of a store that needs no migration.
    private func skip(_ found: FoundStore) throws(RunError) {
        try context.record([
            .storeReport(run: context.id, store: found.number, try StoreRecord.unchanged.text()),
            .storeChanged(
                run: context.id, store: found.number, .done, reason: nil,
                at: context.environment.wallTime()),
            .released(run: context.id, store: found.number),
        ])
        discard(found)
        context.observe(.ended(store: found.number, path: found.path, .unchanged))
    }

    /// Removes what a failed store left.
    func discard(_ found: FoundStore) {
        do throws(RunError) {
            let places = try StoreRun(found, context: context, slots: 1).places
            try RunError.translating { try places.removeAll(context.files) }
        } catch {
            // The store's own failure is what counts; prune removes what is left.
            return
        }
    }

    func end(with error: RunError) {
        tally.withLock { $0.fatal = $0.fatal ?? error }
        context.cancellation.cancel()
    }

    /// Closes the run.
    func end(isResumed: Bool) throws(RunError) -> RunEnding {
        let (fatal, failures) = tally.withLock { ($0.fatal, $0.isCutShort ? $0.failures : nil) }
        if let fatal { throw fatal }
        let book = RunBook(ledger: context.ledger, environment: context.environment)
        try context.whenThereIsRoom { () throws(RunError) in try book.endIfFinished(context.id) }
        let counts = try context.read { ledger throws(LedgerError) in
            try ledger.storeCounts(of: context.id)
        }
        return RunEnding(
            id: context.id, counts: counts, isResumed: isResumed,
            stopReason: failures.map { count in
                "\(count) \(count == 1 ? "store" : "stores") failed, which is the limit"
            })
    }
}
