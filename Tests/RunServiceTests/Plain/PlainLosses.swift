import CoreDataStore
import ManagedObjectModel
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
    private let bySource: [String: EntityMapping]

    init(_ store: PlainStore, to destination: Model, mapping: Mapping) {
        self.store = store
        self.destination = destination
        bySource = Dictionary(
            mapping.entityMappings.filter { $0.destination != nil }.compactMap { mapped in
                mapped.source.map { ($0, mapped) }
            }, uniquingKeysWith: { first, _ in first })
        for (root, rows) in store.objects {
            guard let table = store.layout.tables.first(where: { $0.rootEntity == root }) else {
                continue
            }
            for object in rows.values { count(object, table) }
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

    private mutating func count(_ object: PlainObject, _ table: TableLayout) {
        guard let mapped = bySource[object.entity] else {
            counts["entity \(object.entity)", default: 0] += 1
            return
        }
        for column in table.columns {
            guard let cell = object.cells[column.name], cell != .null else { continue }
            switch column.role {
            case .attribute(let key) where isOf(object, key.entity):
                let isUsed = mapped.attributes.contains { attribute in
                    attribute.value.reads(key.property)
                }
                if !isUsed { add("attribute", key) }
            case .toOne(let key) where isOf(object, key.entity):
                if isLost(key, from: object, to: cell.integer) { add("relationship", key) }
            case .hiddenKey(let key):
                guard let target = relationship(key)?.destination, isOf(object, target) else {
                    continue
                }
                if isLost(inverse(of: key), from: object, to: cell.integer, hidden: key) {
                    add("relationship", key)
                }
            default: continue
            }
        }
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

    /// Whether a mapping of objects of an entity reads a relationship of theirs.
    private func reads(_ key: PropertyKey?, _ entity: String) -> Bool {
        guard let key, store.model.isKind(entity, of: key.entity) else { return false }
        return bySource[entity]?.relationships.contains { $0.source == key.property } == true
    }

    /// Whether that relationship can lead to objects of a second entity.
    private func reads(
        _ key: PropertyKey?, _ entity: String, towards target: String
    ) -> Bool {
        guard reads(key, entity), let mapped = bySource[entity], let to = mapped.destination,
            let name = mapped.relationships.first(where: { $0.source == key?.property })?
                .destination,
            let found = destination.relationship(name, of: to)?.relationship,
            let fate = bySource[target]?.destination
        else { return false }
        return destination.isKind(fate, of: found.destination)
    }

    /// Whether the link of a row that stays goes nowhere.
    ///
    /// `hidden`: the relationship of the other object, where the row's own has none.
    private func isLost(
        _ key: PropertyKey?, from object: PlainObject, to target: Int64?,
        hidden: PropertyKey? = nil
    ) -> Bool {
        let back = hidden ?? key.flatMap { inverse(of: $0) }
        let end = hidden?.entity ?? key.flatMap { relationship($0)?.destination }
        guard let end else { return true }
        guard let target, let other = store.object(target, of: end),
            bySource[other.entity] != nil
        else {
            // To an object that is not there, or goes itself: only a relationship that goes loses
            // it.
            let others = store.model.family(of: end).map(\.name)
            return !reads(key, object.entity)
                && !others.contains { reads(back, $0, towards: object.entity) }
        }
        return !reads(key, object.entity) && !reads(back, other.entity)
    }

    private mutating func count(_ join: JoinTableLayout) {
        let key = join.naming
        guard let end = relationship(key)?.destination else { return }
        let back = inverse(of: key)
        let isRead = store.model.numberedEntities.contains {
            reads(key, $0.name) || reads(back, $0.name)
        }
        var lost: Int64 = 0
        for link in store.joinRows[join.name] ?? [] {
            let one = store.object(link.owner, of: key.entity)
            let two = store.object(link.target, of: end)
            if !isRead {
                lost += 1
            } else if let one, let two {
                let isCarried = reads(key, one.entity) || reads(back, two.entity)
                let areThere = [one, two].allSatisfy { bySource[$0.entity] != nil }
                if areThere, !isCarried { lost += 1 }
            } else {
                possible["relationship \(key)", default: 0] += 1
            }
        }
        if lost > 0 { add("relationship", key, lost) }
    }
}
