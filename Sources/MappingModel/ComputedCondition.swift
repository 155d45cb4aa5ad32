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
        let required = self.source.map { source.requiredAttributes(of: $0) } ?? []
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
}

extension MappingExpression {
    /// Whether a value may be one for which the expression cannot be computed, or too large.
    package var mayFail: Bool {
        switch self {
        case .null, .constant, .evaluatedObject, .variable, .keyPath: false
        case .function(let function, let arguments):
            ![.now, .uppercase, .lowercase, .length].contains(function)
                || arguments.contains(where: \.mayFail)
        case .conditional(let predicate, let first, let second):
            predicate.mayFail || first.mayFail || second.mayFail
        default: true
        }
    }
}

extension MappingPredicate {
    var mayFail: Bool {
        switch self {
        case .constant: false
        case .not(let part): part.mayFail
        case .and(let parts), .or(let parts): parts.contains(where: \.mayFail)
        case .comparison(let comparison): comparison.left.mayFail || comparison.right.mayFail
        }
    }
}

extension MappingExpression {
    /// Whether no value may come of an object without one; in doubt of a condition it is false.
    ///
    /// `required`: attributes of the source that always have one.
    fileprivate func mayBeNull(_ required: Set<String>) -> Bool {
        switch self {
        case .null: true
        case .keyPath(.variable("source"), let keys):
            !(keys.count == 1 && required.contains(keys[0]))
        case .keyPath: true
        case .function(.now, _): false
        case .function(_, let arguments): arguments.contains { $0.mayBeNull(required) }
        case .conditional(_, let first, let second): first == .null || second == .null
        default: false
        }
    }
}

extension Model {
    fileprivate func requiredAttributes(of entity: String) -> Set<String> {
        Set(allAttributes(of: entity).map(\.attribute).filter { !$0.isOptional }.map(\.name))
    }
}
