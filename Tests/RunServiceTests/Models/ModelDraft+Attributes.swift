import ManagedObjectModel

/// Changes of attributes.
extension ModelDraft {
    private static let types: [AttributeType] = [
        .integer16, .integer64, .decimal, .double, .float, .string, .boolean, .date, .binary,
        .uuid, .uri,
    ]

    /// A default of a type, in the form in which models name it.
    static func defaultValue(of type: AttributeType) -> DefaultValue? {
        switch type {
        case .integer16, .integer32, .integer64: .integer(42)
        case .decimal: .decimal("12.50")
        case .double, .float: .real(2.5)
        case .string: .text("it's ‘new’")
        case .boolean: .boolean(true)
        case .date: .date(600_000_000)
        case .binary: .data([0, 1, 2, 255])
        case .uuid: .uuid(Array(0..<16))
        case .uri: .uri("x-test://value")
        case .undefined, .transformable, .objectID, .composite: nil
        }
    }

    mutating func addAttribute() -> Bool {
        guard let index = pick(Array(entities.indices)) else { return false }
        var attribute = Attribute(
            name: freshName("value"), type: pick(Self.types) ?? .string, isOptional: chance(2))
        if !attribute.isOptional || chance(2) {
            attribute.defaultValue = Self.defaultValue(of: attribute.type)
        }
        if attribute.type == .binary { attribute.allowsExternalBinaryDataStorage = chance(2) }
        entities[index].attributes.append(attribute)
        return true
    }

    mutating func removeAttribute() -> Bool {
        guard let place = pick(attributePlaces) else { return false }
        entities[place.entity].attributes.remove(at: place.property)
        return true
    }

    mutating func renameAttribute() -> Bool {
        guard let place = pick(attributePlaces) else { return false }
        let old = entities[place.entity].attributes[place.property]
        entities[place.entity].attributes[place.property].name = freshName("named")
        entities[place.entity].attributes[place.property].renamingIdentifier =
            old.renamingIdentifier ?? old.name
        return true
    }

    mutating func flipOptional() -> Bool {
        let places = attributePlaces.filter {
            entities[$0.entity].attributes[$0.property].derivation == nil
        }
        guard let place = pick(places) else { return false }
        var attribute = entities[place.entity].attributes[place.property]
        attribute.isOptional.toggle()
        if !attribute.isOptional {
            attribute.defaultValue = Self.defaultValue(of: attribute.type)
        }
        entities[place.entity].attributes[place.property] = attribute
        return true
    }

    mutating func flipExternal() -> Bool {
        let places = attributePlaces.filter {
            entities[$0.entity].attributes[$0.property].type == .binary
        }
        guard let place = pick(places) else { return false }
        entities[place.entity].attributes[place.property].allowsExternalBinaryDataStorage.toggle()
        return true
    }

    mutating func pullUpAttribute() -> Bool {
        let places = attributePlaces.filter { entities[$0.entity].parent != nil }
        guard let place = pick(places),
            let parent = entities[place.entity].parent.flatMap({ index(of: $0) })
        else { return false }
        var attribute = entities[place.entity].attributes.remove(at: place.property)
        // Others below the parent have no value for it.
        if attribute.defaultValue == nil { attribute.isOptional = true }
        entities[parent].attributes.append(attribute)
        return true
    }

    mutating func pushDownAttribute() -> Bool {
        let places = attributePlaces.filter { place in
            entities.contains { $0.parent == entities[place.entity].name }
        }
        guard let place = pick(places) else { return false }
        let attribute = entities[place.entity].attributes.remove(at: place.property)
        let name = entities[place.entity].name
        for index in entities.indices where entities[index].parent == name {
            if !chance(3) { entities[index].attributes.append(attribute) }
        }
        return true
    }

    mutating func mergeAttributes() -> Bool {
        guard let index = pick(Array(entities.indices)) else { return false }
        return mergeAttributes(below: index)
    }

    /// Makes one attribute of the parent out of one of each of two children.
    mutating func mergeAttributes(below parent: Int) -> Bool {
        let children = entities.indices.filter { entities[$0].parent == entities[parent].name }
            .shuffled(using: &random)
        guard children.count > 1 else { return false }
        let (left, right) = (children[0], children[1])
        for (place, one) in entities[left].attributes.enumerated() where one.derivation == nil {
            guard
                let other = entities[right].attributes.firstIndex(where: {
                    $0.type == one.type && $0.derivation == nil && !$0.isTransient
                })
            else { continue }
            let two = entities[right].attributes.remove(at: other)
            entities[left].attributes.remove(at: place)
            var merged = one
            // The one is found by its identifier, the other by its name.
            merged.renamingIdentifier = one.renamingIdentifier ?? one.name
            merged.name = two.renamingIdentifier ?? two.name
            merged.isTransient = false
            merged.isOptional = true
            entities[parent].attributes.append(merged)
            return true
        }
        return false
    }
}
