/// Walks two models side by side and collects what differs.
struct ModelDiffCollector {
    private let source: Model
    private let destination: Model
    private let match: ModelMatch
    private(set) var changes: [ModelDiff.Change] = []

    init(_ source: Model, _ destination: Model) {
        self.source = source
        self.destination = destination
        match = ModelMatch(from: source, to: destination)
    }

    mutating func collect() {
        collectModel()
        let kept = Set(match.entities.values)
        let removed = source.entities.values.filter { !kept.contains($0.name) }
        let all =
            removed.map { (entity: $0, isRemoved: true) }
            + destination.entities.values.map { (entity: $0, isRemoved: false) }
        let order = all.sorted { left, right in
            if left.entity.name == right.entity.name { return left.isRemoved && !right.isRemoved }
            return Model.precedes(left.entity.name, right.entity.name)
        }
        for (entity, isRemoved) in order {
            if isRemoved {
                add(.removed, entity.name, from: entity.words)
            } else if let old = match.entities[entity.name].flatMap({ source.entities[$0] }) {
                collect(old, entity)
            } else {
                addWhole(entity)
            }
        }
    }

    private mutating func collectModel() {
        let (old, new) = (source.versionIdentifiers, destination.versionIdentifiers)
        if old != new {
            add(
                .changed, nil, .versionIdentifiers,
                from: ModelFacet.words(old.map(Predicate.quoted)),
                to: ModelFacet.words(new.map(Predicate.quoted)), isHashed: false)
        }
        let names = Set(source.configurations.keys).union(destination.configurations.keys)
        for name in names.sorted() {
            let (old, new) = (source.configurations[name], destination.configurations[name])
            guard old != new else { continue }
            let kind: ModelDiff.Kind = old == nil ? .added : new == nil ? .removed : .changed
            add(
                kind, nil, .configuration, from: old.map { "\(name) (\(ModelFacet.list($0)))" },
                to: new.map { "\(name) (\(ModelFacet.list($0)))" }, isHashed: false)
        }
    }

    /// A new entity with everything that it declares.
    private mutating func addWhole(_ entity: Entity) {
        add(.added, entity.name, to: entity.words)
        collect(Entity(name: entity.name), entity, onlyContent: true)
    }

    private mutating func collect(_ old: Entity, _ new: Entity, onlyContent: Bool = false) {
        if !onlyContent {
            if old.name != new.name { add(.renamed, new.name, from: old.name, to: new.name) }
            for (before, after) in zip(old.facets, new.facets) where before.words != after.words {
                let isRenamed = old.name != new.name
                if isRenamed, after.aspect == .renamingIdentifier { continue }
                let follows =
                    after.aspect == .parent
                    && new.parent.flatMap { match.entities[$0] } == old.parent
                add(
                    .changed, new.name, after.aspect, from: before.words, to: after.words,
                    isHashed: after.isHashed, followsRenaming: follows)
            }
        }
        collectProperties(old, new)
        collectIndexes(old, new)
    }

    /// A property on one side or both.
    private struct Pair {
        var name: String
        var old: Item?
        var new: Item?
    }

    /// What attributes and relationships have in common here.
    private struct Item {
        let name: String
        let words: String
        let facets: [ModelFacet]
        let isTransient: Bool
        let relationship: Relationship?

        init(_ attribute: Attribute) {
            (name, words, facets) = (attribute.name, attribute.words, attribute.facets)
            (isTransient, relationship) = (attribute.isTransient, nil)
        }

        init(_ relationship: Relationship) {
            (name, words, facets) = (relationship.name, relationship.words, relationship.facets)
            (isTransient, self.relationship) = (relationship.isTransient, relationship)
        }
    }

    private mutating func collectProperties(_ old: Entity, _ new: Entity) {
        var pairs = Self.pairs(
            old.attributes.map(Item.init), new.attributes.map(Item.init),
            match.attributes[new.name] ?? [:])
        pairs += Self.pairs(
            old.relationships.map(Item.init), new.relationships.map(Item.init),
            match.relationships[new.name] ?? [:])
        pairs.sort { left, right in
            if left.name == right.name { return left.new == nil && right.new != nil }
            return left.name < right.name
        }
        for pair in pairs { collect(pair, in: new.name) }
        let (before, after) = (Set(old.fetchedProperties), Set(new.fetchedProperties))
        for name in before.symmetricDifference(after).sorted() {
            let kind: ModelDiff.Kind = after.contains(name) ? .added : .removed
            add(kind, new.name, property: name, to: "fetched property", isHashed: false)
        }
    }

    private static func pairs(
        _ old: [Item], _ new: [Item], _ sourceNames: [String: String]
    ) -> [Pair] {
        var left = Dictionary(uniqueKeysWithValues: old.map { ($0.name, $0) })
        var pairs: [Pair] = []
        for item in new {
            let before = sourceNames[item.name].flatMap { left.removeValue(forKey: $0) }
            pairs.append(Pair(name: item.name, old: before, new: item))
        }
        return pairs + left.values.map { Pair(name: $0.name, old: $0, new: nil) }
    }

    private mutating func collect(_ pair: Pair, in entity: String) {
        guard let new = pair.new else {
            if let old = pair.old {
                add(
                    .removed, entity, property: old.name, from: old.words,
                    isHashed: !old.isTransient)
            }
            return
        }
        guard let old = pair.old else {
            add(.added, entity, property: new.name, to: new.words, isHashed: !new.isTransient)
            return
        }
        // What is transient on both sides is in neither hash.
        let isHashed = !(old.isTransient && new.isTransient)
        if old.name != new.name {
            add(
                .renamed, entity, property: new.name, from: old.name, to: new.name,
                isHashed: isHashed)
        }
        for (before, after) in zip(old.facets, new.facets) where before.words != after.words {
            if old.name != new.name, after.aspect == .renamingIdentifier { continue }
            add(
                .changed, entity, property: new.name, after.aspect, from: before.words,
                to: after.words, isHashed: isHashed && (before.isHashed || after.isHashed),
                followsRenaming: followsRenaming(after.aspect, old, new))
        }
    }

    /// Whether a relationship leads where it led before, under another name.
    private func followsRenaming(
        _ aspect: ModelDiff.Aspect, _ old: Item, _ new: Item
    ) -> Bool {
        guard let before = old.relationship, let after = new.relationship else { return false }
        switch aspect {
        case .destination: return match.entities[after.destination] == before.destination
        case .inverse:
            guard let name = after.inverse,
                let found = destination.relationship(name, of: after.destination)
            else { return false }
            return match.relationships[found.owner.name]?[name] == before.inverse
        default: return false
        }
    }

    private mutating func collectIndexes(_ old: Entity, _ new: Entity) {
        let before = Dictionary(old.fetchIndexes.map { ($0.name, $0.words) }) { first, _ in first }
        let after = Dictionary(new.fetchIndexes.map { ($0.name, $0.words) }) { first, _ in first }
        for name in Set(before.keys).union(after.keys).sorted() where before[name] != after[name] {
            let kind: ModelDiff.Kind =
                before[name] == nil ? .added : after[name] == nil ? .removed : .changed
            add(
                kind, new.name, index: name, from: before[name], to: after[name], isHashed: false)
        }
    }

    private mutating func add(
        _ kind: ModelDiff.Kind, _ entity: String?, property: String? = nil, index: String? = nil,
        _ aspect: ModelDiff.Aspect? = nil, from: String? = nil, to: String? = nil,
        isHashed: Bool = true, followsRenaming: Bool = false
    ) {
        changes.append(
            ModelDiff.Change(
                kind: kind, entity: entity, property: property, index: index, aspect: aspect,
                from: from, to: to, changesVersionHash: isHashed, followsRenaming: followsRenaming))
    }
}

extension Entity {
    /// What is unusual about the entity itself; nil where nothing is.
    fileprivate var words: String? {
        var parts: [String] = []
        if let parent { parts.append("inherits from \(parent)") }
        if isAbstract { parts.append("abstract") }
        for constraint in uniquenessConstraints {
            parts.append("unique \(ModelFacet.list(constraint))")
        }
        return ModelFacet.words(parts)
    }
}
