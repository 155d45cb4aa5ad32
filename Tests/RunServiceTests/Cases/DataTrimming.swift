import CoreDataStore
import DurableFiles
import FaultSupport
import ManagedObjectModel
import MappingModel
import SafeSQLite
import TestSupport

/// Makes a forged store such as a migration can take: removes links that break its
/// requirements, and deletes objects, so that links to nothing and gaps are left.
struct DataTrimming {
    let path: FilePath
    let model: Model

    /// Removes what breaks requirements on links.
    func trim(for requirements: [DataRequirement]) throws {
        for requirement in requirements {
            let store = try PlainStore(path, model: model)
            let surplus = surplus(requirement, in: store)
            guard !surplus.isEmpty else { continue }
            let connection = try Connection(path: path, mode: .readWrite)
            for (key, link) in surplus {
                for sql in removal(of: link, key, store.layout) { try connection.execute(sql) }
            }
            try connection.close()
        }
    }

    /// Deletes about one object in `part`.
    func deleteObjects(oneIn part: Int, using random: inout SeededGenerator) throws {
        let store = try PlainStore(path, model: model)
        let connection = try Connection(path: path, mode: .readWrite)
        for table in store.layout.tables {
            for key in (store.objects[table.rootEntity] ?? [:]).keys.sorted()
            where Int.random(in: 0..<part, using: &random) == 0 {
                try connection.execute("DELETE FROM \(table.name) WHERE Z_PK = \(key)")
            }
        }
        try connection.close()
    }

    private func surplus(
        _ requirement: DataRequirement, in store: PlainStore
    ) -> [(PropertyKey, PlainLink)] {
        let property: PropertyReference
        switch requirement {
        case .atMostOne(let source, _), .distinctTargets(let source, _),
            .noTargets(let source, _, _):
            property = source
        case .noObjects, .noMissingValue, .linkCount, .unique, .noFilteredTargets, .pathLeads:
            return []
        }
        guard
            let (owner, relationship) = model.relationship(property.property, of: property.entity)
        else { return [] }
        let key = PropertyKey(owner.name, property.property)
        let links = (store.relations[key] ?? [:]).keys
            .filter { store.object($0.owner, of: owner.name)?.entity == property.entity }
            .sorted { ($0.owner, $0.target) < ($1.owner, $1.target) }
        var owners: Set<Int64> = []
        var targets: Set<Int64> = []
        let surplus = links.filter { link in
            switch requirement {
            case .atMostOne: return !owners.insert(link.owner).inserted
            case .distinctTargets: return !targets.insert(link.target).inserted
            case .noTargets(_, _, let entities):
                let target = store.object(link.target, of: relationship.destination)
                return target.map { entities.contains($0.entity) } ?? false
            default: return false
            }
        }
        return surplus.map { (key, $0) }
    }

    /// Statements that remove a link wherever it is stored.
    private func removal(
        of link: PlainLink, _ key: PropertyKey, _ layout: StoreLayout
    ) -> [String] {
        guard let relationship = model.relationship(key.property, of: key.entity)?.relationship
        else { return [] }
        var statements = clearing(
            [.toOne(key), .toOneEntity(key), .order(key)], in: link.owner,
            where: .toOne(key), is: link.target, layout)
        statements += clearing(
            [.hiddenKey(key), .hiddenOrder(key)], in: link.target, where: .hiddenKey(key),
            is: link.owner, layout)
        if let (owner, inverse) = model.inverse(of: relationship) {
            let back = PropertyKey(owner.name, inverse.name)
            statements += clearing(
                [.toOne(back), .toOneEntity(back), .order(back)], in: link.target,
                where: .toOne(back), is: link.owner, layout)
        }
        if let join = layout.joinTable(of: key) {
            let (own, other) =
                join.naming == key
                ? (join.namingColumn, join.inverseColumn)
                : (join.inverseColumn, join.namingColumn)
            let pairs = join.isReflexive ? [link, link.turned] : [link]
            statements += pairs.map {
                "DELETE FROM \(join.name) WHERE \(own) = \($0.owner) AND \(other) = \($0.target)"
            }
        }
        return statements
    }

    private func clearing(
        _ roles: [ColumnRole], in row: Int64, where held: ColumnRole, is key: Int64,
        _ layout: StoreLayout
    ) -> [String] {
        guard let (table, column) = layout.column(held) else { return [] }
        let sets = roles.compactMap { layout.column($0).map { "\($0.column.name) = NULL" } }
        return [
            "UPDATE \(table.name) SET \(sets.joined(separator: ", ")) "
                + "WHERE Z_PK = \(row) AND \(column.name) = \(key)"
        ]
    }
}
