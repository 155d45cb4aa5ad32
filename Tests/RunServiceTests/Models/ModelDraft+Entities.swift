import ManagedObjectModel

/// Changes of entities and of the trees that they form.
extension ModelDraft {
    private mutating func rename(_ index: Int, to name: String) {
        let old = entities[index].name
        entities[index].renamingIdentifier = entities[index].renamingIdentifier ?? old
        entities[index].name = name
        for other in entities.indices {
            if entities[other].parent == old { entities[other].parent = name }
            for property in entities[other].relationships.indices
            where entities[other].relationships[property].destination == old {
                entities[other].relationships[property].destination = name
            }
        }
    }

    mutating func renameEntity() -> Bool {
        guard let index = pick(Array(entities.indices)) else { return false }
        rename(index, to: freshName("Named"))
        return true
    }

    mutating func swapEntityNames() -> Bool {
        guard entities.count > 1 else { return false }
        let chosen = Array(entities.indices.shuffled(using: &random).prefix(2))
        let (first, second) = (entities[chosen[0]].name, entities[chosen[1]].name)
        rename(chosen[0], to: freshName("Between"))
        rename(chosen[1], to: first)
        rename(chosen[0], to: second)
        return true
    }

    mutating func addEntity() -> Bool {
        var entity = Entity(name: freshName("Added"))
        entity.attributes = [Attribute(name: freshName("text"), type: .string)]
        if chance(2) { entity.parent = pick(entities)?.name }
        entity.isAbstract = chance(4)
        entities.append(entity)
        return true
    }

    mutating func removeEntity() -> Bool {
        guard entities.count > 1, let index = pick(Array(entities.indices)) else { return false }
        let removed = entities[index]
        let children = entities.indices.filter { entities[$0].parent == removed.name }
        for child in children {
            entities[child].parent = removed.parent
            // What is removed with the parent, or stays with every child.
            guard chance(2) else { continue }
            entities[child].attributes += removed.attributes
        }
        entities.remove(at: index)
        return true
    }

    mutating func addCommonParent() -> Bool {
        let roots = entities.indices.filter { entities[$0].parent == nil }
        guard roots.count > 1 else { return false }
        let chosen = roots.shuffled(using: &random).prefix(Int.random(in: 2...3, using: &random))
        var parent = Entity(name: freshName("Parent"), isAbstract: !chance(3))
        if chance(2) { parent.attributes = [Attribute(name: freshName("note"), type: .string)] }
        for index in chosen { entities[index].parent = parent.name }
        entities.append(parent)
        // Often so that what the children have in common comes together.
        let place = entities.count - 1
        if !chance(4), mergeRelationships(below: place) { made.insert(.mergeRelationships) }
        if !chance(4), mergeAttributes(below: place) { made.insert(.mergeAttributes) }
        return true
    }

    mutating func splitToRoot() -> Bool {
        let children = entities.indices.filter { entities[$0].parent != nil }
        guard let index = pick(children) else { return false }
        let above = ancestry(of: index).dropFirst()
        let name = entities[index].name
        for ancestor in above {
            for attribute in entities[ancestor].attributes where !chance(6) {
                entities[index].attributes.append(attribute)
            }
            for place in entities[ancestor].relationships.indices where !chance(3) {
                let old = Place(entity: ancestor, property: place)
                guard !entities[index].propertyNames.contains(relationship(old).name) else {
                    continue
                }
                copyDown(old, to: index, name)
            }
        }
        entities[index].parent = nil
        return true
    }

    /// Gives an entity a relationship that it inherits so far, without an inverse or with a new
    /// one.
    private mutating func copyDown(_ place: Place, to index: Int, _ name: String) {
        var copy = relationship(place)
        let old = inverse(of: place).map { relationship($0) }
        copy.inverse = nil
        copy.isOptional = true
        if var back = old, chance(2), let target = self.index(of: copy.destination) {
            back.name = freshName("back")
            back.renamingIdentifier = nil
            back.destination = name
            back.inverse = copy.name
            back.isOptional = true
            copy.inverse = back.name
            entities[target].relationships.append(back)
        }
        entities[index].relationships.append(copy)
    }

    mutating func reparent() -> Bool {
        guard let index = pick(Array(entities.indices)) else { return false }
        let below = Set(family(of: index))
        let others = entities.indices.filter { !below.contains($0) }
        guard let parent = pick(others), entities[parent].name != entities[index].parent else {
            return false
        }
        if chance(2) {
            for ancestor in ancestry(of: index).dropFirst() where ancestor != parent {
                entities[index].attributes += entities[ancestor].attributes
            }
        }
        entities[index].parent = entities[parent].name
        return true
    }

    mutating func flipAbstract() -> Bool {
        guard let index = pick(Array(entities.indices)) else { return false }
        entities[index].isAbstract.toggle()
        return true
    }
}
