package import ManagedObjectModel
package import MappingExpressions

/// How a mapping file turns a value into that of an attribute, without naming the type: it follows
/// from the destination.
package struct StatedConversion: Hashable, Sendable, Codable {
    /// What becomes of a value that has no form in the type.
    package enum Failing: Hashable, Sendable, Codable {
        /// The store fails, and nothing is written.
        case refuse
        /// The attribute gets no value, and the value counts as lost.
        case drop
        /// The attribute gets another value, and its own counts as lost.
        case constant(DefaultValue)

        /// The expression with what stands in the place of values that cannot be computed.
        package func guarding(_ value: MappingExpression) -> MappingExpression {
            switch self {
            case .refuse: value
            case .drop: .attempt(value, otherwise: .null)
            case .constant(let constant): .attempt(value, otherwise: .constant(constant))
            }
        }
    }

    /// Nil for the source attribute of the same name or renaming identifier.
    package var value: MappingExpression?
    /// The value of a document that is meant; nil for the value itself.
    package var field: DocumentField?
    /// The form that a text gets first.
    package var steps: [TextStep]
    /// How dates are written; nil for ISO 8601.
    package var format: DateFormat?
    /// In the place of no value; nil for none.
    package var missing: DefaultValue?
    package var failing: Failing

    package init(
        value: MappingExpression? = nil, field: DocumentField? = nil, steps: [TextStep] = [],
        format: DateFormat? = nil, missing: DefaultValue? = nil, failing: Failing = .refuse
    ) {
        self.value = value
        self.field = field
        self.steps = steps
        self.format = format
        self.missing = missing
        self.failing = failing
    }
}
