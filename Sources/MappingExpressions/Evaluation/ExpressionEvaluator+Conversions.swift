import ManagedObjectModel

/// Values in other types and forms.
extension ExpressionEvaluator {
    /// The value after a conversion; no value stays none.
    func converted(
        _ value: Value, _ conversion: ValueConversion
    ) throws(ExpressionError) -> Value {
        if value == .null { return .null }
        guard case .scalar(let scalar) = value else {
            throw ExpressionError(
                .evaluation, "objects and collections have no \(conversion.function)")
        }
        switch conversion {
        case .type(let type, let format):
            return .scalar(try TypeConversion.value(of: scalar, as: type, format))
        case .field(let field): return try field.value(in: scalar).map { .scalar($0) } ?? .null
        case .normalized(let steps):
            guard case .text(let text) = scalar else {
                throw ExpressionError(.evaluation, "NORMALIZE needs a text")
            }
            return TextNormalization.result(of: steps, text).map { .scalar(.text($0)) } ?? .null
        }
    }
}
