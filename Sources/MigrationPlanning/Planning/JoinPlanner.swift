import CoreDataStore
import MigrationPlans

/// Decides how the join tables of the destination are filled.
enum JoinPlanner {
    /// - Throws: `PlanError.unsupported` for links whose ends are made twice.
    static func plans(_ context: PlanContext) throws(PlanError) -> [JoinPlan] {
        let relations = RelationPlanner(context: context)
        var plans: [JoinPlan] = []
        for join in context.destination.joinTables {
            var feeds: [JoinFeed] = []
            for planned in relations.relations(feeding: join.naming) {
                try planned.refuseDoubledTargets()
                try planned.refuseDoubledOwners()
                if join.namingOrder != nil { try planned.refuseSharedPlaces() }
                let relation = planned.relation
                if join.namingOrder != nil && relation.storage.ownerOrder == nil
                    || join.inverseOrder != nil && relation.storage.targetOrder == nil
                {
                    try planned.refuseNewPlaces()
                }
                feeds.append(JoinFeed(relation: relation, isArithmetic: relation.isArithmetic))
            }
            plans.append(
                JoinPlan(
                    table: join.name, ownerColumn: join.namingColumn,
                    targetColumn: join.inverseColumn, ownerOrder: join.namingOrder,
                    targetOrder: join.inverseOrder, isReflexive: join.isReflexive, feeds: feeds))
        }
        return plans
    }
}
