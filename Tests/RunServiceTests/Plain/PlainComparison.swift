import CoreDataStore
import ManagedObjectModel

/// Holds a store against what it must be.
struct PlainComparison {
    let expected: PlainMigration
    let actual: PlainStore
    /// What differs, in words; at most a few for each thing that is compared.
    private(set) var differences: [String] = []

    init(_ expected: PlainMigration, _ actual: PlainStore) {
        self.expected = expected
        self.actual = actual
        differences += actual.faults.filter { !expected.source.faults.contains($0) }.prefix(5)
        for root in actual.model.roots { compareObjects(root.name) }
        for entity in actual.model.numberedEntities {
            for relationship in entity.relationships where !relationship.isTransient {
                compareLinks(PropertyKey(entity.name, relationship.name), relationship)
            }
        }
    }

    private mutating func compareObjects(_ root: String) {
        let wanted = expected.objects[root] ?? [:]
        let found = actual.objects[root] ?? [:]
        if Set(wanted.keys) != Set(found.keys) {
            differences.append(
                "\(root): missing \(Set(wanted.keys).subtracting(found.keys).sorted()), surplus "
                    + "\(Set(found.keys).subtracting(wanted.keys).sorted())")
        }
        let top = max(expected.tops[root] ?? 0, wanted.keys.max() ?? 0)
        if actual.maxima[root] != top {
            differences.append("\(root): Z_MAX \(actual.maxima[root] ?? -1), not \(top)")
        }
        for (key, object) in wanted.sorted(by: { $0.key < $1.key }) {
            guard let other = found[key] else { continue }
            if other.entity != object.entity || other.saves != object.saves {
                differences.append("\(root) \(key): Z_ENT or Z_OPT")
            }
            let names = actual.model.allAttributes(of: object.entity).map(\.attribute)
                .filter { !$0.isTransient && $0.type != .undefined }.map(\.name)
            for name in names where object.attributes[name] != actual.value(name, of: other) {
                differences.append(
                    "\(object.entity).\(name) of \(key) is "
                        + "\(actual.value(name, of: other) ?? .null), "
                        + "not \(object.attributes[name] ?? .null)")
            }
        }
    }
}

// MARK: - Links

extension PlainComparison {
    private mutating func compareLinks(_ key: PropertyKey, _ relationship: Relationship) {
        let wanted = expected.links(of: key)
        let found = actual.relations[key] ?? [:]
        let targets = actual.objects[actual.root(of: relationship.destination)] ?? [:]
        let owners = actual.objects[actual.root(of: key.entity)] ?? [:]
        let whole = found.filter { owners[$0.key.owner] != nil && targets[$0.key.target] != nil }
        let broken = Set(found.keys).subtracting(whole.keys)
        report(key, "links", Set(wanted.whole.keys), Set(whole.keys))
        for link in whole.keys
        where !actual.model.isKind(targets[link.target]?.entity ?? "", of: relationship.destination)
            || !actual.model.isKind(owners[link.owner]?.entity ?? "", of: key.entity)
        {
            differences.append("\(key): \(link) is between wrong entities")
        }
        let inverse = actual.model.inverse(of: relationship)?.relationship
        let kept = wanted.broken.filter { link in
            if !relationship.isToMany { return owners[link.owner] != nil }
            if inverse?.isToMany == true { return true }
            return targets[link.target] != nil
        }
        report(key, "broken links", kept, kept.intersection(broken))
        report(key, "invented links", [], broken.subtracting(wanted.possible))
        let isReflexive = inverse?.name == relationship.name && relationship.isToMany
        if relationship.isOrdered, !isReflexive { compareOrder(key, wanted.whole, whole) }
    }

    private mutating func report(
        _ key: PropertyKey, _ what: String, _ wanted: Set<PlainLink>, _ found: Set<PlainLink>
    ) {
        guard wanted != found else { return }
        let missing = wanted.subtracting(found).prefix(3).map { "\($0.owner)→\($0.target)" }
        let surplus = found.subtracting(wanted).prefix(3).map { "\($0.owner)→\($0.target)" }
        differences.append("\(key) \(what): missing \(missing), surplus \(surplus)")
    }

    /// Lists that were ordered keep their places; others get places by ascending keys.
    private mutating func compareOrder(
        _ key: PropertyKey, _ wanted: PlainRelation, _ found: PlainRelation
    ) {
        for (owner, links) in Dictionary(grouping: found.keys, by: \.owner) {
            let places = links.map { found[$0]?.target }
            if links.allSatisfy({ wanted[$0]?.target != nil }) {
                if places != links.map({ wanted[$0]?.target }) {
                    differences.append("\(key) of \(owner): places in the list differ")
                }
                continue
            }
            guard links.allSatisfy({ wanted[$0]?.target == nil }) else { continue }
            let ascending = links.sorted { $0.target < $1.target }.map { found[$0]?.target ?? -1 }
            let isAscending = zip(ascending, ascending.dropFirst()).allSatisfy { $0 < $1 }
            if !isAscending || (ascending.first ?? 2048) < 2048 {
                differences.append("\(key) of \(owner): new places do not ascend")
            }
            let steps = links.indices.map { 2048 + 1024 * Int64($0) }
            if expected.source.isWhole, ascending != steps {
                differences.append("\(key) of \(owner): new places are not 2048, 3072, …")
            }
        }
    }
}

extension PlainStore {
    /// Whether every link leads to an object.
    var isWhole: Bool {
        relations.allSatisfy { key, links in
            let target = model.relationship(key.property, of: key.entity)?.relationship.destination
            return links.keys.allSatisfy { link in
                object(link.owner, of: key.entity) != nil
                    && object(link.target, of: target ?? "") != nil
            }
        }
    }
}
