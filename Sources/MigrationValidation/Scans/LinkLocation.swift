import CoreDataStore
import ManagedObjectModel
import MappingModel
import SafeSQLite

/// What becomes of objects at one end of a source relationship.
struct EndFates: Sendable {
    /// The source table of the objects.
    let table: String
    /// Numbers of all source entities that may stand there.
    let possible: [Int64]
    /// By source entity number; links of others are dropped.
    let kept: [Int64: Fate]
    /// Numbers of those whose objects go nowhere.
    let removed: [Int64]
    /// The only entity of the source table, whatever its rows say; nil where several share it.
    let onlyEntity: Int64?
    /// The least and the greatest key that stays apart from other sources' keys in the
    /// destination, nil for none: references beyond them lead nowhere.
    let least: Int64?
    let greatest: Int64?

    init(table: String, possible: [Int64], kept: [Int64: Fate], scope: ValidationScope) {
        self.table = table
        self.possible = possible
        self.kept = kept
        removed = possible.filter { number in
            !scope.mapping.entityMappings.contains { mapped in
                scope.fate(of: mapped) != nil
                    && mapped.source.flatMap { scope.source.number(of: $0) } == Int(number)
            }
        }
        onlyEntity = scope.source.table(named: table).flatMap { scope.source.onlyEntity(of: $0) }
        let fate = kept.values.first
        let following = scope.mapping.entityMappings.lazy.filter { mapped in
            scope.fate(of: mapped)?.table == fate?.table
        }.compactMap { mapped in mapped.source.flatMap { scope.source.table(of: $0)?.name } }
        var order: [String] = []
        for name in following where !order.contains(name) { order.append(name) }
        least = fate.map { $0.offset > 0 } == true ? 1 : nil
        if let fate, let place = order.firstIndex(of: table), place + 1 < order.count {
            let next = scope.offsets[.init(order[place + 1], fate.table)] ?? 0
            greatest = next - fate.offset
        } else {
            greatest = nil
        }
    }

    /// The one offset of all that may stand there; nil where offsets differ or one is dropped.
    var commonOffset: Int64? {
        guard let first = possible.first.flatMap({ kept[$0]?.offset }) else { return nil }
        return possible.allSatisfy { kept[$0]?.offset == first } ? first : nil
    }
}

/// Source links that become links of one destination relationship.
struct LinkFeed: Sendable {
    /// The source relationship, for its own rules.
    let key: PropertyKey
    let storage: LinkStorage
    let owner: EndFates
    let target: EndFates
    /// Whether the source demands a target of every owner.
    let isRequired: Bool
    /// Whether the owners are the relationship's targets in the source.
    var isFlipped = false
    /// What the columns of the storage stand for, where a mapping states a path instead of a
    /// source relationship; the key is then that of the path's first relationship.
    var expressions: [String: SQLText] = [:]

    /// Whether the links are those of a path, and not the ones of a source relationship.
    var isPath: Bool { !expressions.isEmpty }

    /// The objects that have the relationship in the source.
    var holders: EndFates { isFlipped ? target : owner }
    /// The objects to which it leads there.
    var heldObjects: EndFates { isFlipped ? owner : target }
}

/// A stored relationship of the destination, with the links that it must hold.
struct LinkLocation: Sendable {
    let key: PropertyKey
    let storage: LinkStorage
    let ownerEntity: String
    let targetEntity: String
    let feeds: [LinkFeed]
    let isRequired: Bool
    /// Whether places in lists come from the source and must be the same.
    let keepsOwnerOrder: Bool
    let keepsTargetOrder: Bool

    /// What its sum is called.
    var label: String { key.description }
    var seed: HashSeed { HashSeed(label) }
    /// Whether rows name the entity of their target.
    var namesTargetEntity: Bool { storage.target.entityColumn != nil }

    /// - Returns: nil for a relationship without storage.
    init?(_ key: PropertyKey, scope: ValidationScope) {
        let layout = scope.destination
        guard let relationship = layout.relationship(key), let storage = layout.linkStorage(key)
        else { return nil }
        self.key = key
        self.storage = storage
        ownerEntity = key.entity
        targetEntity = relationship.destination
        isRequired = !relationship.isOptional && !relationship.isToMany
        let own = LinkLocation.feeds(of: key, scope: scope)
        // Each source of the inverse whose other side is not among the own ones adds its links.
        let known = Set(own.filter { !$0.isPath }.map(\.key))
        let inverse = layout.inverseKey(of: key)
        let others = inverse.map { LinkLocation.feeds(of: $0, scope: scope) } ?? []
        feeds =
            own
            + others.filter { feed in
                feed.isPath
                    || !(scope.source.inverseKey(of: feed.key).map(known.contains) ?? false)
            }.map { feed in
                LinkFeed(
                    key: feed.key, storage: feed.storage.flipped, owner: feed.target,
                    target: feed.owner, isRequired: false, isFlipped: true,
                    expressions: feed.expressions)
            }
        keepsOwnerOrder =
            storage.ownerOrder != nil && feeds.allSatisfy { $0.storage.ownerOrder != nil }
        keepsTargetOrder =
            storage.targetOrder != nil && feeds.allSatisfy { $0.storage.targetOrder != nil }
    }

    /// The source relationships that entity mappings name for a destination relationship, each
    /// with the entities that do.
    static func feeds(of key: PropertyKey, scope: ValidationScope) -> [LinkFeed] {
        var order: [PropertyKey] = []
        var owners: [PropertyKey: [Int64: Fate]] = [:]
        for mapped in scope.mapping.entityMappings {
            guard let from = mapped.source, let to = mapped.destination,
                scope.destination.model.isKind(to, of: key.entity),
                let name = mapped.relationships.first(where: { $0.destination == key.property })?
                    .source,
                let declarer = scope.source.model.relationship(name, of: from)?.owner.name,
                let number = scope.source.number(of: from), let fate = scope.fate(of: mapped)
            else { continue }
            let found = PropertyKey(declarer, name)
            if owners[found] == nil { order.append(found) }
            if owners[found]?[Int64(number)] == nil {
                owners[found, default: [:]][Int64(number)] = fate
            }
        }
        let paths = scope.mapping.entityMappings.compactMap { mapped in
            pathFeed(mapped, of: key, scope: scope)
        }
        return order.compactMap { source in
            feed(source, owners: owners[source] ?? [:], destination: key, scope: scope)
        } + paths
    }

    /// The links that an entity mapping states by a path of to-one relationships.
    private static func pathFeed(
        _ mapped: EntityMapping, of key: PropertyKey, scope: ValidationScope
    ) -> LinkFeed? {
        guard let from = mapped.source, let to = mapped.destination,
            scope.destination.model.isKind(to, of: key.entity),
            let path = mapped.relationships.first(where: { $0.destination == key.property })?.path,
            let number = scope.source.number(of: from), let fate = scope.fate(of: mapped),
            let table = scope.source.table(of: from)?.name,
            let wanted = scope.destination.relationship(key)?.destination
        else { return nil }
        var current = from
        var first: PropertyKey?
        for name in path {
            guard let found = scope.source.model.relationship(name, of: current) else { return nil }
            if first == nil { first = PropertyKey(found.owner.name, name) }
            current = found.relationship.destination
        }
        guard let first, let target = scope.source.table(of: current)?.name,
            let object = ComputedInput(path, of: from, in: scope.source),
            let entity = ComputedInput(path, of: from, in: scope.source, column: "Z_ENT")
        else { return nil }
        let names = ("path of \(key)", "entity of \(key)")
        return LinkFeed(
            key: first,
            storage: LinkStorage(
                table: table, owner: .row, target: .column(names.0, entity: names.1),
                ownerOrder: nil, targetOrder: nil),
            owner: EndFates(
                table: table, possible: scope.source.familyNumbers(of: from),
                kept: [Int64(number): fate], scope: scope),
            target: EndFates(
                table: target, possible: scope.source.familyNumbers(of: current),
                kept: targets(of: current, wanted: wanted, scope: scope), scope: scope),
            isRequired: false, expressions: [names.0: object.sql, names.1: entity.sql])
    }

    /// By number, what becomes of source objects that may be targets.
    private static func targets(
        of entity: String, wanted: String, scope: ValidationScope
    ) -> [Int64: Fate] {
        var targets: [Int64: Fate] = [:]
        for member in scope.source.model.family(of: entity) {
            guard let number = scope.source.number(of: member.name),
                let fate = scope.fates(ofSource: member.name).lazy.map(\.fate).first(where: {
                    scope.destination.model.isKind($0.entity, of: wanted)
                })
            else { continue }
            targets[Int64(number)] = fate
        }
        return targets
    }

    private static func feed(
        _ source: PropertyKey, owners: [Int64: Fate], destination key: PropertyKey,
        scope: ValidationScope
    ) -> LinkFeed? {
        guard let relationship = scope.source.relationship(source),
            let storage = scope.source.linkStorage(source),
            let wanted = scope.destination.relationship(key)?.destination
        else { return nil }
        let targets = targets(of: relationship.destination, wanted: wanted, scope: scope)
        let table = { (entity: String) in scope.source.table(of: entity)?.name ?? "" }
        return LinkFeed(
            key: source, storage: storage,
            owner: EndFates(
                table: table(source.entity),
                possible: scope.source.familyNumbers(of: source.entity), kept: owners,
                scope: scope),
            target: EndFates(
                table: table(relationship.destination),
                possible: scope.source.familyNumbers(of: relationship.destination),
                kept: targets, scope: scope),
            isRequired: !relationship.isOptional && !relationship.isToMany)
    }
}
