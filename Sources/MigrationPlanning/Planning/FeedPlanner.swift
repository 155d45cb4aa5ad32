import CoreDataStore
import ManagedObjectModel
import MappingExpressions
import MappingModel
import MigrationPlans

/// Decides for every destination column where its values come from: the source row itself, or
/// the link stage.
struct FeedPlanner {
    let context: PlanContext
    let relations: RelationPlanner
    private(set) var feeds: [Feed] = []
    var links: [LinkPlan] = []

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
        for pass in context.allPasses {
            guard let from = pass.mapping.source,
                let destinationNumber = context.destination.number(of: pass.destination)
            else { continue }
            let entities = pass.numbers.map { number in
                EntityFeed(
                    source: from, sourceNumber: number, destination: pass.destination,
                    destinationNumber: Int64(destinationNumber), pass: pass.place)
            }
            let place = found.firstIndex {
                $0.sourceTable == pass.way.source && $0.destinationTable == pass.way.destination
                    && $0.layer == pass.way.layer
            }
            if let place {
                found[place].entities += entities
            } else if !entities.isEmpty {
                found.append(
                    Feed(
                        sourceTable: pass.way.source, destinationTable: pass.way.destination,
                        offset: context.offset(of: pass.way), layer: pass.way.layer,
                        entities: entities, columns: []))
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
            return try ownCell(key, for: entity, in: feed) { key, entityColumn, end in
                .key(key, entity: entityColumn, table: end.table, targets: end.targets)
            }
        case .toOneEntity(let key):
            return try ownCell(key, for: entity, in: feed) { key, entityColumn, end in
                .entityNumber(
                    key, entity: entityColumn, table: end.table, targets: end.targets)
            }
        case .order(let key):
            return try orderCell(key, column: column, for: entity, in: feed)
        case .hiddenKey(let key):
            return try hiddenCell(key, for: entity, in: feed)
        case .hiddenOrder(let key):
            return try hiddenOrderCell(key, column: column, for: entity, in: feed)
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
        case .policy(nil):
            // As Core Data inserts an object before a policy sees it.
            return context.destination.model.attribute(key.property, of: entity.destination)?
                .attribute.defaultValue.map { .constant(stored($0, in: column)) }
        case .expression(let expression), .policy(let expression?):
            return .computed(try computed(expression, key, column: column, for: entity))
        case .constant(let value): return .constant(stored(value, in: column))
        case .source(let name):
            return moved(try sourceColumn(name, of: entity.source), to: column)
        case .sourceOrDefault(let name, let value):
            let from = try sourceColumn(name, of: entity.source)
            guard from.isExternal == column.isExternal else {
                throw .unsupported(
                    "attribute \(key) becomes required with a default and changes external "
                        + "storage in one version. Make these changes in two versions")
            }
            return .columnOrDefault(from.name, stored(value, in: column))
        }
    }

    private func computed(
        _ expression: MappingExpression, _ key: PropertyKey, column: ColumnLayout,
        for entity: EntityFeed
    ) throws(PlanError) -> ComputedCell {
        let policy = context.mapping.entityMappings[entity.pass].policy
        guard !column.isExternal else {
            throw .unsupported("\(key) can use external storage: its value can only be copied")
        }
        let attribute = context.destination.model.element(key.property, of: entity.destination)
        return try ComputedCell(
            value: ComputedValue(expression, of: entity.source, in: context.source.model),
            source: entity.source, in: context.source, type: attribute?.type ?? .undefined,
            isRequired: attribute?.isOptional == false, name: key.description, now: context.now,
            policy: ExpressionInspection(expression).calls.isEmpty ? nil : policy?.className)
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
        guard let found = context.source.column(ofAttribute: name, of: entity) else {
            throw .unsupported("source attribute \(entity).\(name) has no column")
        }
        return found.column
    }
}
