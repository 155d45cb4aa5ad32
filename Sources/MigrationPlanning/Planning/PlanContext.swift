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
    /// The mapping of each source entity that has a destination.
    private let bySource: [String: EntityMapping]
    /// Offsets by source and destination table.
    let offsets: [TablePair: Int64]
    /// Source tables by destination table, in the order in which their keys follow each other.
    private let sources: [String: [String]]

    struct TablePair: Hashable, Sendable {
        let source: String
        let destination: String
    }

    /// - Throws: `PlanError.keyOverflow` when keys that are put above others pass 2⁶², and
    ///   `.unsupported` for mappings that need a policy.
    init(
        source: StoreLayout, destination: StoreLayout, mapping: Mapping,
        highestKeys: [String: Int64]
    ) throws(PlanError) {
        self.source = source
        self.destination = destination
        self.mapping = mapping
        self.highestKeys = highestKeys
        var bySource: [String: EntityMapping] = [:]
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
            bySource[from] = entityMapping
            let pair = TablePair(source: sourceTable, destination: destinationTable)
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
        self.bySource = bySource
        self.offsets = offsets
        self.sources = sources
    }

    /// The mapping that carries the objects of a source entity; nil when they are dropped.
    func mapping(ofSource entity: String) -> EntityMapping? { bySource[entity] }

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

    /// Where objects of a source entity are in the destination; nil when they are dropped.
    func place(ofSource entity: String) -> Target.Place? {
        guard let to = bySource[entity]?.destination,
            let number = destination.number(of: to),
            let sourceTable = source.table(of: entity)?.name,
            let destinationTable = destination.table(of: to)?.name
        else { return nil }
        return Target.Place(
            number: Int64(number), offset: offset(from: sourceTable, to: destinationTable),
            keys: keys(from: sourceTable, to: destinationTable))
    }

    /// What becomes of the objects of an entity and of all that inherit from it.
    ///
    /// - Parameters:
    ///   - entity: of the source.
    ///   - isValid: whether objects that become this destination entity count; others are
    ///     dropped from the links in question.
    /// - Returns: one for every such entity that the source numbers; its place is nil where the
    ///   objects are dropped.
    func targets(
        ofSource entity: String, where isValid: (EntityMapping) -> Bool
    ) -> [Target] {
        let isAlone = source.table(of: entity).flatMap { source.onlyEntity(of: $0) } != nil
        return source.model.family(of: entity).compactMap { member in
            guard let number = source.number(of: member.name) else { return nil }
            let isKept = bySource[member.name].map(isValid) ?? false
            return Target(
                sourceNumber: Int64(number),
                place: isKept ? place(ofSource: member.name) : nil, isAlone: isAlone)
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
