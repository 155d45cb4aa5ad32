/// Where the links of one relationship lie in a file, seen from the objects that have the
/// relationship (owners) towards those that it leads to (targets).
package enum RelationStorage: Hashable, Sendable, Codable {
    /// A to-one: the target's key stands in the owner's row. `ownerOrder` is the owner's place
    /// in the target's ordered inverse.
    case ownerColumn(table: String, key: String, entity: String?, ownerOrder: String?)
    /// One end is the row, the other lies behind a path of to-one relationships of it, whose last
    /// column is `Z_PK`. The row is the owner, or the target where links are seen from there.
    case path(table: String, SourcePath, isFlipped: Bool)
    /// The inverse of a to-one, or a hidden key: the owner's key stands in the target's row,
    /// with its entity number in `entity` if a to-one has such a column. `targetOrder` is the
    /// target's place in the owner's list.
    case targetColumn(table: String, key: String, entity: String?, targetOrder: String?)
    /// A join table.
    case join(
        table: String, owner: String, target: String, ownerOrder: String?, targetOrder: String?)
}

extension RelationStorage {
    /// The table that holds the links.
    package var table: String {
        switch self {
        case .ownerColumn(let table, _, _, _), .targetColumn(let table, _, _, _),
            .join(let table, _, _, _, _), .path(let table, _, _):
            table
        }
    }

    /// The column of an owner's place in its target's list; nil where there is none.
    package var ownerOrder: String? {
        switch self {
        case .ownerColumn(_, _, _, let order): order
        case .targetColumn, .path: nil
        case .join(_, _, _, let order, _): order
        }
    }

    /// The column of a target's place in its owner's list; nil where there is none.
    package var targetOrder: String? {
        switch self {
        case .ownerColumn, .path: nil
        case .targetColumn(_, _, _, let order): order
        case .join(_, _, _, _, let order): order
        }
    }
}

/// One end of a source relation: the table of its objects and what becomes of them.
package struct RelationEnd: Hashable, Sendable, Codable {
    /// The source table of the end's objects.
    package var table: String
    /// What becomes of the objects by source entity; others do not occur or are dropped.
    package var targets: [Target]

    package init(table: String, targets: [Target]) {
        self.table = table
        self.targets = targets
    }
}

/// A relationship of the source with both its ends.
package struct SourceRelation: Hashable, Sendable, Codable {
    /// For messages: `Entity.relationship` of the source.
    package var name: String
    package var storage: RelationStorage
    package var owner: RelationEnd
    package var target: RelationEnd

    package init(name: String, storage: RelationStorage, owner: RelationEnd, target: RelationEnd) {
        self.name = name
        self.storage = storage
        self.owner = owner
        self.target = target
    }
}

/// Links of one source relation that become rows of a join table.
package struct JoinFeed: Hashable, Sendable, Codable {
    package var relation: SourceRelation
    /// Whether keys are moved by constants, so that no object has to be looked up.
    package var isArithmetic: Bool

    package init(relation: SourceRelation, isArithmetic: Bool) {
        self.relation = relation
        self.isArithmetic = isArithmetic
    }
}

/// How a join table of the destination is filled.
///
/// Owners are the objects of the naming side.
package struct JoinPlan: Hashable, Sendable, Codable {
    package var table: String
    package var ownerColumn: String
    package var targetColumn: String
    package var ownerOrder: String?
    package var targetOrder: String?
    /// Whether the relationship is its own inverse.
    package var isReflexive: Bool
    package var feeds: [JoinFeed]

    package init(
        table: String, ownerColumn: String, targetColumn: String, ownerOrder: String? = nil,
        targetOrder: String? = nil, isReflexive: Bool, feeds: [JoinFeed]
    ) {
        self.table = table
        self.ownerColumn = ownerColumn
        self.targetColumn = targetColumn
        self.ownerOrder = ownerOrder
        self.targetOrder = targetOrder
        self.isReflexive = isReflexive
        self.feeds = feeds
    }
}

/// Columns of an entity table that are filled in the link stage, from one source relation.
package struct LinkPlan: Hashable, Sendable, Codable {
    /// What is filled.
    package enum Purpose: Hashable, Sendable, Codable {
        /// Rows are owners: they get the key and perhaps the entity number of their target.
        case target(key: String, entity: String?)
        /// Rows are targets: they get the key of their owner.
        case owner(key: String)
        /// Rows are targets that have their owner already: they get a place in its list.
        case targetRank
        /// Rows are owners that have their target already: they get a place in its list.
        case ownerRank
    }

    package var table: String
    package var purpose: Purpose
    /// The column of the place in a list; nil where there is none to fill.
    package var orderColumn: String?
    package var relation: SourceRelation

    package init(
        table: String, purpose: Purpose, orderColumn: String? = nil, relation: SourceRelation
    ) {
        self.table = table
        self.purpose = purpose
        self.orderColumn = orderColumn
        self.relation = relation
    }
}

extension SourceRelation {
    /// Whether both ends move by constants and none is dropped: no object is looked up.
    package var isArithmetic: Bool {
        owner.targets.commonOffset != nil && target.targets.commonOffset != nil
    }
}
