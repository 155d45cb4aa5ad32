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

    /// The expression for an attribute.
    ///
    /// - Parameters:
    ///   - origin: the source attribute of the same name; nil where there is none.
    ///   - attribute: of the destination.
    /// - Returns: nil without a value: neither is one stated, nor is there an origin whose values
    ///   can have equals in the attribute's type.
    package func expression(
        from origin: Attribute?, to attribute: Attribute
    ) -> MappingExpression? {
        guard var result = value ?? origin.map({ .source($0.name) }) else { return nil }
        if value == nil, field == nil, let origin, origin.type != attribute.type,
            !ValueKind(origin).converts(to: attribute.type)
        {
            return nil
        }
        if let field { result = .conversion(.field(field), of: result) }
        if !steps.isEmpty { result = .conversion(.normalized(steps), of: result) }
        let isText = !steps.isEmpty && attribute.type == .string
        let isHeld =
            value == nil && field == nil && steps.isEmpty && format == nil
            && origin.map { Self.holds(attribute.type, all: $0.type) } == true
        if !isText, !isHeld {
            result = .conversion(.type(attribute.type, format: format), of: result)
        }
        if let missing {
            result = .conditional(
                .comparison(PredicateComparison(result, .equal, .null)),
                .constant(Self.fitting(missing, attribute)), result)
        }
        switch failing {
        case .refuse, .drop: return failing.guarding(result)
        case .constant(let constant):
            return Failing.constant(Self.fitting(constant, attribute)).guarding(result)
        }
    }

    /// Whether an attribute of a type takes all values of another one as they are.
    private static func holds(_ type: AttributeType, all other: AttributeType) -> Bool {
        switch (other, type) {
        case _ where other == type: true
        case (.boolean, .integer16), (.boolean, .integer32), (.boolean, .integer64): true
        case (.integer16, .integer32), (.integer16, .integer64), (.integer32, .integer64): true
        case (.boolean, .double), (.integer16, .double), (.integer32, .double): true
        case (.float, .double): true
        default: false
        }
    }

    /// A constant of a file in the type of an attribute, if it has a form there.
    ///
    /// Files have no dates of their own. The check of mappings finds what has no form.
    private static func fitting(_ constant: DefaultValue, _ attribute: Attribute) -> DefaultValue {
        let value = MappingExpression.conversion(
            .type(attribute.type, format: nil), of: .constant(constant))
        do throws(ExpressionError) {
            let evaluator = ExpressionEvaluator(NoObjects(), now: 0)
            guard case .scalar(let fitting) = try evaluator.value(of: value) else {
                return constant
            }
            return fitting
        } catch {
            return constant
        }
    }
}
