import ManagedObjectModel
import MappingExpressions
import MappingModel

/// Attribute mappings of paired entities.
extension InferenceDraft {
    /// The two entities of a pair and the declarers of two attributes in it.
    private struct Place {
        /// Name of the destination entity that declares the attribute.
        let owner: String
        /// The destination entity of a mapping that a file states; nil where it is inferred.
        var stated: String?
        /// Name of the source entity, exactly.
        let from: String
        /// Name of the source entity that declares the source attribute; nil where there is none.
        let sourceOwner: String?
        /// Whether missing values of what becomes required get the default value.
        var fillsDefaults = true
    }

    /// Maps every stored attribute of a destination entity.
    mutating func mapAttributes(of entity: String, from: String) -> [AttributeMapping] {
        var mapped: [AttributeMapping] = []
        for owned in destination.attributes(of: entity) {
            let before = sourceAttribute[entity]?[owned.attribute.name]
                .flatMap { source.attribute($0, of: from) }
            let place = Place(
                owner: owned.owner, stated: directed[entity]?.destination, from: from,
                sourceOwner: before?.owner)
            let now = Level(attribute: owned.attribute, prefix: "", isOptional: false)
            guard !isSetByPolicy(now.path, of: entity) else {
                mapped.append(AttributeMapping(destination: now.path, value: .policy(nil)))
                continue
            }
            if let stated = statedValue(of: owned.attribute.name, in: entity) {
                mapped += map(now, by: stated, at: place)
                continue
            }
            let then = before.map { Level(attribute: $0.attribute, prefix: "", isOptional: false) }
            mapped += map(now, from: then, at: place, depth: 0)
        }
        return mapped
    }

    /// An attribute with what lies around it.
    private struct Level {
        let attribute: Attribute
        /// Names of the composite attributes around it, each with a point behind it.
        let prefix: String
        /// Whether a composite attribute around it is optional.
        let isOptional: Bool

        var path: String { prefix + attribute.name }
        var mayMiss: Bool { isOptional || attribute.isOptional }

        var elements: [Level] {
            attribute.elements.filter(\.isStored).map {
                Level(attribute: $0, prefix: path + ".", isOptional: mayMiss)
            }
        }
    }

    /// Maps an attribute as a mapping file states it.
    private mutating func map(
        _ now: Level, by stated: PropertyMappingDefinition.Value, at place: Place
    ) -> [AttributeMapping] {
        let leaves = StoredLeaf.leaves(of: now.attribute)
        if case .expression(let expression) = stated, expression != .null {
            if let owner = place.sourceOwner, let keys = expression.sourceKeys, keys.count == 1,
                let before = source.attribute(keys[0], of: place.from)
            {
                let then = Level(attribute: before.attribute, prefix: "", isOptional: false)
                let kept = map(
                    now, from: then,
                    at: Place(
                        owner: place.owner, stated: place.stated, from: place.from,
                        sourceOwner: owner, fillsDefaults: false), depth: 0)
                return kept
            }
            return leaves.map {
                AttributeMapping(destination: $0.path, value: .stated(expression, $0.attribute))
            }
        }
        let isDefault = stated == .unset
        return leaves.map { leaf in
            let reference = PropertyReference(entity: place.owner, property: leaf.path)
            let value = isDefault ? leaf.attribute.defaultValue : nil
            if value == nil, !leaf.isOptional, leaf.attribute.derivation == nil {
                let reason: AbsenceReason =
                    isDefault ? .requiredAttribute(reference) : .statedNull(reference)
                requirements.append(.noObjects(entity: place.from, reason: reason))
            }
            return AttributeMapping(
                destination: leaf.path, value: value.map { .constant($0) } ?? .null)
        }
    }

    private mutating func map(
        _ now: Level, from before: Level?, at place: Place, depth: Int
    ) -> [AttributeMapping] {
        if let before, before.attribute.type != now.attribute.type {
            refuse(
                .attributeTypeChanged, place.stated ?? place.owner, now.path,
                "its type is \(now.attribute.type), but that of source attribute "
                    + "\(place.sourceOwner ?? place.from).\(before.path) is "
                    + "\(before.attribute.type)",
                remedy: place.stated.map {
                    "State it in the entity mapping of \($0), as in \(now.path): convert."
                } ?? "Keep the type, add the attribute under a new name, or migrate with a "
                    + "mapping model.")
            return []
        }
        guard now.attribute.type == .composite else {
            let value = value(of: now, from: before, at: place)
            return [AttributeMapping(destination: now.path, value: value)]
        }
        guard depth < StoredLeaf.depthLimit else {
            refuse(
                .compositeTooDeep, place.owner, now.path,
                "composite attributes are nested more than \(StoredLeaf.depthLimit) deep",
                remedy: "Flatten the composite attribute.")
            return []
        }
        return mapElements(of: now, from: before, at: place, depth: depth)
    }

    private mutating func mapElements(
        of now: Level, from before: Level?, at place: Place, depth: Int
    ) -> [AttributeMapping] {
        let elements = now.elements
        let sources = before?.elements ?? []
        let matching = IdentifierMatching(
            destinations: elements.map(Self.identified), sources: sources.map(Self.identified))
        for ambiguity in matching.ambiguities {
            refuse(
                .ambiguousIdentifier, place.owner, now.path,
                "renaming identifier \(ambiguity.identifier) of its elements is ambiguous",
                remedy: "Give each element a renaming identifier of its own.")
        }
        return elements.flatMap { element in
            let name = matching.sources[element.attribute.name]
            let source = name.flatMap { name in sources.first { $0.attribute.name == name } }
            return map(element, from: source, at: place, depth: depth + 1)
        }
    }

    private static func identified(_ level: Level) -> Identified {
        Identified(
            name: level.attribute.name, identifier: level.attribute.renamingIdentifier)
    }

    private mutating func value(
        of now: Level, from before: Level?, at place: Place
    ) -> ValueExpression {
        let reference = PropertyReference(entity: place.owner, property: now.path)
        guard let before else { return newValue(of: now, reference, from: place.from) }
        if let derivation = now.attribute.derivation {
            if derivation != before.attribute.derivation {
                notes.append(.derivationChanged(reference))
            }
            return .source(before.path)
        }
        if now.attribute.type == .transformable,
            now.attribute.valueTransformerName != before.attribute.valueTransformerName
        {
            notes.append(.transformerChanged(reference))
        }
        // Missing values that the source model forbids are faults of the data: carried over.
        guard !now.mayMiss, before.mayMiss else { return .source(before.path) }
        if place.fillsDefaults, let value = now.attribute.defaultValue {
            return .sourceOrDefault(before.path, value)
        }
        requirements.append(
            .noMissingValue(
                source: PropertyReference(entity: place.from, property: before.path),
                destination: reference))
        return .source(before.path)
    }

    /// The value of an attribute without a source: Core Data gives the default, if there is one,
    /// to optional attributes too (oracle page).
    private mutating func newValue(
        of now: Level, _ reference: PropertyReference, from: String
    ) -> ValueExpression {
        let value = now.attribute.defaultValue.map { ValueExpression.constant($0) } ?? .null
        if now.attribute.derivation != nil {
            notes.append(.derivedLater(reference))
        } else if value == .null, !now.mayMiss {
            requirements.append(.noObjects(entity: from, reason: .requiredAttribute(reference)))
        }
        return value
    }
}

extension ValueExpression {
    /// A stated expression: a constant in the form that the attribute's column has.
    fileprivate static func stated(
        _ expression: MappingExpression, _ attribute: Attribute
    ) -> ValueExpression {
        guard case .constant(let constant) = expression else {
            return expression.callsPolicy ? .policy(expression) : .expression(expression)
        }
        switch (constant, attribute.type) {
        case (.boolean(let flag), .integer16), (.boolean(let flag), .integer32),
            (.boolean(let flag), .integer64):
            return .constant(.integer(flag ? 1 : 0))
        case (.integer(0), .boolean), (.integer(1), .boolean):
            return .constant(.boolean(constant == .integer(1)))
        case (.integer(let number), .double), (.integer(let number), .float):
            return .constant(.real(Double(number)))
        case (.boolean(let flag), .double), (.boolean(let flag), .float):
            return .constant(.real(flag ? 1 : 0))
        default: return .constant(constant)
        }
    }
}
