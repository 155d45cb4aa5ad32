package import ManagedObjectModel
import MappingExpressions

/// A value of which a program of plain values has no need to keep count of: a number, a date, a
/// truth value, a text that stands elsewhere, or none.
package enum PlainValue: Equatable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case date(Double)
    case boolean(Bool)
    case text(PlainText)

    // Tests of a case: those for equality compare all that values hold.
    var isNull: Bool { if case .null = self { true } else { false } }
    var isTrue: Bool { if case .boolean(true) = self { true } else { false } }

    /// The value of a constant; nil for texts, bytes and decimals.
    init?(_ value: DefaultValue) {
        switch value {
        case .integer(let number): self = .integer(number)
        case .real(let number): self = .real(number)
        case .date(let seconds): self = .date(seconds)
        case .boolean(let flag): self = .boolean(flag)
        case .decimal, .text, .data, .uuid, .uri: return nil
        }
    }

    /// The value as expressions have it; nil for none, and for texts.
    package var scalar: DefaultValue? {
        switch self {
        case .null, .text: nil
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .date(let seconds): .date(seconds)
        case .boolean(let flag): .boolean(flag)
        }
    }
}

extension PlainValue {
    /// The number; booleans are 0 and 1.
    private var whole: Int64? {
        switch self {
        case .integer(let number): number
        case .boolean(let flag): flag ? 1 : 0
        case .null, .real, .date, .text: nil
        }
    }

    /// A real number that is the value exactly.
    private var exactReal: Double? {
        switch self {
        case .real(let number): return number.isNaN ? nil : number
        case .integer(let number):
            return number.magnitude < 1 << 53 ? Double(number) : nil
        case .boolean(let flag): return flag ? 1 : 0
        case .null, .date, .text: return nil
        }
    }

    /// The result of arithmetic; nil where an evaluator must decide.
    static func result(
        of function: PlainProgram.Arithmetic, _ one: PlainValue, _ other: PlainValue
    ) -> PlainValue? {
        if one.isNull || other.isNull { return .null }
        if let one = one.whole, let other = other.whole {
            let (value, overflows) =
                switch function {
                case .add: one.addingReportingOverflow(other)
                case .subtract: one.subtractingReportingOverflow(other)
                case .multiply: one.multipliedReportingOverflow(by: other)
                case .divide: one.dividedReportingOverflow(by: other)
                }
            return overflows ? nil : .integer(value)
        }
        guard let one = one.real, let other = other.real else { return nil }
        switch function {
        case .add: return .real(one + other)
        case .subtract: return .real(one - other)
        case .multiply: return .real(one * other)
        case .divide: return .real(one / other)
        }
    }

    /// The result of a function of one number or of two; nil where an evaluator must decide.
    static func result(
        of function: ExpressionFunction, _ one: PlainValue, _ other: PlainValue?
    ) -> PlainValue? {
        if one.isNull || other?.isNull == true { return .null }
        guard let first = one.scalar.flatMap({ EvaluatedNumber($0) }) else { return nil }
        do throws(ExpressionError) {
            guard let other else { return PlainValue(try first.result(of: function).scalar) }
            guard let second = other.scalar.flatMap({ EvaluatedNumber($0) }) else { return nil }
            return PlainValue(try EvaluatedNumber.result(of: function, first, second).scalar)
        } catch {
            return nil
        }
    }

    /// The value as a text; nil for a date, and for what is no finite number.
    var asText: PlainValue? {
        switch self {
        case .null, .text: self
        case .integer, .real, .boolean: PlainText(number: self).map { .text($0) }
        case .date: nil
        }
    }

    /// The nearest real number; nil for what is no number.
    var real: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .real(let number): number
        case .boolean(let flag): flag ? 1 : 0
        case .null, .date, .text: nil
        }
    }

    /// Whether a comparison holds; nil where an evaluator must decide.
    static func holds(
        _ relation: PlainProgram.Relation, _ one: PlainValue, _ other: PlainValue
    ) -> Bool? {
        if one.isNull || other.isNull {
            switch relation {
            case .equal: return one.isNull && other.isNull
            case .notEqual: return !(one.isNull && other.isNull)
            case .less, .lessOrEqual: return false
            }
        }
        if let one = one.whole, let other = other.whole {
            switch relation {
            case .equal: return one == other
            case .notEqual: return one != other
            case .less: return one < other
            case .lessOrEqual: return one <= other
            }
        }
        let pair: (Double, Double)
        if case .date(let one) = one, case .date(let other) = other {
            guard !one.isNaN, !other.isNaN else { return nil }
            pair = (one, other)
        } else {
            guard let one = one.exactReal, let other = other.exactReal else { return nil }
            pair = (one, other)
        }
        switch relation {
        case .equal: return pair.0 == pair.1
        case .notEqual: return pair.0 != pair.1
        case .less: return pair.0 < pair.1
        case .lessOrEqual: return pair.0 <= pair.1
        }
    }
}
