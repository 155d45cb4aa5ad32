import ManagedObjectModel
import MappingExpressions

/// Functions of all members of a collection; members without a value are left out.
enum Aggregate {
    /// The sum; 0 of no members.
    static func sum<Object>(
        _ members: [ExpressionValue<Object>], _ name: String
    ) throws(ExpressionError) -> ExpressionValue<Object> {
        .scalar(try sum(try numbers(members, name)).scalar)
    }

    private static func sum(
        _ numbers: [EvaluatedNumber]
    ) throws(ExpressionError) -> EvaluatedNumber {
        var sum = EvaluatedNumber.integer(0)
        for number in numbers { sum = try EvaluatedNumber.result(of: .add, sum, number) }
        return sum
    }

    /// The average; no value of no members, a decimal of decimals, else a real number.
    ///
    /// `count`: how many members there are, if those without a value count as 0.
    static func average<Object>(
        _ members: [ExpressionValue<Object>], of count: Int? = nil, _ name: String
    ) throws(ExpressionError) -> ExpressionValue<Object> {
        let numbers = try numbers(members, name)
        let count = count ?? numbers.count
        guard count > 0 else { return .null }
        return .scalar(try mean(numbers, of: count).scalar)
    }

    private static func mean(
        _ numbers: [EvaluatedNumber], of members: Int
    ) throws(ExpressionError) -> EvaluatedNumber {
        let total = try sum(numbers)
        let count = EvaluatedNumber.integer(Int64(members))
        guard case .integer = total else {
            return try EvaluatedNumber.result(of: .divide, total, count)
        }
        return .real(total.real / count.real)
    }

    /// The first of the smallest or the largest members, which must have an order.
    ///
    /// `isBetter` turns "is less" into "is better" for two different members.
    static func extreme<Object>(
        _ members: [ExpressionValue<Object>], _ name: String, _ isBetter: (Bool) -> Bool
    ) throws(ExpressionError) -> ExpressionValue<Object> {
        let comparison = ValueComparison<Object>()
        var best = ExpressionValue<Object>.null
        for member in members where member != .null {
            if best == .null {
                best = member
            } else if !comparison.equal(member, best),
                let isLess = try comparison.isLess(member, best), isBetter(isLess)
            {
                best = member
            }
        }
        return best
    }

    /// The one in the middle, or the mean of the two in the middle.
    static func median<Object>(
        _ members: [ExpressionValue<Object>], _ name: String
    ) throws(ExpressionError) -> ExpressionValue<Object> {
        let sorted = try numbers(members, name).sorted(by: EvaluatedNumber.isLess)
        guard !sorted.isEmpty else { return .null }
        let middle = sorted.count / 2
        if sorted.count % 2 == 1 { return .scalar(sorted[middle].scalar) }
        return .scalar(try mean([sorted[middle - 1], sorted[middle]], of: 2).scalar)
    }

    /// The most frequent member, the smallest one of several.
    static func mode<Object>(
        _ members: [ExpressionValue<Object>], _ name: String
    ) throws(ExpressionError) -> ExpressionValue<Object> {
        let sorted = try numbers(members, name).sorted(by: EvaluatedNumber.isLess)
        var best: (number: EvaluatedNumber, count: Int)?
        var start = 0
        while start < sorted.count {
            var end = start + 1
            while end < sorted.count, EvaluatedNumber.equal(sorted[start], sorted[end]) { end += 1 }
            if end - start > best?.count ?? 0 { best = (sorted[start], end - start) }
            start = end
        }
        return best.map { .scalar($0.number.scalar) } ?? .null
    }

    /// The standard deviation of all members as the whole population.
    static func standardDeviation<Object>(
        _ members: [ExpressionValue<Object>], _ name: String
    ) throws(ExpressionError) -> ExpressionValue<Object> {
        let values = try numbers(members, name).map(\.real)
        guard !values.isEmpty else { return .null }
        let mean = values.reduce(0, +) / Double(values.count)
        let squares = values.map { ($0 - mean) * ($0 - mean) }.reduce(0, +)
        return .scalar(.real((squares / Double(values.count)).squareRoot()))
    }

    private static func numbers<Object>(
        _ members: [ExpressionValue<Object>], _ name: String
    ) throws(ExpressionError) -> [EvaluatedNumber] {
        var numbers: [EvaluatedNumber] = []
        for member in members where member != .null {
            guard case .scalar(let scalar) = member, let number = EvaluatedNumber(scalar) else {
                throw ExpressionError(.evaluation, "\(name) needs numbers")
            }
            numbers.append(number)
        }
        return numbers
    }
}
