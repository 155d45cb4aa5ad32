import ManagedObjectModel
import MappingExpressions
import MappingInference
import MappingModel

/// What carries the values of one entity mapping into attributes of another type.
struct TypeChanges {
    /// By destination attribute.
    let expressions: [String: MappingExpression]

    /// Pairs attributes as the word `convert` does.
    init(from source: Model, to destination: Model, _ mapping: EntityMapping) {
        var expressions: [String: MappingExpression] = [:]
        if let from = mapping.source, let to = mapping.destination {
            for (_, attribute) in destination.allAttributes(of: to) {
                guard let before = MappingDefinition.origin(of: attribute, in: source, from),
                    before.type != attribute.type
                else { continue }
                expressions[attribute.name] = StatedConversion().expression(
                    from: before, to: attribute)
            }
        }
        self.expressions = expressions
    }
}

extension EntityMapping {
    /// Names of the source entity's properties, inherited ones included, that nothing reads.
    ///
    /// - Parameters:
    ///   - source: the source model.
    ///   - changes: what reads attributes beside the mapping.
    /// - Returns: in the order of the names.
    func dropped(of source: Model, besides changes: TypeChanges) -> [String] {
        guard let from = self.source, destination != nil else { return [] }
        let values =
            attributes.map(\.value)
            + changes.expressions.values.map { ValueExpression.expression($0) }
        let attributes = source.allAttributes(of: from).map(\.attribute).filter { attribute in
            !attribute.isTransient && attribute.derivation == nil
                && !values.contains { $0.reads(attribute.name) }
        }
        let links = source.allRelationships(of: from).map(\.relationship).filter { link in
            !link.isTransient && !relationships.contains { $0.source == link.name }
        }
        return (attributes.map(\.name) + links.map(\.name)).sorted()
    }
}
