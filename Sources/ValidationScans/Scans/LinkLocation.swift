package import CoreDataStore
import ManagedObjectModel
package import MappingModel
import SafeSQLite

/// What becomes of objects at one end of a source relationship.
package struct EndFates: Sendable {
    /// The source table of the objects.
    let table: String
    /// Numbers of all source entities and kinds that may stand there.
    package let possible: [Int64]
    /// Tells objects of one entity apart; nil where all have the same fate.
    let split: SplitReader?
    /// By the number of source entity or kind; links of others are dropped.
    package let kept: [Int64: Fate]
    /// Numbers of those whose objects go nowhere.
    package let removed: [Int64]
    /// The only entity of the source table, whatever its rows say; nil where several share it.
    let onlyEntity: Int64?
    /// The least and the greatest key that stays apart from other sources' keys in the
    /// destination, nil for none: references beyond them lead nowhere.
    let least: Int64?
    let greatest: Int64?

    init(_ entity: String, kept: [Int64: Fate], scope: ValidationScope) {
        let table = scope.source.table(of: entity)?.name ?? ""
        let kinds = scope.kinds(ofFamily: entity)
        self.table = table
        possible = kinds.map(\.number)
        self.kept = kept
        let isSplit = kinds.contains { kind in scope.splits.contains { $0.entity == kind.entity } }
        split = isSplit ? SplitReader(table, scope) : nil
        removed = kinds.filter { scope.fates(of: $0).isEmpty }.map(\.number)
        onlyEntity = scope.source.table(named: table).flatMap { scope.source.onlyEntity(of: $0) }
        // A missing object may have been any of them, so its key must stay apart from all.
        var ways: [Fate] = []
        for fate in kept.values
        where !ways.contains(where: { $0.table == fate.table && $0.layer == fate.layer }) {
            ways.append(fate)
        }
        least = ways.contains { $0.offset > 0 } ? 1 : nil
        greatest = ways.compactMap { Self.greatest(of: $0, from: table, scope) }.min()
    }

    /// The greatest key of a source table that lies below the next source's keys, or those of made
    /// objects, in the destination; nil for none.
    private static func greatest(
        of fate: Fate, from table: String, _ scope: ValidationScope
    ) -> Int64? {
        var order: [(source: String, fate: Fate)] = []
        for mapped in scope.mapping.entityMappings {
            guard let found = scope.fate(of: mapped), found.table == fate.table,
                let from = mapped.source.flatMap({ scope.source.table(of: $0)?.name }),
                !order.contains(where: { $0.source == from && $0.fate.layer == found.layer })
            else { continue }
            order.append((from, found))
        }
        let place = order.firstIndex { $0.source == table && $0.fate.layer == fate.layer }
        if let place, place + 1 < order.count {
            return order[place + 1].fate.offset - fate.offset
        }
        return scope.keysBelowCreated[fate.table].map { $0 - fate.offset }
    }

    /// The one offset of all that may stand there; nil where offsets differ or one is dropped.
    var commonOffset: Int64? {
        guard let first = possible.first.flatMap({ kept[$0]?.offset }) else { return nil }
        return possible.allSatisfy { kept[$0]?.offset == first } ? first : nil
    }
}

/// Source links that become links of one destination relationship.
package struct LinkFeed: Sendable {
    /// The source relationship, for its own rules.
    package let key: PropertyKey
    package let storage: LinkStorage
    package let owner: EndFates
    package let target: EndFates
    /// Whether the source demands a target of every owner.
    let isRequired: Bool
    /// Whether the owners are the relationship's targets in the source.
    var isFlipped = false
    /// What the columns of the storage stand for, where a mapping states a path instead of a
    /// source relationship; the key is then that of the path's first relationship.
    var expressions: [String: SQLText] = [:]

    /// Whether the links are those of a path, and not the ones of a source relationship.
    var isPath: Bool { isOwn || !expressions.isEmpty }
    /// Whether objects are linked that come of one source object.
    var isOwn = false
    /// The entity mapping that alone makes the targets; nil for any.
    var maker: String?

    /// What links that the relationship does not take are counted as; nil for those between objects
    /// that a mapping makes of one, which are none of the source.
    package func subject(at place: PropertyKey, _ scope: ValidationScope) -> Loss.Subject? {
        guard isPath else { return Loss.Subject(linksOf: key, in: scope.source) }
        let stated = isFlipped ? scope.destination.inverseKey(of: place) ?? place : place
        return isOwn ? nil : Loss.Subject(.path, stated.entity, stated.property)
    }

    /// The objects that have the relationship in the source.
    var holders: EndFates { isFlipped ? target : owner }
    /// The objects to which it leads there.
    var heldObjects: EndFates { isFlipped ? owner : target }
}

/// A stored relationship of the destination, with the links that it must hold.
package struct LinkLocation: Sendable {
    package let key: PropertyKey
    package let storage: LinkStorage
    package let ownerEntity: String
    let targetEntity: String
    package let feeds: [LinkFeed]
    let isRequired: Bool
    /// Whether places in lists come from the source and must be the same.
    package let keepsOwnerOrder: Bool
    package let keepsTargetOrder: Bool

    /// What its sum is called.
    package var label: String { key.description }
    var seed: HashSeed { HashSeed(label) }
    /// Whether rows name the entity of their target.
    var namesTargetEntity: Bool { storage.target.entityColumn != nil }

    /// - Returns: nil for a relationship without storage.
    package init?(_ key: PropertyKey, scope: ValidationScope) {
        let layout = scope.destination
        guard let relationship = layout.relationship(key), let storage = layout.linkStorage(key)
        else { return nil }
        self.key = key
        self.storage = storage
        ownerEntity = key.entity
        targetEntity = relationship.destination
        isRequired = !relationship.isOptional && !relationship.isToMany
        let own = LinkLocation.feeds(of: key, scope: scope)
        // Each source of the inverse whose other side is not among the own ones adds its links; of
        // the others, those of objects whose own mapping leaves the relationship out.
        let known = Set(own.filter { !$0.isPath }.map(\.key))
        let isKnown = { (feed: LinkFeed) in
            !feed.isPath && scope.source.inverseKey(of: feed.key).map(known.contains) == true
        }
        let inverse = layout.inverseKey(of: key)
        let others = inverse.map { LinkLocation.feeds(of: $0, scope: scope) } ?? []
        feeds =
            own + others.filter(isKnown).compactMap { LinkLocation.rest($0, at: key, scope) }
            + others.filter { !isKnown($0) }.map { feed in
                LinkFeed(
                    key: feed.key, storage: feed.storage.flipped, owner: feed.target,
                    target: feed.owner, isRequired: false, isFlipped: true,
                    expressions: feed.expressions, isOwn: feed.isOwn)
            }
        keepsOwnerOrder =
            storage.ownerOrder != nil && feeds.allSatisfy { $0.storage.ownerOrder != nil }
        keepsTargetOrder =
            storage.targetOrder != nil && feeds.allSatisfy { $0.storage.targetOrder != nil }
    }

    /// What entity mappings name for a destination relationship.
    private struct Origin: Hashable {
        /// The source relationship.
        let key: PropertyKey
        /// The entity mapping that makes the targets; nil for any.
        let maker: String?
        /// Of the owners.
        let layer: Int
    }

    /// The source relationships that entity mappings name for a destination relationship, each
    /// with the entities that do.
    package static func feeds(of key: PropertyKey, scope: ValidationScope) -> [LinkFeed] {
        var order: [Origin] = []
        var owners: [Origin: [Int64: Fate]] = [:]
        for mapped in scope.mapping.entityMappings {
            guard let from = mapped.source, let to = mapped.destination,
                scope.destination.model.isKind(to, of: key.entity),
                let stated = mapped.relationships.first(where: { $0.destination == key.property }),
                let name = stated.source,
                let declarer = scope.source.model.relationship(name, of: from)?.owner.name,
                let fate = scope.fate(of: mapped)
            else { continue }
            let found = Origin(
                key: PropertyKey(declarer, name), maker: stated.mapping, layer: fate.layer)
            if owners[found] == nil { order.append(found) }
            let taken = scope.kinds(ofSource: from).filter {
                scope.mapping.takes(mapped, mask: $0.mask)
            }
            owners[found, default: [:]].merge(taken.map { ($0.number, fate) }) { first, _ in first }
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
            let stated = mapped.relationships.first(where: { $0.destination == key.property }),
            let path = stated.path, let fate = scope.fate(of: mapped),
            let table = scope.source.table(of: from)?.name,
            let wanted = scope.destination.relationship(key)?.destination
        else { return nil }
        let kinds = scope.kinds(ofSource: from).filter {
            scope.mapping.takes(mapped, mask: $0.mask)
        }
        let owners = EndFates(
            from, kept: Dictionary(uniqueKeysWithValues: kinds.map { ($0.number, fate) }),
            scope: scope)
        var current = from
        var first: PropertyKey?
        for name in path {
            guard let found = scope.source.model.relationship(name, of: current) else { return nil }
            if first == nil { first = PropertyKey(found.owner.name, name) }
            current = found.relationship.destination
        }
        let targets = EndFates(
            current, kept: targets(of: current, wanted: wanted, maker: stated.mapping, scope),
            scope: scope)
        guard let first else {
            return LinkFeed(
                key: PropertyKey(from, "SELF"),
                storage: LinkStorage(
                    table: table, owner: .row, target: .row, ownerOrder: nil, targetOrder: nil),
                owner: owners, target: targets, isRequired: false, isOwn: true)
        }
        guard let object = ComputedInput(path, of: from, in: scope.source),
            let entity = ComputedInput(path, of: from, in: scope.source, column: "Z_ENT")
        else { return nil }
        // Others of the table may fill the relationship by paths of their own.
        let names = ("path of \(key) by \(mapped.name)", "entity of \(key) by \(mapped.name)")
        return LinkFeed(
            key: first,
            storage: LinkStorage(
                table: table, owner: .row, target: .column(names.0, entity: names.1),
                ownerOrder: nil, targetOrder: nil),
            owner: owners, target: targets, isRequired: false,
            expressions: [names.0: object.sql, names.1: entity.sql])
    }

    /// By number, what becomes of source objects that may be targets.
    private static func targets(
        of entity: String, wanted: String, maker: String?, _ scope: ValidationScope
    ) -> [Int64: Fate] {
        var targets: [Int64: Fate] = [:]
        for kind in scope.kinds(ofFamily: entity) {
            let made = scope.fates(of: kind).first { mapped, fate in
                (maker ?? mapped.name) == mapped.name
                    && scope.destination.model.isKind(fate.entity, of: wanted)
            }
            targets[kind.number] = made?.fate
        }
        return targets
    }

    /// What a feed of the inverse adds to links that the other side states: those of objects whose
    /// own mapping does not.
    ///
    /// Nil where there are no such objects.
    private static func rest(
        _ feed: LinkFeed, at key: PropertyKey, _ scope: ValidationScope
    ) -> LinkFeed? {
        guard let source = scope.source.inverseKey(of: feed.key),
            let storage = scope.source.linkStorage(source)
        else { return nil }
        var silent: [Int64: Fate] = [:]
        for kind in scope.kinds(ofFamily: source.entity) where feed.target.kept[kind.number] != nil
        {
            let made = scope.fates(of: kind).first { mapped, fate in
                (feed.maker ?? mapped.name) == mapped.name
                    && scope.destination.model.isKind(fate.entity, of: key.entity)
                    && !mapped.relationships.contains {
                        $0.destination == key.property && $0.source == source.property
                    }
            }
            silent[kind.number] = made?.fate
        }
        guard !silent.isEmpty else { return nil }
        return LinkFeed(
            key: source, storage: storage,
            owner: EndFates(source.entity, kept: silent, scope: scope), target: feed.owner,
            isRequired: false)
    }

    private static func feed(
        _ origin: Origin, owners: [Int64: Fate], destination key: PropertyKey,
        scope: ValidationScope
    ) -> LinkFeed? {
        let source = origin.key
        guard let relationship = scope.source.relationship(source),
            let storage = scope.source.linkStorage(source),
            let wanted = scope.destination.relationship(key)?.destination
        else { return nil }
        let targets = targets(
            of: relationship.destination, wanted: wanted, maker: origin.maker, scope)
        return LinkFeed(
            key: source, storage: storage,
            owner: EndFates(source.entity, kept: owners, scope: scope),
            target: EndFates(relationship.destination, kept: targets, scope: scope),
            isRequired: !relationship.isOptional && !relationship.isToMany, maker: origin.maker)
    }
}
