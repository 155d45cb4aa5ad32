import ManagedObjectModel
import MappingExpressions
import MappingModel

/// A mapping file directs the draft: what it states is not inferred.
extension InferenceDraft {
    /// Takes over the pairs of entities that a mapping states, and finds the others if it asks for
    /// that.
    ///
    /// - Parameters:
    ///   - layer: the entity mappings that this draft is about, the first of several to one
    ///     destination entity.
    ///   - definition: the whole mapping.
    mutating func pairEntities(
        by layer: [EntityMappingDefinition], of definition: MappingDefinition
    ) {
        direction = definition
        var dropped: Set<String> = []
        for mapping in definition.entityMappings {
            switch (mapping.source, mapping.destination) {
            case (let from?, let to?):
                destinationEntity[from] = to
                statedDestinations[from, default: []].append(to)
            case (let from?, nil): dropped.insert(from)
            default: break
            }
        }
        for mapping in layer {
            guard let to = mapping.destination, directed[to] == nil else { continue }
            directed[to] = mapping
            sourceEntity[to] = mapping.source
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
            for property in mapping.attributes
            where !isSetByPolicy(property.destination, of: entity) {
                guard let key = plainSource(of: property, in: entity, from: from) else { continue }
                sourceAttribute[entity, default: [:]][property.destination] = key
            }
            for property in mapping.relationships
            where !isSetByPolicy(property.destination, of: entity)
                && !isInverseOfPolicy(property.destination, of: entity)
            {
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
        guard let keys = call.sourcePath, let target = target(of: keys, from: from)
        else {
            // The other side of the same links may say it in a way that can be run.
            if isLinkedByInverse(property.destination, of: entity) {
                return refuseContradiction(call, property, mapping)
            }
            return unsupported(
                "links of \(call.instances.text) are not supported yet: only those of one source "
                    + "relationship, and of a path of to-one relationships", property, mapping)
        }
        switch call {
        case .relationship(let name, _):
            let holder = keys.last == name ? self.target(of: keys.dropLast(), from: from) : from
            let named = holder.flatMap { source.relationship(name, of: $0)?.relationship }
            guard named?.destination == target else {
                return unsupported(
                    "\(call.instances.text) leads to other objects than source relationship "
                        + name, property, mapping)
            }
        case .entityMapping(let name, _):
            if makers(of: target, linkedBy: property.destination, of: entity) != [name] {
                linkMapping[entity, default: [:]][property.destination] = name
            }
        }
        if keys.count == 1 {
            if let other = pathBehind(property.destination, of: entity, from: target) {
                return unsupported(other.refusal, property, mapping)
            }
            sourceRelationship[entity, default: [:]][property.destination] = keys[0]
        } else if let text = pathRefusal(property.destination, of: entity, isOwn: keys.isEmpty) {
            unsupported(text, property, mapping)
        } else if keys.isEmpty, let text = ownLinkRefusal(call, property.destination, mapping) {
            unsupported(text, property, mapping)
        } else {
            statedPaths[entity, default: [:]][property.destination] = keys
        }
    }

    /// Why a required link to what another mapping makes of the same object cannot be sure; nil
    /// where it is.
    private func ownLinkRefusal(
        _ call: ManagerCall, _ name: String, _ mapping: EntityMappingDefinition
    ) -> String? {
        guard case .entityMapping(let maker, _) = call, let entity = mapping.destination,
            let owned = destination.relationship(name, of: entity),
            !LinkBounds(owned.relationship).allowsNone,
            let made = direction?.entityMappings.first(where: { $0.effectiveName == maker }),
            let filter = made.filter, filter != mapping.filter
        else { return nil }
        return "\(name) is required, and entity mapping \(maker) has another filter: give both the "
            + "same filter, or make \(name) optional"
    }

    /// Names of the entity mappings that make objects of a source entity, or of one that inherits
    /// from it, to which a destination relationship can lead.
    private func makers(
        of target: String, linkedBy relationship: String, of entity: String
    ) -> [String] {
        guard
            let wanted = destination.relationship(relationship, of: entity)?.relationship
                .destination
        else { return [] }
        let isMeant = { (from: String, to: String) in
            source.model.isKind(from, of: target) && destination.model.isKind(to, of: wanted)
        }
        let stated = (direction?.entityMappings ?? []).filter { mapping in
            guard let from = mapping.source, let to = mapping.destination else { return false }
            return isMeant(from, to)
        }
        let inferred = sourceEntity.filter { directed[$0.key] == nil && isMeant($0.value, $0.key) }
        return stated.map(\.effectiveName) + inferred.map { "\($0.value)To\($0.key)" }
    }

    /// Why a relationship cannot get its links by a path; nil where it can.
    ///
    /// - Parameters:
    ///   - name: of the relationship.
    ///   - entity: of the destination.
    ///   - isOwn: whether objects that come of the same source object are linked: those are no
    ///     two.
    /// - Returns: what is not supported.
    private func pathRefusal(_ name: String, of entity: String, isOwn: Bool) -> String? {
        guard let owned = destination.relationship(name, of: entity) else { return nil }
        if owned.relationship.isToMany, !isOwn {
            return "a path of to-one relationships leads to one object, and \(name) is to-many"
        }
        if owned.relationship.isOrdered {
            return "objects of the same source object cannot be linked by an ordered relationship "
                + "yet"
        }
        guard let inverse = destination.inverse(of: owned)?.relationship else { return nil }
        if !inverse.isToMany, !isOwn {
            return "links of a path are not supported yet where the inverse is to-one: several "
                + "objects may lead to one"
        }
        return inverse.isOrdered
            ? "links of a path are not supported yet where the inverse is ordered" : nil
    }

    /// The source entity to which one relationship leads, or a path of to-one relationships; nil
    /// for every other path.
    ///
    /// No keys are the object itself.
    private func target(of keys: some Collection<String>, from entity: String) -> String? {
        guard let first = keys.first else { return entity }
        guard keys.count == 1 else {
            return source.model.target(ofPath: Array(keys), from: entity)
        }
        return source.relationship(first, of: entity)?.relationship.destination
    }

    /// Links that an entity mapping states by a path.
    private struct PathBehind {
        let mapping: EntityMappingDefinition
        let call: ManagerCall
        let relationship: PropertyReference

        var refusal: String {
            "its inverse \(relationship) gets its links by \(call.instances.text) in entity "
                + "mapping \(mapping.effectiveName): state them on one side, and unset on the other"
        }
    }

    /// What gives the other side of a relationship its links by a path, or links objects that come
    /// of one; nil where nothing does.
    ///
    /// `origin`: only of source objects that may be of that entity.
    private func pathBehind(
        _ name: String, of entity: String, from origin: String? = nil
    ) -> PathBehind? {
        guard let direction, let owned = destination.relationship(name, of: entity),
            let inverse = destination.inverse(of: owned), inverse.reference != owned.reference
        else { return nil }
        for mapping in direction.entityMappings {
            let stated = mapping.relationships.first {
                $0.destination == inverse.relationship.name
            }
            guard case .expression(let expression)? = stated?.value, let from = mapping.source,
                let to = mapping.destination, destination.model.isKind(to, of: inverse.owner),
                let call = ManagerCall(expression), let keys = call.sourcePath, keys.count != 1,
                target(of: keys, from: from) != nil,
                origin.map({ source.overlap($0, from) }) ?? true
            else { continue }
            return PathBehind(mapping: mapping, call: call, relationship: inverse.reference)
        }
        return nil
    }

    /// Whether a relationship is the other side of one whose links a mapping states by a path for
    /// the objects to which a source relationship leads: what one side says links both.
    func isInverseOfPath(_ name: String, of entity: String, reading before: Relationship?) -> Bool {
        before.map { pathBehind(name, of: entity, from: $0.destination) != nil } ?? false
    }

    /// Refuses links of a path that cannot be followed, where they are not those that the other
    /// side states.
    private mutating func refuseContradiction(
        _ call: ManagerCall, _ property: PropertyMappingDefinition,
        _ mapping: EntityMappingDefinition
    ) {
        guard let keys = call.sourcePath, keys.count > 1, let entity = mapping.destination else {
            return
        }
        guard let other = pathBehind(property.destination, of: entity),
            let from = other.mapping.source, let back = other.call.sourcePath
        else {
            return unsupported(
                "links of \(call.instances.text) are not those that its inverse states: state them "
                    + "on one side, and unset on the other", property, mapping)
        }
        // Unions of collections add no objects.
        let isReversed = reversed(back, from: from) == keys.filter { !$0.hasPrefix("@") }
        let areMade =
            other.call.takesObjects(of: mapping.effectiveName)
            && call.takesObjects(of: other.mapping.effectiveName)
        if !isReversed || !areMade { unsupported(other.refusal, property, mapping) }
    }

    /// The path back from where a path of relationships leads; nil where one has no inverse.
    private func reversed(_ keys: [String], from entity: String) -> [String]? {
        var back: [String] = []
        var current = entity
        for key in keys {
            guard let found = source.relationship(key, of: current),
                let inverse = source.inverse(of: found)
            else { return nil }
            back.insert(inverse.relationship.name, at: 0)
            current = found.relationship.destination
        }
        return back
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
                let keys = ManagerCall(expression)?.sourcePath
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
        guard !isSetByPolicy(property, of: entity) else { return false }
        guard let mapping = directed[entity] else { return true }
        let stated = mapping.attributes + mapping.relationships
        return direction?.infersRest != false
            && !stated.contains { $0.destination == property && $0.value != .automatic }
    }

    /// Whether a mapping states that a property gets what has its name.
    func isAutomatic(_ property: String, of entity: String) -> Bool {
        directed[entity].map { $0.attributes + $0.relationships }?.contains {
            $0.destination == property && $0.value == .automatic
        } == true
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

/// Policies decide in place of the models about what they set.
extension InferenceDraft {
    /// The policy that takes part in making objects of a destination entity; nil for none.
    func policy(of entity: String) -> PolicyDeclaration? {
        directed[entity]?.policy.flatMap { policies.named($0) }
    }

    /// Whether the hooks of a policy give a property of a destination entity its value.
    ///
    /// Many-to-many links that a policy sets of one entity, from either side, come from policies
    /// alone: every one has two ends.
    func isSetByPolicy(_ property: String, of entity: String) -> Bool {
        if policy(of: entity)?.sets.contains(property) == true { return true }
        guard !policies.isEmpty, let owned = destination.relationship(property, of: entity),
            owned.relationship.isToMany, let inverse = destination.inverse(of: owned),
            inverse.relationship.isToMany
        else { return false }
        return directed.keys.contains { other in
            guard let policy = policy(of: other) else { return false }
            return [owned, inverse].contains { side in
                policy.sets.contains(side.relationship.name)
                    && destination.model.isKind(other, of: side.owner)
            }
        }
    }

    /// Whether a relationship is the other side of one that a policy sets: what one side says links
    /// both.
    func isInverseOfPolicy(_ name: String, of entity: String) -> Bool {
        policies(linking: name, of: entity) { policy, other, inverse in
            // What is its own inverse has no other side.
            destination.relationship(name, of: entity)?.reference != inverse.reference
                && destination.model.isKind(other, of: inverse.owner)
                && policy.sets.contains(inverse.relationship.name)
        }
    }

    /// Whether a relationship may get its links from a policy.
    func isFilledByPolicy(_ name: String, of entity: String) -> Bool {
        if isSetByPolicy(name, of: entity) || isInverseOfPolicy(name, of: entity) { return true }
        return policies(linking: name, of: entity) { policy, _, inverse in
            policy.creates.contains { destination.model.isKind($0.entity, of: inverse.owner) }
        }
    }

    /// Whether a policy of any entity mapping has to do with the other side of a relationship.
    private func policies(
        linking name: String, of entity: String,
        where isMeant: (PolicyDeclaration, String, StoredProperties.OwnedRelationship) -> Bool
    ) -> Bool {
        guard let owned = destination.relationship(name, of: entity),
            let inverse = destination.inverse(of: owned)
        else { return false }
        return directed.keys.contains { other in
            policy(of: other).map { isMeant($0, other, inverse) } ?? false
        }
    }
}
