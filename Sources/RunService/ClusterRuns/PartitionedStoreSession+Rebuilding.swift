import DurableFiles
import MigrationEngine
import MigrationPlans
import StateFolders
import StoreRuns

// Stores that this process makes from their pages, in one go and without jobs.
extension PartitionedStoreSession {
    /// Whether a store is made from its pages.
    func rebuilds(_ planned: PlannedStore) throws(RunError) -> Bool {
        guard shared.rebuildsStores, !needsStatements,
            planned.canBeRebuilt(shared.context.request.options, files)
        else { return false }
        // What workers delivered to an earlier process is not made again.
        return try receipts().isEmpty
    }

    /// Makes the store; the validation's source side runs meanwhile.
    ///
    /// - Returns: false where statements are needed after all.
    /// - Throws: `RunError`; the call can be repeated.
    func rebuild(_ planned: PlannedStore) throws(RunError) -> Bool {
        try RunError.translating { try files.removeScratchTree(places.building) }
        let isMade = try RunError.engine { () throws(EngineError) in
            validation?.end()
            validation = try run.builder.beginValidation(planned, nil)
            return try run.builder.rebuild(planned)
        }
        needsStatements = !isMade
        return isMade
    }
}
