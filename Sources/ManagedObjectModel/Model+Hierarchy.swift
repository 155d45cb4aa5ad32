/// Walks over inheritance, and properties as an entity sees them.
extension Model {
    /// Root entities in the order of their numbers.
    package var roots: [Entity] {
        entities.values.filter { $0.parent == nil }
            .sorted { Model.precedes($0.name, $1.name) }
    }

    /// All entities in the order of their numbers, which start at 1: roots by name, each tree
    /// depth first.
    ///
    /// - Complexity: O(n log n).
    package var numberedEntities: [Entity] {
        roots.flatMap { family(of: $0.name) }
    }

    /// The entity, then all that inherit from it, depth first; empty for an unknown name.
    package func family(of name: String) -> [Entity] {
        guard let entity = entities[name] else { return [] }
        return [entity] + children(of: name).flatMap { family(of: $0) }
    }

    /// The entity, its parent, and so on up to its root; empty for an unknown name.
    package func ancestry(of name: String) -> [Entity] {
        var chain: [Entity] = []
        var next = entities[name]
        while let entity = next {
            chain.append(entity)
            next = entity.parent.flatMap { entities[$0] }
        }
        return chain
    }

    /// The entity at the top of the tree, whose table holds the rows of the whole tree.
    package func root(of name: String) -> Entity? { ancestry(of: name).last }

    /// Whether an entity is the other one or inherits from it.
    package func isKind(_ name: String, of other: String) -> Bool {
        ancestry(of: name).contains { $0.name == other }
    }

    /// The attribute of that name that an entity declares or inherits, with its declarer.
    package func attribute(
        _ property: String, of name: String
    ) -> (owner: Entity, attribute: Attribute)? {
        for entity in ancestry(of: name) {
            if let found = entity.attributes.first(where: { $0.name == property }) {
                return (entity, found)
            }
        }
        return nil
    }

    /// The relationship of that name that an entity declares or inherits, with its declarer.
    package func relationship(
        _ property: String, of name: String
    ) -> (owner: Entity, relationship: Relationship)? {
        for entity in ancestry(of: name) {
            if let found = entity.relationships.first(where: { $0.name == property }) {
                return (entity, found)
            }
        }
        return nil
    }

    /// Declared and inherited attributes of an entity, nearest declarer last.
    package func allAttributes(of name: String) -> [(owner: Entity, attribute: Attribute)] {
        ancestry(of: name).reversed().flatMap { entity in
            entity.attributes.map { (owner: entity, attribute: $0) }
        }
    }

    /// Declared and inherited relationships of an entity, nearest declarer last.
    package func allRelationships(
        of name: String
    ) -> [(owner: Entity, relationship: Relationship)] {
        ancestry(of: name).reversed().flatMap { entity in
            entity.relationships.map { (owner: entity, relationship: $0) }
        }
    }

    /// The other side of a relationship, with the entity that declares it; nil where there is
    /// none or where the name leads nowhere.
    package func inverse(
        of relationship: Relationship
    ) -> (owner: Entity, relationship: Relationship)? {
        guard let name = relationship.inverse else { return nil }
        return self.relationship(name, of: relationship.destination)
    }
}

// MARK: - Paths

extension Model {
    /// The entity to which a path of to-one relationships leads; nil for another path.
    package func target(ofPath keys: [String], from entity: String) -> String? {
        var current = entity
        for key in keys {
            guard let found = relationship(key, of: current)?.relationship, !found.isToMany else {
                return nil
            }
            current = found.destination
        }
        return current
    }

    /// An attribute, or an element by `composite.element`, optional where anything around it is;
    /// nil for an unknown name.
    package func element(_ name: String, of entity: String) -> Attribute? {
        var keys = name.split(separator: ".").map(String.init)[...]
        guard let first = keys.popFirst(), var found = attribute(first, of: entity)?.attribute
        else { return nil }
        for key in keys {
            guard let element = found.elements.first(where: { $0.name == key }) else { return nil }
            let mayMiss = found.isOptional
            found = element
            found.isOptional = found.isOptional || mayMiss
        }
        return found
    }
}
