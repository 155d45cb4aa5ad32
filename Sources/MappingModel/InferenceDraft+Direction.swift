package import ManagedObjectModel
import MappingExpressions

/// A mapping file directs the draft: what it states is not inferred.
extension InferenceDraft {
    /// Takes over the pairs of entities that a mapping states, and finds the others if it asks for
    /// that.
    mutating func pairEntities(by definition: MappingDefinition) {
        direction = definition
        var dropped: Set<String> = []
        for mapping in definition.entityMappings {
            if let to = mapping.destination { directed[to] = mapping }
            switch (mapping.source, mapping.destination) {
            case (let from?, let to?):
                sourceEntity[to] = from
                destinationEntity[from] = to
            case (let from?, nil): dropped.insert(from)
            default: break
            }
        }
        guard definition.infersRest else { return }
        let destinations = destination.model.numberedEntities.filter { directed[$0.name] == nil }
        let sources = source.model.numberedEntities.filter {
            destinationEntity[$0.name] == nil && !dropped.contains($0.name)
        }
        pair(destinations, with: sources)
    }

    /// Takes over the source of every property that a mapping takes from one of the same kind.
    mutating func pairStatedProperties() {
        for (entity, mapping) in directed.sorted(by: { $0.key < $1.key }) {
            guard let from = mapping.source else { continue }
            for property in mapping.attributes {
                guard let key = plainSource(of: property, in: entity, from: from) else { continue }
                sourceAttribute[entity, default: [:]][property.destination] = key
            }
            for property in mapping.relationships {
                guard case .expression(let expression) = property.value,
                    let call = ManagerCall(expression)
                else { continue }
                link(call, property, mapping)
            }
        }
    }

    /// The source attribute whose values an attribute keeps as they are; nil where it does not.
    private func plainSource(
        of property: PropertyMappingDefinition, in entity: String, from: String
    ) -> String? {
        guard case .expression(let expression) = property.value, let keys = expression.sourceKeys,
            keys.count == 1, let before = source.attribute(keys[0], of: from)?.attribute,
            let now = destination.attribute(property.destination, of: entity)?.attribute,
            before.type == now.type
        else { return nil }
        return keys[0]
    }

    private mutating func link(
        _ call: ManagerCall, _ property: PropertyMappingDefinition,
        _ mapping: EntityMappingDefinition
    ) {
        guard let entity = mapping.destination, let from = mapping.source else { return }
        guard let keys = call.instances.sourceKeys, let target = target(of: keys, from: from)
        else {
            // The other side of the same links may say it in a way that can be run.
            if isLinkedByInverse(property.destination, of: entity) { return }
            return unsupported(
                "links of \(call.instances.text) are not supported yet: only those of one source "
                    + "relationship, and of a path of to-one relationships", property, mapping)
        }
        let made = source.model.family(of: target).filter { !$0.isAbstract }.map(\.name)
        switch call {
        case .relationship(let name, _):
            let named = source.relationship(name, of: from)?.relationship.destination
            guard named == target else {
                return unsupported(
                    "\(call.instances.text) leads to other objects than source relationship "
                        + name, property, mapping)
            }
        case .entityMapping(let name, _):
            let maker = direction?.entityMappings.first { $0.effectiveName == name }?.source
            guard made.allSatisfy({ $0 == maker || destinationEntity[$0] == nil }) else {
                return unsupported(
                    "\(call.instances.text) also leads to objects that entity mapping \(name) does "
                        + "not make: this is not supported yet", property, mapping)
            }
        }
        if keys.count == 1 {
            sourceRelationship[entity, default: [:]][property.destination] = keys[0]
        } else if let text = pathRefusal(property.destination, of: entity) {
            unsupported(text, property, mapping)
        } else {
            statedPaths[entity, default: [:]][property.destination] = keys
        }
    }

    /// Why a relationship cannot get its links by a path; nil where it can.
    private func pathRefusal(_ name: String, of entity: String) -> String? {
        guard let owned = destination.relationship(name, of: entity) else { return nil }
        if owned.relationship.isToMany {
            return "a path of to-one relationships leads to one object, and \(name) is to-many"
        }
        guard let inverse = destination.inverse(of: owned)?.relationship else { return nil }
        if !inverse.isToMany {
            return "links of a path are not supported yet where the inverse is to-one: several "
                + "objects may lead to one"
        }
        return inverse.isOrdered
            ? "links of a path are not supported yet where the inverse is ordered" : nil
    }

    /// The source entity to which one relationship leads, or a path of to-one relationships; nil
    /// for every other path.
    private func target(of keys: [String], from entity: String) -> String? {
        guard keys.count == 1 else { return source.model.target(ofPath: keys, from: entity) }
        return source.relationship(keys[0], of: entity)?.relationship.destination
    }

    /// Whether a mapping states the other side of a relationship by a path that can be followed:
    /// what links one side links both.
    private func isLinkedByInverse(_ name: String, of entity: String) -> Bool {
        guard let owned = destination.relationship(name, of: entity),
            let inverse = destination.inverse(of: owned)
        else { return false }
        return directed.contains { other, mapping in
            guard destination.model.isKind(other, of: inverse.owner), let from = mapping.source,
                let stated = mapping.relationships.first(where: {
                    $0.destination == inverse.relationship.name
                }), case .expression(let expression) = stated.value,
                let keys = ManagerCall(expression)?.instances.sourceKeys
            else { return false }
            return target(of: keys, from: from) != nil
        }
    }

    private mutating func unsupported(
        _ text: String, _ property: PropertyMappingDefinition, _ mapping: EntityMappingDefinition
    ) {
        mistakes.append(
            MappingMistake(
                entityMapping: mapping.effectiveName, property: property.destination,
                position: property.position, text: text))
    }

    /// Whether the source of a property is inferred.
    func infers(_ property: String, of entity: String) -> Bool {
        guard let mapping = directed[entity] else { return true }
        let stated = mapping.attributes + mapping.relationships
        return direction?.infersRest != false
            && !stated.contains { $0.destination == property && $0.value != .automatic }
    }

    /// The value that a mapping states for an attribute; nil where it is inferred.
    func statedValue(
        of attribute: String, in entity: String
    ) -> PropertyMappingDefinition.Value? {
        guard let mapping = directed[entity] else { return nil }
        let stated = mapping.attributes.first { $0.destination == attribute }?.value
        if let stated, stated != .automatic { return stated }
        return direction?.infersRest == false ? .unset : nil
    }
}

extension [MappingMistake] {
    /// The mistakes by their places; those without one come last.
    fileprivate var inFileOrder: [MappingMistake] {
        enumerated().sorted { left, right in
            let places = [left.element.position, right.element.position].map {
                ($0?.line ?? .max, $0?.column ?? .max)
            }
            return (places[0].0, places[0].1, left.offset)
                < (places[1].0, places[1].1, right.offset)
        }.map(\.element)
    }
}

extension Inference {
    /// Completes a mapping file: what it states is taken over, the rest is inferred if it asks
    /// for that.
    ///
    /// A stated value is taken as it is: unlike lightweight migration, a missing value of an
    /// attribute that becomes required is not filled with its default.
    ///
    /// - Parameters:
    ///   - source: the model of the store as it is.
    ///   - destination: the model that the store is to have.
    ///   - definition: the mapping file.
    /// - Throws: `MappingMismatch` with every mistake in the mapping, and with what Godwit does
    ///   not support of it.
    /// - Complexity: O(entities × properties, inherited ones included).
    package init(
        from source: Model, to destination: Model, by definition: MappingDefinition
    ) throws(MappingMismatch) {
        // Xcode's rules for what its files leave out are others than those of inference.
        let stated =
            definition.infersRest
            ? definition : definition.completed(from: source, to: destination)
        let check = MappingCheck(stated, from: source, to: destination)
        guard check.mistakes.isEmpty else {
            throw MappingMismatch(mistakes: check.mistakes.inFileOrder)
        }
        var draft = InferenceDraft(from: source, to: destination)
        draft.pairEntities(by: stated)
        draft.pairStatedProperties()
        draft.pairProperties()
        let mistakes =
            draft.mistakes
            + (draft.mistakes.isEmpty ? draft.finish() : []).map {
                MappingMistake(text: "\($0)")
            }
        guard mistakes.isEmpty else { throw MappingMismatch(mistakes: mistakes.inFileOrder) }
        self.init(draft)
    }
}
