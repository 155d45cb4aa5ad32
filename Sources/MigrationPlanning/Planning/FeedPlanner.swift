import CoreDataStore
import ManagedObjectModel
import MappingExpressions
import MappingModel

/// Decides for every destination column where its values come from: the source row itself, or
/// the link stage.
struct FeedPlanner {
    let context: PlanContext
    private let relations: RelationPlanner
    private(set) var feeds: [Feed] = []
    private(set) var links: [LinkPlan] = []

    /// - Throws: `PlanError.unsupported` for a value that no cell can express.
    init(context: PlanContext) throws(PlanError) {
        self.context = context
        relations = RelationPlanner(context: context)
        collectFeeds()
        for index in feeds.indices { feeds[index].columns = try columns(of: feeds[index]) }
        // Rows of one relation may come through several feeds; the links are filled once.
        var seen: Set<LinkPlan> = []
        links = links.filter { seen.insert($0).inserted }
    }

    /// Groups entity mappings by the pair of tables, in the order of the destination's tables.
    private mutating func collectFeeds() {
        var found: [Feed] = []
        for (pass, mapping) in context.mapping.entityMappings.enumerated() {
            guard let from = mapping.source, let to = mapping.destination,
                let sourceTable = context.source.table(of: from)?.name,
                let destinationTable = context.destination.table(of: to)?.name,
                let sourceNumber = context.source.number(of: from),
                let destinationNumber = context.destination.number(of: to)
            else { continue }
            let entity = EntityFeed(
                source: from, sourceNumber: Int64(sourceNumber), destination: to,
                destinationNumber: Int64(destinationNumber), pass: pass)
            let place = found.firstIndex {
                $0.sourceTable == sourceTable && $0.destinationTable == destinationTable
            }
            if let place {
                found[place].entities.append(entity)
            } else {
                found.append(
                    Feed(
                        sourceTable: sourceTable, destinationTable: destinationTable,
                        offset: context.offset(from: sourceTable, to: destinationTable),
                        entities: [entity], columns: []))
            }
        }
        let order = Dictionary(
            uniqueKeysWithValues: context.destination.tables.enumerated().map {
                ($0.element.name, $0.offset)
            })
        feeds = found.enumerated().sorted { left, right in
            let first = (order[left.element.destinationTable] ?? 0, left.element.offset)
            let second = (order[right.element.destinationTable] ?? 0, right.element.offset)
            return first < second
        }.map(\.element)
    }

    private mutating func columns(of feed: Feed) throws(PlanError) -> [FeedColumn] {
        guard
            let table = context.destination.tables.first(where: {
                $0.name == feed.destinationTable
            })
        else { return [] }
        var result: [FeedColumn] = []
        for column in table.columns {
            var cells: [EntityCell] = []
            for entity in feed.entities {
                guard let cell = try cell(of: column, for: entity, in: feed) else { continue }
                if let same = cells.firstIndex(where: { $0.cell == cell }) {
                    cells[same].sourceNumbers.append(entity.sourceNumber)
                } else {
                    cells.append(EntityCell(sourceNumbers: [entity.sourceNumber], cell: cell))
                }
            }
            result.append(FeedColumn(name: column.name, cells: cells))
        }
        return result
    }

    /// The cell that rows of one entity get in a column; nil for NULL and for what the link
    /// stage fills.
    private mutating func cell(
        of column: ColumnLayout, for entity: EntityFeed, in feed: Feed
    ) throws(PlanError) -> Cell? {
        switch column.role {
        case .attribute(let key):
            guard context.destination.model.isKind(entity.destination, of: key.entity) else {
                return nil
            }
            return try attributeCell(key, column: column, for: entity)
        case .toOne(let key):
            return ownCell(key, for: entity, in: feed) { key, entityColumn, end in
                .key(key, entity: entityColumn, table: end.table, targets: end.targets)
            }
        case .toOneEntity(let key):
            return ownCell(key, for: entity, in: feed) { key, entityColumn, end in
                .entityNumber(
                    key, entity: entityColumn, table: end.table, targets: end.targets)
            }
        case .order(let key):
            return orderCell(key, column: column, for: entity, in: feed)
        case .hiddenKey(let key):
            return hiddenCell(key, for: entity, in: feed)
        case .hiddenOrder(let key):
            return hiddenOrderCell(key, column: column, for: entity, in: feed)
        }
    }

    private func attributeCell(
        _ key: PropertyKey, column: ColumnLayout, for entity: EntityFeed
    ) throws(PlanError) -> Cell? {
        let mapping = context.mapping.entityMappings[entity.pass]
        guard
            let value = mapping.attributes.first(where: { $0.destination == key.property })?.value
        else { return nil }
        switch value {
        case .null: return nil
        case .expression(let expression):
            return .computed(try computed(expression, key, column: column, for: entity))
        case .constant(let value): return .constant(stored(value, in: column))
        case .source(let name):
            return moved(try sourceColumn(name, of: entity.source), to: column)
        case .sourceOrDefault(let name, let value):
            let from = try sourceColumn(name, of: entity.source)
            guard from.isExternal == column.isExternal else {
                throw .unsupported(
                    "attribute \(key) becomes required with a default and changes external "
                        + "storage at once: do it in two versions")
            }
            return .columnOrDefault(from.name, stored(value, in: column))
        }
    }

    private func computed(
        _ expression: MappingExpression, _ key: PropertyKey, column: ColumnLayout,
        for entity: EntityFeed
    ) throws(PlanError) -> ComputedCell {
        let value = ComputedValue(expression)
        guard !value.readsObjects, ExpressionInspection(expression).calls.isEmpty else {
            throw .unsupported(
                "\(key): \(expression.text) needs objects, which is not supported yet")
        }
        guard !column.isExternal else {
            throw .unsupported("\(key) may lie in a file of its own: its value can only be copied")
        }
        var inputs: [SourcePath] = []
        for keys in value.inputs {
            inputs.append(try SourcePath(keys, of: entity.source, in: context.source))
        }
        let attribute = context.destination.model.element(key.property, of: entity.destination)
        return ComputedCell(
            value: value, inputs: inputs, type: attribute?.type ?? .undefined,
            isRequired: attribute?.isOptional == false, name: key.description, now: context.now)
    }

    /// A default as the column holds it: with the prefix byte where values are external.
    private func stored(_ value: DefaultValue, in column: ColumnLayout) -> DefaultValue {
        guard column.isExternal, case .data(let bytes) = value else { return value }
        return .data([ExternalReference.inlinePrefix] + bytes)
    }

    private func moved(_ from: ColumnLayout, to column: ColumnLayout) -> Cell {
        switch (from.isExternal, column.isExternal) {
        case (false, true): .addingPrefix(from.name)
        case (true, false): .removingPrefix(from.name)
        default: .column(from.name)
        }
    }

    private func sourceColumn(
        _ name: String, of entity: String
    ) throws(PlanError) -> ColumnLayout {
        for owner in context.source.model.ancestry(of: entity) {
            if let found = context.source.column(.attribute(PropertyKey(owner.name, name))) {
                return found.column
            }
        }
        throw .unsupported("source attribute \(entity).\(name) has no column")
    }
}

// MARK: - Relationships

extension FeedPlanner {
    /// A cell from the to-one column of the row itself, else a link plan and NULL for now.
    private mutating func ownCell(
        _ key: PropertyKey, for entity: EntityFeed, in feed: Feed,
        make: (KeyValue, KeyValue?, RelationEnd) -> Cell
    ) -> Cell? {
        guard context.destination.model.isKind(entity.destination, of: key.entity) else {
            return nil
        }
        for relation in relations.relations(feeding: key)
        where relation.owner.feeds(entity) {
            if case .ownerColumn(let table, let column, let entityColumn, _) = relation.storage,
                table == feed.sourceTable,
                entityColumn != nil || canDoWithoutLookup(key, relation.target.targets)
            {
                return make(
                    .column(column), entityColumn.map { .column($0) }, relation.target)
            }
            if case .path(let table, let path, false) = relation.storage, table == feed.sourceTable
            {
                return make(.path(path), .path(path.reading("Z_ENT")), relation.target)
            }
            fill(
                feed.destinationTable, relation,
                .target(
                    key: context.destination.column(.toOne(key))?.column.name ?? "",
                    entity: context.destination.column(.toOneEntity(key))?.column.name),
                order: context.destination.column(.order(key))?.column.name,
                isOrdered: relation.storage.ownerOrder != nil, rank: .ownerRank)
        }
        return nil
    }

    /// Whether a target's key tells all that the destination's columns ask for.
    private func canDoWithoutLookup(_ key: PropertyKey, _ targets: [Target]) -> Bool {
        guard targets.canDoWithoutLookup else { return false }
        let needsNumber = context.destination.column(.toOneEntity(key)) != nil
        return !needsNumber || targets.count == 1 || targets.commonNumber != nil
    }

    /// Leaves columns to the link stage: a place in a list comes along where the source has
    /// one, else from a pass of its own over whole lists.
    private mutating func fill(
        _ table: String, _ relation: SourceRelation, _ purpose: LinkPlan.Purpose,
        order: String?, isOrdered: Bool, rank: LinkPlan.Purpose
    ) {
        links.append(
            LinkPlan(
                table: table, purpose: purpose, orderColumn: isOrdered ? order : nil,
                relation: relation))
        guard let order, !isOrdered else { return }
        links.append(
            LinkPlan(table: table, purpose: rank, orderColumn: order, relation: relation))
    }

    private mutating func orderCell(
        _ key: PropertyKey, column: ColumnLayout, for entity: EntityFeed, in feed: Feed
    ) -> Cell? {
        guard context.destination.model.isKind(entity.destination, of: key.entity) else {
            return nil
        }
        for relation in relations.relations(feeding: key)
        where relation.owner.feeds(entity) {
            guard case .ownerColumn(let table, _, let entityColumn, let order) = relation.storage,
                table == feed.sourceTable,
                entityColumn != nil || canDoWithoutLookup(key, relation.target.targets)
            else { continue }
            if let order { return .column(order) }
            links.append(
                LinkPlan(
                    table: feed.destinationTable, purpose: .ownerRank, orderColumn: column.name,
                    relation: relation))
        }
        return nil
    }

    /// A cell from a key of the owner that stands in the row, else a link plan.
    private mutating func hiddenCell(
        _ key: PropertyKey, for entity: EntityFeed, in feed: Feed
    ) -> Cell? {
        for relation in relations.relations(feeding: key)
        where relation.target.feeds(entity) {
            if case .targetColumn(let table, let column, let entityColumn, _) = relation.storage,
                table == feed.sourceTable,
                entityColumn != nil || relation.owner.targets.canDoWithoutLookup
            {
                return .key(
                    .column(column), entity: entityColumn.map { .column($0) },
                    table: relation.owner.table, targets: relation.owner.targets)
            }
            fill(
                feed.destinationTable, relation,
                .owner(key: context.destination.column(.hiddenKey(key))?.column.name ?? ""),
                order: context.destination.column(.hiddenOrder(key))?.column.name,
                isOrdered: relation.storage.targetOrder != nil, rank: .targetRank)
        }
        return nil
    }

    private mutating func hiddenOrderCell(
        _ key: PropertyKey, column: ColumnLayout, for entity: EntityFeed, in feed: Feed
    ) -> Cell? {
        for relation in relations.relations(feeding: key)
        where relation.target.feeds(entity) {
            guard case .targetColumn(let table, _, let entityColumn, let order) = relation.storage,
                table == feed.sourceTable,
                entityColumn != nil || relation.owner.targets.canDoWithoutLookup
            else { continue }
            if let order { return .column(order) }
            links.append(
                LinkPlan(
                    table: feed.destinationTable, purpose: .targetRank, orderColumn: column.name,
                    relation: relation))
        }
        return nil
    }
}

extension RelationEnd {
    /// Whether objects of this entity feed are among the end's objects.
    func feeds(_ entity: EntityFeed) -> Bool {
        targets.contains { $0.sourceNumber == entity.sourceNumber && $0.place != nil }
    }
}

extension [Target] {
    /// Whether a key alone tells the destination key: one source entity, or one offset.
    var canDoWithoutLookup: Bool { count == 1 || commonOffset != nil }
}
