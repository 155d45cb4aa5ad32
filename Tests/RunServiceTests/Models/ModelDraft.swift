import ManagedObjectModel
import TestSupport

/// A model that is being changed, with what its changes need to look up.
struct ModelDraft {
    /// A property by the places of its entity and its own in that entity's list.
    struct Place: Hashable {
        var entity: Int
        var property: Int
    }

    var entities: [Entity]
    var random: SeededGenerator
    /// Changes that came along with others.
    var made: Set<ModelChange> = []
    private var names = 0

    init(_ model: Model, random: SeededGenerator) {
        entities = model.numberedEntities
        self.random = random
    }

    mutating func chance(_ part: Int) -> Bool {
        Int.random(in: 0..<part, using: &random) == 0
    }

    mutating func pick<Element>(_ list: [Element]) -> Element? {
        list.randomElement(using: &random)
    }

    /// A name that nothing else has; entities of it come anywhere in the order of numbers.
    mutating func freshName(_ stem: String) -> String {
        names += 1
        let letter = pick(["A", "b", "G", "m", "T", "z"]) ?? "A"
        return "\(letter)\(stem)\(names)"
    }

    func index(of name: String) -> Int? { entities.firstIndex { $0.name == name } }

    /// The entity and its ancestors, nearest first.
    func ancestry(of index: Int) -> [Int] {
        var chain = [index]
        while let name = entities[chain[chain.count - 1]].parent, let parent = self.index(of: name),
            !chain.contains(parent)
        {
            chain.append(parent)
        }
        return chain
    }

    /// The entity and all that inherit from it.
    func family(of index: Int) -> [Int] {
        entities.indices.filter { ancestry(of: $0).contains(index) }
    }

    /// Names of the properties of an entity, its ancestors and its descendants.
    func lineNames(of index: Int) -> Set<String> {
        let line = Set(ancestry(of: index) + family(of: index))
        return Set(line.flatMap { entities[$0].propertyNames })
    }

    /// Whether no entity repeats the name of a property in its line of descent.
    func hasCleanLines(below index: Int) -> Bool {
        family(of: index).allSatisfy { member in
            let names = ancestry(of: member).flatMap { entities[$0].propertyNames }
            return Set(names).count == names.count
        }
    }

    var attributePlaces: [Place] {
        entities.indices.flatMap { entity in
            entities[entity].attributes.indices.map { Place(entity: entity, property: $0) }
        }
    }

    var relationshipPlaces: [Place] {
        entities.indices.flatMap { entity in
            entities[entity].relationships.indices.map { Place(entity: entity, property: $0) }
        }
    }

    func relationship(_ place: Place) -> Relationship {
        entities[place.entity].relationships[place.property]
    }

    mutating func change(_ place: Place, _ body: (inout Relationship) -> Void) {
        body(&entities[place.entity].relationships[place.property])
    }

    /// The inverse of a relationship; nil where it has none.
    func inverse(of place: Place) -> Place? {
        let relationship = relationship(place)
        guard let name = relationship.inverse, let entity = index(of: relationship.destination),
            let property = entities[entity].relationships.firstIndex(where: { $0.name == name })
        else { return nil }
        return Place(entity: entity, property: property)
    }

    /// The model, once everything in it that leads nowhere was taken out.
    ///
    /// - Throws: `ModelError` where the changes do not fit each other.
    func model() throws -> Model {
        var copy = self
        copy.tidy()
        for index in copy.entities.indices where !copy.hasCleanLines(below: index) {
            throw ModelError.malformed("a property is repeated")
        }
        return try Model(entities: copy.entities, versionIdentifiers: ["changed"])
    }
}

// MARK: - Tidying

extension ModelDraft {
    private mutating func tidy() {
        let names = Set(entities.map(\.name))
        for index in entities.indices {
            if let parent = entities[index].parent, !names.contains(parent) {
                entities[index].parent = nil
            }
            entities[index].relationships.removeAll { !names.contains($0.destination) }
        }
        for place in relationshipPlaces where relationship(place).inverse != nil {
            let isMutual = inverse(of: place).map { other in
                relationship(other).destination == entities[place.entity].name
                    && relationship(other).inverse == relationship(place).name
            }
            if isMutual != true { change(place) { $0.inverse = nil } }
        }
        for place in relationshipPlaces where !relationship(place).isToMany {
            change(place) { $0.isOrdered = false }
        }
        for index in entities.indices { tidyDerivations(of: index) }
        for index in entities.indices { tidyIndexes(of: index) }
    }

    private func attribute(_ name: String, of index: Int) -> Attribute? {
        ancestry(of: index).lazy.flatMap { entities[$0].attributes }.first { $0.name == name }
    }

    private func holds(_ derivation: Derivation, of index: Int) -> Bool {
        let steps = derivation.expression.split(separator: ".").map(String.init)
        guard steps.count == 2,
            let relationship = ancestry(of: index).lazy.flatMap({ entities[$0].relationships })
                .first(where: { $0.name == steps[0] }),
            let target = self.index(of: relationship.destination)
        else { return false }
        if steps[1] == "@count" {
            let inverse = entities[target].relationships.first { $0.name == relationship.inverse }
            return relationship.isToMany && inverse.map { !$0.isToMany } ?? false
        }
        let found = attribute(steps[1], of: target)
        return !relationship.isToMany && found.map { $0.derivation == nil } ?? false
    }

    private mutating func tidyDerivations(of index: Int) {
        let kept = entities[index].attributes.filter { attribute in
            attribute.derivation.map { holds($0, of: index) } ?? true
        }
        entities[index].attributes = kept
    }

    private mutating func tidyIndexes(of index: Int) {
        var entity = entities[index]
        let names = Set(ancestry(of: index).flatMap { entities[$0].attributes.map(\.name) })
        let isThere = { (name: String) in names.contains(name) }
        entity.uniquenessConstraints.removeAll { !$0.allSatisfy(isThere) }
        entity.compoundIndexes = []
        entity.fetchIndexes.removeAll { index in
            index.partialPredicate != nil
                || !index.elements.allSatisfy { element in
                    if case .property(let name) = element.target { return isThere(name) }
                    return true
                }
        }
        entities[index] = entity
    }
}
