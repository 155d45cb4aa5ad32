import ExpressionEvaluation
package import ManagedObjectModel
package import MappingExpressions
package import MappingModel

extension StatedConversion {
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
