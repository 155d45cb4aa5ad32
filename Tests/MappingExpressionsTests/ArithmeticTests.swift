import ExpressionEvaluation
import ManagedObjectModel
import MappingExpressions
import Testing

@Suite("Expressions: numbers")
struct ArithmeticTests {
    static let operators: [(String, String)] = [
        ("4 + 5 - 2**3", "1"), ("1 + 2 * 3", "7"), ("(1 + 2) * 3", "9"), ("7 - 2 - 1", "4"),
        ("24 / 4 / 2", "3"), ("2 ** 3 ** 2", "64"), ("2 ** (3 ** 2)", "512"), ("-2 ** 2", "-4"),
        ("(-2) ** 2", "4"), ("2 ** -1", "0.5"), ("2 * -3", "-6"), ("- -3", "3"), ("-#size", "-3"),
        ("7 / 2", "3"), ("-7 / 2", "-3"), ("7 / -2", "-3"), ("7 / 2.0", "3.5"), ("7.0 / 2", "3.5"),
        ("modulus:by:(7, 3)", "1"), ("modulus:by:(-7, 3)", "-1"),
        ("modulus:by:(7.5, 2)", "1.5"), ("modulus:by:(-9223372036854775808, -1)", "0"),
        ("0.5 + 0.25", "0.75"), ("1 + 0.5", "1.5"), ("2 * 1.5", "3.0"), ("10 - 2.5", "7.5"),
        ("add:to:(2, 3)", "5"), ("from:subtract:(2, 3)", "-1"), ("multiply:by:(2, 3)", "6"),
        ("divide:by:(6, 3)", "2"), ("raise:toPower:(2, 10)", "1024"), ("2.0 ** 3", "8.0"),
        ("2 ** 0.5", "1.4142135623730951"), ("0 ** 0", "1"), ("2 ** 62", "4611686018427387904"),
        ("(-2) ** 63", "-9223372036854775808"), ("1 ** 9223372036854775807", "1"),
        ("TRUE + TRUE", "2"), ("NO + 1", "1"), ("active + 1", "2"),
        ("9223372036854775806 + 1", "9223372036854775807"), ("0x10 + 0b11 + 0o7", "26"),
        ("#size * rate", "7.5"), ("nil + 1", "nil"), ("1 + nil", "nil"), ("motto * 2", "nil"),
        ("sqrt(nil)", "nil"), ("nil ** 2", "nil"), ("-nil", "nil"), ("deputy.age + 1", "nil"),
        ("nil / 0", "nil"),
    ]

    static let functions: [(String, String)] = [
        ("sqrt(16)", "4.0"), ("sqrt(2.25)", "1.5"), ("log(1000)", "3.0"), ("log:(0.01)", "-2.0"),
        ("ln(1)", "0.0"), ("exp(0)", "1.0"), ("floor(2.7)", "2.0"), ("floor(-2.2)", "-3.0"),
        ("ceiling(2.1)", "3.0"), ("ceiling(-2.7)", "-2.0"), ("trunc(2.7)", "2.0"),
        ("trunc(-2.7)", "-2.0"), ("floor(5)", "5"), ("abs(-5)", "5"), ("abs(-2.5)", "2.5"),
        ("abs(5)", "5"), ("abs(0 - #size)", "3"), ("1 & 3", "1"), ("1 | 6", "7"), ("5 ^ 1", "4"),
        ("6 & 3 | 8", "10"), ("1 | 2 ^ 3 & 2", "1"), ("1 << 4", "16"), ("256 >> 4", "16"),
        ("-8 >> 1", "-4"), ("1 << 2 + 1", "8"), ("1 << 64", "0"), ("-1 >> 100", "-1"), ("~0", "-1"),
        ("~5", "-6"), ("~~5", "5"), ("~-1", "0"), ("-~5", "6"), ("bitwiseAnd:with:(12, 10)", "8"),
        ("bitwiseOr:with:(12, 10)", "14"), ("bitwiseXor:with:(12, 10)", "6"),
        ("leftshift:by:(3, 2)", "12"), ("rightshift:by:(12, 2)", "3"), ("onesComplement:(1)", "-2"),
        ("TRUE & 3", "1"), ("nil & 1", "nil"), ("noindex:(#size)", "3"), ("noindex(nil)", "nil"),
        ("1 << 63", "-9223372036854775808"),
    ]

    static let aggregates: [(String, String)] = [
        ("sum({1, 2, 3})", "6"), ("sum({})", "0"), ("sum({1, nil, 2})", "3"),
        ("sum({1, 0.5})", "1.5"),
        ("sum(nil)", "nil"), ("count({1, 2, 3})", "3"), ("count({})", "0"),
        ("count({1, nil})", "2"),
        ("count(members)", "3"), ("min({3, 1, 2})", "1"), ("max({3, 1, 2})", "3"),
        ("min({})", "nil"),
        ("max({nil})", "nil"), ("min({2, 1.5})", "1.5"), ("max({'a', 'b'})", "'b'"),
        ("average({1, 2})", "1.5"), ("average({2, 4})", "3.0"), ("average({})", "nil"),
        ("average({1, nil, 3})", "2.0"), ("median({1, 9, 2})", "2"),
        ("median({1, 2, 3, 4})", "2.5"),
        ("median({})", "nil"), ("mode({1, 2, 2, 3})", "2"), ("mode({3, 1, 3, 1})", "1"),
        ("mode({})", "nil"), ("stddev({2, 4, 4, 4, 5, 5, 7, 9})", "2.0"), ("stddev({5})", "0.0"),
        ("stddev({})", "nil"), ("stddev({1, 2, 3, 4, 4, 5, 9, 11})", "3.2185982973959333"),
        ("distinct({1, 2, 1.0, 'a', 'a'})", "{1, 2, 'a'}"), ("distinct(nil)", "nil"),
        ("sum(ranking.salary)", "30.5"), ("sum(ranking.age)", "55"), ("max(ranking.age)", "30"),
        ("average({30, 25})", "27.5"), ("sum({TRUE, TRUE})", "2"),
        ("min({now(), founded})", "founded"),
    ]

    static let decimals: [(String, String)] = [
        ("$a + $b", "0.3"), ("$a * $b", "0.02"), ("$a - $b", "-0.1"), ("$a / $b", "0.5"),
        ("1.10 + 2.20", "3.3"), ("1 / 3", "0.33333333333333333333333333333333333333"),
        ("2 / 3", "0.66666666666666666666666666666666666667"),
        ("-2 / 3", "-0.66666666666666666666666666666666666667"),
        ("0.1 ** 3", "0.001"), ("1.50", "1.50"), ("1.50 + 0", "1.5"), ("100 * 0.5", "50"),
        ("12345678901234567890 * 12345678901234567890", "152415787532388367501905199875019052100"),
        ("99999999999999999999 + 1", "100000000000000000000"),
        ("0.00000000000000000001 + 1", "1.00000000000000000001"), ("7.5 % 2", "1.5"),
        ("-7.5 % 2", "-1.5"),
        ("1e5 + 0", "100000"), ("1e-3 + 0", "0.001"), ("-0.0 + 0", "0"), ("+5 + 0", "5"),
        ("0.5 - 0.5", "0"), ("1e13 - 9113681811e-25", "9999999999999.9999999999999990886318189"),
        ("1e127 + 1", "1" + String(repeating: "0", count: 127)),
    ]
}

extension ArithmeticTests {
    @Test("operators", arguments: operators)
    func operatorsGive(text: String, expected: String) throws {
        #expect(try TestGraph.value(text) == TestGraph.value(expected))
    }

    @Test("functions", arguments: functions)
    func functionsGive(text: String, expected: String) throws {
        #expect(try TestGraph.value(text) == TestGraph.value(expected))
    }

    @Test("aggregates", arguments: aggregates)
    func aggregatesGive(text: String, expected: String) throws {
        #expect(try TestGraph.value(text) == TestGraph.value(expected))
    }

    /// Numbers are decimals here.
    @Test("decimals", arguments: decimals)
    func decimalsGive(text: String, expected: String) throws {
        let parts = text.replacing("$a", with: "0.1").replacing("$b", with: "0.2")
            .split(separator: " ").map(String.init)
        let operands = parts.map { "CAST('\($0)', 'NSDecimalNumber')" }
        let formula =
            switch parts.count {
            case 1: operands[0]
            default:
                parts[1] == "%"
                    ? "modulus:by:(\(operands[0]), \(operands[2]))"
                    : parts[1] == "**"
                        ? "\(operands[0]) ** \(parts[2])"
                        : "\(operands[0]) \(parts[1]) \(operands[2])"
            }
        #expect(try TestGraph.value(formula) == .scalar(.decimal(expected)))
    }

    @Test(
        "decimals with other numbers",
        arguments: [
            ("budget + 1", "CAST('1001.5', 'NSDecimalNumber')"), ("budget * 2.0", "2001.0"),
            ("floor(budget)", "CAST('1000', 'NSDecimalNumber')"),
            ("ceiling(budget)", "CAST('1001', 'NSDecimalNumber')"),
            ("floor(0 - budget)", "CAST('-1001', 'NSDecimalNumber')"),
            ("trunc(0 - budget)", "CAST('-1000', 'NSDecimalNumber')"),
            ("abs(0 - budget)", "CAST('1000.5', 'NSDecimalNumber')"),
            ("members.@sum.share", "CAST('1', 'NSDecimalNumber')"),
            (
                "average({CAST('1', 'NSDecimalNumber'), CAST('2', 'NSDecimalNumber')})",
                "CAST('1.5', 'NSDecimalNumber')"
            ),
            ("sqrt(CAST('4', 'NSDecimalNumber'))", "2.0"),
            ("budget + TRUE", "CAST('1001.5', 'NSDecimalNumber')"),
        ])
    func mixed(text: String, expected: String) throws {
        #expect(try TestGraph.value(text) == TestGraph.value(expected))
    }

    @Test(
        "errors",
        arguments: [
            ("1 / 0", "divide:by: divides by zero"),
            ("#size / (#size - 3)", "divide:by: divides by zero"),
            ("modulus:by:(1, 0)", "modulus:by: divides by zero"),
            ("budget / 0", "divide:by: divides by zero"),
            ("9223372036854775807 + 1", "the result of add:to: is out of range"),
            ("-9223372036854775808 - 1", "the result of from:subtract: is out of range"),
            ("9223372036854775807 * 2", "the result of multiply:by: is out of range"),
            ("-9223372036854775808 / -1", "the result of divide:by: is out of range"),
            ("2 ** 63", "the result of raise:toPower: is out of range"),
            ("10 ** 1000000000000", "the result of raise:toPower: is out of range"),
            ("abs(-9223372036854775808)", "the result of abs: is out of range"),
            ("sum({9223372036854775807, 1})", "the result of add:to: is out of range"),
            (
                "CAST('1e127', 'NSDecimalNumber') * CAST('1e100', 'NSDecimalNumber')",
                "the result of multiply:by: is out of range"
            ),
            ("'a' + 1", "add:to: needs numbers"), ("'a' + 'b'", "add:to: needs numbers"),
            ("founded + 1", "add:to: needs numbers"),
            ("now() - founded", "from:subtract: needs numbers"),
            ("lead * 2", "multiply:by: needs numbers"), ("{1} + 1", "add:to: needs numbers"),
            ("1.5 & 1", "bitwiseAnd:with: needs integers"),
            ("'a' & 1", "bitwiseAnd:with: needs numbers"),
            ("1 << -1", "leftshift:by: cannot shift by less than 0"),
            ("sum(5)", "sum: needs a collection"),
            ("sum({'a'})", "sum: needs numbers"), ("sqrt('4')", "sqrt: needs numbers"),
            ("min({1, 'a'})", "a text has no order with a number"),
            ("count('abc')", "count: needs a collection"),
            ("min({lead, lead, deputy, $ann, SELF})", "objects and collections have no order"),
        ])
    func errors(text: String, expected: String) {
        let error = #expect(throws: ExpressionError.self) { try TestGraph.value(text) }
        #expect(error?.description == expected)
        #expect(error?.reason == .evaluation)
    }
}
