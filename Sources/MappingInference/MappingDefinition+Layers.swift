package import ManagedObjectModel
import MappingExpressions
package import MappingModel

/// Several entity mappings may make objects of one destination entity.
extension MappingDefinition {
    /// The entity mappings in groups of which none has two to one destination entity.
    ///
    /// The first group has the first mapping to every entity, and the removals; each further one
    /// has what comes after it.
    var layers: [[EntityMappingDefinition]] {
        var layers: [[EntityMappingDefinition]] = [[]]
        var counts: [String: Int] = [:]
        for mapping in entityMappings {
            guard let name = mapping.destination else {
                layers[0].append(mapping)
                continue
            }
            let layer = counts[name, default: 0]
            counts[name] = layer + 1
            if layer == layers.count { layers.append([]) }
            layers[layer].append(mapping)
        }
        return layers
    }

    /// The mapping with links between objects that come of one source object stated by the side
    /// that is to-one: what one side says links both.
    func statingLinksByToOne(in destination: Model) -> MappingDefinition {
        var stated = self
        for mapping in entityMappings {
            guard let entity = mapping.destination else { continue }
            for property in mapping.relationships {
                guard case .expression(let expression) = property.value,
                    case .entityMapping(let name, .variable("source"))? = ManagerCall(expression),
                    let found = destination.relationship(property.destination, of: entity),
                    found.relationship.isToMany,
                    let inverse = destination.inverse(of: found.relationship),
                    !inverse.relationship.isToMany
                else { continue }
                stated.turn(
                    property, of: mapping, to: inverse.relationship.name, ofObjectsBy: name)
            }
        }
        return stated
    }

    /// Moves a statement about a relationship to its inverse, unless that is stated already.
    private mutating func turn(
        _ property: PropertyMappingDefinition, of mapping: EntityMappingDefinition,
        to inverse: String, ofObjectsBy name: String
    ) {
        guard
            let here = entityMappings.firstIndex(where: {
                $0.effectiveName == mapping.effectiveName
            }),
            let there = entityMappings.firstIndex(where: { $0.effectiveName == name }),
            entityMappings[there].source == mapping.source
        else { return }
        entityMappings[here].relationships.removeAll { $0.destination == property.destination }
        let isStated = entityMappings[there].relationships.contains {
            $0.destination == inverse && $0.value != .automatic
        }
        guard !isStated else { return }
        entityMappings[there].relationships.removeAll { $0.destination == inverse }
        entityMappings[there].relationships.append(
            PropertyMappingDefinition(
                destination: inverse,
                value: .expression(
                    ManagerCall.entityMapping(mapping.effectiveName, .variable("source"))
                        .expression),
                position: property.position))
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
    ///   - policies: what policies say of themselves that the mapping may name.
    /// - Throws: `MappingMismatch` with every mistake in the mapping, and with what Godwit does
    ///   not support of it.
    package init(
        from source: Model, to destination: Model, by definition: MappingDefinition,
        policies: [PolicyDeclaration] = []
    ) throws(MappingMismatch) {
        let complete =
            definition.infersRest
            ? definition : definition.completed(from: source, to: destination)
        let stated = complete.convertingTypes(from: source, to: destination)
        let check = MappingCheck(
            stated, from: source, to: destination, policies: policies)
        guard check.mistakes.isEmpty else {
            throw MappingMismatch(mistakes: check.mistakes.inFileOrder)
        }
        let turned = stated.statingLinksByToOne(in: destination)
        var draft = InferenceDraft(from: source, to: destination)
        var mistakes: [MappingMistake] = []
        let layers = turned.layers
        for (number, layer) in layers.enumerated() {
            var part = InferenceDraft(from: source, to: destination)
            part.policies = policies
            if number > 0 {
                part.continueMappings(of: draft, with: layer)
            }
            part.pairEntities(by: layer + (number > 0 ? layers[0] : []), of: turned)
            part.pairStatedProperties()
            part.pairProperties()
            mistakes += part.mistakes
            if mistakes.isEmpty { part.mapEntities() }
            draft = part
        }
        if mistakes.isEmpty { mistakes = PolicyCoverage(draft: draft, definition: turned).mistakes }
        if mistakes.isEmpty { mistakes = draft.finish().map { MappingMistake(text: "\($0)") } }
        guard mistakes.isEmpty else { throw MappingMismatch(mistakes: mistakes.inFileOrder) }
        for warning in check.warnings.inFileOrder { draft.notes.append(.neverEqual(warning)) }
        self.init(draft)
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
