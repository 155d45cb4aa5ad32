import CoreDataStore
import ManagedObjectModel
import MappingExpressions
import MappingModel

/// What a store must become, worked out object by object.
struct PlainMigration {
    /// An object of the destination.
    struct Expected {
        let entity: String
        let saves: PlainValue
        let attributes: [String: PlainValue]
    }

    /// Links of a relationship of the destination.
    struct Links {
        /// Both objects are there.
        var whole: PlainRelation = [:]
        /// One of the objects is missing, in the source already, and the link must stay.
        var broken: Set<PlainLink> = []
        /// Broken links that may stay.
        var possible: Set<PlainLink> = []
    }

    let source: PlainStore
    let model: Model
    let mapping: Mapping
    let keepsBroken: Bool
    private var offsets: [String: [String: Int64]] = [:]
    /// Roots of the source by root of the destination, in the order of their keys.
    private var order: [String: [String]] = [:]
    /// The highest key that each root of the destination ever had.
    private(set) var tops: [String: Int64] = [:]
    private var bySource: [String: EntityMapping] = [:]
    /// Objects by root entity and key.
    private(set) var objects: [String: [Int64: Expected]] = [:]

    init(_ source: PlainStore, to model: Model, mapping: Mapping, keepsBroken: Bool) {
        self.source = source
        self.model = model
        self.mapping = mapping
        self.keepsBroken = keepsBroken
        for entityMapping in mapping.entityMappings {
            guard let from = entityMapping.source, let to = entityMapping.destination else {
                continue
            }
            bySource[from] = entityMapping
            let (table, place) = (source.root(of: from), model.root(of: to)?.name ?? to)
            guard offsets[table]?[place] == nil else { continue }
            // The first keeps its keys, others come above all that were ever given out.
            let highest = max(
                source.maxima[table] ?? 0, source.objects[table]?.keys.max() ?? 0)
            offsets[table, default: [:]][place] = tops[place] ?? 0
            order[place, default: []].append(table)
            tops[place, default: 0] += highest
        }
        for (_, rows) in source.objects {
            for (key, object) in rows { carry(key, object) }
        }
    }

    private mutating func carry(_ key: Int64, _ object: PlainObject) {
        guard let entityMapping = bySource[object.entity], let to = entityMapping.destination,
            let moved = moved(key, of: object.entity)
        else { return }
        var attributes: [String: PlainValue] = [:]
        for attribute in entityMapping.attributes {
            switch attribute.value {
            case .source(let name):
                attributes[attribute.destination] = source.value(name, of: object)
            case .sourceOrDefault(let name, let value):
                let before = source.value(name, of: object)
                attributes[attribute.destination] = before == .null ? PlainValue(value) : before
            case .constant(let value): attributes[attribute.destination] = PlainValue(value)
            case .expression(let expression):
                attributes[attribute.destination] = computed(
                    expression, attribute.destination, of: to,
                    for: PlainReference(entity: object.entity, key: key))
            case .null: attributes[attribute.destination] = .null
            }
        }
        objects[model.root(of: to)?.name ?? to, default: [:]][moved] = Expected(
            entity: to, saves: object.saves, attributes: attributes)
    }

    /// What an expression gives for an object; nil, which no file holds, where it has none.
    private func computed(
        _ expression: MappingExpression, _ name: String, of entity: String,
        for object: PlainReference
    ) -> PlainValue? {
        guard let type = model.attribute(name, of: entity)?.attribute.type else { return nil }
        do throws(ExpressionError) {
            return try PlainEvaluation(store: source).value(
                of: expression, for: object, now: RandomCase.now, type: type)
        } catch {
            return nil
        }
    }

    /// The key in the destination of an object of a source entity; nil where it is dropped.
    private func moved(_ key: Int64, of entity: String) -> Int64? {
        guard let to = bySource[entity]?.destination, let root = model.root(of: to)?.name,
            let offset = offsets[source.root(of: entity)]?[root]
        else { return nil }
        return key + offset
    }
}

// MARK: - Links

extension PlainMigration {
    /// The links of a relationship of the destination, from its own sources and from those of
    /// its inverse.
    func links(of key: PropertyKey) -> Links {
        guard let relationship = model.relationship(key.property, of: key.entity)?.relationship
        else { return Links() }
        var links = Links()
        collect(key, relationship, isTurned: false, into: &links)
        if let (owner, inverse) = model.inverse(of: relationship) {
            collect(PropertyKey(owner.name, inverse.name), inverse, isTurned: true, into: &links)
        }
        return links
    }

    private func collect(
        _ key: PropertyKey, _ relationship: Relationship, isTurned: Bool, into links: inout Links
    ) {
        for entityMapping in mapping.entityMappings {
            guard let from = entityMapping.source, let to = entityMapping.destination,
                model.isKind(to, of: key.entity),
                let name = entityMapping.relationships.first(where: {
                    $0.destination == key.property
                })?.source,
                let (declarer, before) = source.model.relationship(name, of: from)
            else { continue }
            let sourceKey = PropertyKey(declarer.name, name)
            for (link, order) in source.relations[sourceKey] ?? [:] {
                let owner = source.object(link.owner, of: from)
                guard owner == nil || owner?.entity == from else { continue }
                add(
                    link, order, owner, from: sourceKey, before, to: relationship, at: key,
                    isTurned: isTurned, into: &links)
            }
        }
    }

    private func add(
        _ link: PlainLink, _ order: PlainOrder, _ owner: PlainObject?, from key: PropertyKey,
        _ before: Relationship, to relationship: Relationship, at place: PropertyKey,
        isTurned: Bool, into links: inout Links
    ) {
        let target = source.object(link.target, of: before.destination)
        if let owner, let target {
            guard let left = moved(link.owner, of: owner.entity),
                let right = moved(link.target, of: target.entity),
                let to = bySource[target.entity]?.destination,
                model.isKind(to, of: relationship.destination)
            else { return }
            let made = PlainLink(owner: left, target: right)
            let turned = isTurned ? made.turned : made
            links.whole[turned] = links.whole[turned] ?? (isTurned ? order.turned : order)
            return
        }
        guard keepsBroken else { return }
        broken(link, owner, target, key, before, to: place, relationship, isTurned, &links)
    }

    /// A link with a missing end: it stays where all that the missing object can have been
    /// moves alike.
    private func broken(
        _ link: PlainLink, _ owner: PlainObject?, _ target: PlainObject?, _ key: PropertyKey,
        _ before: Relationship, to: PropertyKey, _ relationship: Relationship, _ isTurned: Bool,
        _ links: inout Links
    ) {
        let named = owner.flatMap { source.namedTarget(of: key, $0) }
        let inverse = source.model.inverse(of: before).map {
            PropertyKey($0.owner.name, $0.relationship.name)
        }
        let namedBack = target.flatMap { object in
            inverse.flatMap { source.namedTarget(of: $0, object) }
        }
        let lefts = options(
            link.owner, owner?.entity ?? namedBack, below: key.entity
        ) { entityMapping in
            entityMapping.destination.map { model.isKind($0, of: to.entity) } ?? false
                && entityMapping.relationships.contains {
                    $0.source == key.property && $0.destination == to.property
                }
        }
        let rights = options(
            link.target, target?.entity ?? named, below: before.destination
        ) { entityMapping in
            entityMapping.destination.map { model.isKind($0, of: relationship.destination) }
                ?? false
        }
        // A to-one may have to name its target's entity, too.
        let inverseNow = model.inverse(of: relationship)?.relationship
        let isTold =
            isOne(rights, named: names(relationship)) && isOne(lefts, named: names(inverseNow))
        for left in lefts.compactMap(\.key) {
            for right in rights.compactMap(\.key) {
                let made = PlainLink(owner: left, target: right)
                let turned = isTurned ? made.turned : made
                links.possible.insert(turned)
                if isTold { links.broken.insert(turned) }
            }
        }
    }

    /// Where a missing object can be in the destination, and as what; no key for nowhere.
    private struct Option: Hashable {
        var key: Int64?
        var entity: String?
    }

    private func names(_ relationship: Relationship?) -> Bool {
        relationship.map { !$0.isToMany && !model.children(of: $0.destination).isEmpty } ?? false
    }

    private func isOne(_ options: Set<Option>, named: Bool) -> Bool {
        named ? options.count == 1 : Set(options.map(\.key)).count == 1
    }

    /// Several where the object's entity is not known and counts.
    private func options(
        _ key: Int64, _ entity: String?, below top: String,
        where isValid: (EntityMapping) -> Bool
    ) -> Set<Option> {
        // Beyond its table's keys a reference would lead to objects of another table.
        let entities = entity.map { [$0] } ?? source.model.family(of: top).map(\.name)
        return Set(
            entities.map { name in
                guard let entityMapping = bySource[name], isValid(entityMapping),
                    staysApart(key, of: name)
                else { return Option() }
                return Option(key: moved(key, of: name), entity: entityMapping.destination)
            })
    }

    private func staysApart(_ key: Int64, of entity: String) -> Bool {
        guard let to = bySource[entity]?.destination, let root = model.root(of: to)?.name,
            let offset = offsets[source.root(of: entity)]?[root]
        else { return false }
        let following = (order[root] ?? []).drop { $0 != source.root(of: entity) }.dropFirst()
        let next = following.first.flatMap { offsets[$0]?[root] }
        return (offset == 0 || key >= 1) && next.map { key + offset <= $0 } ?? true
    }
}
