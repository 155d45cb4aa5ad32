import DurableFiles
import Foundation
import MigrationPlans
import RunLedger
import StateFolders
import StoreRuns
import StoreSwap

// What a backup holds is recorded in two places, both in the ledger: the swap's own entry, written
// before anything moves, and entries of files that became copies since. The later one counts.

extension CutOver {
    /// Records files of a store's backup that are others than recorded before, such as a copy that
    /// is to take the place of a link.
    ///
    /// One append, so that after a crash either the older record counts or the newer. A copy must
    /// be durable before it is recorded; where it is to replace the original in the backup, it does
    /// so afterwards, for the original itself always counts. It may be called at any time after
    /// the swap was recorded, on any thread.
    ///
    /// - Returns: what records; it throws `RunError.ledger`.
    func backupRecorder(
        of store: FoundStore
    ) -> @Sendable ([BackupRecord.Entry]) throws -> Void {
        // It outlives the mover, and must not keep what keeps it.
        let (ledger, run, number) = (ledger, run, store.number)
        return { entries in
            let detail = try RecordedText.text(of: entries)
            try RunError.ledger { () throws(LedgerError) in
                try ledger.append([
                    .swapStep(
                        run: run, store: number,
                        SwapEntry(.backup, .copied, detail: detail))
                ])
            }
        }
    }
}

extension SwapPlan {
    /// The plan as a ledger has it, with what was recorded of its backup since.
    ///
    /// - Parameters:
    ///   - steps: of the store, in the order in which they were written.
    ///   - place: where the plan's own entry stands among them.
    /// - Returns: the plan.
    /// - Throws: `RunError.engine` for entries of another version of the program.
    func recorded(in steps: [SwapEntry], at place: Int) throws(RunError) -> SwapPlan {
        var plan = self
        for step in steps[place...] where step.kind == .backup {
            do {
                plan = plan.recording(
                    try JSONDecoder().decode(
                        [BackupRecord.Entry].self, from: Data(step.detail.utf8)))
            } catch {
                throw .engine(.wrongPlan("a backup in the ledger cannot be read: \(error)"))
            }
        }
        return plan
    }
}
