import CoreDataStore
import ManagedObjectModel
package import MappingModel
import SafeSQLite

/// A source entity whose objects filters tell apart.
package struct SourceSplit: Hashable, Sendable {
    /// Name of the entity.
    package let entity: String
    /// Numbers that stand for the entity's number, by filter mask; without 0.
    package let numbers: [Int64: Int64]

    package init(entity: String, numbers: [Int64: Int64]) {
        self.entity = entity
        self.numbers = numbers
    }
}

/// Objects of one source entity that have one fate: all of them, or those for which the same
/// filters hold.
package struct SourceKind: Hashable, Sendable {
    package let entity: String
    let mask: Int64
    /// The entity's, or the one that stands for it.
    let number: Int64
}

/// Where objects of one source entity are in the destination.
package struct Fate: Hashable, Sendable {
    /// The number of the destination entity.
    package let number: Int64
    package let offset: Int64
    package let layer: Int
    let entity: String
    package let table: String
}

extension ValidationScope {
    /// From a source table to a destination table; a layer above 0 is a further way for the same
    /// objects.
    package struct Way: Hashable, Sendable {
        package let source: String
        let destination: String
        let layer: Int
    }

    /// The ways of the entity mappings that carry objects, in their order.
    ///
    /// A mapping takes the first way on which no object comes twice.
    static func ways(
        of mapping: Mapping, _ source: StoreLayout, _ destination: StoreLayout,
        _ splits: [SourceSplit]
    ) -> [(mapped: EntityMapping, way: Way)] {
        var found: [(mapped: EntityMapping, way: Way)] = []
        for mapped in mapping.entityMappings {
            guard let entity = mapped.source, let from = source.table(of: entity),
                let to = mapped.destination.flatMap({ destination.table(of: $0) })
            else { continue }
            let masks = [0] + (splits.first { $0.entity == entity }?.numbers.keys.map { $0 } ?? [])
            let taken = Set(masks.filter { mapping.takes(mapped, mask: $0) })
            let meeting = Set(
                found.filter { other in
                    other.mapped.source == entity && other.way.destination == to.name
                        && taken.contains { mapping.takes(other.mapped, mask: $0) }
                }.map(\.way.layer))
            var layer = 0
            while meeting.contains(layer) { layer += 1 }
            found.append((mapped, Way(source: from.name, destination: to.name, layer: layer)))
        }
        return found
    }

    /// The ways that lead to a destination table, by the keys of their objects.
    ///
    /// Offsets lie above all earlier keys, so that the objects of one way follow those of another.
    package func ways(to table: String) -> [Way] {
        var offsets: [Way: Int64] = [:]
        for mapped in mapping.entityMappings {
            guard let fate = fate(of: mapped), fate.table == table,
                let from = mapped.source.flatMap({ source.table(of: $0)?.name })
            else { continue }
            offsets[Way(source: from, destination: table, layer: fate.layer)] = fate.offset
        }
        return offsets.sorted { $0.value < $1.value }.map(\.key)
    }

    /// The kinds of objects of exactly one source entity.
    package func kinds(ofSource entity: String) -> [SourceKind] {
        guard let number = source.number(of: entity) else { return [] }
        let split = splits.first { $0.entity == entity }?.numbers ?? [:]
        return [SourceKind(entity: entity, mask: 0, number: Int64(number))]
            + split.sorted { $0.key < $1.key }.map {
                SourceKind(entity: entity, mask: $0.key, number: $0.value)
            }
    }

    /// The kinds of objects of an entity and of all that inherit from it.
    package func kinds(ofFamily entity: String) -> [SourceKind] {
        source.model.family(of: entity).flatMap { kinds(ofSource: $0.name) }
    }

    /// What becomes of objects of one kind, one for each mapping.
    func fates(of kind: SourceKind) -> [(mapping: EntityMapping, fate: Fate)] {
        mapping.entityMappings.compactMap { mapped in
            guard mapped.source == kind.entity, mapping.takes(mapped, mask: kind.mask),
                let fate = fate(of: mapped)
            else { return nil }
            return (mapped, fate)
        }
    }

    /// By source table whose keys do not move, a key that none of them is above.
    package var highestKeys: [String: Int64] {
        var keys: [String: Int64] = [:]
        for mapped in mapping.entityMappings {
            guard let fate = fate(of: mapped), fate.offset == 0,
                let table = mapped.source.flatMap({ source.table(of: $0)?.name }),
                let root = destination.table(named: fate.table)?.rootEntity
            else { continue }
            keys[table] = maxima[root]
        }
        return keys
    }

    /// Where the objects of an entity mapping go; nil for removals and additions.
    package func fate(of mapped: EntityMapping) -> Fate? {
        guard mapped.source.flatMap({ source.table(of: $0) }) != nil,
            let name = mapped.destination, let number = destination.number(of: name),
            let table = destination.table(of: name)?.name
        else { return nil }
        let move = moves[mapped.name]
        return Fate(
            number: Int64(number), offset: move?.offset ?? 0, layer: move?.layer ?? 0,
            entity: name, table: table)
    }

    /// By destination table, the highest key below those of objects that policies make.
    var keysBelowCreated: [String: Int64] {
        var keys: [String: Int64] = [:]
        for rows in policyRows where rows.areCreated {
            let below = (rows.keys.lower ?? 1) - 1
            keys[rows.table] = min(keys[rows.table] ?? Int64.max, below)
        }
        return keys
    }

    /// Whether policies carry the links of a source relationship: those of all objects of one side.
    func isLinkCarriedByPolicy(_ key: PropertyKey) -> Bool {
        guard source.relationship(key) != nil else { return false }
        return [key, source.inverseKey(of: key)].compactMap { $0 }.contains { side in
            let owners = source.model.family(of: side.entity).filter { entity in
                !entity.isAbstract && mapping.entityMappings.contains { $0.source == entity.name }
            }
            let carriers = mapping.entityMappings.filter {
                $0.policy?.carries.contains(side.property) == true
            }.map(\.source)
            return !owners.isEmpty && owners.allSatisfy { carriers.contains($0.name) }
        }
    }
}
