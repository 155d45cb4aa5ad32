import CoreDataStore
import MappingModel
import MigrationPlans

/// The part of a plan that is the same for all stores of a source version: which rows go where,
/// and how links are found.
struct PlanShape: Sendable {
    let feeds: [Feed]
    let links: [LinkPlan]
    let joins: [JoinPlan]
    /// What changes in each entity table of the destination.
    let changes: [String: [TableChange]]

    /// Everything that a shape follows from.
    struct Key: Equatable, Sendable {
        let source: StoreLayout
        let destination: StoreLayout
        let mapping: Mapping
        let offsets: [PlanContext.Way: Int64]
        let splits: [EntitySplit]
        let now: Double
        let keysBelowMade: [String: Int64]

        init(_ context: PlanContext) {
            source = context.source
            destination = context.destination
            mapping = context.mapping
            offsets = context.offsets
            splits = context.splits
            now = context.now
            keysBelowMade = context.keysBelowMade
        }
    }

    /// - Throws: `PlanError.unsupported` for a value that no cell can express.
    init(_ context: PlanContext) throws(PlanError) {
        let planner = try FeedPlanner(context: context)
        feeds = planner.feeds
        links = planner.links
        joins = try JoinPlanner.plans(context)
        changes = TableChanges.lines(feeds, context)
    }
}
