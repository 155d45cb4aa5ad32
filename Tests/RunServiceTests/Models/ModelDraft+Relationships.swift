import ManagedObjectModel

/// Changes of relationships.
extension ModelDraft {
    mutating func addRelationship() -> Bool {
        guard let from = pick(Array(entities.indices)), let to = pick(Array(entities.indices))
        else { return false }
        let (there, back) = (freshName("link"), freshName("back"))
        let hasInverse = !chance(4)
        entities[from].relationships.append(
            side(there, to: to, inverse: hasInverse ? back : nil))
        if hasInverse { entities[to].relationships.append(side(back, to: from, inverse: there)) }
        return true
    }

    private mutating func side(_ name: String, to index: Int, inverse: String?) -> Relationship {
        let isMany = chance(2)
        return Relationship(
            name: name, destination: entities[index].name, inverse: inverse,
            maximumCount: isMany ? 0 : 1, isOrdered: isMany && chance(2))
    }

    mutating func removeRelationship() -> Bool {
        guard let place = pick(relationshipPlaces) else { return false }
        let other = inverse(of: place).map { relationship($0).name }
        let destination = index(of: relationship(place).destination)
        let name = relationship(place).name
        // The inverse goes, too, or stays without one.
        if let other, let destination, chance(2) {
            entities[destination].relationships.removeAll { $0.name == other }
        }
        entities[place.entity].relationships.removeAll { $0.name == name }
        return true
    }

    mutating func renameRelationship() -> Bool {
        guard let place = pick(relationshipPlaces) else { return false }
        rename(place, to: freshName("named"))
        return true
    }

    private mutating func rename(_ place: Place, to name: String) {
        let old = relationship(place)
        if let other = inverse(of: place) { change(other) { $0.inverse = name } }
        change(place) {
            $0.name = name
            $0.renamingIdentifier = old.renamingIdentifier ?? old.name
        }
    }

    mutating func flipToMany() -> Bool {
        guard let place = pick(relationshipPlaces) else { return false }
        let isOrdered = chance(2)
        change(place) {
            $0.maximumCount = $0.isToMany ? 1 : 0
            $0.isOrdered = $0.isToMany && isOrdered
            $0.isOptional = true
        }
        return true
    }

    mutating func flipOrder() -> Bool {
        guard let place = pick(relationshipPlaces.filter({ relationship($0).isToMany })) else {
            return false
        }
        change(place) { $0.isOrdered.toggle() }
        return true
    }

    mutating func dropInverse() -> Bool {
        let places = relationshipPlaces.filter { relationship($0).inverse != nil }
        guard let place = pick(places) else { return false }
        let other = inverse(of: place)
        change(place) { $0.inverse = nil }
        guard let other, other != place else { return true }
        change(other) { $0.inverse = nil }
        // Without its inverse it may lead elsewhere, or go.
        if chance(2) { entities[other.entity].relationships.remove(at: other.property) }
        return true
    }

    mutating func addInverse() -> Bool {
        let places = relationshipPlaces.filter { relationship($0).inverse == nil }
        guard let place = pick(places), let target = index(of: relationship(place).destination)
        else { return false }
        let back = freshName("back")
        entities[target].relationships.append(
            side(back, to: place.entity, inverse: relationship(place).name))
        change(place) { $0.inverse = back }
        return true
    }

    mutating func pullUpRelationship() -> Bool {
        let places = relationshipPlaces.filter { entities[$0.entity].parent != nil }
        guard let place = pick(places),
            let parent = entities[place.entity].parent.flatMap({ index(of: $0) })
        else { return false }
        move(place, to: parent)
        return true
    }

    mutating func pushDownRelationship() -> Bool {
        let places = relationshipPlaces.filter { place in
            entities.contains { $0.parent == entities[place.entity].name }
        }
        guard let place = pick(places),
            let child = pick(
                entities.indices.filter { entities[$0].parent == entities[place.entity].name })
        else { return false }
        move(place, to: child)
        return true
    }

    /// Declares a relationship in another entity; its inverse leads there.
    private mutating func move(_ place: Place, to index: Int) {
        let name = entities[index].name
        let isOwnInverse = inverse(of: place) == place
        if let other = inverse(of: place) { change(other) { $0.destination = name } }
        change(place) {
            $0.isOptional = true
            if isOwnInverse { $0.destination = name }
        }
        entities[index].relationships.append(relationship(place))
        entities[place.entity].relationships.remove(at: place.property)
    }

    mutating func mergeRelationships() -> Bool {
        guard let index = pick(Array(entities.indices)) else { return false }
        return mergeRelationships(below: index)
    }

    /// Makes one relationship of the parent out of one of each of two children; the inverses
    /// become one where they have a common parent, too.
    mutating func mergeRelationships(below parent: Int) -> Bool {
        let children = entities.indices.filter { entities[$0].parent == entities[parent].name }
            .shuffled(using: &random)
        guard children.count > 1 else { return false }
        var pairs = entities[children[0]].relationships.flatMap { one in
            entities[children[1]].relationships.map { (one, $0) }
        }.shuffled(using: &random)
        // Join tables of several sources are rare otherwise.
        if chance(2), let many = pairs.firstIndex(where: { isManyToMany($0) && isManyToMany($1) }) {
            pairs.insert(pairs.remove(at: many), at: 0)
        }
        for (one, two) in pairs {
            joinDestinations(one, two)
            guard let target = commonDestination(one, two) else { continue }
            merge(one, of: children[0], two, of: children[1], parent: parent, target: target)
            return true
        }
        return false
    }

    private func isManyToMany(_ relationship: Relationship) -> Bool {
        guard relationship.isToMany, let target = index(of: relationship.destination) else {
            return false
        }
        let inverse = entities[target].relationships.first { $0.name == relationship.inverse }
        return inverse?.isToMany ?? false
    }

    /// Puts the trees that two relationships lead to under one parent.
    private mutating func joinDestinations(_ one: Relationship, _ two: Relationship) {
        guard let left = index(of: one.destination), let right = index(of: two.destination),
            let first = ancestry(of: left).last, let second = ancestry(of: right).last,
            first != second, chance(2)
        else { return }
        let parent = Entity(name: freshName("Joined"), isAbstract: true)
        entities[first].parent = parent.name
        entities[second].parent = parent.name
        entities.append(parent)
    }

    /// The nearest entity that both lead to, if the one's inverse is like the other's.
    private func commonDestination(_ one: Relationship, _ two: Relationship) -> Int? {
        guard (one.inverse == nil) == (two.inverse == nil), one.inverse != one.name,
            two.inverse != two.name, let left = index(of: one.destination),
            let right = index(of: two.destination)
        else { return nil }
        let above = ancestry(of: right)
        return ancestry(of: left).first { above.contains($0) }
    }

    private mutating func merge(
        _ one: Relationship, of left: Int, _ two: Relationship, of right: Int, parent: Int,
        target: Int
    ) {
        var merged = merged(one, two, destination: entities[target].name)
        let backs = [(one, left), (two, right)].compactMap { side, entity in
            entities[entity].relationships.firstIndex { $0.name == side.name }
                .flatMap { inverse(of: Place(entity: entity, property: $0)) }
                .map { (place: $0, relationship: relationship($0)) }
        }
        for (side, entity) in [(one, left), (two, right)] {
            entities[entity].relationships.removeAll { $0.name == side.name }
        }
        if backs.count == 2 {
            for back in backs {
                entities[back.place.entity].relationships.removeAll {
                    $0.name == back.relationship.name
                }
            }
            var back = self.merged(
                backs[0].relationship, backs[1].relationship, destination: entities[parent].name)
            back.inverse = merged.name
            merged.inverse = back.name
            entities[target].relationships.append(back)
        } else {
            merged.inverse = nil
        }
        entities[parent].relationships.append(merged)
    }

    /// The one is found by its identifier, the other by its name.
    private func merged(
        _ one: Relationship, _ two: Relationship, destination: String
    ) -> Relationship {
        var merged = one
        merged.renamingIdentifier = one.renamingIdentifier ?? one.name
        merged.name = two.renamingIdentifier ?? two.name
        merged.destination = destination
        merged.isOptional = true
        return merged
    }

    /// Lets a relationship lead to the parent of its destination, or to a child.
    mutating func moveDestination(up isUp: Bool) -> Bool {
        let places = relationshipPlaces.filter {
            !neighbours(of: relationship($0).destination, up: isUp).isEmpty
        }
        guard let place = pick(places),
            let target = pick(neighbours(of: relationship(place).destination, up: isUp)),
            inverse(of: place) != place
        else { return false }
        let other = inverse(of: place).map { relationship($0) }
        let old = index(of: relationship(place).destination)
        let name = entities[target].name
        change(place) { $0.destination = name }
        if let other, let old {
            entities[target].relationships.append(other)
            entities[old].relationships.removeAll { $0.name == other.name }
        }
        return true
    }

    private func neighbours(of entity: String, up isUp: Bool) -> [Int] {
        guard isUp else { return entities.indices.filter { entities[$0].parent == entity } }
        return index(of: entity).flatMap { entities[$0].parent }.flatMap { index(of: $0) }
            .map { [$0] } ?? []
    }
}
