import CoreDataStore
import ExpressionEvaluation
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
    private let passes: PlainPasses
    /// The highest key that each root of the destination ever had.
    var tops: [String: Int64] { passes.tops }
    /// Objects by root entity and key.
    private(set) var objects: [String: [Int64: Expected]] = [:]

    init(_ source: PlainStore, to model: Model, mapping: Mapping, keepsBroken: Bool) {
        self.source = source
        self.model = model
        self.mapping = mapping
        self.keepsBroken = keepsBroken
        passes = PlainPasses(source, to: model, mapping: mapping)
        for (_, rows) in source.objects {
            for (key, object) in rows {
                for mapped in passes.passes(key, of: object.entity) { carry(key, object, mapped) }
            }
        }
    }

    private mutating func carry(
        _ key: Int64, _ object: PlainObject, _ entityMapping: EntityMapping
    ) {
        guard let to = entityMapping.destination else { return }
        let moved = key + passes.offset(of: entityMapping)
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
            case .null, .policy: attributes[attribute.destination] = .null
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
            for link in passes.pathLinks(of: entityMapping, at: key) {
                links.whole[isTurned ? link.turned : link] = PlainOrder()
            }
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
                if owner != nil,
                    !passes.passes(link.owner, of: from).contains(where: {
                        $0.name == entityMapping.name
                    })
                {
                    continue
                }
                add(
                    link, order, owner, by: entityMapping, from: sourceKey, before,
                    to: relationship, at: key, isTurned: isTurned, into: &links)
            }
        }
    }

    private func add(
        _ link: PlainLink, _ order: PlainOrder, _ owner: PlainObject?, by mapped: EntityMapping,
        from key: PropertyKey, _ before: Relationship, to relationship: Relationship,
        at place: PropertyKey,
        isTurned: Bool, into links: inout Links
    ) {
        let target = source.object(link.target, of: before.destination)
        if owner != nil, let target {
            let makers = passes.passes(link.target, of: target.entity).filter { pass in
                pass.destination.map { model.isKind($0, of: relationship.destination) } == true
            }
            for maker in makers {
                let made = PlainLink(
                    owner: link.owner + passes.offset(of: mapped),
                    target: link.target + passes.offset(of: maker))
                let turned = isTurned ? made.turned : made
                links.whole[turned] = links.whole[turned] ?? (isTurned ? order.turned : order)
            }
            return
        }
        guard keepsBroken else { return }
        broken(
            link, owner, target, by: mapped, key, before, to: place, relationship, isTurned,
            &links)
    }

    /// A link with a missing end: it stays where all that the missing object can have been
    /// moves alike.
    private func broken(
        _ link: PlainLink, _ owner: PlainObject?, _ target: PlainObject?,
        by mapped: EntityMapping, _ key: PropertyKey, _ before: Relationship, to: PropertyKey,
        _ relationship: Relationship, _ isTurned: Bool, _ links: inout Links
    ) {
        let named = owner.flatMap { source.namedTarget(of: key, $0) }
        let inverse = source.model.inverse(of: before).map {
            PropertyKey($0.owner.name, $0.relationship.name)
        }
        let namedBack = target.flatMap { object in
            inverse.flatMap { source.namedTarget(of: $0, object) }
        }
        let makesOwner = { (entityMapping: EntityMapping) in
            entityMapping.destination.map { model.isKind($0, of: to.entity) } ?? false
                && entityMapping.relationships.contains {
                    $0.source == key.property && $0.destination == to.property
                }
        }
        let makesTarget = { (entityMapping: EntityMapping) in
            entityMapping.destination.map { model.isKind($0, of: relationship.destination) }
                ?? false
        }
        let lefts =
            owner != nil
            ? [option(link.owner, by: mapped)]
            : options(link.owner, namedBack, below: key.entity, where: makesOwner)
        // An object that several mappings make has a link from each of them.
        var targets = [options(link.target, named, below: before.destination, where: makesTarget)]
        if let target {
            targets = passes.passes(link.target, of: target.entity).filter(makesTarget)
                .map { [option(link.target, by: $0)] }
        }
        // Both objects of a one-to-one pair hold the link. Where the destination has one place for
        // both, the object whose side is read may be the one that is gone.
        let isGone =
            (owner == nil || target == nil) && isPair(source.model, before)
            && !isPair(model, relationship)
        for rights in targets {
            add(
                lefts, rights, key, before, relationship, isTurned, mayBeTold: !isGone, &links)
        }
    }

    private func isPair(_ model: Model, _ relationship: Relationship) -> Bool {
        !relationship.isToMany
            && model.inverse(of: relationship)?.relationship.isToMany == false
    }

    private func add(
        _ lefts: Set<Option>, _ rights: Set<Option>, _ key: PropertyKey, _ before: Relationship,
        _ relationship: Relationship, _ isTurned: Bool, mayBeTold: Bool, _ links: inout Links
    ) {
        // A to-one may have to name its target's entity, too; and filters look at objects.
        let inverseNow = model.inverse(of: relationship)?.relationship
        let isTold =
            mayBeTold && !passes.isSplit(key.entity) && !passes.isSplit(before.destination)
            && isOne(rights, named: names(relationship)) && isOne(lefts, named: names(inverseNow))
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
        let family = source.model.family(of: top).map(\.name)
        func mapped(_ name: String) -> EntityMapping? {
            mapping.entityMappings.first {
                $0.source == name && $0.destination != nil && isValid($0)
            }
        }
        // Beyond its table's keys a reference would lead to objects of another table.
        guard family.compactMap(mapped).allSatisfy({ passes.staysApart(key, by: $0) }) else {
            return [Option()]
        }
        return Set(
            (entity.map { [$0] } ?? family).map { name in
                mapped(name).map { option(key, by: $0) } ?? Option()
            })
    }

    private func option(_ key: Int64, by mapped: EntityMapping) -> Option {
        Option(key: key + passes.offset(of: mapped), entity: mapped.destination)
    }
}
