import CoreDataStore
import ManagedObjectModel
import MappingExpressions
import MappingModel
import SafeSQLite

/// What a store loses by a mapping, counted object by object and link by link.
struct PlainLosses {
    /// By `kind name`, such as `attribute Note.text`.
    private(set) var counts: [String: Int64] = [:]
    /// Rows of join tables that stay in part, with objects that are not there: whether their
    /// relationship is lost for those is open.
    private var possible: [String: Int64] = [:]

    private let store: PlainStore
    private let destination: Model
    private let mapping: Mapping
    private let passes: PlainPasses

    init(_ store: PlainStore, to destination: Model, mapping: Mapping) {
        self.store = store
        self.destination = destination
        self.mapping = mapping
        passes = PlainPasses(store, to: destination, mapping: mapping)
        for (root, rows) in store.objects {
            guard let table = store.layout.tables.first(where: { $0.rootEntity == root }) else {
                continue
            }
            for (key, object) in rows { count(key, object, table) }
        }
        for join in store.layout.joinTables { count(join) }
    }

    /// Whether counts are those, or more by some of what is open.
    func allow(_ found: [String: Int64]) -> Bool {
        Set(found.keys).union(counts.keys).allSatisfy { name in
            let least = counts[name] ?? 0
            return (least...least + (possible[name] ?? 0)).contains(found[name] ?? 0)
        }
    }

    private mutating func add(_ kind: String, _ key: PropertyKey, _ number: Int64 = 1) {
        counts["\(kind) \(key)", default: 0] += number
    }

    private mutating func count(_ key: Int64, _ object: PlainObject, _ table: TableLayout) {
        let taking = passes.passes(key, of: object.entity)
        guard !taking.isEmpty else {
            let isMapped = mapping.entityMappings.contains {
                $0.source == object.entity && $0.destination != nil
            }
            counts["\(isMapped ? "filter" : "entity") \(object.entity)", default: 0] += 1
            return
        }
        countReplaced(PlainReference(entity: object.entity, key: key), taking)
        countPaths(PlainReference(entity: object.entity, key: key), taking)
        for column in table.columns {
            guard let cell = object.cells[column.name], cell != .null else { continue }
            switch column.role {
            case .attribute(let key) where isOf(object, key.entity):
                let isUsed = taking.flatMap(\.attributes).contains { attribute in
                    attribute.value.reads(key.property)
                }
                if !isUsed { add("attribute", key) }
            case .toOne(let key) where isOf(object, key.entity):
                guard isLost(key, from: object, taking, to: cell.integer) else { continue }
                // The other row of a one-to-one link holds it, too, and counts it.
                if isToldByOther(key) {
                    possible["relationship \(key)", default: 0] += 1
                } else {
                    add("relationship", key)
                }
            case .hiddenKey(let key):
                guard let target = relationship(key)?.destination, isOf(object, target) else {
                    continue
                }
                if isLost(inverse(of: key), from: object, taking, to: cell.integer, hidden: key) {
                    add("relationship", key)
                }
            default: continue
            }
        }
    }

    /// Counts links of paths to objects that go elsewhere.
    private mutating func countPaths(_ object: PlainReference, _ taking: [EntityMapping]) {
        let ends = taking.flatMap { passes.pathEnds(of: $0, object) }
        let carried = Set(ends.filter { $0.maker != nil }.map(\.relationship))
        let dropped = ends.filter { end in
            end.maker == nil && !passes.passes(end.target.key, of: end.target.entity).isEmpty
        }
        for key in Set(dropped.map(\.relationship)).subtracting(carried) { add("path", key) }
    }

    /// Counts values that are replaced because they cannot be computed.
    private mutating func countReplaced(_ object: PlainReference, _ taking: [EntityMapping]) {
        for mapped in taking {
            for attribute in mapped.attributes {
                guard case .expression(let expression) = attribute.value,
                    case .attempt(let first, _) = expression,
                    let entity = mapped.destination,
                    let found = destination.attribute(attribute.destination, of: entity)
                else { continue }
                do throws(ExpressionError) {
                    _ = try PlainEvaluation(store: store).value(
                        of: first, for: object, now: RandomCase.now, type: found.attribute.type)
                } catch {
                    add("conversion", PropertyKey(found.owner.name, attribute.destination))
                }
            }
        }
    }

    /// Whether the inverse is to-one, and some mapping reads it.
    private func isToldByOther(_ key: PropertyKey) -> Bool {
        guard let back = inverse(of: key), relationship(back)?.isToMany == false else {
            return false
        }
        return mapping.entityMappings.contains { $0.destination != nil && reads(back, [$0]) }
    }

    private func isOf(_ object: PlainObject, _ entity: String) -> Bool {
        store.model.isKind(object.entity, of: entity)
    }

    private func relationship(_ key: PropertyKey) -> Relationship? {
        store.model.relationship(key.property, of: key.entity)?.relationship
    }

    private func inverse(of key: PropertyKey) -> PropertyKey? {
        guard let found = relationship(key), let name = found.inverse,
            let owner = store.model.relationship(name, of: found.destination)?.owner
        else { return nil }
        return PropertyKey(owner.name, name)
    }

    /// Whether some of these mappings, all from one entity, read a relationship of its objects.
    private func reads(_ key: PropertyKey?, _ mappings: [EntityMapping]) -> Bool {
        guard let key, let entity = mappings.first?.source,
            store.model.isKind(entity, of: key.entity)
        else { return false }
        return mappings.flatMap(\.relationships).contains { $0.source == key.property }
    }

    /// All mappings that make something of objects of an entity.
    private func mappings(of entity: String) -> [EntityMapping] {
        mapping.entityMappings.filter { $0.source == entity && $0.destination != nil }
    }

    /// Whether that relationship can lead to objects of a second entity.
    private func reads(
        _ key: PropertyKey?, _ entity: String, towards targets: [EntityMapping]
    ) -> Bool {
        let mappings = mappings(of: entity)
        guard reads(key, mappings) else { return false }
        return mappings.contains { mapped in
            // One relationship can be read for several.
            mapped.relationships.contains { stated in
                guard stated.source == key?.property, let to = mapped.destination,
                    let found = destination.relationship(stated.destination, of: to)?.relationship
                else { return false }
                return targets.contains {
                    $0.destination.map { destination.isKind($0, of: found.destination) } == true
                }
            }
        }
    }

    /// Whether the link of a row that stays goes nowhere.
    ///
    /// `hidden`: the relationship of the other object, where the row's own has none.
    private func isLost(
        _ key: PropertyKey?, from object: PlainObject, _ taking: [EntityMapping],
        to target: Int64?, hidden: PropertyKey? = nil
    ) -> Bool {
        let back = hidden ?? key.flatMap { inverse(of: $0) }
        let end = hidden?.entity ?? key.flatMap { relationship($0)?.destination }
        guard let end else { return true }
        guard let target, let other = store.object(target, of: end),
            !passes.passes(target, of: other.entity).isEmpty
        else {
            // To an object that is not there, or goes itself: only a relationship that goes loses
            // it.
            let others = store.model.family(of: end).map(\.name)
            return !reads(key, taking)
                && !others.contains { reads(back, $0, towards: taking) }
        }
        return !reads(key, taking) && !reads(back, passes.passes(target, of: other.entity))
    }

    private mutating func count(_ join: JoinTableLayout) {
        let key = join.naming
        guard let end = relationship(key)?.destination else { return }
        let back = inverse(of: key)
        let isRead = store.model.numberedEntities.contains {
            reads(key, mappings(of: $0.name)) || reads(back, mappings(of: $0.name))
        }
        var lost: Int64 = 0
        for link in store.joinRows[join.name] ?? [] {
            let one = store.object(link.owner, of: key.entity)
            let two = store.object(link.target, of: end)
            if !isRead {
                lost += 1
            } else if let one, let two {
                let left = passes.passes(link.owner, of: one.entity)
                let right = passes.passes(link.target, of: two.entity)
                let isCarried = reads(key, left) || reads(back, right)
                if !left.isEmpty, !right.isEmpty, !isCarried { lost += 1 }
            } else {
                possible["relationship \(key)", default: 0] += 1
            }
        }
        if lost > 0 { add("relationship", key, lost) }
    }
}
