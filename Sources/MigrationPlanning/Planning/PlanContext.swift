import CoreDataStore
import ManagedObjectModel
import MappingModel
import SafeSQLite

/// Both layouts and the mapping between them, with the lookups that planning needs.
struct PlanContext {
    let source: StoreLayout
    let destination: StoreLayout
    let mapping: Mapping
    /// The highest key ever used in each source table: the larger of `Z_MAX` and its keys.
    let highestKeys: [String: Int64]
    /// What `now()` gives: seconds since 2001-01-01 00:00:00 UTC.
    let now: Double
    /// The passes over each source entity, in the mapping's order.
    private let passes: [String: [Pass]]
    /// Offsets by source and destination table.
    let offsets: [TablePair: Int64]
    /// Source tables by destination table, in the order in which their keys follow each other.
    private let sources: [String: [String]]

    struct TablePair: Hashable, Sendable {
        let source: String
        let destination: String
    }

    /// One entity mapping that carries objects: each object of its source entity passes through
    /// it once.
    private struct Pass {
        let mapping: EntityMapping
        let destination: String
        let tables: TablePair
    }

    /// - Throws: `PlanError.keyOverflow` when keys that are put above others pass 2⁶², and
    ///   `.unsupported` for mappings that need a policy, or that put one object twice into the
    ///   same table.
    init(
        source: StoreLayout, destination: StoreLayout, mapping: Mapping,
        highestKeys: [String: Int64], now: Double = 0
    ) throws(PlanError) {
        self.source = source
        self.destination = destination
        self.mapping = mapping
        self.highestKeys = highestKeys
        self.now = now
        var passes: [String: [Pass]] = [:]
        var offsets: [TablePair: Int64] = [:]
        var tops: [String: Int64] = [:]
        var sources: [String: [String]] = [:]
        for entityMapping in mapping.entityMappings {
            if case .custom(let policy) = entityMapping.kind {
                throw .unsupported("entity mapping \(entityMapping.name) needs policy \(policy)")
            }
            guard let from = entityMapping.source, let to = entityMapping.destination,
                let sourceTable = source.table(of: from)?.name,
                let destinationTable = destination.table(of: to)?.name
            else { continue }
            let pair = TablePair(source: sourceTable, destination: destinationTable)
            if let other = passes[from]?.first(where: { $0.tables == pair }) {
                throw .unsupported(
                    "entity mappings \(other.mapping.name) and \(entityMapping.name) both put "
                        + "the objects of \(from) into the table \(destinationTable)")
            }
            passes[from, default: []].append(
                Pass(mapping: entityMapping, destination: to, tables: pair))
            guard offsets[pair] == nil else { continue }
            // Above the highest key ever given out, so that a deleted object's URI stays dead.
            let offset = tops[destinationTable] ?? 0
            let (top, overflow) = offset.addingReportingOverflow(highestKeys[sourceTable] ?? 0)
            guard !overflow, top < PrimaryKeys.keyLimit else {
                throw .keyOverflow(table: destinationTable)
            }
            offsets[pair] = offset
            sources[destinationTable, default: []].append(sourceTable)
            tops[destinationTable] = top
        }
        self.passes = passes
        self.offsets = offsets
        self.sources = sources
    }

    /// How far keys move from one table to another.
    func offset(from sourceTable: String, to destinationTable: String) -> Int64 {
        offsets[TablePair(source: sourceTable, destination: destinationTable)] ?? 0
    }

    /// The keys of a source table that lie between those of other sources once they are moved.
    private func keys(from sourceTable: String, to destinationTable: String) -> KeyRange {
        let own = offset(from: sourceTable, to: destinationTable)
        let next = (sources[destinationTable] ?? []).drop { $0 != sourceTable }.dropFirst().first
        return KeyRange(
            lower: own > 0 ? 1 : nil,
            upper: next.map { offset(from: $0, to: destinationTable) - own })
    }

    /// Where a pass puts its objects in the destination.
    private func place(of pass: Pass) -> Target.Place? {
        guard let number = destination.number(of: pass.destination) else { return nil }
        let (from, to) = (pass.tables.source, pass.tables.destination)
        return Target.Place(
            number: Int64(number), offset: offset(from: from, to: to),
            keys: keys(from: from, to: to))
    }

    /// What becomes of the objects of an entity and of all that inherit from it.
    ///
    /// - Parameters:
    ///   - entity: of the source.
    ///   - isValid: whether objects that become this destination entity count; others are
    ///     dropped from the links in question. It is true of entities of one table alone, so
    ///     that at most one pass over an entity counts.
    /// - Returns: one for every such entity that the source numbers; its place is nil where the
    ///   objects are dropped.
    func targets(
        ofSource entity: String, where isValid: (EntityMapping) -> Bool
    ) -> [Target] {
        let isAlone = source.table(of: entity).flatMap { source.onlyEntity(of: $0) } != nil
        return source.model.family(of: entity).compactMap { member in
            guard let number = source.number(of: member.name) else { return nil }
            let kept = passes[member.name]?.first { isValid($0.mapping) }
            return Target(
                sourceNumber: Int64(number), place: kept.flatMap(place), isAlone: isAlone)
        }
    }

    /// `Z_MAX` of every root of the destination: the top of what feeds its table.
    var maxima: [String: Int64] {
        var result: [String: Int64] = [:]
        for table in destination.tables { result[table.rootEntity] = 0 }
        for (pair, offset) in offsets {
            guard let root = destination.tables.first(where: { $0.name == pair.destination })
            else { continue }
            let top = offset + (highestKeys[pair.source] ?? 0)
            result[root.rootEntity] = max(result[root.rootEntity] ?? 0, top)
        }
        return result
    }
}
