import CoreDataStore

/// Decides how the join tables of the destination are filled.
enum JoinPlanner {
    static func plans(_ context: PlanContext) -> [JoinPlan] {
        let relations = RelationPlanner(context: context)
        return context.destination.joinTables.map { join in
            JoinPlan(
                table: join.name, ownerColumn: join.namingColumn, targetColumn: join.inverseColumn,
                ownerOrder: join.namingOrder, targetOrder: join.inverseOrder,
                isReflexive: join.isReflexive,
                feeds: relations.relations(feeding: join.naming).map {
                    JoinFeed(relation: $0, isArithmetic: $0.isArithmetic)
                })
        }
    }
}
