import CoreDataStore
import ManagedObjectModel
import MigrationPlans

/// Where the links of rows come from.
extension FeedPlanner {
    /// A cell from the to-one column of the row itself, else a link plan and NULL for now.
    mutating func ownCell(
        _ key: PropertyKey, for entity: EntityFeed, in feed: Feed,
        make: (KeyValue, KeyValue?, RelationEnd) -> Cell
    ) throws(PlanError) -> Cell? {
        guard context.destination.model.isKind(entity.destination, of: key.entity) else {
            return nil
        }
        var own: Cell?
        var linked: Set<Int64> = []
        for planned in relations.relations(feeding: key)
        where planned.owner.passes.contains(entity.pass) {
            let relation = planned.relation
            try planned.refuseSecondLinks(&linked)
            if own == nil,
                case .ownerColumn(let table, let column, let entityColumn, _) = relation.storage,
                table == feed.sourceTable,
                isFoundByRow(key, relation.target, entityColumn: entityColumn)
            {
                try planned.refuseDoubledTargets()
                // What the other end alone says has one owner.
                if planned.isRest { try planned.refuseDoubledOwners() }
                own = make(
                    .column(column),
                    number(
                        of: column, entityColumn, relation.target,
                        isNamed: context.destination.column(.toOneEntity(key)) != nil),
                    relation.target)
            } else if own == nil, case .path(let table, let path, false) = relation.storage,
                table == feed.sourceTable
            {
                try planned.refuseDoubledTargets()
                own = make(
                    .path(path), .number(path, table: relation.target.table), relation.target)
            } else {
                // What several relations feed, the link stage adds to the first one's.
                try fill(
                    feed.destinationTable, planned,
                    .target(
                        key: context.destination.column(.toOne(key))?.column.name ?? "",
                        entity: context.destination.column(.toOneEntity(key))?.column.name),
                    order: context.destination.column(.order(key))?.column.name,
                    isOrdered: relation.storage.ownerOrder != nil, rank: .ownerRank)
            }
        }
        return own
    }

    /// Whether a row that holds a key tells all that the destination's columns ask for.
    private func isFoundByRow(
        _ key: PropertyKey, _ end: RelationEnd, entityColumn: String?
    ) -> Bool {
        if entityColumn != nil || context.splits.decide(on: end) { return true }
        guard end.targets.canDoWithoutLookup else { return false }
        let needsNumber = context.destination.column(.toOneEntity(key)) != nil
        return !needsNumber || end.targets.count == 1 || end.targets.commonNumber != nil
    }

    /// Where the number is read of the object whose key stands in a column; nil where its key alone
    /// tells all.
    ///
    /// `isNamed`: whether the destination names the entity of the end.
    private func number(
        of column: String, _ entityColumn: String?, _ end: RelationEnd, isNamed: Bool
    ) -> KeyValue? {
        guard !context.splits.decide(on: end) else {
            if end.targets.commonOffset != nil, !isNamed || end.targets.count == 1 { return nil }
            let path = SourcePath(
                steps: [.toOne(column: column, table: end.table)], column: "Z_PK", type: .objectID,
                reduction: nil)
            return .number(path, table: end.table)
        }
        return entityColumn.map { .column($0) }
    }

    /// Leaves columns to the link stage: a place in a list comes along where the source has
    /// one, else from a pass of its own over whole lists.
    private mutating func fill(
        _ table: String, _ planned: PlannedRelation, _ purpose: LinkPlan.Purpose,
        order: String?, isOrdered: Bool, rank: LinkPlan.Purpose
    ) throws(PlanError) {
        try planned.refuseDoubledTargets()
        try planned.refuseDoubledOwners()
        if order != nil { try planned.refuseSharedPlaces() }
        links.append(
            LinkPlan(
                table: table, purpose: purpose, orderColumn: isOrdered ? order : nil,
                relation: planned.relation))
        guard let order, !isOrdered else { return }
        try planned.refuseNewPlaces()
        links.append(
            LinkPlan(
                table: table, purpose: rank, orderColumn: order, relation: planned.relation))
    }

    /// A cell from the place of a row in its target's list, else a link plan.
    mutating func orderCell(
        _ key: PropertyKey, column: ColumnLayout, for entity: EntityFeed, in feed: Feed
    ) throws(PlanError) -> Cell? {
        guard context.destination.model.isKind(entity.destination, of: key.entity) else {
            return nil
        }
        for planned in relations.relations(feeding: key)
        where planned.owner.passes.contains(entity.pass) {
            let relation = planned.relation
            guard case .ownerColumn(let table, _, let entityColumn, let order) = relation.storage,
                table == feed.sourceTable,
                isFoundByRow(key, relation.target, entityColumn: entityColumn)
            else { continue }
            try planned.refuseSharedPlaces()
            try planned.refuseDoubledOwners()
            if let order { return .column(order) }
            try planned.refuseNewPlaces()
            links.append(
                LinkPlan(
                    table: feed.destinationTable, purpose: .ownerRank, orderColumn: column.name,
                    relation: relation))
        }
        return nil
    }

    /// A cell from a key of the owner that stands in the row, else a link plan.
    mutating func hiddenCell(
        _ key: PropertyKey, for entity: EntityFeed, in feed: Feed
    ) throws(PlanError) -> Cell? {
        var own: Cell?
        for planned in relations.relations(feeding: key)
        where planned.target.passes.contains(entity.pass) {
            let relation = planned.relation
            if own == nil,
                case .targetColumn(let table, let column, let entityColumn, _) = relation.storage,
                table == feed.sourceTable, isFoundByRow(relation.owner, entityColumn)
            {
                try planned.refuseDoubledTargets()
                try planned.refuseDoubledOwners()
                own = .key(
                    .column(column),
                    entity: number(of: column, entityColumn, relation.owner, isNamed: false),
                    table: relation.owner.table, targets: relation.owner.targets)
            } else {
                try fill(
                    feed.destinationTable, planned,
                    .owner(key: context.destination.column(.hiddenKey(key))?.column.name ?? ""),
                    order: context.destination.column(.hiddenOrder(key))?.column.name,
                    isOrdered: relation.storage.targetOrder != nil, rank: .targetRank)
            }
        }
        return own
    }

    /// Whether a row that holds the key of an owner tells the owner's key in the destination.
    private func isFoundByRow(_ owner: RelationEnd, _ entityColumn: String?) -> Bool {
        entityColumn != nil || context.splits.decide(on: owner) || owner.targets.canDoWithoutLookup
    }

    /// A cell from the place of a row in its owner's list, else a link plan.
    mutating func hiddenOrderCell(
        _ key: PropertyKey, column: ColumnLayout, for entity: EntityFeed, in feed: Feed
    ) throws(PlanError) -> Cell? {
        for planned in relations.relations(feeding: key)
        where planned.target.passes.contains(entity.pass) {
            let relation = planned.relation
            guard case .targetColumn(let table, _, let entityColumn, let order) = relation.storage,
                table == feed.sourceTable, isFoundByRow(relation.owner, entityColumn)
            else { continue }
            if let order { return .column(order) }
            try planned.refuseNewPlaces()
            try planned.refuseDoubledTargets()
            links.append(
                LinkPlan(
                    table: feed.destinationTable, purpose: .targetRank, orderColumn: column.name,
                    relation: relation))
        }
        return nil
    }
}

extension [Target] {
    /// Whether a key alone tells the destination key: one source entity, or one offset.
    fileprivate var canDoWithoutLookup: Bool { count == 1 || commonOffset != nil }
}
