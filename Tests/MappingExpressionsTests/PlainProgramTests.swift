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
            return function(depth, &random)
        default:
            return .conditional(
                predicate(depth - 1, &random), expression(depth - 1, &random),
                expression(depth - 1, &random))
        }
    }

    private static func function(
        _ depth: Int, _ random: inout SeededGenerator
    ) -> MappingExpression {
        let first = expression(depth - 1, &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
            let functions: [ExpressionFunction] = [
                .squareRoot, .logarithm, .naturalLogarithm, .exponential, .floor, .ceiling,
                .absolute, .truncate,
            ]
            return .function(functions.randomElement(using: &random) ?? .floor, [first])
        case 1:
            return .cast(first, to: Bool.random(using: &random) ? .number : .date)
        case 2:
            let types: [AttributeType] = [
                .integer16, .integer32, .integer64, .double, .float, .boolean, .date,
            ]
            let type = types.randomElement(using: &random) ?? .double
            return .conversion(.type(type, format: nil), of: first)
        default:
            let functions: [ExpressionFunction] = [
                .add, .subtract, .multiply, .divide, .modulus, .power,
            ]
            return .function(
                functions.randomElement(using: &random) ?? .add,
                [first, expression(depth - 1, &random)])
        }
    }

    private static func predicate(
        _ depth: Int, _ random: inout SeededGenerator
    ) -> MappingPredicate {
        switch Int.random(in: 0..<(depth > 0 ? 8 : 4), using: &random) {
        case 0: return .constant(Bool.random(using: &random))
        case 7:
            let bounds = [expression(0, &random), expression(0, &random)]
            return .comparison(
                PredicateComparison(expression(depth - 1, &random), .between, .list(bounds)))
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
        "CONVERT($a, \"uuid\")", "$a MATCHES $a", "$a MATCHES \"\\\\bb\"",
        "{1, 2}", "FIELD($a, \"json\", \"x\")",
        "$other + 1", "$a.b", "uppercase(\"\u{E9}\")",
    ])
    func otherExpressionsHaveNoProgram(text: String) throws {
        let expression =
            text.contains("MATCHES")
            ? try ExpressionParser.predicate(text).sourceExpression
            : try ExpressionParser.expression(text)
        let program = PlainProgram(expression, inputs: ["a": 0], now: 0)
        #expect(program.map { _ in text } == nil)
    }

    /// What the test above would find of plain expressions, which also decide.
    @Test(
        arguments: [
            ("$a + 1", .integer(8)), ("modulus:by:($a, 4)", .integer(3)),
            ("abs:($a - 10)", .integer(3)), ("floor:($a / 2.0)", .real(3)),
            ("raise:toPower:($a, 2)", .integer(49)), ("sqrt:($a + 2)", .real(3)),
            (#"CAST($a, "NSDate")"#, .date(7)),
            (#"CAST(CAST($a, "NSDate"), "NSNumber")"#, .real(7)),
            (#"CONVERT($a, "double")"#, .real(7)), (#"CONVERT("12", "integer16")"#, .integer(12)),
            ("TERNARY($a BETWEEN {5, 9}, 1, 2)", .integer(1)),
            (#"TERNARY("abc" LIKE "a?c", 1, 2)"#, .integer(1)),
            (#"TERNARY("abc7" MATCHES "[a-c]+[0-9]", 1, 2)"#, .integer(1)),
        ] as [(String, PlainValue)])
    func plainExpressionsDecide(text: String, wanted: PlainValue) throws {
        let program = try #require(
            PlainProgram(try ExpressionParser.expression(text), inputs: ["a": 0], now: 0))
        #expect(program.value { _ in .integer(7) } == wanted)
    }

    @Test(arguments: [
        (#"FUNCTION(CAST($a, "NSString"), "stringByAppendingString:", " x")"#, "7 x"),
        (#"CONVERT($a / 2.0, "string")"#, "3.5"),
        (#"NORMALIZE("  a \t b ", "trim", "collapse", "uppercase")"#, "A B"),
        (#"FUNCTION("b", "stringByAppendingString:", uppercase:("c"))"#, "bC"),
    ])
    func textsDecide(text: String, wanted: String) throws {
        let program = try #require(
            PlainProgram(try ExpressionParser.expression(text), inputs: ["a": 0], now: 0))
        var given: String?
        let value = program.value(
            { _ in .integer(7) }, text: { given = String(decoding: $0, as: UTF8.self) })
        #expect(value != nil && given == wanted)
    }
}

// MARK: - Texts

extension PlainProgramTests {
    private static let texts = [
        "", "a", "A", "ab", "aB", "Abc", "bc", "c", "k", "zebra", "x'y", "a\r\nb", " ", "~",
        " \t a  b \n", "\u{F780}a", "a\u{F7FF}b",
        "\u{E9}", "e\u{301}", "a\u{301}", "\u{212A}", "stra\u{DF}e", "ab\u{301}c", "\u{1F600}a",
        "\u{130}", "a\u{0}b", "abcdefgh", "abcdefghI", "\u{37E}", "A\u{E9}", "abc\u{E9}",
        "\u{E9}ab", "a\u{E9}b", "\u{E9}\u{301}a", "\u{3BB}c\u{3BB}", "c\u{5B0}bc", "\u{E9}",
        "\u{600}ab", "a\u{200D}b", "\u{1FEF}a", "=\u{338}b", "\u{2260}b", "\u{65E5}ab\u{65E5}",
        "\u{1E6B}\u{323}a", "\u{FB01}a", "\u{1F469}\u{200D}\u{1F467}c",
        "The quick Brown fox Jumps over the lazy Dog, [`@{~}]",
        "The quick Brown fox Jumps over the l\u{E1}zy Dog", "0123456789abcdefghijklmnopqrstuv",
        "bcbcbc\u{301}bc",
    ]

    private static func text(
        _ depth: Int, _ random: inout SeededGenerator
    ) -> MappingExpression {
        switch Int.random(in: 0..<(depth > 0 ? 11 : 3), using: &random) {
        case 10:
            let steps = (0..<3).compactMap { _ in TextStep.allCases.randomElement(using: &random) }
            return .conversion(.normalized(steps), of: text(depth - 1, &random))
        case 6: return date(&random)
        case 7, 8:
            return .function(.append, [text(depth - 1, &random), text(depth - 1, &random)])
        case 9:
            let numbers: [DefaultValue] = [
                .integer(.min), .integer(42), .real(0.1), .real(-3), .real(1e300), .boolean(true),
            ]
            let number = MappingExpression.constant(
                numbers.randomElement(using: &random) ?? .integer(0))
            return Bool.random(using: &random)
                ? .cast(number, to: .string)
                : .conversion(.type(.string, format: nil), of: number)
        case 0:
            let ascii = texts.filter { $0.utf8.allSatisfy { $0 != 0 && $0 < 0x80 } }
            return .constant(.text(ascii.randomElement(using: &random) ?? ""))
        case 1, 2: return .variable(names.randomElement(using: &random) ?? "a")
        case 3: return .function(.uppercase, [text(depth - 1, &random)])
        case 4: return .function(.lowercase, [text(depth - 1, &random)])
        default:
            return .conditional(
                comparison(depth - 1, &random), text(depth - 1, &random),
                text(depth - 1, &random))
        }
    }

    /// A date as a text, now and then one that no format has.
    private static func date(_ random: inout SeededGenerator) -> MappingExpression {
        let seconds: [Double] = [
            0, 0.9999, -1, 700_000_000.25, -63_113_904_001, 252_423_993_599, 252_423_993_600,
            -63_050_000_001, .infinity, Double.random(in: -7e10...3e11, using: &random),
        ]
        let patterns = [
            nil, "yyyy-MM-dd HH:mm", "EEEE, d. MMMM yy 'um' h:mm:ss a", "'\u{E9}'yyyySSSSSSSSS",
            String(repeating: "X", count: 3) + " Z yyyy MMM E HH", "S.SS dd",
        ]
        var format: DateFormat?
        if let pattern = patterns.randomElement(using: &random) ?? nil {
            let offset = [0, 3_600, -12_600].randomElement(using: &random) ?? 0
            do { format = try DateFormat(pattern, offset: offset) } catch { format = nil }
        }
        let text = MappingExpression.conversion(
            .type(.string, format: format),
            of: .constant(.date(seconds.randomElement(using: &random) ?? 0)))
        return .attempt(text, otherwise: .constant(.text("none")))
    }

    private static func comparison(
        _ depth: Int, _ random: inout SeededGenerator
    ) -> MappingPredicate {
        let relations: [PredicateComparison.Operator] = [
            .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual,
            .beginsWith, .endsWith, .contains, .contained, .like, .between, .matches, .matches,
        ]
        let relation = relations.randomElement(using: &random) ?? .equal
        let options: [PredicateComparison.Options] = [
            [], .caseInsensitive, [.caseInsensitive, .diacriticInsensitive], .normalized,
            .diacriticInsensitive,
        ]
        if Int.random(in: 0..<6, using: &random) == 0 {
            return .comparison(
                PredicateComparison(
                    .function(.length, [text(depth - 1, &random)]), .greaterThan,
                    .constant(.integer(Int64.random(in: 0..<4, using: &random)))))
        }
        let right = text(depth - 1, &random)
        return .comparison(
            PredicateComparison(
                text(depth - 1, &random), relation, Self.right(relation, right, &random),
                options: options.randomElement(using: &random) ?? []))
    }

    private static func right(
        _ relation: PredicateComparison.Operator, _ text: MappingExpression,
        _ random: inout SeededGenerator
    ) -> MappingExpression {
        switch relation {
        case .contained: .list([text, Self.text(0, &random), .null])
        case .between: .list([Self.text(0, &random), Self.text(0, &random)])
        case .matches:
            .constant(
                .text(
                    [
                        ".*", ".*b.*", "^a.*", "[a-z]*", "[^b]+", "(?i)k|a.?", "\\w+", "(a|b|c)*$",
                        "(?s).*c", "(^a|.b)*.{1,3}", ".*(ab|bc){2}.*", "[^\\d]{2,}", "(?i).*S.*",
                        "\u{E9}.*", "(", ".*\\bb", "[\u{E9}a]*.", "(a?)*$^", "(a?)*\\z\\A",
                        "(|[a-z]?)*($^|c)",
                        "a\u{F780}*", "\u{F780}?", "(a*)*$^", "(?i)[^k]*", "$^", ".*[^\u{E9}]c",
                    ].randomElement(using: &random) ?? "*"))
        case .like:
            .constant(
                .text(
                    ["*", "a*", "*b*", "?b", "*c", "\\*", "\\a?", "", "*\\", "a*b*c", "A*"]
                        .randomElement(using: &random) ?? "*"))
        default: text
        }
    }

    /// Expressions of texts give what the evaluator gives wherever a program decides.
    @Test func programsOfTexts() throws {
        var random = SeededGenerator(seed: 16)
        let evaluator = ExpressionEvaluator(NoObjects(), now: 0)
        let inputs = Dictionary(
            uniqueKeysWithValues: Self.names.enumerated().map { ($0.element, $0.offset) })
        var (decided, beyond, dates) = (0, 0, 0)
        for _ in 0..<12_000 {
            let expression = Self.text(3, &random)
            // Lists of what is computed have none.
            guard let program = PlainProgram(expression, inputs: inputs, now: 0) else { continue }
            for _ in 0..<6 {
                let values = Self.names.map { _ in
                    Int.random(in: 0..<6, using: &random) == 0
                        ? nil : Self.texts.randomElement(using: &random)
                }
                let bytes = values.map { Array(($0 ?? "").utf8) }
                let found = bytes[0].withUnsafeBytes { a in
                    bytes[1].withUnsafeBytes { b in
                        bytes[2].withUnsafeBytes { c -> String?? in
                            let all = [a, b, c]
                            var given: String?
                            let value = program.value(
                                { number in
                                    values[number] == nil
                                        ? .null : PlainText(input: all[number]).map { .text($0) }
                                }, text: { given = String(decoding: $0, as: UTF8.self) })
                            if let given { return .some(given) }
                            return value == .null ? .some(nil) : nil
                        }
                    }
                }
                guard let found else { continue }
                decided += 1
                if case .attempt = expression { dates += 1 }
                if values.contains(where: { $0?.utf8.contains { $0 > 0x7F } == true }) {
                    beyond += 1
                }
                var variables: [String: ExpressionValue<Never>] = [:]
                for (name, value) in zip(Self.names, values) {
                    variables[name] =
                        value.map { .scalar(.text(StoredText.string(Array($0.utf8)))) } ?? .null
                }
                let wanted: String? =
                    if case .scalar(.text(let text)) = try evaluator.value(
                        of: expression, variables: variables)
                    { text } else { nil }
                #expect(
                    found.map { Array($0.utf8) } == wanted.map { StoredText.bytes($0) },
                    "\(expression.text) with \(values)")
            }
        }
        #expect(decided > 20_000 && beyond > 2_000 && dates > 2_000)
    }
}
