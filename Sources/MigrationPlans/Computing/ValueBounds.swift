import ManagedObjectModel
import MappingExpressions
import MappingModel

/// What an expression over a row can give, whatever the row holds.
struct ValueBounds {
    /// The least and the greatest integer; nil where a number may be none of 64 bits, or no
    /// integer.
    private(set) var integers: ClosedRange<Int64>?
    /// Whether it can be no value.
    private(set) var mayMiss: Bool

    /// - Parameter expression: with variables in the place of inputs, whose values are not known.
    init(_ expression: MappingExpression) {
        switch expression {
        case .constant(.integer(let number)): self.init(number...number, mayMiss: false)
        case .constant(.boolean(let flag)):
            let number: Int64 = flag ? 1 : 0
            self.init(number...number, mayMiss: false)
        case .constant, .function(.now, _): self.init(nil, mayMiss: false)
        case .variable: self.init(Int64.min...Int64.max, mayMiss: true)
        case .function(let function, let arguments) where arguments.count == 2:
            let (one, other) = (ValueBounds(arguments[0]), ValueBounds(arguments[1]))
            self.init(
                Self.result(of: function, one.integers, other.integers),
                mayMiss: one.mayMiss || other.mayMiss)
        case .conditional(_, let first, let second):
            let (one, other) = (ValueBounds(first), ValueBounds(second))
            var joined: ClosedRange<Int64>?
            if let one = one.integers, let other = other.integers {
                joined =
                    min(one.lowerBound, other.lowerBound)...max(one.upperBound, other.upperBound)
            }
            self.init(joined, mayMiss: one.mayMiss || other.mayMiss)
        default: self.init(nil, mayMiss: true)
        }
    }

    private init(_ integers: ClosedRange<Int64>?, mayMiss: Bool) {
        self.integers = integers
        self.mayMiss = mayMiss
    }

    private static func result(
        of function: ExpressionFunction, _ one: ClosedRange<Int64>?, _ other: ClosedRange<Int64>?
    ) -> ClosedRange<Int64>? {
        guard let one, let other else { return nil }
        var ends: [Int64] = []
        for left in [one.lowerBound, one.upperBound] {
            for right in [other.lowerBound, other.upperBound] {
                let (value, overflows): (Int64, Bool)
                switch function {
                case .add: (value, overflows) = left.addingReportingOverflow(right)
                case .subtract: (value, overflows) = left.subtractingReportingOverflow(right)
                case .multiply: (value, overflows) = left.multipliedReportingOverflow(by: right)
                // Only a constant divisor has no 0 among its values.
                case .divide where other.lowerBound == other.upperBound && right != 0:
                    (value, overflows) = left.dividedReportingOverflow(by: right)
                default: return nil
                }
                guard !overflows else { return nil }
                ends.append(value)
            }
        }
        guard let least = ends.min(), let greatest = ends.max() else { return nil }
        return least...greatest
    }
}
