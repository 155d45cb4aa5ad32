import ManagedObjectModel
import MappingExpressions

/// Random expressions and predicates of every form.
struct RandomTrees {
    var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    static let keys = [
        "name", "size", "FIRST", "and", "Not", "self", "union", "ternary", "sum", "now", "@count",
        "@sum", "@distinctUnionOfObjects", "größe", "a b", "", "1x", "@odd", "uti", "x_1", "In",
        "quote\"d", "\u{212A}ey", "nil", "cast", "a.b", "a:b",
    ]
    static let texts = [
        "", "a", "it's", "say \"x\"", "\\d+", "line\nbreak", "tab\t", "\u{1}", "é", "e\u{301}",
        "ß", "İ", "👩‍👩‍👧", "\u{7F}", "\r\n", "$x", "%@", "#", "inf", "12.5", "\u{FFFF}", "NSDate",
    ]
    static let reals = [
        0, -0.0, 1, -1.5, 0.1, 1e300, .leastNonzeroMagnitude, 1e16, -2.5e-7, .pi, .infinity,
        -.infinity, 123456.75,
    ]

    mutating func key() -> String { Self.keys.one(&generator) }

    mutating func constant() -> DefaultValue {
        switch generator.below(10) {
        case 0: .integer(Int64(bitPattern: generator.next()))
        case 1: .integer([0, 1, -1, Int64.min, Int64.max].one(&generator))
        case 2: .real(Self.reals.one(&generator))
        case 3: .decimal(["0", "-12.50", "1e5", "+.5", "7."].one(&generator))
        case 4: .boolean(generator.below(2) == 0)
        case 5: .date(Self.reals.one(&generator))
        case 6: .data((0..<generator.below(5)).map { _ in UInt8(generator.below(256)) })
        case 7: .uuid((0..<16).map { _ in UInt8(generator.below(256)) })
        case 8: .uri(Self.texts.one(&generator))
        default: .text(Self.texts.one(&generator))
        }
    }

    mutating func expression(_ depth: Int) -> MappingExpression {
        guard depth > 0 else { return leaf() }
        switch generator.below(16) {
        case 0, 1: return leaf()
        case 2, 3:
            let count = 1 + generator.below(3)
            return .keyPath(expression(depth - 1), (0..<count).map { _ in key() })
        case 4: return .cast(expression(depth - 1), to: .allCases.one(&generator))
        case 5:
            let count = generator.below(3)
            let arguments = (0..<count).map { _ in expression(depth - 1) }
            let selector = "a" + String(repeating: "b:", count: count)
            return .call(expression(depth - 1), selector: selector, arguments)
        case 6:
            return .conditional(
                predicate(depth - 1), expression(depth - 1), expression(depth - 1))
        case 7: return .list((0..<generator.below(4)).map { _ in expression(depth - 1) })
        case 8:
            return .combination(
                .allCases.one(&generator), expression(depth - 1), expression(depth - 1))
        case 9:
            return .subquery(expression(depth - 1), variable: key(), predicate(depth - 1))
        case 10:
            let indexes: [MappingExpression.ElementIndex] = [
                .first, .last, .size, .at(expression(depth - 1)),
            ]
            return .element(expression(depth - 1), at: indexes.one(&generator))
        case 11: return .conversion(conversion(), of: expression(depth - 1))
        case 12: return .attempt(expression(depth - 1), otherwise: expression(depth - 1))
        default:
            let function = ExpressionFunction.allCases.one(&generator)
            let arguments = (0..<function.argumentCount).map { _ in expression(depth - 1) }
            return .function(function, arguments)
        }
    }

    private mutating func conversion() -> ValueConversion {
        switch generator.below(3) {
        case 0: .normalized((0...generator.below(3)).map { _ in .allCases.one(&generator) })
        case 1:
            .field(
                DocumentField(
                    form: .allCases.one(&generator),
                    path: (0...generator.below(2)).map { _ in Self.texts.one(&generator) }))
        default:
            .type(
                ValueConversion.types.values.sorted { $0.rawValue < $1.rawValue }
                    .one(&generator),
                format: Self.formats.one(&generator))
        }
    }

    private static let formats: [DateFormat?] =
        [nil]
        + [("yyyy-MM-dd", 0), ("d MMM y 'o''clock' H:mm:ss.SSS", 3600), ("hh a", -5400)]
        .compactMap { pattern, offset in
            do { return try DateFormat(pattern, offset: offset) } catch { return nil }
        }

    private mutating func leaf() -> MappingExpression {
        switch generator.below(6) {
        case 0: .null
        case 1: .evaluatedObject
        case 2: .variable(generator.below(2) == 0 ? "source" : key())
        case 3: .keyPath(.variable("source"), [key()])
        default: .constant(constant())
        }
    }

    mutating func predicate(_ depth: Int) -> MappingPredicate {
        guard depth > 0 else { return .constant(generator.below(2) == 0) }
        switch generator.below(6) {
        case 0: return .constant(generator.below(2) == 0)
        case 1: return .not(predicate(depth - 1))
        case 2: return .and((0..<2 + generator.below(2)).map { _ in predicate(depth - 1) })
        case 3: return .or((0..<2 + generator.below(2)).map { _ in predicate(depth - 1) })
        default:
            return .comparison(
                PredicateComparison(
                    expression(depth - 1), .allCases.one(&generator), expression(depth - 1),
                    quantifier: .allCases.one(&generator),
                    options: .init(rawValue: generator.below(3) == 0 ? generator.below(8) : 0)))
        }
    }
}
