import CoreDataStore
package import DurableFiles
import MigrationEngine
package import MigrationPlans

// Large stores that one process makes from their pages.
extension PlannedStore {
    /// The largest source, in bytes: a run that is stopped begins again with the store.
    private static let rebuildLimit: Int64 = 4 << 30

    /// Whether the store can be made from its pages in one go, and the user asked for nothing else.
    ///
    /// - Parameters:
    ///   - options: as the user gave them.
    ///   - files: would open the store.
    /// - Returns: whether both hold.
    package func canBeRebuilt(_ options: PlanOptions, _ files: DurableFileSystem) -> Bool {
        options.strategy == nil && options.partition == .auto && plan.strategy == .partitioned
            && source.bytes <= Self.rebuildLimit
            && StoreRebuild(laidOut, source: source, files: files) != nil
    }
}
