/// A managed object model: the entities of one version of an app's schema.
///
/// A value of this type is well formed: parents and destinations exist, inheritance has no
/// cycle, and each entity holds only the properties that it declares itself, although archives
/// repeat inherited ones. Everything that a store's layout or a version hash
/// depends on is here; what neither depends on (validation predicates, stored fetch requests)
/// is not kept.
package struct Model: Hashable, Sendable {
    /// Every entity by its name, abstract ones included.
    package let entities: [String: Entity]
    /// `NSVersionIdentifiers`, sorted; often `[""]` or empty.
    package let versionIdentifiers: [String]
    /// Configurations by name: the names of their entities, sorted.
    package let configurations: [String: [String]]

    /// Names of the sub-entities of each entity, sorted case-insensitively.
    private let childNames: [String: [String]]
    /// The bytes of all names and default texts that are not ASCII: Swift takes canonically
    /// equivalent texts for equal, a store does not.
    private let foreignTexts: [[UInt8]]

    /// Checks the entities against each other and drops repeated inherited properties.
    ///
    /// - Parameters:
    ///   - list: the entities in any order; names must differ.
    ///   - versionIdentifiers: in any order.
    ///   - configurations: by name; entities that do not exist are dropped.
    /// - Throws: `ModelError.malformed` for a doubled name, a parent or destination that does
    ///   not exist, or a cycle of parents.
    /// - Complexity: O(properties × depth).
    package init(
        entities list: [Entity], versionIdentifiers: [String] = [],
        configurations: [String: [String]] = [:]
    ) throws(ModelError) {
        var byName: [String: Entity] = [:]
        for entity in list {
            guard byName.updateValue(entity, forKey: entity.name) == nil else {
                throw .malformed("entity \(entity.name) occurs twice")
            }
        }
        let cleaned = try Model.withoutInheritedRepetitions(byName)
        try Model.checkDestinations(cleaned)
        self.entities = cleaned
        self.versionIdentifiers = versionIdentifiers.sorted()
        self.configurations = configurations.mapValues { names in
            names.filter { cleaned[$0] != nil }.sorted()
        }
        var children: [String: [String]] = [:]
        for entity in cleaned.values {
            if let parent = entity.parent { children[parent, default: []].append(entity.name) }
        }
        // In an order that equal models share, so that each text is held against its own.
        foreignTexts = cleaned.values.sorted { $0.name < $1.name }.flatMap(\.texts)
            .filter { text in !text.utf8.allSatisfy { $0 < 0x80 } }.map { Array($0.utf8) }
        childNames = children.mapValues { $0.sorted(by: Model.precedes) }
    }

    /// Orders entity names as Core Data numbers them: case-insensitively.
    ///
    /// Names that differ only in case are ordered by their bytes, so that the order is total.
    package static func precedes(_ left: String, _ right: String) -> Bool {
        let (lowerLeft, lowerRight) = (left.lowercased(), right.lowercased())
        if lowerLeft == lowerRight { return left.utf8.lexicographicallyPrecedes(right.utf8) }
        return lowerLeft.utf8.lexicographicallyPrecedes(lowerRight.utf8)
    }

    /// The most parents that an entity may have above it; real models stay below ten.
    package static let depthLimit = 256

    private static func withoutInheritedRepetitions(
        _ byName: [String: Entity]
    ) throws(ModelError) -> [String: Entity] {
        var cleaned: [String: Entity] = [:]
        for entity in byName.values {
            var inherited: Set<String> = []
            var above = entity.parent
            var depth = 0
            while let name = above {
                guard let parent = byName[name] else {
                    throw .malformed("entity \(entity.name) has no parent entity \(name)")
                }
                depth += 1
                guard depth <= depthLimit, name != entity.name else {
                    throw .malformed("the parents of entity \(entity.name) form a cycle")
                }
                inherited.formUnion(parent.propertyNames)
                above = parent.parent
            }
            cleaned[entity.name] = try entity.dropping(inherited)
        }
        return cleaned
    }

    private static func checkDestinations(_ entities: [String: Entity]) throws(ModelError) {
        for entity in entities.values {
            for relationship in entity.relationships {
                guard entities[relationship.destination] != nil else {
                    throw .malformed(
                        "relationship \(entity.name).\(relationship.name) leads to entity "
                            + "\(relationship.destination), which does not exist")
                }
            }
        }
    }

    // Copied models compare by what they say, not by what is derived from it.
    package static func == (left: Model, right: Model) -> Bool {
        left.entities == right.entities && left.versionIdentifiers == right.versionIdentifiers
            && left.configurations == right.configurations
            && left.foreignTexts == right.foreignTexts
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(entities)
        hasher.combine(versionIdentifiers)
    }

    /// Names of the direct sub-entities of an entity, sorted as they are numbered.
    package func children(of name: String) -> [String] { childNames[name] ?? [] }
}

extension Model: Codable {
    private enum CodingKeys: String, CodingKey {
        case entities, versionIdentifiers, configurations
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            entities: values.decode([Entity].self, forKey: .entities),
            versionIdentifiers: values.decode([String].self, forKey: .versionIdentifiers),
            configurations: values.decode([String: [String]].self, forKey: .configurations))
        // A request or a plan may come from another machine.
        try ModelNames.check(self)
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(numberedEntities, forKey: .entities)
        try values.encode(versionIdentifiers, forKey: .versionIdentifiers)
        try values.encode(configurations, forKey: .configurations)
    }
}
