package import CoreDataStore
package import SafeSQLite

/// A plan with the layouts that follow from it: what every stage works from.
package struct LaidOutPlan: Sendable {
    package let plan: MigrationPlan
    /// The layout of the source.
    package let source: StoreLayout
    /// The layout of the destination.
    package let destination: StoreLayout
    /// What is known of stores of the same app.
    package let cache: PlanCache

    /// Derives the layouts, or takes them from a cache.
    ///
    /// - Throws: `StoreError.layoutUnknown` for a model without a layout.
    package init(
        _ plan: MigrationPlan, cache: PlanCache = PlanCache()
    ) throws(StoreError) {
        self.plan = plan
        self.cache = cache
        source = try cache.stores.layout(of: plan.sourceModel, framework: plan.sourceFramework)
        destination = try cache.stores.layout(
            of: plan.destinationModel, framework: plan.framework)
    }
}
