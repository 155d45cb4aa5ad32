import ManagedObjectModel
import MappingExpressions

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
        try Self.checkNUL(scalar)
        switch conversion {
        case .type(let type, let format):
            let converted = try TypeConversion.value(of: scalar, as: type, format)
            try Self.checkNUL(converted)
            return .scalar(converted)
        case .field(let field):
            guard let value = try field.value(in: scalar) else { return .null }
            try Self.checkNUL(value)
            return .scalar(value)
        case .normalized(let steps):
            guard case .text(let text) = scalar else {
                throw ExpressionError(.evaluation, "NORMALIZE needs a text")
            }
            return TextNormalization.result(of: steps, text).map { .scalar(.text($0)) } ?? .null
        }
    }

    /// SQLite's functions and Core Data end a text at a NUL.
    private static func checkNUL(_ value: DefaultValue) throws(ExpressionError) {
        guard case .text(let text) = value, text.unicodeScalars.contains("\0") else { return }
        throw ExpressionError(.evaluation, "the text contains a NUL")
    }
}
