import ExpressionEvaluation
import ManagedObjectModel
import MappingExpressions
import Testing

/// Programs of plain values against the evaluator.
struct PlainProgramTests {
    private static let names = ["a", "b", "c"]

    private static let numbers: [DefaultValue] = [
        .integer(0), .integer(1), .integer(-7), .integer(.max), .integer(.min),
        .integer(1 << 53), .integer((1 << 53) + 1), .real(0), .real(-0.0), .real(2.5),
        .real(9_007_199_254_740_992), .real(.infinity), .real(.nan), .real(1e300),
        .boolean(true), .boolean(false), .date(0), .date(700_000_000.25), .date(.nan),
    ]

    private static func expression(
        _ depth: Int, _ random: inout SeededGenerator
    ) -> MappingExpression {
        switch Int.random(in: 0..<(depth > 0 ? 8 : 4), using: &random) {
        case 0: return .null
        case 1: return .constant(numbers.randomElement(using: &random) ?? .integer(3))
        case 2, 3: return .variable(names.randomElement(using: &random) ?? "a")
        case 4: return .function(.now, [])
        case 5, 6:
            let functions: [ExpressionFunction] = [.add, .subtract, .multiply, .divide]
            return .function(
                functions.randomElement(using: &random) ?? .add,
                [expression(depth - 1, &random), expression(depth - 1, &random)])
        default:
            return .conditional(
                predicate(depth - 1, &random), expression(depth - 1, &random),
                expression(depth - 1, &random))
        }
    }

    private static func predicate(
        _ depth: Int, _ random: inout SeededGenerator
    ) -> MappingPredicate {
        switch Int.random(in: 0..<(depth > 0 ? 7 : 4), using: &random) {
        case 0: return .constant(Bool.random(using: &random))
        case 1, 2, 3:
            let relations: [PredicateComparison.Operator] = [
                .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan,
                .greaterThanOrEqual,
            ]
            return .comparison(
                PredicateComparison(
                    expression(depth - 1, &random),
                    relations.randomElement(using: &random) ?? .equal,
                    expression(depth - 1, &random)))
        case 4: return .not(predicate(depth - 1, &random))
        case 5:
            return .and([predicate(depth - 1, &random), predicate(depth - 1, &random)])
        default: return .or([predicate(depth - 1, &random), predicate(depth - 1, &random)])
        }
    }

    private static func plain(_ value: DefaultValue?) -> PlainValue? {
        switch value {
        case nil: .null
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .date(let seconds): .date(seconds)
        case .boolean(let flag): .boolean(flag)
        default: nil
        }
    }

    /// Not a number is no different from itself here, and 0 has one sign.
    private static func isSame(_ one: DefaultValue?, _ other: DefaultValue?) -> Bool {
        switch (one, other) {
        case (.real(let one), .real(let other)), (.date(let one), .date(let other)):
            one.bitPattern == other.bitPattern || one.isNaN && other.isNaN
        default: one == other
        }
    }

    @Test func programsGiveWhatTheEvaluatorGives() throws {
        var random = SeededGenerator(seed: 15)
        let evaluator = ExpressionEvaluator(NoObjects(), now: 650_000_000)
        let inputs = Dictionary(
            uniqueKeysWithValues: Self.names.enumerated().map { ($0.element, $0.offset) })
        var decided = 0
        for _ in 0..<6_000 {
            let expression = Self.expression(4, &random)
            let program = try #require(
                PlainProgram(expression, inputs: inputs, now: 650_000_000))
            for _ in 0..<5 {
                let values = Self.names.map { _ in
                    Int.random(in: 0..<5, using: &random) == 0
                        ? nil : Self.numbers.randomElement(using: &random)
                }
                guard let found = program.value({ Self.plain(values[$0]) }) else { continue }
                decided += 1
                var variables: [String: ExpressionValue<Never>] = [:]
                for (name, value) in zip(Self.names, values) {
                    variables[name] = value.map { .scalar($0) } ?? .null
                }
                let wanted = try evaluator.value(of: expression, variables: variables)
                let scalar: DefaultValue? =
                    if case .scalar(let value) = wanted { value } else { nil }
                #expect(
                    Self.isSame(found.scalar, scalar), "\(expression.text) with \(values)")
            }
        }
        #expect(decided > 20_000)
    }

    @Test(arguments: [
        "uppercase($a)", "$a MATCHES \"b\"", "{1, 2}", "length($a)", "$other + 1", "$a.b",
    ])
    func otherExpressionsHaveNoProgram(text: String) throws {
        let expression =
            text.contains("MATCHES")
            ? try ExpressionParser.predicate(text).sourceExpression
            : try ExpressionParser.expression(text)
        let program = PlainProgram(expression, inputs: ["a": 0], now: 0)
        #expect(program.map { _ in text } == nil)
    }

    /// What the test above would find of a plain expression.
    @Test func plainExpressionsHaveOne() throws {
        let program = PlainProgram(
            try ExpressionParser.expression("$a + 1"), inputs: ["a": 0], now: 0)
        #expect(try #require(program).value { _ in .integer(2) } == .integer(3))
    }
}
