import ManagedObjectModel

extension MappingExpression {
    /// The same expression with something else for each path that begins at `$source`.
    package func replacingSourceKeyPaths(
        _ replace: ([String]) -> MappingExpression
    ) -> MappingExpression {
        if case .keyPath(.variable("source"), let keys) = self { return replace(keys) }
        return mapParts { $0.replacingSourceKeyPaths(replace) }
    }

    /// Whether another value stands in the place of one that cannot be computed.
    package var isAttempt: Bool {
        if case .attempt(_, _) = self { true } else { false }
    }

    /// The same expression with another one in the place of `SELF`.
    fileprivate func replacingEvaluatedObject(
        with other: MappingExpression
    ) -> MappingExpression {
        if case .evaluatedObject = self { return other }
        return mapParts { $0.replacingEvaluatedObject(with: other) }
    }

    /// The same expression with its direct parts replaced.
    private func mapParts(
        _ change: (MappingExpression) -> MappingExpression
    ) -> MappingExpression {
        switch self {
        case .null, .constant, .evaluatedObject, .variable: return self
        case .keyPath(let operand, let keys): return .keyPath(change(operand), keys)
        case .function(let function, let arguments):
            return .function(function, arguments.map(change))
        case .cast(let value, let target): return .cast(change(value), to: target)
        case .conversion(let conversion, let value):
            return .conversion(conversion, of: change(value))
        case .attempt(let value, let other):
            return .attempt(change(value), otherwise: change(other))
        case .call(let receiver, let selector, let arguments):
            return .call(change(receiver), selector: selector, arguments.map(change))
        case .conditional(let predicate, let first, let second):
            return .conditional(predicate.mapParts(change), change(first), change(second))
        case .list(let members): return .list(members.map(change))
        case .combination(let joined, let left, let right):
            return .combination(joined, change(left), change(right))
        case .subquery(let collection, let variable, let predicate):
            return .subquery(
                change(collection), variable: variable, predicate.mapParts(change))
        case .element(let collection, let index):
            if case .at(let place) = index {
                return .element(change(collection), at: .at(change(place)))
            }
            return .element(change(collection), at: index)
        }
    }
}

extension MappingPredicate {
    /// The predicate about a source object as an expression that is true or false: `$source` stands
    /// in the place of `SELF`.
    package var sourceExpression: MappingExpression {
        .conditional(
            mapParts { $0.replacingEvaluatedObject(with: .variable("source")) },
            .constant(.boolean(true)), .constant(.boolean(false)))
    }

    /// The same predicate with the expressions of its comparisons replaced.
    fileprivate func mapParts(
        _ change: (MappingExpression) -> MappingExpression
    ) -> MappingPredicate {
        switch self {
        case .constant: return self
        case .and(let parts): return .and(parts.map { $0.mapParts(change) })
        case .or(let parts): return .or(parts.map { $0.mapParts(change) })
        case .not(let part): return .not(part.mapParts(change))
        case .comparison(var comparison):
            comparison.left = change(comparison.left)
            comparison.right = change(comparison.right)
            return .comparison(comparison)
        }
    }
}
