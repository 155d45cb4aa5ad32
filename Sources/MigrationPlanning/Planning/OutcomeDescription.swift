import CoreDataStore
import MigrationPlans

/// What people want to know of a plan: tables, changed URIs, rows.
struct OutcomeDescription {
    private(set) var tables: [TableOutcome] = []
    private(set) var changedURIs: [String: Int64] = [:]
    private(set) var sourceRows: [String: Int64] = [:]

    init(context: PlanContext, shape: PlanShape, chunks: [Chunk], facts: StoreFacts) {
        countRows(context, facts)
        countChangedURIs(shape.feeds, facts)
        describeEntityTables(context, shape, chunks, facts)
        describeJoinTables(context, shape.joins, chunks, facts)
    }

    private mutating func countRows(_ context: PlanContext, _ facts: StoreFacts) {
        for (number, name) in zip(Int64(1)..., context.source.entityOrder) {
            guard let table = context.source.table(of: name)?.name else { continue }
            let numbers =
                facts.splits.first { $0.entity == name }?.kinds.map(\.number) ?? [number]
            sourceRows[name] = numbers.reduce(0) { $0 + (facts.tables[table]?.rows[$1] ?? 0) }
        }
    }

    /// An object's URI names its entity and its key: either may change.
    private mutating func countChangedURIs(_ feeds: [Feed], _ facts: StoreFacts) {
        for feed in feeds {
            for entity in feed.entities
            where feed.offset != 0 || entity.source != entity.destination {
                let rows = facts.tables[feed.sourceTable]?.rows[entity.sourceNumber] ?? 0
                if rows > 0 { changedURIs[entity.destination, default: 0] += rows }
            }
        }
    }

    private mutating func describeEntityTables(
        _ context: PlanContext, _ shape: PlanShape, _ chunks: [Chunk], _ facts: StoreFacts
    ) {
        let feeds = shape.feeds
        for table in context.destination.tables {
            let fed = feeds.enumerated().filter { $0.element.destinationTable == table.name }
            let rows = fed.reduce(Int64(0)) { sum, feed in
                sum
                    + feed.element.entities.reduce(0) { sum, entity in
                        sum
                            + (facts.tables[feed.element.sourceTable]?.rows[entity.sourceNumber]
                                ?? 0)
                    }
            }
            let count = chunks.filter { chunk in
                if case .feed(let place) = chunk.subject {
                    return fed.contains { $0.offset == place }
                }
                return false
            }.count
            let changes = shape.changes[table.name] ?? []
            let action: TableOutcome.Action =
                fed.isEmpty ? .added : (changes.isEmpty ? .copied : .rebuilt)
            tables.append(
                TableOutcome(
                    table: table.name, action: action,
                    sources: fed.filter { $0.element.layer == 0 }.map(\.element.sourceTable),
                    rows: rows, chunks: count,
                    changes: changes.compactMap { $0.words(facts.renamed) }))
        }
        let used = Set(feeds.map(\.sourceTable))
        for table in context.source.tables where !used.contains(table.name) {
            tables.append(
                TableOutcome(
                    table: table.name, action: .dropped, sources: [],
                    rows: facts.tables[table.name]?.count ?? 0, chunks: 0, changes: []))
        }
    }

    private mutating func describeJoinTables(
        _ context: PlanContext, _ joins: [JoinPlan], _ chunks: [Chunk], _ facts: StoreFacts
    ) {
        var used: Set<String> = []
        for (place, join) in joins.enumerated() {
            let sources = join.feeds.map(\.relation.storage.table)
            used.formUnion(sources)
            let count = chunks.filter { chunk in
                if case .join(place, _) = chunk.subject { return true }
                return false
            }.count
            let rows = sources.reduce(Int64(0)) { $0 + (facts.joinRows[$1] ?? 0) }
            let lookups = join.feeds.filter { !$0.isArithmetic }.map {
                "\($0.relation.name): links are looked up"
            }
            tables.append(
                TableOutcome(
                    table: join.table, action: sources.isEmpty ? .added : .copied,
                    sources: sources, rows: rows, chunks: count,
                    changes: sources.filter { $0 != join.table }.map { "was \($0)" } + lookups))
        }
        for join in context.source.joinTables where !used.contains(join.name) {
            tables.append(
                TableOutcome(
                    table: join.name, action: .dropped, sources: [],
                    rows: facts.joinRows[join.name] ?? 0, chunks: 0, changes: []))
        }
    }
}
