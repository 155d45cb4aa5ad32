package import ManagedObjectModel
import MappingExpressions

extension EntityMapping {
    /// What the data must fulfil so that every value of the mapping can be computed; none of values
    /// for which the mapping says what stands in their place.
    ///
    /// - Parameters:
    ///   - source: the model of the stores.
    ///   - model: of the destination.
    /// - Returns: one text for an attribute.
    package func computedConditions(from source: Model, in model: Model) -> [String] {
        guard let destination else { return [] }
        let required = self.source.map { Self.requiredAttributes(of: $0, in: source) } ?? []
        return attributes.compactMap { attribute in
            guard case .expression(let expression) = attribute.value else { return nil }
            if case .attempt = expression { return nil }
            let name = "\(destination).\(attribute.destination)"
            if expression.mayFail {
                return "every \(name) must be computable: \(expression.text)"
            }
            let isRequired =
                model.attribute(attribute.destination, of: destination)?.attribute.isOptional
                == false
            return isRequired && expression.mayBeNull(required)
                ? "every \(name) must have a value: \(expression.text)" : nil
        }
    }

    private static func requiredAttributes(of entity: String, in model: Model) -> Set<String> {
        Set(model.allAttributes(of: entity).map(\.attribute).filter { !$0.isOptional }.map(\.name))
    }
}
