import MappingModel
import MigrationPlans
import SafeSQLite

/// The links of a source relation as a query over a source attached as `src`.
///
/// Its rows are called: `o`, `t` the destination keys of owner and target, `te` the destination
/// number of the target's entity, `oo` the owner's place in the target's list, `tt` the
/// target's place in the owner's list. Links with a dropped end are left out.
struct RelationSQL {
    let relation: SourceRelation
    private let dangling: DanglingPolicy
    private let cells: CellSQL

    /// - Parameters:
    ///   - relation: of the plan.
    ///   - plan: of the store.
    init(_ relation: SourceRelation, of plan: MigrationPlan) {
        self.relation = relation
        dangling = plan.options.dangling
        cells = CellSQL(plan)
    }

    /// Which links a chunk holds, in source keys.
    enum Bound {
        /// Of the table that holds the links: its rowid.
        case row(KeyRange)
        case owner(KeyRange)
        case target(KeyRange)
    }

    /// Whether places in lists have to be made up.
    struct Ranks {
        var owner = false
        var target = false
    }

    /// What a link must have beyond two keys to be of use.
    struct Needs {
        /// The row of the owner.
        var owner = false
        /// The row of the target.
        var target = false
        /// The number of the target's entity.
        var targetNumber = false
    }

    /// The query, in the order of the table that holds the links.
    func query(_ bound: Bound, ranks: Ranks = Ranks(), needs: Needs = Needs()) -> SQLText {
        let ends = (owner: ownerEnd, target: targetEnd)
        let owner = cells.key(ends.owner.key, ends.owner.entity, relation.owner.targets)
        let target = cells.key(ends.target.key, ends.target.entity, relation.target.targets)
        let entity = cells.entityNumber(
            ends.target.key, ends.target.entity, relation.target.targets)
        let orders = orderColumns
        let ownerOrder =
            ranks.owner ? Self.rank(over: ends.target.key, by: ends.owner.key) : orders.owner
        let targetOrder =
            ranks.target ? Self.rank(over: ends.owner.key, by: ends.target.key) : orders.target
        var conditions = range(bound, ends.owner, ends.target)
        conditions += self.conditions(ends.owner, relation.owner, owner, mustExist: needs.owner)
        conditions += self.conditions(ends.target, relation.target, target, mustExist: needs.target)
        if needs.targetNumber, relation.target.targets.commonNumber == nil,
            let number = ends.target.entity,
            let isKept = CellSQL.kept(number, relation.target.targets)
        {
            conditions.append(isKept)
        }
        return "SELECT \(owner) AS o, \(target) AS t, \(entity) AS te, "
            + "\(ownerOrder) AS oo, \(targetOrder) AS tt "
            + "FROM src.\(SQLText.quoted(relation.storage.table)) s"
            + "\(ends.owner.join)\(ends.target.join) "
            + "WHERE \(conditions.joined(separator: " AND "))"
            + (ranks.owner || ranks.target ? "" : " ORDER BY s.rowid")
    }

    /// How one end is found in the row of a link.
    private struct End {
        let key: SQLText
        /// The end's entity number: from the row, or looked up; nil where it is not needed.
        let entity: SQLText?
        /// The look-up, if any.
        let join: SQLText
        /// Whether the row of the link is the end's own row.
        let isRow: Bool
    }

    private var ownerEnd: End {
        switch relation.storage {
        case .ownerColumn:
            return row(relation.owner)
        case .targetColumn(_, let key, let entity?, _):
            return named(key, entity, relation.owner, alias: "lo")
        case .targetColumn(_, let key, nil, _):
            return lookedUp(CellSQL.column(key), relation.owner, alias: "lo", needsNumber: false)
        case .path(_, let path, let isFlipped):
            return isFlipped ? behind(path, relation.owner) : row(relation.owner)
        case .join(_, let owner, _, _, _):
            return lookedUp(CellSQL.column(owner), relation.owner, alias: "lo", needsNumber: false)
        }
    }

    private var targetEnd: End {
        switch relation.storage {
        case .ownerColumn(_, let key, let entity?, _):
            return named(key, entity, relation.target, alias: "lt")
        case .ownerColumn(_, let key, nil, _):
            return lookedUp(CellSQL.column(key), relation.target, alias: "lt", needsNumber: true)
        case .targetColumn:
            return row(relation.target)
        case .path(_, let path, let isFlipped):
            return isFlipped ? row(relation.target) : behind(path, relation.target)
        case .join(_, _, let target, _, _):
            return lookedUp(CellSQL.column(target), relation.target, alias: "lt", needsNumber: true)
        }
    }

    /// The end behind a path, which is there wherever it has a key.
    private func behind(_ path: SourcePath, _ end: RelationEnd) -> End {
        let row = SourceRow.attached("s")
        let number = path.sql(from: row) { cells.numbers.number(of: $0, in: end.table) }
        return End(key: path.sql(from: row), entity: number, join: "", isRow: false)
    }

    /// The end whose entity stands in a column, which says nothing of variants.
    private func named(
        _ key: String, _ entity: String, _ end: RelationEnd, alias: SQLText
    ) -> End {
        guard !cells.numbers.splits(end) else {
            return lookedUp(CellSQL.column(key), end, alias: alias, needsNumber: true)
        }
        return End(
            key: CellSQL.column(key), entity: CellSQL.column(entity), join: "", isRow: false)
    }

    /// The row of a link as one of its ends.
    private func row(_ end: RelationEnd) -> End {
        let isAlone = end.targets.first?.isAlone == true
        let number = cells.numbers.number(of: .attached("s"), in: end.table)
        return End(key: "s.Z_PK", entity: isAlone ? nil : number, join: "", isRow: true)
    }

    private func lookedUp(
        _ key: SQLText, _ end: RelationEnd, alias: SQLText, needsNumber: Bool
    ) -> End {
        let isKnown =
            end.targets.commonOffset != nil && (!needsNumber || end.targets.commonNumber != nil)
        guard !isKnown else { return End(key: key, entity: nil, join: "", isRow: false) }
        return End(
            key: key, entity: cells.numbers.number(of: .attached(alias), in: end.table),
            join: " LEFT JOIN src.\(SQLText.quoted(end.table)) \(alias) ON \(alias).Z_PK = \(key)",
            isRow: false)
    }

    private var orderColumns: (owner: SQLText, target: SQLText) {
        (
            relation.storage.ownerOrder.map(CellSQL.column) ?? "NULL",
            relation.storage.targetOrder.map(CellSQL.column) ?? "NULL"
        )
    }

    private func range(_ bound: Bound, _ owner: End, _ target: End) -> [SQLText] {
        switch bound {
        case .row(let range): range.conditions(on: "s.rowid")
        case .owner(let range): range.conditions(on: owner.key)
        case .target(let range): range.conditions(on: target.key)
        }
    }

    private func conditions(
        _ end: End, _ told: RelationEnd, _ expression: SQLText, mustExist: Bool
    ) -> [SQLText] {
        if end.isRow {
            let number = cells.numbers.number(of: .attached("s"), in: told.table)
            return [CellSQL.kept(number, told.targets) ?? "1"]
        }
        var conditions: [SQLText] = ["\(end.key) IS NOT NULL"]
        if told.targets.commonOffset == nil || told.targets.keys != .all {
            conditions.append("\(expression) IS NOT NULL")
        }
        if dangling == .nullify || mustExist {
            conditions.append(cells.exists(end.key, told.table, told.targets))
        }
        return conditions
    }

    // The first place is 2048, the step 1024.
    private static func rank(over holder: SQLText, by member: SQLText) -> SQLText {
        "1024 + 1024 * row_number() OVER (PARTITION BY \(holder) ORDER BY \(member))"
    }
}
