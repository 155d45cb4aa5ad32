package import ManagedObjectModel
package import MappingExpressions

/// Where a mapping may say what stands in the place of values that cannot be computed.
///
/// Replaced values are losses, and only those of whole attributes are counted.
package enum AttemptCheck {
    /// What is wrong with `ATTEMPT` in an expression.
    ///
    /// - Parameters:
    ///   - expression: of a mapping.
    ///   - attribute: the one whose value it is; nil where it is none.
    /// - Returns: nil where nothing is.
    package static func mistake(
        in expression: MappingExpression, of attribute: Attribute?
    ) -> String? {
        let inspection = ExpressionInspection(expression)
        guard inspection.attempts > 0 else { return nil }
        guard let attribute, case .attempt(_, let other) = expression, inspection.attempts == 1
        else { return "ATTEMPT must be the whole value of an attribute" }
        guard inspection.calls.isEmpty else {
            return "ATTEMPT cannot contain a method of a policy: let the method return the "
                + "value"
        }
        if other == .null, !attribute.isOptional {
            return "\(attribute.name) is required: values that cannot be computed cannot be "
                + "dropped. State a constant for them, as in failing: {constant: 0}"
        }
        return nil
    }
}
