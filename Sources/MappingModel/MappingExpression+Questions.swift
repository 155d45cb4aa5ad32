package import MappingExpressions

extension MappingExpression {
    /// `$source.name`.
    package static func source(_ key: String) -> MappingExpression {
        .keyPath(.variable("source"), [key])
    }

    /// The keys behind `$source`; nil for everything but such a key path.
    package var sourceKeys: [String]? {
        guard case .keyPath(.variable("source"), let keys) = self else { return nil }
        return keys
    }

    /// Whether a method of the policy is called.
    package var callsPolicy: Bool {
        ExpressionInspection(self).calls.contains { $0.receiver == .variable(PolicyReceiver.name) }
    }

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

    /// Whether no value may come of an object without one; in doubt of a condition it is false.
    ///
    /// `required`: attributes of the source that always have one.
    func mayBeNull(_ required: Set<String>) -> Bool {
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
