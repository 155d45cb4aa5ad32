import Glibc
import ManagedObjectModel
import MappingExpressions

/// A number of an expression: booleans are 0 and 1.
///
/// Two integers give an integer, a decimal with an integer a decimal, and a real number with any
/// other a real number.
enum EvaluatedNumber {
    case integer(Int64)
    case real(Double)
    case decimal(DecimalNumber)

    /// The number of a scalar; nil for what is no number.
    init?(_ scalar: DefaultValue) {
        switch scalar {
        case .integer(let value): self = .integer(value)
        case .real(let value): self = .real(value)
        case .boolean(let value): self = .integer(value ? 1 : 0)
        case .decimal(let text):
            guard let value = DecimalNumber(text) else { return nil }
            self = .decimal(value)
        case .text, .date, .data, .uuid, .uri: return nil
        }
    }

    var scalar: DefaultValue {
        switch self {
        case .integer(let value): .integer(value)
        case .real(let value): .real(value)
        case .decimal(let value): .decimal(value.text)
        }
    }

    /// The nearest real number.
    var real: Double {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        case .decimal(let value): value.real
        }
    }

    private var decimal: DecimalNumber? {
        switch self {
        case .integer(let value): DecimalNumber(value)
        case .real: nil
        case .decimal(let value): value
        }
    }

    /// Two numbers of one kind.
    private enum Pair {
        case integers(Int64, Int64)
        case decimals(DecimalNumber, DecimalNumber)
        case reals(Double, Double)

        init(_ one: EvaluatedNumber, _ other: EvaluatedNumber) {
            if case .integer(let one) = one, case .integer(let other) = other {
                self = .integers(one, other)
            } else if let one = one.decimal, let other = other.decimal {
                self = .decimals(one, other)
            } else {
                self = .reals(one.real, other.real)
            }
        }
    }

    /// The result of an arithmetic function of two numbers.
    ///
    /// - Throws: `ExpressionError` that names the function, for a division by an integer or a
    ///   decimal of zero and for results that are too large.
    static func result(
        of function: ExpressionFunction, _ one: EvaluatedNumber, _ other: EvaluatedNumber
    ) throws(ExpressionError) -> EvaluatedNumber {
        if function == .power { return try power(one, other) }
        switch Pair(one, other) {
        case .integers(let one, let other):
            if other == 0 { try refuseZero(function) }
            let (value, overflows) =
                switch function {
                case .add: one.addingReportingOverflow(other)
                case .subtract: one.subtractingReportingOverflow(other)
                case .multiply: one.multipliedReportingOverflow(by: other)
                case .divide: one.dividedReportingOverflow(by: other)
                // The remainder by -1 is 0, also where the quotient does not fit.
                case .modulus where other == -1: (0, false)
                default: one.remainderReportingOverflow(dividingBy: other)
                }
            guard !overflows else { throw tooLarge(function) }
            return .integer(value)
        case .decimals(let one, let other):
            if other.isZero { try refuseZero(function) }
            let value =
                switch function {
                case .add: one.adding(other)
                case .subtract: one.adding(other.negated)
                case .multiply: one.multiplied(by: other)
                case .divide: one.divided(by: other)
                default: one.remainder(dividingBy: other)
                }
            guard let value else { throw tooLarge(function) }
            return .decimal(value)
        case .reals(let one, let other):
            switch function {
            case .add: return .real(one + other)
            case .subtract: return .real(one - other)
            case .multiply: return .real(one * other)
            case .divide: return .real(one / other)
            default: return .real(one.truncatingRemainder(dividingBy: other))
            }
        }
    }

    private static func refuseZero(_ function: ExpressionFunction) throws(ExpressionError) {
        guard function == .divide || function == .modulus else { return }
        throw ExpressionError(.evaluation, "\(function.rawValue) divides by zero")
    }

    static func tooLarge(_ function: ExpressionFunction) -> ExpressionError {
        ExpressionError(.evaluation, "the result of \(function.rawValue) is out of range")
    }

    /// Exact for integers and decimals with a whole exponent that is not negative, else real.
    private static func power(
        _ base: EvaluatedNumber, _ exponent: EvaluatedNumber
    ) throws(ExpressionError) -> EvaluatedNumber {
        guard case .integer(var rest) = exponent, rest >= 0 else {
            return .real(pow(base.real, exponent.real))
        }
        if case .real(let value) = base { return .real(pow(value, Double(rest))) }
        // Squares are needed only up to the last digit, and may be out of range after it.
        var result: EvaluatedNumber = .integer(1)
        if case .decimal = base { result = .decimal(DecimalNumber(1)) }
        var square = base
        while rest > 0 {
            if rest & 1 == 1 { result = try product(result, square) }
            rest >>= 1
            if rest > 0 { square = try product(square, square) }
        }
        return result
    }

    private static func product(
        _ one: EvaluatedNumber, _ other: EvaluatedNumber
    ) throws(ExpressionError) -> EvaluatedNumber {
        switch Pair(one, other) {
        case .integers(let one, let other):
            let (value, overflows) = one.multipliedReportingOverflow(by: other)
            guard !overflows else { throw tooLarge(.power) }
            return .integer(value)
        case .decimals(let one, let other):
            guard let value = one.multiplied(by: other) else { throw tooLarge(.power) }
            return .decimal(value)
        case .reals(let one, let other): return .real(one * other)
        }
    }

    /// The result of a function of one number.
    ///
    /// - Throws: `ExpressionError` for the magnitude of the smallest integer.
    func result(of function: ExpressionFunction) throws(ExpressionError) -> EvaluatedNumber {
        switch function {
        case .squareRoot: .real(real.squareRoot())
        case .logarithm: .real(log10(real))
        case .naturalLogarithm: .real(log(real))
        case .exponential: .real(exp(real))
        case .floor: rounded(.down)
        case .ceiling: rounded(.up)
        case .truncate: rounded(.towardZero)
        default: try magnitude()
        }
    }

    private func rounded(_ rule: FloatingPointRoundingRule) -> EvaluatedNumber {
        switch self {
        case .integer: self
        case .real(let value): .real(value.rounded(rule))
        case .decimal(let value): .decimal(value.rounded(rule))
        }
    }

    private func magnitude() throws(ExpressionError) -> EvaluatedNumber {
        switch self {
        case .integer(.min): throw Self.tooLarge(.absolute)
        case .integer(let value): .integer(abs(value))
        case .real(let value): .real(value.magnitude)
        case .decimal(let value): .decimal(value.magnitude)
        }
    }

    /// Whether both are the same number; nil, true of nothing, for what is not a number.
    static func equal(_ one: EvaluatedNumber, _ other: EvaluatedNumber) -> Bool {
        !isLess(one, other) && !isLess(other, one) && !one.real.isNaN && !other.real.isNaN
    }

    /// Whether one is below the other; integers and reals are compared exactly.
    static func isLess(_ one: EvaluatedNumber, _ other: EvaluatedNumber) -> Bool {
        switch (one, other) {
        case (.integer(let one), .integer(let other)): one < other
        case (.integer(let one), .real(let other)): order(one, other) == -1
        case (.real(let one), .integer(let other)): order(other, one) == 1
        case (.real, _), (_, .real): one.real < other.real
        default:
            if let one = one.decimal, let other = other.decimal { one < other } else { false }
        }
    }

    /// -1, 0 or 1 as an integer is below, at or above a real number; nil for what is no number.
    private static func order(_ integer: Int64, _ real: Double) -> Int? {
        guard !real.isNaN else { return nil }
        guard let whole = Int64(exactly: real.rounded(.towardZero)) else {
            return real > 0 ? -1 : 1
        }
        if integer != whole { return integer < whole ? -1 : 1 }
        let fraction = real - real.rounded(.towardZero)
        return fraction > 0 ? -1 : fraction < 0 ? 1 : 0
    }
}
