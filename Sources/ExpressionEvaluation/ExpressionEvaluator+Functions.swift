import ManagedObjectModel
import MappingExpressions

/// The functions of expressions.
extension ExpressionEvaluator {
    func result(
        of function: ExpressionFunction, _ arguments: [Value]
    ) throws(ExpressionError) -> Value {
        guard arguments.count == function.argumentCount else {
            throw ExpressionError(
                .evaluation,
                "\(function.rawValue) takes \(function.argumentCount) arguments, "
                    + "not \(arguments.count)")
        }
        if function == .now { return .scalar(.date(now)) }
        if function == .append { return try appended(arguments[1], to: arguments[0]) }
        if arguments.contains(.null) { return .null }
        switch function {
        case .sum, .count, .min, .max, .average, .median, .mode, .standardDeviation, .distinct:
            return try aggregate(function, arguments[0])
        case .noIndex: return arguments[0]
        case .uppercase, .lowercase, .length: return try textResult(function, arguments[0])
        case .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift, .onesComplement:
            return try bitResult(function, arguments)
        default: break
        }
        let first = try number(arguments[0], function)
        guard arguments.count == 2 else {
            return .scalar(try first.result(of: function).scalar)
        }
        let second = try number(arguments[1], function)
        return .scalar(try EvaluatedNumber.result(of: function, first, second).scalar)
    }

    private func number(
        _ value: Value, _ function: ExpressionFunction
    ) throws(ExpressionError) -> EvaluatedNumber {
        guard case .scalar(let scalar) = value, let number = EvaluatedNumber(scalar) else {
            throw ExpressionError(.evaluation, "\(function.rawValue) needs numbers")
        }
        return number
    }

    private func aggregate(
        _ function: ExpressionFunction, _ value: Value
    ) throws(ExpressionError) -> Value {
        let name = function.rawValue
        guard case .collection(let members, let kind) = value else {
            throw ExpressionError(.evaluation, "\(name) needs a collection")
        }
        switch function {
        case .count: return .scalar(.integer(Int64(members.count)))
        case .distinct: return .collection(ValueComparison.distinct(members), kind)
        case .sum: return try Aggregate.sum(members, name)
        case .average: return try Aggregate.average(members, name)
        case .min: return try Aggregate.extreme(members, name) { $0 }
        case .max: return try Aggregate.extreme(members, name) { !$0 }
        case .median: return try Aggregate.median(members, name)
        case .mode: return try Aggregate.mode(members, name)
        default: return try Aggregate.standardDeviation(members, name)
        }
    }

    /// Two texts as one; as a message to nil, nothing where the first has no value.
    ///
    /// Foundation raises an exception for an argument that is nil.
    private func appended(_ end: Value, to start: Value) throws(ExpressionError) -> Value {
        if start == .null { return .null }
        guard case .scalar(.text(let start)) = start, case .scalar(.text(let end)) = end else {
            let hint = end == .null ? ", and one of them has no value" : ""
            throw ExpressionError(
                .evaluation, "\(ExpressionFunction.append.rawValue) needs two texts\(hint)")
        }
        guard start.utf8.count + end.utf8.count <= ExpressionLimits.value else {
            throw ExpressionError(.evaluation, "the text is too long")
        }
        return .scalar(.text(start + end))
    }

    /// Cases of letters by Unicode, without a locale; a length in units of UTF-16, as `NSString`
    /// has it.
    private func textResult(
        _ function: ExpressionFunction, _ value: Value
    ) throws(ExpressionError) -> Value {
        guard case .scalar(.text(let text)) = value else {
            throw ExpressionError(.evaluation, "\(function.rawValue) needs a text")
        }
        switch function {
        case .uppercase: return .scalar(.text(text.uppercased()))
        case .lowercase: return .scalar(.text(text.lowercased()))
        default: return .scalar(.integer(Int64(text.utf16.count)))
        }
    }

    /// Functions of the 64 bits of integers; shifts lose bits without an error, and the one to
    /// the right keeps the sign.
    private func bitResult(
        _ function: ExpressionFunction, _ arguments: [Value]
    ) throws(ExpressionError) -> Value {
        var bits: [Int64] = []
        for argument in arguments {
            guard case .integer(let value) = try number(argument, function) else {
                throw ExpressionError(.evaluation, "\(function.rawValue) needs integers")
            }
            bits.append(value)
        }
        guard let first = bits.first, let last = bits.last else { return .null }
        let isShift = function == .leftShift || function == .rightShift
        guard !isShift || last >= 0 else {
            throw ExpressionError(.evaluation, "\(function.rawValue) cannot shift by less than 0")
        }
        let result =
            switch function {
            case .bitwiseAnd: first & last
            case .bitwiseOr: first | last
            case .bitwiseXor: first ^ last
            case .leftShift: first << last
            case .rightShift: first >> last
            default: ~first
            }
        return .scalar(.integer(result))
    }
}
