import ManagedObjectModel
import MappingExpressions

/// Values as `CAST` turns them into other classes.
///
/// Numbers become texts, decimals and dates (seconds since 2001) and back, texts become numbers,
/// UUIDs and URLs and back; no value stays none. A text is no date: `NSDate` has no format.
enum ValueCast {
    /// The value as one of the class.
    ///
    /// - Throws: `ExpressionError` for a value that has no form in the class.
    static func cast<Object>(
        _ value: ExpressionValue<Object>, to target: MappingExpression.CastTarget
    ) throws(ExpressionError) -> ExpressionValue<Object> {
        if value == .null { return .null }
        guard case .scalar(let scalar) = value else {
            throw ExpressionError(
                .evaluation, "objects and collections cannot be cast to \(target.rawValue)")
        }
        let result: DefaultValue? =
            switch target {
            case .number: number(scalar)
            case .decimal: decimal(scalar)
            case .date: date(scalar)
            case .string: scalar.stringValue.map { .text($0) }
            case .uuid: uuid(scalar)
            case .url: url(scalar)
            }
        guard let result else {
            throw ExpressionError(
                .evaluation, "\(scalar.kindName) cannot be cast to \(target.rawValue)")
        }
        return .scalar(result)
    }

    private static func number(_ scalar: DefaultValue) -> DefaultValue? {
        switch scalar {
        case .integer, .real, .decimal, .boolean: return scalar
        case .date(let seconds): return .real(seconds)
        case .text(let text):
            if let integer = Int64(text) { return .integer(integer) }
            return LiteralText.isDecimal(text) ? Double(text).map { .real($0) } : nil
        case .data, .uuid, .uri: return nil
        }
    }

    private static func decimal(_ scalar: DefaultValue) -> DefaultValue? {
        switch scalar {
        case .integer(let value): .decimal("\(value)")
        case .boolean(let value): .decimal(value ? "1" : "0")
        case .real(let value): DecimalNumber("\(value)").map { .decimal($0.text) }
        case .decimal(let text), .text(let text): DecimalNumber(text).map { .decimal($0.text) }
        case .date, .data, .uuid, .uri: nil
        }
    }

    private static func date(_ scalar: DefaultValue) -> DefaultValue? {
        if case .date = scalar { return scalar }
        return EvaluatedNumber(scalar).map { .date($0.real) }
    }

    private static func uuid(_ scalar: DefaultValue) -> DefaultValue? {
        switch scalar {
        case .uuid: scalar
        case .text(let text): LiteralText.uuid(text).map { .uuid($0) }
        default: nil
        }
    }

    private static func url(_ scalar: DefaultValue) -> DefaultValue? {
        switch scalar {
        case .uri: scalar
        case .text(let text): .uri(text)
        default: nil
        }
    }
}
