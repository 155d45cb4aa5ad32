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

    /// Removes a result that an earlier process began, perhaps in another way, and of which no job
    /// is a part.
    func removeUnfinished() throws(RunError) {
        try RunError.translating {
            for path in StoreLocation(places.building).files + [places.buildingSupport] {
                try files.removeScratchTree(path)
            }
        }
    }

    /// Makes the store; the validation's source side runs meanwhile.
    ///
    /// - Returns: false where statements are needed after all.
    /// - Throws: `RunError`; the call can be repeated.
    func rebuild(_ planned: PlannedStore) throws(RunError) -> Bool {
        try removeUnfinished()
        let isMade = try RunError.engine { () throws(EngineError) in
            validation?.end()
            validation = try run.builder.beginValidation(planned, nil)
            return try run.builder.rebuild(planned)
        }
        needsStatements = !isMade
        return isMade
    }
}
