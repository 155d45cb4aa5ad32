import CoreDataStore
import DurableFiles
import MigrationEngine
import MigrationPlans
import RunLedger
import StateFolders
import StoreRuns

// Stores that this process makes from their pages, in one go and without jobs.
extension PartitionedStoreSession {
    /// The largest source, in bytes: a run that is stopped begins again with the store.
    private static let rebuildLimit: Int64 = 4 << 30

    /// Whether a store can be made from its pages, and the user asked for nothing else.
    func rebuilds(_ planned: PlannedStore) throws(RunError) -> Bool {
        let options = shared.context.request.options
        guard shared.rebuildsStores, !needsStatements, options.strategy == nil,
            options.partition == .auto, planned.source.bytes <= Self.rebuildLimit,
            run.builder.canRebuild(planned)
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
