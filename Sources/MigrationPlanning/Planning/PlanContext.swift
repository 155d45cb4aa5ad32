import CoreDataStore
import ManagedObjectModel
import MappingModel
import MigrationPlans
import SafeSQLite

/// Both layouts and the mapping between them, with the lookups that planning needs.
struct PlanContext {
    let source: StoreLayout
    let destination: StoreLayout
    let mapping: Mapping
    /// The highest key ever used in each source table: the larger of `Z_MAX` and its keys.
    let highestKeys: [String: Int64]
    /// Source entities whose objects filters tell apart.
    let splits: [EntitySplit]
    /// What `now()` gives: seconds since 2001-01-01 00:00:00 UTC.
    let now: Double
    /// The passes over each source entity, in the mapping's order.
    private let passes: [String: [Pass]]
    /// Where rows go, with the offset of their keys.
    let offsets: [Way: Int64]
    /// The ways into each destination table, in the order in which their keys follow each other.
    private let ways: [String: [Way]]

    /// What policies do to the objects of entity mappings, in their order.
    let policyPasses: [PolicyPass]
    /// The highest key of each destination table that comes from a source object.
    private let firstReserved: [String: Int64]
    /// The highest key of each destination table.
    private let tops: [String: Int64]
    /// The highest key that comes from a source object, of the tables in which policies make
    /// objects.
    var keysBelowMade: [String: Int64] { firstReserved.filter { tops[$0.key] != $0.value } }

    /// From a source table to a destination table; a layer above 0 is a further way for the same
    /// objects.
    struct Way: Hashable, Sendable {
        let source: String
        let destination: String
        let layer: Int
    }

    /// One entity mapping that carries objects: each object that it takes passes through it once.
    struct Pass {
        /// The mapping's place among all entity mappings.
        let place: Int
        let mapping: EntityMapping
        let destination: String
        let way: Way
        /// Numbers of the objects that it takes.
        let numbers: [Int64]
    }

    /// - Throws: `PlanError.keyOverflow` when keys that are put above others pass 2⁶², and
    ///   `.unsupported` for policies whose objects cannot be told from others.
    init(
        source: StoreLayout, destination: StoreLayout, mapping: Mapping,
        highestKeys: [String: Int64], splits: [EntitySplit] = [], now: Double = 0
    ) throws(PlanError) {
        self.source = source
        self.destination = destination
        self.mapping = mapping
        self.highestKeys = highestKeys
        self.splits = splits
        self.now = now
        var passes: [String: [Pass]] = [:]
        var offsets: [Way: Int64] = [:]
        var tops: [String: Int64] = [:]
        var ways: [String: [Way]] = [:]
        for (place, entityMapping) in mapping.entityMappings.enumerated() {
            guard let from = entityMapping.source, let to = entityMapping.destination,
                let sourceTable = source.table(of: from)?.name,
                let destinationTable = destination.table(of: to)?.name,
                let number = source.number(of: from)
            else { continue }
            let split = splits.first { $0.entity == from }
            let kinds = split?.kinds ?? [EntitySplit.Variant(mask: 0, number: Int64(number))]
            let numbers = kinds.filter { mapping.takes(entityMapping, mask: $0.mask) }
                .map(\.number)
            let others = (passes[from] ?? []).filter {
                $0.way.destination == destinationTable
                    && $0.numbers.contains(where: numbers.contains)
            }.map(\.way.layer)
            let layer = (0...others.count).first { !others.contains($0) } ?? 0
            let way = Way(source: sourceTable, destination: destinationTable, layer: layer)
            passes[from, default: []].append(
                Pass(
                    place: place, mapping: entityMapping, destination: to, way: way,
                    numbers: numbers))
            guard offsets[way] == nil else { continue }
            // Above the highest key ever given out, so that a deleted object's URI stays dead.
            let offset = tops[destinationTable] ?? 0
            let (top, overflow) = offset.addingReportingOverflow(highestKeys[sourceTable] ?? 0)
            guard !overflow, top < PrimaryKeys.keyLimit else {
                throw .keyOverflow(table: destinationTable)
            }
            offsets[way] = offset
            ways[destinationTable, default: []].append(way)
            tops[destinationTable] = top
        }
        self.passes = passes
        self.offsets = offsets
        self.ways = ways
        firstReserved = tops
        policyPasses = try Self.policyPasses(
            passes.values.flatMap { $0 }.sorted { $0.place < $1.place }, offsets, &tops,
            highestKeys: highestKeys, destination: destination)
        self.tops = tops
    }

    /// All passes, in the order of the entity mappings.
    var allPasses: [Pass] { passes.values.flatMap { $0 }.sorted { $0.place < $1.place } }

    /// How far keys move on a way.
    func offset(of way: Way) -> Int64 { offsets[way] ?? 0 }

    /// The source keys that lie between those of other ways once they are moved.
    private func keys(of way: Way) -> KeyRange {
        let own = offset(of: way)
        let next = (ways[way.destination] ?? []).drop { $0 != way }.dropFirst().first
        // Keys of objects that policies make lie above all of these.
        let top = firstReserved[way.destination]
        let reserved = top != tops[way.destination] ? top : nil
        return KeyRange(
            lower: own > 0 ? 1 : nil,
            upper: (next.map { offset(of: $0) } ?? reserved).map { $0 - own })
    }

    /// Where a pass puts its objects in the destination.
    private func place(of pass: Pass) -> Target.Place? {
        guard let number = destination.number(of: pass.destination) else { return nil }
        return Target.Place(
            number: Int64(number), offset: offset(of: pass.way), keys: keys(of: pass.way))
    }

    /// What becomes of the objects of an entity and of all that inherit from it.
    ///
    /// - Parameters:
    ///   - entity: of the source.
    ///   - isValid: whether objects that an entity mapping makes count; others are dropped from
    ///     the links in question. It is true of entities of one table alone.
    /// - Returns: one target for every such entity and variant that the source numbers; its place
    ///   is nil where the objects are dropped.
    func end(
        ofSource entity: String, where isValid: (EntityMapping) -> Bool
    ) -> PlannedEnd {
        let table = source.table(of: entity)
        let isAlone =
            table.map { table in
                source.onlyEntity(of: table) != nil && !splits.contains { $0.table == table.name }
            } ?? false
        var end = PlannedEnd(
            end: RelationEnd(table: table?.name ?? "", targets: []), passes: [], doubled: nil)
        for member in source.model.family(of: entity) {
            guard let number = source.number(of: member.name) else { continue }
            let numbers =
                splits.first { $0.entity == member.name }?.kinds.map(\.number) ?? [Int64(number)]
            let valid = (passes[member.name] ?? []).filter { isValid($0.mapping) }
            end.passes.formUnion(valid.map(\.place))
            for number in numbers {
                let taking = valid.filter { $0.numbers.contains(number) }
                if taking.count > 1, end.doubled == nil {
                    end.doubled = taking.prefix(2).map(\.mapping.name)
                }
                end.end.targets.append(
                    Target(
                        sourceNumber: number, place: taking.first.flatMap(place),
                        isAlone: isAlone))
            }
        }
        return end
    }

    /// `Z_MAX` of every root of the destination: the top of what feeds its table.
    var maxima: [String: Int64] {
        Dictionary(
            destination.tables.map { ($0.rootEntity, tops[$0.name] ?? 0) },
            uniquingKeysWith: { first, _ in first })
    }
}
