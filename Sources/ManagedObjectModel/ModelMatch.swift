/// Which entity or property of one model is which of another, by renaming identifiers.
///
/// Core Data's rule for lightweight migration: the identifier of the destination, its name where
/// it has none, against the identifier of the source, its name where it has none. Where that
/// finds nothing, the name of the source, then equal names.
package struct ModelMatch: Hashable, Sendable {
    /// Source entity of each destination entity that has one.
    package let entities: [String: String]
    /// By destination entity: source attribute of each of its own attributes that has one.
    package let attributes: [String: [String: String]]
    /// By destination entity: source relationship of each of its own relationships that has one.
    package let relationships: [String: [String: String]]

    /// Matches entities, then the properties that matched entities declare themselves.
    ///
    /// - Complexity: O(n log n).
    package init(from source: Model, to destination: Model) {
        entities = Self.pairs(
            source.entities.values.map(Item.init), destination.entities.values.map(Item.init))
        var attributes: [String: [String: String]] = [:]
        var relationships: [String: [String: String]] = [:]
        for (name, sourceName) in entities {
            guard let new = destination.entities[name], let old = source.entities[sourceName]
            else { continue }
            attributes[name] = Self.pairs(
                old.attributes.map(Item.init), new.attributes.map(Item.init))
            relationships[name] = Self.pairs(
                old.relationships.map(Item.init), new.relationships.map(Item.init))
        }
        self.attributes = attributes
        self.relationships = relationships
    }

    /// A name with its renaming identifier.
    private struct Item {
        let name: String
        let identifier: String?
        /// What the item is looked for by.
        var key: String { identifier ?? name }

        init(_ entity: Entity) { (name, identifier) = (entity.name, entity.renamingIdentifier) }
        init(_ property: Attribute) {
            (name, identifier) = (property.name, property.renamingIdentifier)
        }
        init(_ property: Relationship) {
            (name, identifier) = (property.name, property.renamingIdentifier)
        }
    }

    /// Source names by destination names; each source is taken once.
    ///
    /// A destination that names another identifier than its name is served first: it was renamed
    /// on purpose, and a new item of the old name must not take its source away.
    private static func pairs(_ source: [Item], _ destination: [Item]) -> [String: String] {
        let byName = Set(source.map(\.name))
        let byKey = Dictionary(grouping: source, by: \.key).mapValues { $0.map(\.name).sorted() }
        let order = destination.sorted { left, right in
            let (leftRenamed, rightRenamed) = (left.key != left.name, right.key != right.name)
            return leftRenamed == rightRenamed ? left.name < right.name : leftRenamed
        }
        var taken: Set<String> = []
        var result: [String: String] = [:]
        func match(_ item: Item, _ candidate: String?) {
            guard result[item.name] == nil, let candidate, taken.insert(candidate).inserted
            else { return }
            result[item.name] = candidate
        }
        for item in order {
            let candidates = (byKey[item.key] ?? []).filter { !taken.contains($0) }
            match(item, candidates.first { $0 == item.name } ?? candidates.first)
        }
        for item in order { match(item, byName.contains(item.key) ? item.key : nil) }
        for item in order { match(item, byName.contains(item.name) ? item.name : nil) }
        return result
    }
}
