import TestSupport
import Testing

@testable import ManagedObjectModel

@Suite struct PredicateParserTests {
    private static func compare(
        _ name: String, _ comparison: Predicate.Comparison, _ value: DefaultValue?
    ) -> Predicate { .compare(property: name, comparison, value) }

    @Test(arguments: [
        ("a = 1", compare("a", .equal, .integer(1))),
        ("a == -1.5e3", compare("a", .equal, .real(-1500))),
        ("a != nil", compare("a", .notEqual, nil)), ("a <> NULL", compare("a", .notEqual, nil)),
        ("a<=2", compare("a", .lessThanOrEqual, .integer(2))),
        ("a =< 2", compare("a", .lessThanOrEqual, .integer(2))),
        ("2 < a", compare("a", .greaterThan, .integer(2))),
        ("a => 2", compare("a", .greaterThanOrEqual, .integer(2))),
        ("a == YES", compare("a", .equal, .boolean(true))),
        ("a == FALSE", compare("a", .equal, .boolean(false))),
        ("a == 'it\\'s'", compare("a", .equal, .text("it's"))),
        ("a == \"x\\\"y\"", compare("a", .equal, .text("x\"y"))),
        ("#size > 3", compare("size", .greaterThan, .integer(3))),
        ("a > CAST(12.5, \"NSDate\")", compare("a", .greaterThan, .date(12.5))),
        ("größe > 1", compare("größe", .greaterThan, .integer(1))),
    ])
    func comparisons(text: String, predicate: Predicate) {
        #expect(PredicateParser.parse(text) == predicate)
    }

    @Test func notBindsTighterThanAndTighterThanOr() {
        let (a, b, c) = (
            Self.compare("a", .equal, .integer(1)), Self.compare("b", .equal, .integer(2)),
            Self.compare("c", .equal, .integer(3))
        )
        #expect(PredicateParser.parse("a = 1 OR b = 2 AND c = 3") == .or([a, .and([b, c])]))
        #expect(PredicateParser.parse("(a = 1 || b = 2) && c = 3") == .and([.or([a, b]), c]))
        #expect(PredicateParser.parse("NOT a = 1 and b = 2") == .and([.not(a), b]))
        #expect(PredicateParser.parse("!(a = 1 and b = 2)") == .not(.and([a, b])))
        #expect(PredicateParser.parse("a = 1 AND b = 2 AND c = 3") == .and([a, b, c]))
        #expect(PredicateParser.parse("((a = 1))") == a)
    }

    @Test(arguments: [
        "", "a", "a =", "= 1", "a = b", "1 = 1", "a.b = 1", "a < nil", "a == 'x", "a CONTAINS 'x'",
        "a ==[c] 'x'", "a IN {1, 2}", "a BETWEEN {1, 2}", "a == $x", "a == %@", "(a = 1", "a = 1)",
        "a = 1 b = 2", "TRUEPREDICATE", "SELF = 1", "a = 1 AND", "a = 1x", "a = 0x1p99999",
        "a = CAST(1, \"NSURL\")", "a = CAST", "a == '\\u0041'", "#", "a = 1..", "a = -",
        "length:(a) = 1",
    ])
    func anythingElseIsKeptByItsText(text: String) {
        #expect(PredicateParser.parse(text) == .unsupported(text))
    }

    @Test func nestingIsLimited() {
        let deep =
            String(repeating: "(", count: 10_000) + "a = 1" + String(repeating: ")", count: 10_000)
        #expect(PredicateParser.parse(deep) == .unsupported(deep))
        let negated = String(repeating: "NOT ", count: 10_000) + "a = 1"
        #expect(PredicateParser.parse(negated) == .unsupported(negated))
    }

    /// Whatever is written is read back as it was.
    @Test func textReadsBack() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<2_000 {
            let predicate = Self.random(depth: 4, &random)
            #expect(PredicateParser.parse(predicate.text) == predicate)
        }
    }

    private static func random(depth: Int, _ random: inout SeededGenerator) -> Predicate {
        let constants: [DefaultValue?] = [
            nil, .integer(.min), .integer(3), .real(0.1), .real(-1e300), .boolean(true),
            .text("a \"b\" \\ 'c'\n\t"), .text(""), .date(-0.5),
        ]
        let comparisons: [Predicate.Comparison] = [
            .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual,
        ]
        switch depth == 0 ? 0 : Int.random(in: 0..<4, using: &random) {
        case 1: return .not(Self.random(depth: depth - 1, &random))
        case 2, 3:
            let parts = (0..<Int.random(in: 2...3, using: &random)).map { _ in
                Self.random(depth: depth - 1, &random)
            }
            return Bool.random(using: &random) ? .and(parts) : .or(parts)
        default:
            let value = constants[Int.random(in: 0..<constants.count, using: &random)]
            let choices = value == nil ? Array(comparisons.prefix(2)) : comparisons
            let comparison = choices[Int.random(in: 0..<choices.count, using: &random)]
            return .compare(property: "not", comparison, value)
        }
    }
}
